"""Bytes into lines: pure functions, shared by reading forwards and backwards, so both see the same pieces.

A line ends at a newline. A line over 64 KiB is cut where the stream's offset is a multiple of nearly 64 KiB,
not counted from the line's own start: a reader coming from the end finds the same cuts without knowing it.
"""

from __future__ import annotations

PIECE = 64 * 1024
GRID = PIECE - 4  # a cut moves back by up to three bytes, and no piece may be over 64 KiB for that

Piece = tuple[int, int, bytes, bool]  # first byte, byte after the last (newline included), text, more follows


def cut(data: bytes, base: int, *, head_long: bool = False, tail_long: bool = False, more: bool = False) -> list[Piece]:
    """The lines in `data`, whose first byte is byte `base` of the stream.

    `head_long`: the first line began earlier and is known to be long; `tail_long`: the last one, which has no
    newline, is part of a long line; `more`: that last one goes on after the end of `data`.
    """
    lines = data.split(b"\n")
    tail = lines.pop()
    if head_long or tail_long or len(tail) > PIECE or (lines and max(map(len, lines)) > PIECE):
        return _cut_long(lines, tail, base, head_long, tail_long, more)
    pieces: list[Piece] = []
    for raw in lines:
        end = base + len(raw) + 1
        pieces.append((base, end, raw, False))
        base = end
    if tail:
        pieces.append((base, base + len(tail), tail, more))
    return pieces


def _cut_long(lines: list[bytes], tail: bytes, base: int, head_long: bool, tail_long: bool, more: bool) -> list[Piece]:
    pieces: list[Piece] = []
    for raw in lines:
        pieces += _grid(raw, base, len(raw) > PIECE or head_long, 1, False)
        base += len(raw) + 1
        head_long = False
    if tail:
        pieces += _grid(tail, base, len(tail) > PIECE or head_long or tail_long, 0, more)
    return pieces


def _grid(raw: bytes, base: int, long: bool, newline: int, more: bool) -> list[Piece]:
    """One line, in pieces when it is `long`."""
    pieces: list[Piece] = []
    start, stop = base, base + len(raw)
    for place in cuts(raw, base) if long else []:
        pieces.append((start, place, raw[start - base : place - base], True))
        start = place
    pieces.append((start, stop + newline, raw[start - base :], more))
    return pieces


def cuts(raw: bytes, base: int) -> list[int]:
    """Where a long line's content is cut, in offsets of the stream, inside of `raw` only."""
    first = (base // GRID + 1) * GRID
    places = (_whole_character(raw, base, nominal) for nominal in range(first, base + len(raw), GRID))
    return [place for place in places if place > base]


def _whole_character(raw: bytes, base: int, nominal: int) -> int:
    """The cut at `nominal`, moved back by up to three bytes when it would split a UTF-8 character."""
    place = nominal - base
    if raw[place] & 0xC0 != 0x80:
        return nominal
    for back in range(1, min(3, place) + 1):
        if raw[place - back] & 0xC0 != 0x80:
            return nominal - back if character_length(raw[place - back]) > back else nominal
    return nominal


def character_length(lead: int) -> int:
    """How many bytes a UTF-8 character that begins with this byte has; 0 for no leading byte."""
    if lead < 0x80:
        return 1
    for length, mask, mark in ((2, 0xE0, 0xC0), (3, 0xF0, 0xE0), (4, 0xF8, 0xF0)):
        if lead & mask == mark:
            return length
    return 0


def unfinished(tail: bytes) -> int:
    """How many bytes at the end of an open line wait for their rest: half a character, or half a CRLF."""
    if tail.endswith(b"\r"):
        return 1
    for back in range(1, min(3, len(tail)) + 1):
        if tail[-back] & 0xC0 != 0x80:
            return back if character_length(tail[-back]) > back else 0
    return 0
