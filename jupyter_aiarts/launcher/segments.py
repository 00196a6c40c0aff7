"""One rank's output on disk: raw bytes in segments with an index of when each chunk came, within a limit.

`<stream>.<start>.log` holds the bytes from <start> on; `<stream>.<start>.idx` holds 16 bytes per chunk: the
offset of its first byte and its time in ns. What was not kept is a gap between segments and a `Drop`.
Writing never raises: a full disk must not stop anybody's training.
"""

import os
import struct
from typing import Callable, Dict, List, NamedTuple, Optional

from . import access
from .problem import FULL

STREAMS = ("stdout", "stderr")
RETRY_SECONDS = 1.0
_SMALLEST, _LARGEST = 64 * 1024, 16 * 1024 * 1024
_RECORD = struct.Struct("<QQ")


class Drop(NamedTuple):
    """Bytes `start` up to `end` of a stream that are not on disk."""

    stream: str
    start: int
    end: int
    reason: str


class Segment(NamedTuple):
    """A segment that is no longer written to."""

    stream: str
    start: int
    size: int  # of both files


def segment_size(limit: int) -> int:
    """How large one segment grows under a rank's `limit`."""
    return min(max(limit // 32, _SMALLEST), _LARGEST)


class Stream:
    """The open end of one stream: where its next byte goes."""

    def __init__(self, name: str, end: int) -> None:
        self.name = name
        self.end = end
        self.start = end
        self.size = 0
        self.log = -1
        self.index = -1
        self.blocked_until = 0.0
        self.reason = ""

    def open(self, folder: str) -> None:
        """Begin a segment at the stream's end; raises `OSError`."""
        path = os.path.join(folder, f"{self.name}.{self.end:020d}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        index = os.open(path + ".idx", flags, access.made.file)
        try:
            self.log = os.open(path + ".log", flags, access.made.file)
        except OSError:
            os.close(index)
            raise
        self.index, self.start, self.size = index, self.end, 0

    def close(self) -> Optional[Segment]:
        """End the present segment, if there is one."""
        if self.log < 0:
            return None
        os.close(self.log)
        os.close(self.index)
        self.log = self.index = -1
        return Segment(self.name, self.start, self.size)

    def append(self, data: memoryview, nanoseconds: int) -> None:
        """Write one chunk; raises `OSError` with `end` after the last byte that is on disk.

        The index goes first, so that no reader ever sees a byte without its time.
        """
        self.size += os.write(self.index, _RECORD.pack(self.end, nanoseconds))
        while data:
            written = os.write(self.log, data)
            self.end += written
            self.size += written
            data = data[written:]


class RankLog:
    """Both streams of one rank, sharing one limit. Continues after what an earlier attempt left."""

    def __init__(self, folder: str, limit: int, clock: Callable[[], float], dropped: Callable[[Drop], None]) -> None:
        self._folder = folder
        self._limit = limit
        self._segment_size = segment_size(limit)
        self._clock = clock
        self._dropped = dropped
        self._closed: List[Segment] = []
        self._streams: Dict[str, Stream] = {}
        os.makedirs(folder, access.made.folder, exist_ok=True)
        self._adopt()

    def append(self, name: str, data: memoryview, nanoseconds: int) -> None:
        """Keep one chunk read from the pipe, or say that it was dropped."""
        stream = self._streams[name]
        while data:
            if not self._ready(stream):
                self._drop(stream, len(data))
                return
            room = max(self._segment_size - stream.size - _RECORD.size, 1)
            before = stream.end
            try:
                stream.append(data[:room], nanoseconds)
            except OSError as error:
                self._fail(stream, error, len(data) - (stream.end - before))
                return
            data = data[room:]

    def close(self) -> None:
        """No more output will come."""
        for stream in self._streams.values():
            self._retire(stream)

    def _ready(self, stream: Stream) -> bool:
        """Whether the stream has a segment with room, opening one where it may."""
        if stream.log >= 0 and stream.size + _RECORD.size < self._segment_size:
            return True
        if self._clock() < stream.blocked_until:
            return False
        self._retire(stream)
        self._make_room()
        try:
            stream.open(self._folder)
        except OSError as error:
            self._block(stream, error)
            return False
        return True

    def _block(self, stream: Stream, error: OSError) -> None:
        """Try no more for a while, and remember why."""
        stream.blocked_until = self._clock() + RETRY_SECONDS
        stream.reason = "disk-full" if error.errno in FULL else f"write-error: {error.strerror}"

    def _fail(self, stream: Stream, error: OSError, lost: int) -> None:
        self._block(stream, error)
        self._retire(stream)
        self._drop(stream, lost)

    def _drop(self, stream: Stream, count: int) -> None:
        self._dropped(Drop(stream.name, stream.end, stream.end + count, stream.reason))
        stream.end += count

    def _retire(self, stream: Stream) -> None:
        segment = stream.close()
        if segment is not None:
            self._closed.append(segment)

    def _make_room(self) -> None:
        """Remove the oldest segments, but no stream's first, until one more fits under the limit."""
        held = sum(segment.size for segment in self._closed)
        held += sum(stream.size for stream in self._streams.values() if stream.log >= 0)
        firsts = {min((s for s in self._closed if s.stream == name), key=_start, default=None) for name in STREAMS}
        for segment in [segment for segment in self._closed if segment not in firsts]:
            if held + self._segment_size <= self._limit:
                return
            held -= segment.size
            self._remove(segment)

    def _remove(self, segment: Segment) -> None:
        path = os.path.join(self._folder, f"{segment.stream}.{segment.start:020d}")
        end = segment.start + _size(path + ".log")
        _unlink(path)
        self._closed.remove(segment)
        self._dropped(Drop(segment.stream, segment.start, end, "limit"))

    def _adopt(self) -> None:
        """Take over the segments of earlier attempts; the streams go on where those ended."""
        found = []
        for name in os.listdir(self._folder):
            stream, _, rest = name.partition(".")
            if stream in STREAMS and rest.endswith(".log") and rest[:-4].isdigit():
                found.append((stream, int(rest[:-4]), os.path.join(self._folder, name[:-4])))
        found.sort(key=lambda item: (_modified(item[2] + ".log"), item[1]))
        for stream in STREAMS:
            ends = [start + _size(path + ".log") for name, start, path in found if name == stream]
            self._streams[stream] = Stream(stream, max(ends, default=0))
        for stream, start, path in found:
            if _size(path + ".log"):
                self._closed.append(Segment(stream, start, _size(path + ".log") + _size(path + ".idx")))
            else:
                _unlink(path)  # its launcher was killed before the first byte; its name may be needed again


def _unlink(path: str) -> None:
    for suffix in (".log", ".idx"):
        try:
            os.unlink(path + suffix)
        except OSError:
            pass  # somebody tidied up; what counts is that it is gone


def _start(segment: Segment) -> int:
    return segment.start


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0  # not there: nothing held


def _modified(path: str) -> int:
    return os.stat(path).st_mtime_ns
