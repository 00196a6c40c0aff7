"""What a reader asks for, and the cursors it goes on with."""

from __future__ import annotations

import re

from msgspec import Struct

from jupyter_aiarts.errors import BadRequest

from .segments import STREAMS

DEFAULT_LINES = 1000
MAX_LINES = 100_000

_MAX_CURSOR = 32 * 1024
MOST_PINS = 700
"""A cursor with more would be too long; without them it goes by time alone."""
_NUMBER = r"[0-9a-f]{1,16}"
_PLACE = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
_SEQ = re.compile(rf"({_PLACE}\.{_NUMBER}\.{_NUMBER})((?:_{_PLACE})*)(-?)(?:~({_PLACE}\.{_NUMBER}))?")

StreamKey = tuple[int, int]  # rank, lane
Key = tuple[int, int, int, int]  # time, rank, lane, offset: the order of the merged log


class LogQuery(Struct, frozen=True, kw_only=True):
    """Which lines: the last `tail` ones, or `limit` ones before or after a cursor.

    With both cursors: the first `limit` lines between them. `grep` selects before anything is counted,
    `fold` folds what was found, so it never changes which lines a page covers.
    """

    rank: int | None = None
    stream: str | None = None
    grep: str | None = None
    tail: int | None = None
    before: str | None = None
    after: str | None = None
    limit: int = DEFAULT_LINES
    fold: bool = False

    def __post_init__(self) -> None:
        if self.rank is not None and not 0 <= self.rank < 10_000_000:
            raise BadRequest(f"rank must be 0 or more, not {self.rank}.")
        if self.stream is not None and self.stream not in STREAMS:
            raise BadRequest(f"stream must be stdout or stderr, not {self.stream!r}.")
        if self.tail is not None and not 0 <= self.tail <= MAX_LINES:
            raise BadRequest(f"tail must be from 0 to {MAX_LINES}, not {self.tail}.")
        if not 1 <= self.limit <= MAX_LINES:
            raise BadRequest(f"limit must be from 1 to {MAX_LINES}, not {self.limit}.")

    @property
    def count(self) -> int:
        """How many lines the answer has at most."""
        if self.before is not None or self.after is not None:
            return self.limit
        return DEFAULT_LINES if self.tail is None else self.tail


class Cursor(Struct, frozen=True):
    """A line's `seq`, read.

    `pins` are the streams whose place isn't told by the time alone: when the line was shown they stood in the
    middle of an unfinished line. `whole`: all streams that there were are pinned, because what a slower node delivers
    later may be older than the line. `first` is where an answer begins whose first lines were folded.
    """

    time: int
    stream: StreamKey
    start: int
    end: int
    pins: dict[StreamKey, int]
    first: Key | None = None
    whole: bool = False

    @property
    def begin(self) -> Key:
        """Everything before this key is before the cursor."""
        return self.first or (self.time, *self.stream, self.start)


def write_seq(time: int, rank: int, lane: int, start: int, end: int, pins: str) -> str:
    """A line's cursor; characters that need no quoting in a URL. `pins` comes from `write_pins`."""
    return f"{write_source(time, rank, lane)}{start:x}.{end - start:x}{pins}"


def write_source(time: int, rank: int, lane: int) -> str:
    """The part of a cursor that lines of one chunk share."""
    return f"{time:x}.{rank:x}.{lane:x}."


def write_pins(pins: dict[StreamKey, int]) -> str:
    """The part of a cursor that `Cursor.pins` is read from."""
    return "".join(f"_{rank:x}.{lane:x}.{place:x}" for (rank, lane), place in pins.items())


def pin_all(seq: str, places: dict[StreamKey, int], whole: bool) -> str:
    """The same cursor with the places of all these streams; `whole`: there is no other stream."""
    head, mark, first = seq.partition("~")
    return f"{head.partition('_')[0]}{write_pins(places)}{'-' if whole else ''}{mark}{first}"


def join_seq(first: str, last: str) -> str:
    """The cursor of a line that stands for all lines from `first` on, itself being `last`."""
    begin = first.partition("~")[2] or ".".join(re.split(r"[._~]", first)[:4])
    return f"{last.partition('~')[0]}~{begin}"


def read_seq(text: str) -> Cursor:
    """The cursor in a request; `BadRequest` for anything that wasn't given out as one."""
    match = _SEQ.fullmatch(text) if len(text) <= _MAX_CURSOR else None
    if match is None:
        raise BadRequest("This is not a cursor of a log.", "Use the seq of a line of this log.")
    time, rank, lane, start, length = _numbers(match[1])
    pins = [_numbers(pin) for pin in match[2].split("_")[1:]]
    first = _numbers(match[4]) if match[4] else None
    return Cursor(
        time=time,
        stream=(rank, lane),
        start=start,
        end=start + length,
        pins={(pin[0], pin[1]): pin[2] for pin in pins},
        first=(first[0], first[1], first[2], first[3]) if first else None,
        whole=bool(match[3]),
    )


def _numbers(text: str) -> list[int]:
    return [int(number, 16) for number in text.split(".")]
