"""Environments by their files: a folder with `conda-meta`, or with `pyvenv.cfg`. No program is run.

What was read of one stays until a folder that it was read from is another or has another time, so that looking again
costs two lookups each, and now and then a third.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from jupyter_aiarts.kernelspecs.contents import is_text, layout, read, spec_file, specs_of
from jupyter_aiarts.kernelspecs.marks import Mark, is_settled, mark_of
from jupyter_aiarts.kernelspecs.places import Places
from jupyter_aiarts.model.environment import Environment

MOST = 2000
"""Environments of others that are looked at; more are a mistake in somebody's configuration, or meant to hide yours."""
OWN_KERNELS = 2.0
"""Seconds between looks for kernels that an environment brought itself: mostly its package's record tells them."""


class _Kept:
    """What was read of an environment, and what it was read from."""

    __slots__ = ("environment", "kernels", "packages", "packages_mark", "settled", "sign", "sign_mark")

    def __init__(self, environment: Environment, marks: dict[str, Mark]) -> None:
        (self.sign, self.sign_mark), (self.packages, self.packages_mark), *self.kernels = marks.items()
        self.environment = environment
        self.settled = all(map(is_settled, marks.values()))

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
            and (not with_kernels or all(mark_of(path) == mark for path, mark in self.kernels))
        )


class _Listing(NamedTuple):
    """What is in a folder that holds environments."""

    real: str
    mark: Mark
    is_settled: bool
    folders: frozenset[str]
    plain: tuple[str, ...]
    links: tuple[str, ...]


class Discovery:
    """Finds environments; keeps what it read of each beside the times of the folders that it read."""

    def __init__(self) -> None:
        self._read: dict[str, _Kept] = {}
        self._last: tuple[Environment, ...] = ()
        self._holders: dict[str, _Listing] = {}
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
        self._holders = {holder: listing for holder in places.holders if (listing := self._listing(holder)) is not None}
        for real in _candidates(places, self._holders):
            if real not in found and (len(found) < MOST or _is_sure(real, places)):
                kept = self._read.get(real)
                environment = kept.environment if kept and kept.holds(with_kernels) else self._of(real)
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

    def _listing(self, holder: str) -> _Listing | None:
        """None for a folder that is not there, or not for us."""
        real, mark = os.path.realpath(holder), mark_of(holder)
        kept = self._holders.get(holder)
        if kept is not None and (kept.real, kept.mark) == (real, mark) and kept.is_settled:
            return kept
        try:
            with os.scandir(real) as entries:
                listed = [(f"{real}/{one.name}", one.is_symlink()) for one in entries if not one.name.startswith(".")]
        except OSError:
            return None
        plain, links = ([path for path, is_link in listed if is_link is kind] for kind in (False, True))
        return _Listing(real, mark, is_settled(mark), frozenset(plain), tuple(plain), tuple(links))

    def _of(self, path: str) -> Environment | None:
        kept = self._read.pop(path, None)
        try:
            known = layout(path) if is_text(path) else None
            if known is None:
                return None
            marks = {one: mark_of(one) for one in known.watched}  # before what they stand for
            specs = specs_of(path)
            marks |= {file: mark_of(file) for file in (spec_file(path, name) for name in specs)}
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


def _candidates(places: Places, holders: dict[str, _Listing]) -> Iterator[str]:
    """Folders that may be environments, links followed: what is in folders that hold some, and those that are named.
    What was met as a plain folder in a plain folder is not asked again whether it is a link."""
    plain: set[str] = set()
    for listing in holders.values():
        plain |= listing.folders
        yield from listing.plain
        yield from map(os.path.realpath, listing.links)
    for path in places.prefixes:
        if path not in plain:
            parent, _, name = path.rpartition("/")
            if parent not in holders or f"{holders[parent].real}/{name}" not in plain:
                yield os.path.realpath(path)
