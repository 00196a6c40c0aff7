"""What a launcher sends on `/v1/log`, taken apart: one JSON line per frame, and after a data frame its bytes.

Pure. A launcher runs beside the user's code, which may speak in its place: lengths, ranks, offsets and times are
checked here, and whatever cannot be right ends the connection as `Garbled`. Bytes are handed on as they come, never
collected, so a frame that promises much costs nothing.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

LARGEST_HEADER = 4 << 20  # a status may list a thousand drops
LARGEST_FRAME = 16 << 20
HIGHEST_RANK = 9_999_999  # what a reader of the log accepts as the name of a rank's folder
FAR = 1 << 60  # no stream gets so long; sums of a few of these still fit the index

_Rank = Annotated[int, Meta(ge=0, le=HIGHEST_RANK)]
_Offset = Annotated[int, Meta(ge=0, lt=FAR)]
_Moment = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
_Stream = Literal["stdout", "stderr"]


class Garbled(Exception):
    """What came is not the launcher's protocol; nothing after it can be understood."""


class Hello(Struct, frozen=True):
    """Whose log follows: `id` names the launcher's folder. Another folder begins again at byte 0."""

    id: str
    node: int


class Chunk(Struct, frozen=True):
    """Bytes of one stream, all of one time. `at` is the launcher's offset of the first."""

    rank: int
    stream: str
    at: int
    t: int
    data: bytes


class Gap(Struct, frozen=True):
    """Bytes `start` up to `end` that the launcher no longer has."""

    rank: int
    stream: str
    start: int
    end: int
    reason: str


class Told(Struct, frozen=True):
    """A document: the node's status, the run's summary, a rank's environment, the NPU driver's errors, or its past."""

    kind: str
    content: dict[str, Any]


class Mark(Enum):
    """Where the stream stands."""

    CAUGHT_UP = "caught-up"
    END = "end"


Item = Hello | Chunk | Gap | Told | Mark


class _Header(Struct):
    """A data frame's keys, and `type` of the others: decoded once, since there may be one per line printed."""

    type: str = ""
    rank: _Rank = -1
    stream: Literal["", "stdout", "stderr"] = ""
    at: _Offset = -1
    t: _Moment = -1
    n: Annotated[int, Meta(ge=1, le=LARGEST_FRAME)] = 0


class _Log(Struct):
    id: Annotated[str, Meta(pattern=r"^[0-9A-Za-z_-]{1,64}\Z")]
    node: int


class _Drop(Struct):
    rank: _Rank
    stream: _Stream
    start: _Offset = field(name="from")
    end: _Offset = field(name="to")
    reason: str = ""


_header = msgspec.json.Decoder(_Header)
_log = msgspec.json.Decoder(_Log)
_drop = msgspec.json.Decoder(_Drop)
_document = msgspec.json.Decoder(dict[str, Any])


class FrameReader:
    """Gives the items of a byte stream that comes in pieces of any size."""

    def __init__(self) -> None:
        self._rest = b""
        self._open: _Header | None = None  # the data frame we are inside of; its `n` counts down

    def feed(self, received: bytes) -> list[Item]:
        """Everything that `received` completes; raises `Garbled`, after which this reader is of no use."""
        buffer = self._rest + received if self._rest else received
        items: list[Item] = []
        position = 0
        while position < len(buffer):
            if self._open is not None:
                position = self._take(self._open, buffer, position, items)
                continue
            newline = buffer.find(b"\n", position)
            if newline < 0:
                break
            self._header(buffer[position:newline], items)
            position = newline + 1
        self._rest = buffer[position:]
        if len(self._rest) > LARGEST_HEADER:
            raise Garbled(f"a header of more than {LARGEST_HEADER:,} bytes")
        return items

    def _take(self, frame: _Header, buffer: bytes, position: int, items: list[Item]) -> int:
        part = buffer[position : position + frame.n]
        items.append(Chunk(frame.rank, frame.stream, frame.at, frame.t, part))
        frame.at += len(part)
        frame.n -= len(part)
        if not frame.n:
            self._open = None
        return position + len(part)

    def _header(self, line: bytes, items: list[Item]) -> None:
        try:
            header = _header.decode(line)
            if header.type:
                _other(header.type, line, items)
                return
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise Garbled(f"{line[:80]!r}: {error}") from error
        if min(header.rank, header.at, header.t) < 0 or not header.n or not header.stream:
            raise Garbled(f"{line[:80]!r}: a data frame has rank, stream, at, t and n")
        self._open = header


def _other(kind: str, line: bytes, items: list[Item]) -> None:
    """A frame without bytes; of kinds that are not known yet nothing is lost by passing over them."""
    if kind in ("caught-up", "end"):
        items.append(Mark(kind))
    elif kind == "log":
        log = _log.decode(line)
        items.append(Hello(log.id, log.node))
    elif kind == "drop":
        drop = _drop.decode(line)
        if drop.end > drop.start:
            items.append(Gap(drop.rank, drop.stream, drop.start, drop.end, drop.reason[:200]))
    elif kind in ("status", "summary", "environment", "npulog", "usage"):
        content = _document.decode(line)
        del content["type"]
        items.append(Told(kind, content))
