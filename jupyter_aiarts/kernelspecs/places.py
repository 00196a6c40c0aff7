"""Where environments may be: every file and folder that conda, mamba and micromamba themselves would look at.

Reading is all that is done: no program is started, and what cannot be read is passed over.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

ROOTS = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", "miniconda", "anaconda", "conda")
SHARED_ROOTS = ("/opt", "/usr/local", "/usr/share", "/data")
LARGEST = 1 << 20
"""Bytes of a list or a condarc; nobody writes a larger one."""


class Places(Struct, frozen=True, kw_only=True):
    """Folders that are environments where they have the marks of one, and folders that hold environments."""

    prefixes: tuple[str, ...]
    holders: tuple[str, ...]
    lists: tuple[str, ...]  # files that name environments; a change of one is news


def places(environ: Mapping[str, str], homes: Iterable[str], extra: Iterable[str] = ()) -> Places:
    """All places of these people, most likely first, each once."""
    people = [Path(home) for home in homes]
    roots = [*_named_roots(environ), *(str(home / name) for home in people for name in ROOTS)]
    roots += [str(home / ".local/share/mamba") for home in people]
    roots += [os.path.join(base, name) for base in SHARED_ROOTS for name in ROOTS]
    holders = [os.path.join(root, "envs") for root in roots]
    holders += [str(home / ".conda/envs") for home in people]
    rcs = _condarcs(environ, people, roots)
    for rc in rcs:
        holders += _envs_dirs(rc)
    for name in ("CONDA_ENVS_PATH", "CONDA_ENVS_DIRS"):
        holders += [part for part in environ.get(name, "").split(os.pathsep) if part]
    lists = [str(home / ".conda/environments.txt") for home in people]
    prefixes = [*(line for path in lists for line in _lines(path)), *roots, *extra]
    return Places(
        prefixes=_absolute(prefixes),
        holders=_absolute([*holders, *extra]),
        lists=tuple(dict.fromkeys([*lists, *map(str, rcs)])),
    )


def homes(everybody: bool) -> list[str]:
    """One's own home, and with `everybody` those of all who have one here."""
    own = os.path.expanduser("~")
    if not everybody:
        return [own]
    others = (entry.pw_dir for entry in pwd.getpwall() if entry.pw_uid == 0 or entry.pw_uid >= 1000)
    return list(dict.fromkeys([own, *(home for home in others if home not in ("/", "/nonexistent"))]))


def _named_roots(environ: Mapping[str, str]) -> Iterator[str]:
    """Roots that the environment names: the installer's, the active one's, the program's own place."""
    for name in ("MAMBA_ROOT_PREFIX", "CONDA_ROOT", "CONDA_ROOT_PREFIX", "_CONDA_ROOT"):
        if environ.get(name):
            yield environ[name]
    for name in ("CONDA_EXE", "MAMBA_EXE"):
        if environ.get(name):
            yield os.path.dirname(os.path.dirname(environ[name]))
    prefix = environ.get("CONDA_PREFIX")
    if prefix:
        parent, _, _ = prefix.rpartition("/envs/")
        yield parent or prefix
        yield prefix


def _condarcs(environ: Mapping[str, str], people: Iterable[Path], roots: Iterable[str]) -> list[Path]:
    found = [Path("/etc/conda/condarc"), Path("/etc/conda/.condarc"), Path("/var/lib/conda/condarc")]
    found += [Path(root) / name for root in roots for name in (".condarc", "condarc")]
    for home in people:
        found += [home / name for name in (".condarc", ".conda/.condarc", ".conda/condarc", ".mambarc")]
        found.append(home / ".config/conda/condarc")
    if environ.get("CONDARC"):
        found.append(Path(environ["CONDARC"]))
    return [path for path in dict.fromkeys(found) if os.path.isfile(path)]


def _envs_dirs(rc: Path) -> list[str]:
    """The folders a condarc names; one that is not YAML names none."""
    import yaml

    try:
        said: Any = yaml.safe_load(_text(str(rc)))
    except (yaml.YAMLError, RecursionError):
        return []
    if not isinstance(said, dict):
        return []
    listed = said.get("envs_dirs") or said.get("envs_path") or []
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def _lines(path: str) -> list[str]:
    return [line.strip() for line in _text(path).splitlines() if line.strip() and not line.startswith("#")]


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(LARGEST)
    except OSError:
        return ""


def _absolute(paths: Iterable[str]) -> tuple[str, ...]:
    shown = (os.path.expandvars(os.path.expanduser(path)) for path in paths)
    return tuple(dict.fromkeys(os.path.normpath(path) for path in shown if os.path.isabs(path) and "\0" not in path))
