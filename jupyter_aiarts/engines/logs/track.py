"""One stream as lines, forwards and backwards, reading only the blocks that are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jupyter_aiarts.errors import Abandoned

from .cut import PIECE, Piece, cut, cuts, unfinished
from .search import Grep, Stop
from .stream import Stream

FIRST = 16 * 1024  # the first block of a page is small: most pages need no more of most ranks
BLOCK = 256 * 1024  # holds at least three pieces, so a block without a newline has a cut in it

PLAIN, MORE, GAP = 0, 1, 2

# Time, rank, lane, first byte, byte after the last, bytes, kind. The first four order the merged log.
Item = tuple[int, int, int, int, int, bytes, int]

Sentence = Callable[[Stream, int, int], str]


class Track:
    """The lines of one stream. `sentence` words a gap; `stop` ends a long search; `grep` selects lines."""

    def __init__(self, stream: Stream, sentence: Sentence, grep: Grep | None = None, stop: Stop | None = None) -> None:
        self.stream, self.grep = stream, grep
        self._sentence, self._stop = sentence, stop
        self._first = BLOCK if grep else FIRST
        self.lost_to = 0  # bytes after the newest segment that are known to be lost end here
        self.floor = 0  # a gap found by a reader that is already further is not older than what it has seen

    def forward(self, position: int, end: int, more: bool = False) -> Iterator[Item]:
        """Lines from `position` up to `end`; `more`: a last line without newline goes on after `end`."""
        size = self._first
        long = position < end and self.inside_long(position)
        while position < end:
            self._check()
            wanted = min(size, end - position)
            data = self.stream.read(position, wanted)
            if not data:
                after = self.stream.next_start(position)
                if after is None or after >= end:
                    yield from self._gap(position, self.lost_to if end == self.lost_to else 0)
                    return
                yield from self._gap(position, after)
                position, long = after, False
                continue
            last = len(data) < wanted or position + wanted >= end
            taken = data if last else _whole_lines(data, position, size)
            if taken:
                open_end = more and position + len(data) >= end
                yield from self._items(taken, position, head_long=long, more=open_end or not last)
                long = not taken.endswith(b"\n")
            position += len(taken)
            size = min(4 * size, BLOCK)

    def backward(self, position: int, more: bool = False) -> Iterator[Item]:
        """Lines before `position`, the newest first; `more`: the one that ends there goes on after it."""
        size, carry, long = self._first, b"", False
        while position > 0 or carry:
            self._check()
            block = self.stream.read_back(position, size)
            data = block + carry
            low = position - len(block)
            if not block:  # a gap, or the very beginning: what is in hand is a whole line
                yield from reversed(self._items(data, low, tail_long=long, more=more))
                carry, long, more = b"", False, False
                position = self.stream.gap_start(low)
                yield from self._gap(position, low)
                continue
            start = _first_known_start(data, low)
            if start > 0:
                inside = data[start - 1] != 10
                yield from reversed(self._items(data[start:], low + start, head_long=inside, tail_long=long, more=more))
                long = more = inside
                data = data[:start]
            position, carry = low, data
            size = min(4 * size, BLOCK)

    def _check(self) -> None:
        if self._stop is not None and self._stop():
            raise Abandoned

    def _items(
        self, data: bytes, base: int, *, head_long: bool = False, tail_long: bool = False, more: bool = False
    ) -> list[Item]:
        chosen = cut if self.grep is None else self.grep.pieces
        pieces = chosen(data, base, head_long=head_long, tail_long=tail_long, more=more)
        return self._stamped(pieces) if pieces else []

    def _stamped(self, pieces: list[Piece]) -> list[Item]:
        """Each piece with the time of the chunk that brought its first byte."""
        rank, lane = self.stream.key
        chunks = self.stream.stamps(pieces[0][0], pieces[-1][0] + 1)
        if len(chunks) == 1:
            time = chunks[0][1]
            return [(time, rank, lane, start, end, raw, int(more)) for start, end, raw, more in pieces]
        chunks.reverse()
        items: list[Item] = []
        time = chunks.pop()[1]
        for start, end, raw, more in pieces:
            while chunks and chunks[-1][0] <= start:
                time = chunks.pop()[1]
            items.append((time, rank, lane, start, end, raw, int(more)))
        return items

    def _gap(self, start: int, end: int) -> Iterator[Item]:
        """The mark for missing bytes; none in a search, and none where nothing has come after them yet.

        Its time is that of the last byte before them: that one stays while the limit removes more.
        """
        known = end < self.stream.end or end == self.lost_to
        if self.grep is None and start < end and known:
            text = self._sentence(self.stream, start, end).encode()
            time = self.stream.time_at(start - 1) if start else 0
            yield (max(time, self.floor), *self.stream.key, start, end, text, GAP)

    def inside_long(self, position: int) -> bool:
        """Is this the middle of a line over 64 KiB?"""
        if self.stream.read_back(position, 1) in (b"", b"\n"):
            return False
        back = self.stream.read_back(position, PIECE + 1)
        newline = back.rfind(b"\n")
        if newline < 0 and len(back) > PIECE:
            return True
        rest = PIECE + 1 - (len(back) - newline - 1)
        ahead = self.stream.read(position, rest)
        return len(ahead) == rest and b"\n" not in ahead

    def next_line(self, position: int) -> int:
        """The first place at or after `position` where a line, or a piece of a long one, begins."""
        before = self.stream.read_back(position, 4)
        if not before or before.endswith(b"\n"):
            return position
        ahead = self.stream.read(position, 2 * PIECE + 4)
        newline = ahead.find(b"\n")
        after = position + (newline + 1 if newline >= 0 else len(ahead))
        if not self.inside_long(position):
            return after
        content = before + (ahead if newline < 0 else ahead[:newline])
        places = [place for place in cuts(content, position - len(before)) if place >= position]
        return min([*places, after])

    def since(self, moment: int) -> int:
        """Where the lines that are not older than `moment` begin."""
        chunk = self.stream.chunk_since(moment)
        if chunk is None:
            return max(self.stream.end, self.lost_to)
        return min(self.next_line(min(chunk[0], self.stream.end)), self.stream.end)

    def open_line(self, end: int) -> int | None:
        """Where the unfinished line (or last piece) up to `end` begins; None when all is whole."""
        if self.stream.open_line[0] != end:
            self.stream.open_line = (end, self._find_open_line(end))
        start = self.stream.open_line[1]
        return None if start < 0 else start

    def _find_open_line(self, end: int) -> int:
        back = self.stream.read_back(end, 1024)
        if not back or back.endswith(b"\n"):
            return -1
        if b"\n" not in back:
            back = self.stream.read_back(end, 2 * PIECE)
        start = back.rfind(b"\n") + 1
        base = end - len(back) + start
        if len(back) - start <= PIECE and not (start == 0 and self.inside_long(base)):
            return base
        return ([base, *cuts(back[start:], base)])[-1]

    def finished(self, end: int) -> int:
        """`end` without half a character or half a line end, which wait for their rest."""
        return end - unfinished(self.stream.read_back(end, 3))


def _whole_lines(data: bytes, base: int, size: int) -> bytes:
    """The part of a block that ends with a line or a piece; nothing when a larger block is needed."""
    newline = data.rfind(b"\n") + 1
    if newline or size < BLOCK:
        return data[:newline]
    return data[: cuts(data, base)[-1] - base]


def _first_known_start(data: bytes, base: int) -> int:
    """The first place inside `data` where a line or a piece surely begins; 0 when there is none."""
    newline = data.find(b"\n", 0, len(data) - 1) + 1
    content = len(data) - data.endswith(b"\n")
    if newline or content <= PIECE:
        return newline
    # Four bytes are kept back, so that the character at the cut can be seen whole.
    return next((place - base for place in cuts(data[:content], base) if place >= base + 4), 0)
