"""Reads one stream of one rank's log from disk while it is being written: pieces with their times, gaps named.

The counterpart of `segments.py` inside the same launcher; used by the log stream of the port.
"""

import os
import struct
from bisect import bisect_right
from typing import Callable, List, NamedTuple, Optional, Tuple

LARGEST = 256 * 1024
_RECORD = struct.Struct("<QQ")
_RECORDS = 512
_HEAD = b'{"rank":%d,"stream":"%s","at":%d,"t":%d,"n":%d}\n'
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Gap(NamedTuple):
    """Bytes that are not on disk any more, or never were."""

    start: int
    end: int


class Cursor:
    """Where one reader is in one stream. `lost_to` tells how far bytes after a position were dropped, if they were."""

    def __init__(self, folder: str, rank: int, stream: str, position: int, lost_to: Callable[[int], int]) -> None:
        self.rank = rank
        self.stream = stream
        self.position = position
        self.stirred = True
        self._folder = folder
        self._lost_to = lost_to
        self._log = self._index = -1
        self._start = 0
        self._end = 0
        self._records: List[Tuple[int, int]] = []
        self._next_record = 0
        self._grown = False
        self._gap: Optional[Gap] = None

    def look(self) -> Optional[int]:
        """The time of what `take` would give, 0 for a gap; None when all that was written has been taken."""
        here = self._gap is not None or (self._log >= 0 and self.position < self._end)
        if not here and not (self.stirred and self._find()):
            self.stirred = False
            return None
        return self._time() if self._gap is None else 0

    def take(self) -> List[bytes]:
        """The next piece as the parts of a frame; only after `look` said that there is one. Raises `OSError`."""
        if self._gap is not None:
            gap, self._gap = self._gap, None
            self.position = gap.end
            return []
        size = min(LARGEST, self._end - self.position, self._chunk_end() - self.position)
        time = self._time()
        data = os.pread(self._log, size, self.position - self._start)
        if not data:
            raise OSError("a log segment became shorter")
        head = _HEAD % (self.rank, self.stream.encode("ascii"), self.position, time, len(data))
        self.position += len(data)
        return [head, data]

    @property
    def gap(self) -> Optional[Gap]:
        """The gap that `take` would pass over."""
        return self._gap

    def close(self) -> None:
        """Hold no file open."""
        for descriptor in (self._log, self._index):
            if descriptor >= 0:
                os.close(descriptor)
        self._log = self._index = -1

    def _find(self) -> bool:
        """Whether there is a byte or a gap at the position, after looking at the disk again."""
        if self._log >= 0:
            self._end = self._start + os.fstat(self._log).st_size
            if self.position < self._end:
                self._grown = True
                return True
        if self._grown and not os.path.exists(self._path(self._end) + ".log"):
            self._grown = False  # what stirred us was all in this segment: no need to list the folder
            return self._is_lost()
        starts = self._starts()
        for start in starts[max(bisect_right(starts, self.position) - 1, 0) :]:
            if self._open(start) and self.position < self._end:
                if self.position < start:
                    self._gap = Gap(self.position, start)
                self._grown = True
                return True
        return self._is_lost()

    def _is_lost(self) -> bool:
        lost = self._lost_to(self.position)
        if lost > self.position:
            self._gap = Gap(self.position, lost)
        return lost > self.position

    def _path(self, start: int) -> str:
        return os.path.join(self._folder, f"{self.stream}.{start:020d}")

    def _starts(self) -> List[int]:
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []  # the rank has not begun
        parts = [name.split(".") for name in names if name.endswith(".log")]
        return sorted(int(part[1]) for part in parts if len(part) == 3 and part[0] == self.stream and part[1].isdigit())

    def _open(self, start: int) -> bool:
        self.close()
        path = self._path(start)
        try:
            self._log = os.open(path + ".log", _FLAGS)
            self._index = os.open(path + ".idx", _FLAGS)
        except FileNotFoundError:
            self.close()
            return False  # the log's limit has just removed it
        self._start, self._end = start, start + os.fstat(self._log).st_size
        self._records, self._next_record = [], self._first_record(max(self.position, start))
        return True

    def _first_record(self, position: int) -> int:
        """The number of the record whose chunk holds `position`."""
        low, high = 0, os.fstat(self._index).st_size // _RECORD.size
        while low < high:
            middle = (low + high) // 2
            if self._read_records(middle, 1)[0][0] <= position:
                low = middle + 1
            else:
                high = middle
        return max(low - 1, 0)

    def _read_records(self, number: int, count: int) -> List[Tuple[int, int]]:
        content = os.pread(self._index, count * _RECORD.size, number * _RECORD.size)
        whole = content[: len(content) // _RECORD.size * _RECORD.size]
        return [(offset, time) for offset, time in _RECORD.iter_unpack(whole)]

    def _load(self) -> None:
        """Have the record of the position first, and the one after it where there is one."""
        while len(self._records) < 2 or self._records[1][0] <= self.position:
            if len(self._records) < 2:
                fresh = self._read_records(self._next_record, _RECORDS)
                if not fresh:
                    return
                self._next_record += len(fresh)
                self._records += fresh
            else:
                del self._records[0]

    def _time(self) -> int:
        self._load()
        return self._records[0][1] if self._records else os.fstat(self._log).st_mtime_ns

    def _chunk_end(self) -> int:
        return self._records[1][0] if len(self._records) > 1 else self._end
