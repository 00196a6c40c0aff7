"""The times of a segment's chunks, found by halving; an index is never read whole and never trusted.

A record is 16 bytes, little-endian: the offset of a chunk's first byte in the stream, and its time in
nanoseconds since the epoch. A torn record at the end is ignored.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from operator import itemgetter

from .segments import Place, Vanished

Record = tuple[int, int]  # offset, time

RECORD = struct.Struct("<QQ")
_NEAR = 256  # so many records are read at once when halving has come this close
_OFFSET: Callable[[Record], int] = itemgetter(0)
_TIME: Callable[[Record], int] = itemgetter(1)


def records(fd: int, first: int, count: int) -> list[Record]:
    """Records `first` to `first + count`, as many as are whole."""
    data = os.pread(fd, count * RECORD.size, first * RECORD.size)
    whole = len(data) - len(data) % RECORD.size
    return list(RECORD.iter_unpack(data[:whole]))


def count(fd: int) -> int:
    """How many whole records the file has now."""
    return os.fstat(fd).st_size // RECORD.size


def at_offset(fd: int, offset: int) -> int:
    """Which record covers this byte of the stream; -1 when all begin after it."""
    low, high = _narrow(fd, lambda record: record[0] <= offset)
    return low + bisect_right(records(fd, low, high - low), offset, key=_OFFSET) - 1


def since_time(fd: int, moment: int) -> Record | None:
    """The first record that is not older than `moment`."""
    low, high = _narrow(fd, lambda record: record[1] < moment)
    near = records(fd, low, high - low + 1)
    place = bisect_left(near, moment, key=_TIME)
    return near[place] if place < len(near) else None


def _narrow(fd: int, before: Callable[[Record], bool]) -> tuple[int, int]:
    """A range of at most `_NEAR` records that holds the border between `before` and not."""
    low, high = 0, count(fd)
    while high - low > _NEAR:
        middle = (low + high) // 2
        found = records(fd, middle, 1)
        if found and before(found[0]):
            low = middle
        else:
            high = middle
    return low, high


def covering(place: Place, name: str, low: int, high: int) -> list[Record]:
    """The records of the bytes from `low` up to `high`, the one that covers `low` first if there is one."""
    try:
        with place.file(name) as fd:
            return _collect(fd, max(0, at_offset(fd, low)), low, high)
    except Vanished:
        return []


def _collect(fd: int, first: int, low: int, high: int) -> list[Record]:
    found: list[Record] = []
    total = count(fd)
    while first < total:
        part = records(fd, first, _NEAR)
        found += part
        first += len(part)
        # A chunk has a byte at least; more records than bytes are a forgery, which ends here.
        if not part or part[-1][0] >= high or len(found) > high - low + _NEAR:
            break
    return [record for record in found if record[0] < high]


def first_record(place: Place, name: str) -> Record | None:
    """The segment's first record, if its index is there and not empty."""
    try:
        with place.file(name) as fd:
            found = records(fd, 0, 1)
    except Vanished:
        return None
    return found[0] if found else None


def last_record(place: Place, name: str) -> Record | None:
    """The segment's newest whole record."""
    try:
        with place.file(name) as fd:
            total = count(fd)
            found = records(fd, total - 1, 1) if total else []
    except Vanished:
        return None
    return found[0] if found else None


def find_since(place: Place, name: str, moment: int) -> Record | None:
    """Like `since_time`, for a file by name; nothing when it is gone."""
    try:
        with place.file(name) as fd:
            return since_time(fd, moment)
    except Vanished:
        return None
