"""A user's pattern over log lines, with RE2: linear time whatever the pattern, and the GIL free meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable

import re2

from jupyter_aiarts.errors import BadRequest

from .cut import PIECE, Piece, cut

MAX_PATTERN = 1000

# What means something else for a whole block than for one line: ends of the text, flags, single bytes.
_PER_LINE = re.compile(r"\\[AzC]|\(\?(?!:|P?<\w+>|i\)|i:)")

Stop = Callable[[], bool]


class Grep:
    """A compiled pattern; refuses what RE2 can't do with the reason."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MAX_PATTERN:
            raise BadRequest(
                f"The pattern has {len(pattern)} characters, more than {MAX_PATTERN}.",
                "Search for a shorter part of the line.",
            )
        self._line = _compile(pattern)
        self._block = None if _PER_LINE.search(pattern) else _compile(f"(?m){pattern}")

    def matches(self, text: str) -> bool:
        """Does the line match?"""
        return self._line.search(text.encode("utf-8", "replace")) is not None

    def _matching(self, pieces: list[Piece]) -> list[Piece]:
        return [piece for piece in pieces if self.matches(shown(*piece[:3]))]

    def pieces(self, data: bytes, base: int, *, head_long: bool, tail_long: bool, more: bool) -> list[Piece]:
        """`cut`, for the matching lines alone; a block without a match costs one search."""
        if self._block is None or head_long or tail_long or not _plain(data):
            found = cut(data, base, head_long=head_long, tail_long=tail_long, more=more)
            return self._matching(found)
        pieces: list[Piece] = []
        place = 0
        while place < len(data):
            match = self._block.search(data, place)
            if match is None:
                break
            place, found = self._around(data, base, match.start(), more)
            pieces += found
        return pieces

    def _around(self, data: bytes, base: int, hit: int, more: bool) -> tuple[int, list[Piece]]:
        """The line that a match is in, and where the next one begins."""
        start = data.rfind(b"\n", 0, hit) + 1
        stop = data.find(b"\n", hit) + 1 or len(data)
        if start == len(data):  # the empty match after the last newline is no line
            return stop, []
        found = cut(data[start:stop], base + start, more=more)
        if stop - start > PIECE:
            found = self._matching(found)
        return stop, found


def shown(start: int, end: int, raw: bytes) -> str:
    """The text of a piece as users see it: without a CR that belongs to its line end, and always text."""
    if raw[-1:] == b"\r" and end - start > len(raw):
        raw = raw[:-1]
    return raw.decode("utf-8", "replace")


def _plain(data: bytes) -> bool:
    """Are the bytes of this block what users see, so that it can be searched as it is?"""
    if b"\r\n" in data:
        return False
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _compile(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.never_capture = True
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        raise BadRequest(
            f"The pattern can't be used: {_reason(error)}.",
            "Patterns are RE2's: no look-around, no back-references. Put \\ before a sign meant as itself.",
        ) from error


def _reason(error: re2.error) -> str:
    reason = error.args[0]
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
