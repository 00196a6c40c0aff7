"""What `Kernels.auto_register` does by itself: new environments become kernels once, kernels without one go.

Pure decisions over what was found; `install` writes. What somebody unregistered stays unregistered, because what was
seen as a kernel once is remembered.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from jupyter_aiarts.kernelspecs.health import is_gone
from jupyter_aiarts.kernelspecs.owner import owner_of
from jupyter_aiarts.kernelspecs.places import text_of
from jupyter_aiarts.model.environment import Environment, Registered


def wanted(
    environments: Iterable[Environment], kernels: Collection[Registered], seen: Collection[str], trusted: Iterable[str]
) -> list[Environment]:
    """Environments that have a kernel to offer, that nobody has made one of yet, and that may be trusted: this user's
    own, the system's, and those in folders that the admin named."""
    folders = [os.path.realpath(folder) for folder in trusted]
    taken = {os.path.realpath(one.prefix) for one in kernels} | set(seen)
    return [
        one
        for one in environments
        if ((one.has_ipykernel and one.python is not None) or one.kernels)
        and one.path not in taken
        and (_owner(one.path) in (0, os.geteuid()) or any(_is_below(one.path, folder) for folder in folders))
    ]


def stale(kernels: Iterable[Registered]) -> list[Registered]:
    """Kernels whose environment was removed. A folder that is not there because its disk is not mounted is another
    matter: then the folder above it is gone too, or empty."""
    return [one for one in kernels if is_gone(one.prefix) and _listed(os.path.dirname(one.prefix))]


def _owner(path: str) -> int | None:
    """None for what is gone, and for what may be several people's."""
    try:
        owner = owner_of(path)
    except OSError:
        return None
    return owner[0] if owner is not None else None


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _listed(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


class Memory:
    """The folders of environments that were kernels once; a small file, written whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> frozenset[str]:
        """Nothing where it cannot be read: then all are new once more."""
        try:
            said = json.loads(text_of(str(self._path)))
        except ValueError:
            return frozenset()
        return frozenset(one for one in said if isinstance(one, str)) if isinstance(said, list) else frozenset()

    def write(self, seen: Iterable[str]) -> None:
        """Keep these; raises `OSError`."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".kernels-", dir=self._path.parent)
        try:
            with open(handle, "w", encoding="ascii") as file:
                json.dump(sorted(seen), file)
            os.replace(name, self._path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
