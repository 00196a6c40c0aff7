"""One reader of a node's log: which frame comes next. Knows nothing of HTTP; `port.py` tells what frames there are."""

import contextlib
import json
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from .cursor import Cursor
from .node import Node
from .octets import to_bytes
from .segments import STREAMS

Positions = Mapping[Tuple[int, str], int]


class LogStream:
    """The frames for one reader, made when it has room for them, in the order of their times."""

    def __init__(self, node: Node, log_id: str, positions: Positions) -> None:
        self._node = node
        self._cursors: Dict[Tuple[int, str], Cursor] = {}
        for rank in node.numbers:
            for stream in STREAMS:
                folder = os.path.join(node.folder, "log", str(rank))
                position = positions.get((rank, stream), 0)
                self._cursors[(rank, stream)] = Cursor(folder, rank, stream, position, _Losses(node, rank, stream))
        self._first: Optional[Dict[str, Any]] = {"type": "log", "id": log_id, "node": node.index}
        self._current: Optional[Cursor] = None
        self._current_until = 0.0
        self._told_of = -1
        self._environments: Dict[int, Dict[str, str]] = {}
        self._summary_told = False
        self._npu_log_told = False
        self._looks_told = 0
        self._caught_up = False

    def stir(self, rank: int, stream: str) -> None:
        """There is more of this stream, or less than there was."""
        self._cursors[(rank, stream)].stirred = True
        self._current = None

    def next(self, version: int, over: bool) -> Optional[List[bytes]]:
        """The parts of the next frame, or None when there is none now. Raises `OSError` when the log cannot be read.

        `version` counts the changes of what is not log; `over` says that nothing will come after what is there.
        """
        if self._first is not None:
            first, self._first = self._first, None
            return _frame(first)
        if self._told_of != version:
            self._told_of = version
            for cursor in self._cursors.values():
                cursor.stirred = True  # what changed may be what was lost
            self._current = None
            return [part for document in self._news() for part in _frame(document)]
        frame = self._piece()
        if frame is not None:
            self._caught_up = False
            return frame
        if not self._caught_up:
            self._caught_up = True
            return _frame({"type": "caught-up"}) + (_frame({"type": "end"}) if over else [])
        return None

    def sign_of_life(self) -> List[bytes]:
        """A frame for a reader that has had everything for a while; nothing for one that has not."""
        behind = not self._caught_up or any(cursor.stirred for cursor in self._cursors.values())
        return [] if behind else _frame({"type": "caught-up"})

    def reopen(self) -> None:
        """Say once more that all was sent, since more is known now."""
        self._caught_up = False

    def close(self) -> None:
        """Hold no file open."""
        for cursor in self._cursors.values():
            cursor.close()

    def _news(self) -> Iterator[Dict[str, Any]]:
        watch = self._node.status.watch
        if watch is not None and watch.version != self._looks_told:
            self._looks_told = watch.version
            yield {"type": "usage", **watch.past()}  # first: whoever reads of it in the status finds the past, too
        yield {"type": "status", **self._node.status.document()}
        for one in self._node.prepared if self._node.status.ranks else []:
            if self._environments.get(one.seat.rank) != one.exported:
                self._environments[one.seat.rank] = one.exported
                yield {"type": "environment", "rank": one.seat.rank, "variables": readable(one.exported)}
        if self._node.summary is not None and not self._summary_told:
            self._summary_told = True
            yield {"type": "summary", **self._node.summary}
        if self._node.npu_log is not None and not self._npu_log_told:
            self._npu_log_told = True
            yield {"type": "npulog", **self._node.npu_log}

    def _piece(self) -> Optional[List[bytes]]:
        """The oldest piece that was not sent yet, of whichever stream."""
        cursor = self._oldest()
        if cursor is None:
            return None
        gap = cursor.gap
        if gap is None:
            return cursor.take()
        reason = _Losses(self._node, cursor.rank, cursor.stream).reason(gap.start, gap.end)
        cursor.take()
        return _frame({
            "type": "drop", "rank": cursor.rank, "stream": cursor.stream,
            "from": gap.start, "to": gap.end, "reason": reason,
        })  # fmt: skip

    def _oldest(self) -> Optional[Cursor]:
        """Whose next piece is the oldest: the same as before until it is past the next one of the others."""
        if self._current is not None:
            time = self._current.look()
            if time is not None and time <= self._current_until:
                return self._current
        times = [(cursor.look(), cursor) for cursor in self._cursors.values()]
        found = sorted(((time, cursor) for time, cursor in times if time is not None), key=lambda pair: pair[0])
        self._current = found[0][1] if found else None
        self._current_until = found[1][0] if len(found) > 1 else float("inf")
        return self._current


class _Losses:
    """What the node's status says was dropped of one stream."""

    def __init__(self, node: Node, rank: int, stream: str) -> None:
        self._node = node
        self._rank = rank
        self._stream = stream

    def __call__(self, position: int) -> int:
        return max((drop["to"] for drop in self._drops() if drop["from"] <= position), default=0)

    def reason(self, start: int, end: int) -> str:
        """Why bytes between `start` and `end` are missing."""
        found = (str(drop["reason"]) for drop in self._drops() if drop["from"] < end and drop["to"] > start)
        return next(found, "unknown")

    def _drops(self) -> List[Dict[str, Any]]:
        drops = self._node.status.drops
        return [drop for drop in drops if drop["rank"] == self._rank and drop["stream"] == self._stream]


def readable(variables: Mapping[str, str]) -> Dict[str, str]:
    """`variables` with U+FFFD for bytes that are not UTF-8."""
    return {name: to_bytes(value).decode("utf-8", "replace") for name, value in variables.items()}


def log_id(folder: str) -> str:
    """The name of the log in `folder`, made with it: whoever finds it again may go on where they were. On a full disk
    it lasts as long as this launcher: the log can be read all the same."""
    path = os.path.join(folder, "log.id")
    try:
        with open(path) as file:
            known = file.read().strip()
    except OSError:
        known = ""
    if len(known) != 16:
        known = os.urandom(8).hex()
        with contextlib.suppress(OSError), open(path, "w") as file:
            file.write(known + "\n")
    return known


def line(document: Dict[str, Any]) -> bytes:
    """One line of JSON in UTF-8, whatever the texts in it stand for."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _frame(document: Dict[str, Any]) -> List[bytes]:
    return [line(document)]
