"""The bytes of one rank's one stream, over its segments, with the times of their chunks."""

from __future__ import annotations

from bisect import bisect_right

from . import index
from .index import Record
from .segments import STREAMS, Place, Vanished, size_in

_FAR = 16  # how many segments without an index are passed to find an older time


class Stream:
    """Bytes by offset. Segments come and go below it: what is missing reads as nothing."""

    def __init__(self, node: int, rank: int, stream: str, place: Place) -> None:
        self.node, self.rank, self.stream, self.place = node, rank, stream, place
        # One number for node and stream: with the rank it names the stream in cursors and orders equal times.
        self.lane = 2 * node + STREAMS.index(stream)
        self.starts: list[int] = []
        self.end = 0
        self._sizes: dict[int, int] = {}
        self._first: dict[int, int] = {}
        self._newest = (-1, 0)  # for which end it was found, and what
        self.open_line = (-1, -1)  # `Track.open_line` keeps its answer here, for which end and what

    @property
    def key(self) -> tuple[int, int]:
        """What names this stream inside a run."""
        return self.rank, self.lane

    def refresh(self, folder: int, starts: list[int]) -> None:
        """Take the segments there are now, and fix `end` as the newest byte that this look will show.

        `folder` is the opened `place`: with many ranks, opening it once for all is what makes a look cheap.
        """
        if starts != self.starts:
            self.starts = list(starts)
            self._sizes = {start: size for start, size in self._sizes.items() if start in starts[:-1]}
        while self.starts:
            start = self.starts[-1]
            try:
                self.end = start + size_in(folder, f"{self.stream}.{start:020d}.log")
                return
            except Vanished as error:
                self.place.note(error, *self.place.parts)
                self.starts.pop()
        self.end = 0

    def segment_end(self, number: int) -> int:
        """The byte after a segment's last one; the segment is forgotten when its file is gone."""
        start = self.starts[number]
        if number == len(self.starts) - 1:
            return self.end
        if start not in self._sizes:
            try:
                self._sizes[start] = self.place.size(f"{self.stream}.{start:020d}.log")
            except Vanished:
                self._sizes[start] = 0
        return min(start + self._sizes[start], self.starts[number + 1])

    def _number(self, position: int) -> int:
        """Which segment begins at or before this byte; -1 before the first."""
        return bisect_right(self.starts, position) - 1

    def read(self, position: int, size: int) -> bytes:
        """Up to `size` bytes from here; fewer only at a gap or at the end."""
        parts: list[bytes] = []
        number = self._number(position)
        while size > 0 and 0 <= number < len(self.starts) and self.starts[number] <= position:
            stop = self.segment_end(number)
            if position < stop:
                part = self._part(number, position, min(size, stop - position))
                parts.append(part)
                position += len(part)
                size -= len(part)
                if not part:
                    break
            else:
                number += 1
        return b"".join(parts)

    def read_back(self, position: int, size: int) -> bytes:
        """Up to `size` bytes that end here; fewer only at a gap or at the beginning."""
        parts: list[bytes] = []
        number = self._number(position - 1)
        while size > 0 and number >= 0 and self.segment_end(number) >= position > self.starts[number]:
            low = max(self.starts[number], position - size)
            part = self._part(number, low, position - low)
            if len(part) < position - low:
                break
            parts.append(part)
            size -= len(part)
            position = low
            number = self._number(position - 1)
        return b"".join(reversed(parts))

    def _part(self, number: int, position: int, size: int) -> bytes:
        start = self.starts[number]
        try:
            data = self.place.read(f"{self.stream}.{start:020d}.log", position - start, size)
        except Vanished:
            data = b""
        if len(data) < size:
            self._shrink(number, 0 if not data else position - start + len(data))
        return data

    def _shrink(self, number: int, size: int) -> None:
        """A segment has fewer bytes than it had: removed by the limit, or cut by somebody."""
        if number == len(self.starts) - 1:
            self.end = self.starts[number] + size
        else:
            self._sizes[self.starts[number]] = size

    def next_start(self, position: int) -> int | None:
        """Where bytes begin again after the gap that `position` is in."""
        for start in self.starts[bisect_right(self.starts, position) :]:
            if self.segment_end(self._number(start)) > start:
                return start
        return None

    def gap_start(self, position: int) -> int:
        """Where the bytes before the gap that ends at `position` end; 0 when there are none."""
        for number in range(self._number(position - 1), -1, -1):
            stop = self.segment_end(number)
            if self.starts[number] < stop <= position:
                return stop
        return 0

    def _index(self, number: int) -> str:
        return f"{self.stream}.{self.starts[number]:020d}.idx"

    def stamps(self, low: int, high: int) -> list[Record]:
        """The chunks of the bytes from `low` to `high`, by offset, the first at or before `low`."""
        first = max(0, self._number(low))
        found: list[Record] = []
        for number in range(first, len(self.starts)):
            if self.starts[number] >= high:
                break
            found += index.covering(self.place, self._index(number), max(low, self.starts[number]), high)
        chunks: list[Record] = []
        for record in found:
            while chunks and chunks[-1][0] >= record[0]:
                chunks.pop()
            chunks.append(record)
        if not chunks or chunks[0][0] > low:
            chunks.insert(0, (low, self._inherited(first)))
        return chunks

    def _inherited(self, number: int) -> int:
        """The newest time known before this segment; 0 (unknown) when there is none near."""
        for earlier in range(number - 1, max(-1, number - 1 - _FAR), -1):
            record = index.last_record(self.place, self._index(earlier))
            if record:
                return record[1]
        return 0

    def time_at(self, position: int) -> int:
        """When the chunk with this byte came."""
        return self.stamps(position, position + 1)[0][1]

    def newest(self) -> int:
        """When the newest chunk came; 0 when there is none."""
        if self._newest[0] != self.end:
            self._newest = (self.end, self._find_newest())
        return self._newest[1]

    def _find_newest(self) -> int:
        for number in range(len(self.starts) - 1, max(-1, len(self.starts) - 1 - _FAR), -1):
            record = index.last_record(self.place, self._index(number))
            if record:
                return record[1]
        return 0

    def chunk_since(self, moment: int) -> Record | None:
        """The first chunk that is not older than `moment`."""
        low, high = -1, len(self.starts)
        # The wanted moment is nearly always in the newest segment, so that one is asked first.
        probe = high - 1
        while high - low > 1:
            if self._first_time(probe) < moment:
                low = probe
            else:
                high = probe
            probe = (low + high) // 2
        found = index.find_since(self.place, self._index(low), moment) if low >= 0 else None
        if found is None and high < len(self.starts):
            return self.starts[high], self._first_time(high)
        return found

    def _first_time(self, number: int) -> int:
        start = self.starts[number]
        if start not in self._first:
            record = index.first_record(self.place, self._index(number))
            if record is None:
                return self._inherited(number)
            self._first[start] = record[1]
        return self._first[start]
