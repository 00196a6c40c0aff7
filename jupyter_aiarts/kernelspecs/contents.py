"""What the files of one environment tell. The folders of an environment hold hundreds of names, so none of them is
listed where a file in its usual place says the same: most environments cost some dozen lookups and no listing.
"""

from __future__ import annotations

import json
import os
import pwd
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from string import ascii_lowercase
from typing import Literal

from msgspec import Struct

from jupyter_aiarts.kernelspecs.build import MARK
from jupyter_aiarts.kernelspecs.owner import owner_of
from jupyter_aiarts.kernelspecs.places import text_of, text_within
from jupyter_aiarts.model.environment import Environment, OwnKernel

FRAMEWORKS = {
    "torch": "torch", "pytorch": "torch", "torch_npu": "torch_npu", "mindspore": "mindspore",
    "tensorflow": "tensorflow", "tensorflow_cpu": "tensorflow", "tensorflow_gpu": "tensorflow", "jax": "jax",
    "paddlepaddle": "paddle", "paddlepaddle_gpu": "paddle",
}  # fmt: skip
"""Packages, as their records name them, and what people call them."""
VERSION_FILES = {
    "torch": "torch/version.py", "torch_npu": "torch_npu/version.py", "mindspore": "mindspore/version.py",
    "tensorflow": "tensorflow/__init__.py", "jax": "jax/version.py", "paddle": "paddle/version/__init__.py",
}  # fmt: skip
"""A file that is there with the framework, and that mostly says its version; where it does not, records are read."""
_NOT_ITS_OWN = ("python", "aiarts-")
"""How kernelspecs begin that are its Python's, or that we wrote: its folder may be the one for everybody, too."""
_SYSTEMS = ("/bin", "/usr/bin")
_CONDA_PACKAGE = re.compile(r"(.+)-([^-]+)-[^-]+\.json\Z")
_DIST = re.compile(r"(.+?)-([0-9][^-]*)\.(?:dist|egg)-info\Z")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,40}\Z")
_LIB = re.compile(r"python([0-9]+\.[0-9]+)t?\Z")
_LINK = re.compile(r"(?:python|pypy)[0-9]+\.[0-9]+t?\Z")
_SAYS_VERSION = re.compile(r"^(?:__version__|_version|full_version)\b[^=\n]*=\s*[\"']([^\"'\n]+)[\"']", re.MULTILINE)
_HEADER_VERSION = re.compile(r'^#define\s+PY_VERSION\s+"([^"]+)"', re.MULTILINE)


class Layout(Struct, frozen=True, kw_only=True):
    """Where an environment keeps what is asked about."""

    path: str
    sign: str  # what makes it one: conda-meta, or pyvenv.cfg
    packages: str | None  # the folder of its Python's packages
    usual: bool = False  # as conda or venv lay it out, so that looking into the usual places is enough
    version: str | None = None
    beneath: tuple[str, ...] = ()  # folders of packages of the Python that it was made of, where it has those too

    @property
    def watched(self) -> tuple[str, str, str]:
        """What changes when the environment does."""
        return (self.sign, self.packages or f"{self.path}/lib", f"{self.path}/share/jupyter/kernels")


def layout(path: str) -> Layout | None:
    """None for a folder that is no environment."""
    sign = f"{path}/conda-meta"
    if os.access(sign, os.F_OK):
        try:
            link = os.readlink(f"{path}/bin/python")
        except OSError:
            link = ""
        packages = f"{path}/lib/{link}/site-packages"
        if _LINK.match(link) and os.access(packages, os.F_OK):
            version = _said(_HEADER_VERSION, f"{path}/include/{link}/patchlevel.h")
            return Layout(path=path, sign=sign, packages=packages, usual=True, version=version)
    else:
        sign = f"{path}/pyvenv.cfg"
        if not os.access(sign, os.F_OK):
            return None
        version = _venv_version(path)
        packages = f"{path}/lib/python{'.'.join((version or '').split('.')[:2])}/site-packages"
        if version and os.access(packages, os.F_OK):
            beneath = _beneath(path, version)
            return Layout(path=path, sign=sign, packages=packages, usual=True, version=version, beneath=beneath)
    return Layout(path=path, sign=sign, packages=site_packages(path))


def read(path: str, known: Layout | None = None, specs: Iterable[str] | None = None) -> Environment:
    """What the files of one environment tell; `specs` are its `specs_of`, where they were looked for already."""
    known = known or layout(path) or Layout(path=path, sign="", packages=site_packages(path))
    recorded = _Recorded(known)
    has_ipykernel = _has(known, "ipykernel") if known.usual else recorded.has("ipykernel")
    kind: Literal["conda", "venv"] = "conda" if known.sign.endswith("conda-meta") else "venv"
    return Environment(
        name=os.path.basename(path) or path,  # an installation's own environment is called after the installation
        path=path,
        kind=kind,
        owner=_person(os.stat(path).st_uid),
        python=known.version or recorded.python(),
        has_ipykernel=has_ipykernel,
        kernels=tuple(_brought(path, specs_of(path) if specs is None else specs, has_ipykernel)),
        frameworks=_frameworks(known, recorded) if known.usual else recorded.frameworks(),
    )


def specs_of(path: str) -> list[str]:
    """The names of kernelspecs in an environment that its packages may have brought."""
    return [name for name in _listed(f"{path}/share/jupyter/kernels") if not name.startswith(_NOT_ITS_OWN)]


def spec_file(path: str, name: str) -> str:
    """What a kernelspec in an environment is read from; it may come, or be mended, after its folder."""
    return f"{path}/share/jupyter/kernels/{name}/kernel.json"


def _brought(path: str, specs: Iterable[str], has_ipykernel: bool) -> Iterator[str]:
    """The kernels that its packages brought and that can start; what only looks like one hides that it needs one."""
    for name in specs:
        own = _own(name, path)
        if own is not None and (has_ipykernel or not any("ipykernel" in word for word in own.argv)):
            yield name


class _Recorded:
    """What the names of package records say: both folders are listed when somebody asks, and once."""

    def __init__(self, known: Layout) -> None:
        self._known = known
        self._kept: dict[str, str] | None = None
        self._conda: dict[str, str] = {}

    def _versions(self) -> dict[str, str]:
        if self._kept is None:
            self._conda = dict(_conda_packages(self._known.path))
            lower = [dict(_dists(folder)) for folder in reversed(self._known.beneath)]
            self._kept = {}
            for found in (*lower, dict(_dists(self._known.packages)), self._conda):
                self._kept.update(found)
        return self._kept

    def has(self, name: str) -> bool:
        return name in self._versions()

    def python(self) -> str | None:
        self._versions()
        path, packages = self._known.path, self._known.packages
        lib = os.path.basename(os.path.dirname(packages)).strip(ascii_lowercase) if packages else None
        return self._conda.get("python") or _venv_version(path) or lib

    def frameworks(self) -> dict[str, str]:
        versions = self._versions()
        return {shown: versions[name] for name, shown in FRAMEWORKS.items() if name in versions}


def _has(known: Layout, package: str) -> bool:
    return any(os.access(f"{folder}/{package}", os.F_OK) for folder in (known.packages, *known.beneath))


def _frameworks(known: Layout, recorded: _Recorded) -> dict[str, str]:
    found = {}
    for shown, file in VERSION_FILES.items():
        places = (f"{folder}/{file}" for folder in (known.packages, *known.beneath))
        path = next((place for place in places if os.access(place, os.F_OK)), None)
        if path is not None:
            version = _said(_SAYS_VERSION, path) or recorded.frameworks().get(shown)
            if version is not None:
                found[shown] = version
    return found


def _said(pattern: re.Pattern[str], path: str) -> str | None:
    """The version that a file names, where it is one."""
    match = pattern.search(text_of(path))
    return match[1] if match is not None and _VERSION.match(match[1]) else None


def packages(path: str) -> frozenset[str]:
    """The names of what is installed, with `_` for `-`."""
    known = layout(path)
    site = known.packages if known is not None else site_packages(path)
    return frozenset(name for name, _ in (*_conda_packages(path), *_dists(site)))


def own_kernels(environment: Environment) -> tuple[OwnKernel, ...]:
    """The kernelspecs that its packages brought (R, Julia), as far as they can be read."""
    return tuple(own for name in environment.kernels if (own := _own(name, environment.path)) is not None)


def _own_text(name: str, path: str) -> str:
    """Its kernel.json; root, who writes for everybody what it reads here, reads what is the environment's alone."""
    words = ("share", "jupyter", "kernels", name, "kernel.json")
    if os.geteuid() != 0:
        return text_of(spec_file(path, name))
    try:
        owner = owner_of(path)
    except OSError:
        return ""
    return text_within(path, words, {0, *(owner or ())[:1]})


def _own(name: str, path: str) -> OwnKernel | None:
    folder = f"{path}/share/jupyter/kernels/{name}"
    try:
        said = json.loads(_own_text(name, path))
        argv = tuple(str(word).replace("{resource_dir}", folder) for word in said["argv"])
        env = {str(key): str(value) for key, value in dict(said.get("env") or {}).items()}
        if not argv or not isinstance(said["argv"], list) or MARK in dict(said.get("metadata") or {}):
            return None
        if not _is_within(argv[0], path):
            return None
        json.dumps(said, ensure_ascii=False).encode()  # raises for half a character
        return OwnKernel(
            name=name,
            argv=argv,
            display_name=str(said.get("display_name") or name),
            language=str(said.get("language") or name),
            interrupt_mode="message" if said.get("interrupt_mode") == "message" else "signal",
            env=env,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_within(program: str, path: str) -> bool:
    """Whether an environment's own kernel would be started by this. `ipykernel install --sys-prefix` leaves kernels of
    other environments there; the system's shell may start anything."""
    folder = os.path.dirname(program)
    if not os.path.isabs(program) or folder in _SYSTEMS:
        return True
    return any(f"{one}/".startswith(f"{path}/") for one in (folder, os.path.realpath(folder)))


def site_packages(path: str) -> str | None:
    """The folder of its Python packages: the newest Python's, where there are leftovers of an older one."""
    versions = [match for name in _listed(f"{path}/lib") if (match := _LIB.match(name)) is not None]
    if not versions:
        return None
    newest = max(versions, key=lambda match: tuple(map(int, match[1].split("."))))
    return f"{path}/lib/{newest[0]}/site-packages"


@lru_cache(maxsize=1024)
def _person(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _conda_packages(path: str) -> Iterator[tuple[str, str]]:
    for name in _listed(f"{path}/conda-meta"):
        match = _CONDA_PACKAGE.match(name)
        if match is not None:
            yield match[1].replace("-", "_").lower(), match[2]


def _dists(folder: str | None) -> Iterator[tuple[str, str]]:
    for name in _listed(folder) if folder else ():
        match = _DIST.match(name)
        if match is not None:
            yield match[1].replace("-", "_").lower(), match[2]


def _venv_version(path: str) -> str | None:
    """`version = 3.11.4` in pyvenv.cfg; uv and virtualenv call it `version_info`."""
    for key, value in _settings(path):
        if key in ("version", "version_info") and _VERSION.match(value):
            return ".".join(value.split(".")[:3])
    return None


def _beneath(path: str, version: str) -> tuple[str, ...]:
    """The folders of packages of the Python that a venv was made of, with `include-system-site-packages`: images for
    GPUs and NPUs have their frameworks there. As CPython lays them out, and as Debian does."""
    said = dict(_settings(path))
    home = said.get("home", "")
    if said.get("include-system-site-packages", "").lower() != "true" or not os.path.isabs(home) or "\0" in home:
        return ()
    base, python = os.path.dirname(home), f"python{'.'.join(version.split('.')[:2])}"
    folders = (
        f"{base}/lib/{python}/site-packages",
        f"{base}/local/lib/{python}/dist-packages",
        f"{base}/lib/python3/dist-packages",
    )
    return tuple(folder for folder in folders if os.access(folder, os.F_OK))


def _settings(path: str) -> Iterator[tuple[str, str]]:
    for line in text_of(f"{path}/pyvenv.cfg").splitlines():
        key, _, value = line.partition("=")
        yield key.strip(), value.strip()


def _listed(folder: str) -> Iterable[str]:
    try:
        return sorted(filter(is_text, os.listdir(folder)))
    except OSError:
        return ()


def is_text(name: str) -> bool:
    """Whether a name can be sent anywhere."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
