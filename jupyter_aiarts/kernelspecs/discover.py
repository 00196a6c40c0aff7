"""Environments by their files: a folder with `conda-meta`, or with `pyvenv.cfg`. Two listings each, no program run.

What was read stays until the folders it was read from change, so that looking again costs a few stats.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from jupyter_aiarts.kernelspecs.places import Places
from jupyter_aiarts.model.environment import Environment

MOST = 2000
"""Environments that are looked at; more are a mistake in somebody's configuration."""
FRAMEWORKS = {
    "torch": "torch", "pytorch": "torch", "torch_npu": "torch_npu", "mindspore": "mindspore",
    "tensorflow": "tensorflow", "jax": "jax", "paddlepaddle": "paddle", "paddlepaddle_gpu": "paddle",
}  # fmt: skip
_CONDA_PACKAGE = re.compile(r"(.+)-([^-]+)-[^-]+\.json\Z")
_DIST = re.compile(r"(.+?)-([0-9][^-]*)\.(?:dist|egg)-info\Z")
_LIB = re.compile(r"python([0-9]+\.[0-9]+)t?\Z")

Marks = tuple[float, ...]


class Discovery:
    """Finds environments; keeps what it read of each beside the times of the folders that it read."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Marks, Environment]] = {}

    def find(self, places: Places) -> tuple[Environment, ...]:
        """Every environment of these places, by name; the same folder under two names is one."""
        found: dict[str, Environment] = {}
        for path in _candidates(places):
            real = os.path.realpath(path)
            if real not in found and len(found) < MOST:
                environment = self._of(real)
                if environment is not None:
                    found[real] = environment
        self._read = {path: kept for path, kept in self._read.items() if path in found}
        return tuple(sorted(found.values(), key=lambda one: (one.name.casefold(), one.path)))

    def _of(self, path: str) -> Environment | None:
        marks = _marks(path)
        if marks is None:
            return None
        kept = self._read.get(path)
        if kept is None or kept[0] != marks:
            kept = self._read[path] = (marks, read(path))
        return kept[1]


def _candidates(places: Places) -> Iterator[str]:
    """Places that may be environments: those that are named, and what is in folders that hold some."""
    yield from places.prefixes
    for holder in places.holders:
        try:
            with os.scandir(holder) as entries:
                for entry in sorted(entries, key=lambda one: one.name):
                    if not entry.name.startswith("."):
                        yield entry.path
        except OSError:
            continue  # not there, or not for us


def _marks(path: str) -> Marks | None:
    """The times that tell whether an environment changed; None for a folder that is none."""
    meta, config = _time(f"{path}/conda-meta"), _time(f"{path}/pyvenv.cfg")
    if meta is None and config is None:
        return None
    packages = site_packages(path)
    more = (f"{path}/share/jupyter/kernels", packages) if packages else (f"{path}/share/jupyter/kernels",)
    return tuple(time or 0.0 for time in (meta, config, *map(_time, more)))


def read(path: str) -> Environment:
    """What the files of one environment tell."""
    conda = dict(_conda_packages(path))
    packages = {**dict(_dists(site_packages(path))), **conda}
    kind: Literal["conda", "venv"] = "conda" if os.path.isdir(f"{path}/conda-meta") else "venv"
    kernels = tuple(name for name in _listed(f"{path}/share/jupyter/kernels") if not name.startswith("python"))
    return Environment(
        name=_name(path),
        path=path,
        kind=kind,
        owner=_owner(path),
        python=conda.get("python") or _venv_version(path) or _lib_version(path),
        has_ipykernel="ipykernel" in packages,
        kernels=kernels,
        frameworks={shown: packages[name] for name, shown in FRAMEWORKS.items() if name in packages},
    )


def packages(path: str) -> frozenset[str]:
    """The names of what is installed, with `_` for `-`."""
    return frozenset(name for name, _ in (*_conda_packages(path), *_dists(site_packages(path))))


def site_packages(path: str) -> str | None:
    """The folder of its Python packages: the newest Python's, where there are leftovers of an older one."""
    versions = [match for name in _listed(f"{path}/lib") if (match := _LIB.match(name)) is not None]
    if not versions:
        return None
    newest = max(versions, key=lambda match: tuple(map(int, match[1].split("."))))
    return f"{path}/lib/{newest[0]}/site-packages"


def _name(path: str) -> str:
    """Its folder's name; an installation's own environment is called after the installation."""
    return os.path.basename(path) or path


def _owner(path: str) -> str:
    uid = os.stat(path).st_uid
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
    try:
        with open(f"{path}/pyvenv.cfg", encoding="utf-8", errors="replace") as file:
            lines = file.read(65536).splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = (part.strip() for part in line.partition("="))
        if key in ("version", "version_info"):
            return ".".join(value.split(".")[:3])
    return None


def _lib_version(path: str) -> str | None:
    packages = site_packages(path)
    return os.path.basename(os.path.dirname(packages)).removeprefix("python").rstrip("t") if packages else None


def _listed(folder: str) -> Iterable[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return ()


def _time(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None
