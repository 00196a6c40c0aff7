"""Finding and opening the files of a run's log; nothing here follows a link or waits on a pipe.

The folder belongs to the user whose code writes beside it, so names, kinds and sizes are looked at, never
trusted, and any file may vanish between the listing and the opening (the log limit removes old segments).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STREAMS = ("stdout", "stderr")

_NODE = re.compile(r"node-(0|[1-9][0-9]{0,5})")
_RANK = re.compile(r"0|[1-9][0-9]{0,6}")
_SEGMENT = re.compile(r"(stdout|stderr)\.([0-9]{20})\.log")
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Vanished(Exception):
    """A file of the log is not there, or is something else than a plain file."""


class Place:
    """One folder below the run's folder, opened component by component so that no link is followed."""

    def __init__(self, root: Path, *parts: str, refused: set[str] | None = None) -> None:
        self.root = root
        self.parts = parts
        self.refused = set() if refused is None else refused  # paths that are there and may not be read

    def below(self, *parts: str) -> Place:
        """The place some folders deeper; what is refused there is told here too."""
        return Place(self.root, *self.parts, *parts, refused=self.refused)

    def note(self, error: Vanished, *names: str) -> None:
        """Remember what is no loss of the log's, but a right that this process does not have."""
        if isinstance(error.__cause__, PermissionError):
            self.refused.add(str(self.root.joinpath(*names)))

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor of the folder; `Vanished` when a component is missing or is a link."""
        fd = -1
        way: list[str] = []
        try:
            try:
                fd = _open(str(self.root), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                for part in self.parts:
                    way.append(part)
                    inner = _open(part, _LOOK | os.O_DIRECTORY, fd)
                    os.close(fd)
                    fd = inner
            except Vanished as error:
                self.note(error, *way)
                raise
            yield fd
        finally:
            if fd >= 0:
                os.close(fd)

    @contextmanager
    def file(self, name: str) -> Iterator[int]:
        """A descriptor of one plain file in the folder, for reading."""
        with self.opened() as folder:
            try:
                fd = _open(name, _LOOK, folder)
            except Vanished as error:
                self.note(error, *self.parts, name)
                raise
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Vanished(name)
            yield fd
        finally:
            os.close(fd)

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Up to `size` bytes of a file from `offset`."""
        with self.file(name) as fd:
            return os.pread(fd, size, offset)

    def folders(self) -> list[str]:
        """Names of the real folders inside; none when the place itself is missing."""
        try:
            with self.opened() as fd, os.scandir(fd) as entries:
                return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except Vanished:
            return []

    def size(self, name: str) -> int:
        """Bytes in a plain file."""
        with self.opened() as folder:
            return size_in(folder, name)


def size_in(folder: int, name: str) -> int:
    """Bytes in a plain file of an opened folder."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        raise Vanished(name) from error
    if not stat.S_ISREG(found.st_mode):
        raise Vanished(name)
    return found.st_size


def _open(name: str, flags: int, folder: int | None = None) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO):
            raise  # the machine's trouble, not the file's: never told as "dropped"
        # ENOENT, ELOOP (a link), ENXIO (a socket), EACCES, ESTALE: there is no such log file.
        raise Vanished(name) from error


def rank_places(root: Path, rank: int | None, refused: set[str]) -> list[tuple[int, int, Place]]:
    """(node, rank, folder) of every rank that has a log folder, or of the asked one; `refused` is added to."""
    found = []
    for node_name in Place(root, refused=refused).folders():
        if not _NODE.fullmatch(node_name):
            continue
        logs = Place(root, node_name, "log", refused=refused)
        names = logs.folders() if rank is None else [str(rank)]
        node = int(node_name[5:])
        found += [(node, int(name), logs.below(name)) for name in names if _RANK.fullmatch(name)]
    return sorted(found, key=lambda place: place[:2])


def segment_starts(folder: int) -> dict[str, list[int]]:
    """First byte of every segment in an opened folder, per stream, in order."""
    starts: dict[str, list[int]] = {stream: [] for stream in STREAMS}
    for name in os.listdir(folder):
        match = _SEGMENT.fullmatch(name)
        if match and int(match[2]) < 1 << 63:
            starts[match[1]].append(int(match[2]))
    for found in starts.values():
        found.sort()
    return starts
