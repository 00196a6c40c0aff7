"""One rank's log as far as this server holds it: the launcher's segments, written at offsets that are given.

The form is that of `launcher/segments.py`, so the same reader reads both; the limit is kept the same way too. Two
things differ. What the disk refuses is not dropped but raised, because the bytes can be asked for again; and no file
stays open between two writes, because a server may hold hundreds of streams.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from jupyter_aiarts.engines.logs.index import RECORD
from jupyter_aiarts.launcher.segments import STREAMS, Drop, segment_size

Stamp = tuple[int, int]  # offset of a chunk's first byte in the stream, its time in ns

_SEGMENT = re.compile(r"(stdout|stderr)\.([0-9]{20})\.log")
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Segment(Struct):
    """One pair of files; `t` is the time of its newest chunk."""

    stream: str
    start: int
    bytes: int = 0
    records: int = 0
    t: int = 0

    @property
    def end(self) -> int:
        return self.start + self.bytes

    @property
    def size(self) -> int:
        """Of both files."""
        return self.bytes + self.records * RECORD.size

    @property
    def name(self) -> str:
        return f"{self.stream}.{self.start:020d}"


class HeldLog:
    """Both streams of one rank under one limit. Everything here blocks on files; one thread at a time."""

    def __init__(self, folder: Path, limit: int, dropped: Callable[[Drop], None]) -> None:
        self._folder = folder
        self._limit = limit
        self._segment_size = segment_size(limit)
        self._dropped = dropped
        folder.mkdir(mode=0o700, exist_ok=True)
        self._segments = _found(folder)
        self._last: dict[str, Segment] = {}
        for name in STREAMS:
            self._recover(name)
        self._ends = {name: last.end for name, last in self._last.items()}

    def end(self, stream: str) -> int:
        """Where the stream's next byte belongs."""
        return self._ends.get(stream, 0)

    def newest(self, stream: str) -> int:
        """When the stream's newest chunk came; 0 when there is none."""
        last = self._last.get(stream)
        return last.t if last else 0

    def skip(self, stream: str, to: int) -> None:
        """The bytes up to `to` will never come: the next ones begin a segment of their own."""
        self._ends[stream] = max(to, self.end(stream))

    def extend(self, stream: str, data: bytes, stamps: Sequence[Stamp]) -> None:
        """Append bytes at the stream's end; raises `OSError` with `end` after the last byte that is on disk.

        `stamps` name the chunks they came in; the first is that of the first byte.
        """
        view = memoryview(data)
        while view:
            last = self._with_room(stream)
            size, chunks = _fitting(last, view, stamps, self._segment_size)
            self._write(last, view[:size], stamps[:chunks])
            view = view[size:]
            # A chunk that is cut by the end of a segment keeps its time in the next one.
            cut = stamps[chunks - 1][1]
            stamps = stamps[chunks:]
            if view and (not stamps or stamps[0][0] > self.end(stream)):
                stamps = [(self.end(stream), cut), *stamps]

    def _with_room(self, stream: str) -> Segment:
        last = self._last.get(stream)
        if last and last.end == self.end(stream) and last.size + RECORD.size < self._segment_size:
            return last
        self._make_room()
        return Segment(stream, self.end(stream), t=last.t if last else 0)

    def _write(self, segment: Segment, data: memoryview, stamps: Sequence[Stamp]) -> None:
        """The index goes first, so that no reader ever sees a byte without its time."""
        known = segment.records and segment.t == stamps[0][1]
        fresh = stamps[1:] if known else stamps
        path = self._folder / segment.name
        new = 0 if segment is self._last.get(segment.stream) else os.O_TRUNC
        with _opened(f"{path}.idx", new) as index, _opened(f"{path}.log", new) as log:
            if new:
                self._segments.append(segment)
                self._last[segment.stream] = segment
            try:
                _write_all(index, memoryview(b"".join([RECORD.pack(*stamp) for stamp in fresh])))
                _write_all(log, data)
            except OSError:
                self._retreat(segment, index, log)
                raise
        segment.bytes += len(data)
        segment.records += len(fresh)
        segment.t = stamps[-1][1]
        self._ends[segment.stream] = segment.end

    def _retreat(self, segment: Segment, index: int, log: int) -> None:
        """Take back the records of bytes that did not get there."""
        segment.bytes = os.fstat(log).st_size
        self._ends[segment.stream] = segment.end
        _trim(segment, index)
        if not segment.bytes:
            self._forget(segment)

    def _recover(self, stream: str) -> None:
        """Put right what a killed writer left: records without bytes, half a record, a segment without bytes."""
        while self._newest_segment(stream):
            last = self._last[stream]
            try:
                with _opened(f"{self._folder / last.name}.idx") as index:
                    _trim(last, index)
            except OSError:
                return  # nothing can be written here now; extend() will say so, and reading needs no repair
            if last.bytes and last.records:
                return
            self._forget(last)

    def _newest_segment(self, stream: str) -> bool:
        mine = [segment for segment in self._segments if segment.stream == stream]
        if mine:
            self._last[stream] = max(mine, key=lambda segment: segment.start)
        return bool(mine)

    def _forget(self, segment: Segment) -> None:
        self._unlink(segment)
        self._segments = [other for other in self._segments if other is not segment]
        self._last.pop(segment.stream, None)
        self._newest_segment(segment.stream)

    def _unlink(self, segment: Segment) -> None:
        for suffix in (".log", ".idx"):
            with contextlib.suppress(OSError):  # somebody tidied up; what counts is that it is gone
                os.unlink(self._folder / f"{segment.name}{suffix}")

    def _make_room(self) -> None:
        """Remove the oldest segments, but no stream's first and none that grows, until one more fits."""
        held = sum(segment.size for segment in self._segments)
        firsts = {min((s.start for s in self._segments if s.stream == name), default=-1): name for name in STREAMS}
        for segment in list(self._segments):
            if held + self._segment_size <= self._limit:
                return
            if firsts.get(segment.start) == segment.stream or segment is self._last[segment.stream]:
                continue
            held -= segment.size
            self._unlink(segment)
            self._segments.remove(segment)
            self._dropped(Drop(segment.stream, segment.start, segment.end, "limit"))


def _found(folder: Path) -> list[Segment]:
    """The segments that are there, in the order in which they were last written."""
    found: list[tuple[int, int, Segment]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            match = _SEGMENT.fullmatch(entry.name)
            if match and entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                segment = Segment(match[1], int(match[2]), status.st_size)
                segment.records = _size(f"{folder / segment.name}.idx") // RECORD.size
                found.append((status.st_mtime_ns, segment.start, segment))
    return [segment for _, _, segment in sorted(found, key=lambda one: one[:2])]


def _fitting(segment: Segment, data: memoryview, stamps: Sequence[Stamp], limit: int) -> tuple[int, int]:
    """How many bytes, and how many of their stamps, still fit into the segment: at least one of each."""
    room = limit - segment.size
    if len(data) + len(stamps) * RECORD.size <= room:
        return len(data), len(stamps)
    starts = [offset - segment.end for offset, _ in stamps]
    count = next((n for n, start in enumerate(starts) if n and start + n * RECORD.size >= room), len(stamps))
    most = starts[count] if count < len(stamps) else len(data)
    return max(min(most, room - count * RECORD.size), starts[count - 1] + 1), count


def _trim(segment: Segment, index: int) -> None:
    """Cut off the index what speaks of no byte, and learn the newest time."""
    content = os.pread(index, os.fstat(index).st_size, 0)
    whole = list(RECORD.iter_unpack(content[: len(content) - len(content) % RECORD.size]))
    while whole and whole[-1][0] >= segment.end:
        whole.pop()
    if len(whole) * RECORD.size < len(content):
        os.ftruncate(index, len(whole) * RECORD.size)
    segment.records = len(whole)
    segment.t = whole[-1][1] if whole else 0


@contextlib.contextmanager
def _opened(path: str, more: int = 0) -> Iterator[int]:
    file = os.open(path, _APPEND | more, 0o600)
    try:
        yield file
    finally:
        os.close(file)


def _write_all(file: int, data: memoryview) -> None:
    while data:
        data = data[os.write(file, data) :]


def _size(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0  # not there
