"""Environments by their files: a folder with `conda-meta`, or with `pyvenv.cfg`. No program is run.

What was read of one stays until a folder that it was read from is another or has another time, so that looking again
costs two lookups each, and now and then a third.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

from jupyter_aiarts.kernelspecs.contents import is_text, layout, read, spec_file, specs_of
from jupyter_aiarts.kernelspecs.places import Places
from jupyter_aiarts.model.environment import Environment

MOST = 2000
"""Environments of others that are looked at; more are a mistake in somebody's configuration, or meant to hide yours."""
UNSETTLED = 100_000_000
"""Nanoseconds in which a folder may change twice and have one time: what was read so soon is read again."""

OWN_KERNELS = 2.0
"""Seconds between looks for kernels that an environment brought itself: mostly its package's record tells them."""

Mark = tuple[int, int] | None


class _Kept:
    """What was read of an environment, and what it was read from."""

    __slots__ = ("environment", "kernels", "packages", "packages_mark", "settled", "sign", "sign_mark")

    def __init__(self, environment: Environment, marks: dict[str, Mark]) -> None:
        (self.sign, self.sign_mark), (self.packages, self.packages_mark), *self.kernels = marks.items()
        self.environment = environment
        self.settled = time.time_ns() - max(mark[1] for mark in marks.values() if mark is not None) > UNSETTLED

    def holds(self, with_kernels: bool) -> bool:
        """Whether nothing changed since."""
        try:
            sign, packages = os.stat(self.sign), os.stat(self.packages)
        except OSError:
            return False
        return (
            (sign.st_ino, sign.st_mtime_ns) == self.sign_mark
            and (packages.st_ino, packages.st_mtime_ns) == self.packages_mark
            and self.settled
            and (not with_kernels or all(_mark(path) == mark for path, mark in self.kernels))
        )


class Discovery:
    """Finds environments; keeps what it read of each beside the times of the folders that it read."""

    def __init__(self) -> None:
        self._read: dict[str, _Kept] = {}
        self._last: tuple[Environment, ...] = ()
        self._kernels_at = 0.0
        self._is_other = False  # whether this look read something that was not known
        self._lock = threading.Lock()  # several doors may ask at once, each in a thread of its own

    def find(self, places: Places) -> tuple[Environment, ...]:
        """Every environment of these places, by name; the same folder under two names is one. One whose name is not
        UTF-8 is passed over: no door could show or name it, and the list is everybody's."""
        with self._lock:
            return self._find(places)

    def _find(self, places: Places) -> tuple[Environment, ...]:
        found: dict[str, Environment] = {}
        self._is_other = False
        with_kernels = time.monotonic() >= self._kernels_at
        for real in _candidates(places):
            if real not in found and (len(found) < MOST or _is_sure(real, places)):
                environment = self._of(real, with_kernels)
                if environment is not None:
                    found[real] = environment
        if with_kernels:
            self._kernels_at = time.monotonic() + OWN_KERNELS
        if len(found) != len(self._read):
            self._read = {path: kept for path, kept in self._read.items() if path in found}
        elif len(found) == len(self._last) and not self._is_other:
            return self._last
        self._last = tuple(sorted(found.values(), key=lambda one: (one.name.casefold(), one.path)))
        return self._last

    def _of(self, path: str, with_kernels: bool) -> Environment | None:
        kept = self._read.get(path)
        if kept is not None and kept.holds(with_kernels):
            return kept.environment
        self._read.pop(path, None)
        try:
            known = layout(path) if is_text(path) else None
            if known is None:
                return None
            marks = {one: _mark(one) for one in known.watched}  # before what they stand for
            specs = specs_of(path)
            marks |= {file: _mark(file) for file in (spec_file(path, name) for name in specs)}
            environment = read(path, known, specs)
        except (OSError, ValueError):  # it went while we looked; or a file of somebody's is meant to hold up the list
            return None
        if kept is not None and kept.environment == environment:
            environment = kept.environment
        else:
            self._is_other = True
        if marks[known.sign] is not None:
            self._read[path] = _Kept(environment, marks)
        return environment


def _is_sure(path: str, places: Places) -> bool:
    return path in places.sure or bool(places.home and path.startswith(f"{places.home}/"))


def _candidates(places: Places) -> Iterator[str]:
    """Folders that may be environments, links followed: what is in folders that hold some, and those that are named.
    What was met as a plain folder in a plain folder is not asked again whether it is a link."""
    folders: dict[str, str] = {}
    plain: set[str] = set()
    for holder in places.holders:
        try:
            with os.scandir(holder) as entries:
                listed = [(one.name, one.is_symlink()) for one in entries if not one.name.startswith(".")]
        except OSError:
            continue  # not there, or not for us
        real = folders[holder] = os.path.realpath(holder)
        for name, is_link in listed:
            path = f"{real}/{name}"
            if is_link:
                yield os.path.realpath(path)
            else:
                plain.add(path)
                yield path
    for path in places.prefixes:
        if path not in plain:
            parent, _, name = path.rpartition("/")
            if f"{folders.get(parent)}/{name}" not in plain:
                yield os.path.realpath(path)


def _mark(path: str) -> Mark:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns)
