"""Which lines of the kubelet's log are new to a rank's log that is held already.

The kubelet has lines, not offsets; it forgets the older ones, mixes stdout with stderr, and its times are those at
which the container runtime saw a line: never before the launcher did, usually some milliseconds later. So the place
where its log joins ours is found by the lines themselves, with the times to choose among equal ones. Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

LOOK = 16  # lines that must agree before a place is believed
AHEAD = 64  # lines that one side may lack
SOON = 1_000_000_000  # ns; no kubelet fills and rotates a file in less
_TRIES = 1000
COMPARED = 64 * 1024  # of a longer line the beginning decides


class HeldLine(Struct, frozen=True):
    """A line we hold; one without its newline is `open`."""

    t: int
    text: bytes
    open: bool = False


class Line(Struct, frozen=True):
    """A line of the kubelet's, with its newline; a very long one comes in parts, numbered from 0."""

    t: int
    text: bytes
    part: int = 0


class New(Struct, frozen=True):
    """Bytes to append to a stream."""

    stream: str
    t: int
    data: bytes


class Rejoin:
    """Fed with one rank's lines from the kubelet in order; gives those that are not held.

    Ours are the newest lines of stdout and stderr; `cut` is a time up to which everything is held, older than the
    lines given (0: they are all there are). `is_part`: the kubelet was not asked from the beginning. `lost` tells
    that lines may be missing between ours and the kubelet's.
    """

    def __init__(
        self, stdout: Sequence[HeldLine], stderr: Sequence[HeldLine], cut: int = 0, is_part: bool = False
    ) -> None:
        self._held = {"stdout": stdout, "stderr": stderr}
        self._places = {"stdout": 0, "stderr": 0}
        self._cut, self._is_part = cut, is_part
        self._waiting: list[Line] = []
        self._joined = not (stdout or stderr)
        self._newest = max([lines[-1].t for lines in self._held.values() if lines], default=0)
        self._is_found = self._joined
        self.lost = False
        self.was_new = True  # whether the last line given was: the other parts of a very long one go with it

    @property
    def is_met(self) -> bool:
        """Whether our last lines are among the kubelet's: then nothing is missing between the two."""
        return self._is_found and self._is_over()

    def feed(self, line: Line) -> list[New]:
        """What is new by this line; lines are kept back until the place is found."""
        if self._joined:
            return self._sort(line)
        if line.t > self._cut or not self._cut:
            self._waiting.append(line)
        return self.flush() if len(self._waiting) >= LOOK else []

    def flush(self) -> list[New]:
        """Decide with the lines there are: no more may come for long."""
        if self._joined or not self._waiting:
            return []
        waiting, self._waiting, self._joined = self._waiting, [], True
        self._is_found = self._join(waiting)
        if not self._is_found:
            self.lost = waiting[0].t > self._newest
            waiting = [line for line in waiting if line.t > self._newest]
            self._places = {stream: len(lines) for stream, lines in self._held.items()}
        return [new for line in waiting for new in self._sort(line)]

    def _join(self, lines: list[Line]) -> bool:
        """Set the places to where the kubelet's first line is in ours: at our first, or where most lines agree."""
        best, chosen = 0, {"stdout": 0, "stderr": 0}
        for places in [] if self._has_beginning(lines[0]) else self._candidates(lines[0]):
            agreeing = self._agreeing(places, lines)
            if agreeing > best:
                best, chosen = agreeing, places
            if agreeing == len(lines):
                break
        self._places = dict(chosen)
        return self._has_beginning(lines[0]) or 2 * best > len(lines)

    def _has_beginning(self, first: Line) -> bool:
        """Whether the kubelet's first line comes too soon after our first for it to have forgotten any."""
        oldest = min(lines[0].t for lines in self._held.values() if lines)
        return not self._cut and not self._is_part and first.t - oldest < SOON

    def _agreeing(self, places: dict[str, int], lines: list[Line]) -> int:
        """How many lines agree with ours from `places` on; those after our last one do."""
        self._places = dict(places)
        found = [self._advance(line) is not None or self._is_over() for line in lines]
        return sum(found) if self._places != places else 0

    def _is_over(self) -> bool:
        return all(self._places[stream] >= len(lines) for stream, lines in self._held.items())

    def _candidates(self, first: Line) -> list[dict[str, int]]:
        """Places of lines like the first one that are not younger than it, the nearest in time first."""
        found: list[tuple[int, int, str]] = []
        for stream, lines in self._held.items():
            found += [(-line.t, n, stream) for n, line in enumerate(lines) if _same(line, first) and line.t <= first.t]
        return [self._places_at(stream, number) for _, number, stream in sorted(found)[:_TRIES]]

    def _places_at(self, stream: str, number: int) -> dict[str, int]:
        other = "stderr" if stream == "stdout" else "stdout"
        t = self._held[stream][number].t
        return {stream: number, other: bisect_left(self._held[other], t, key=lambda line: line.t)}

    def _sort(self, line: Line) -> list[New]:
        new = self._advance(line)
        if new is None:
            # Not found among ours: after them, or else of a time of which we have everything.
            known = not self._is_past() and line.t <= self._newest
            new = New("stdout", line.t, b"" if known else line.text)
        self.was_new = bool(new.data)
        return [new] if new.data else []

    def _is_past(self) -> bool:
        """Whether a line that is none of the next ones may come after all that is held of its stream."""
        return any(self._places[stream] >= len(lines) for stream, lines in self._held.items())

    def _advance(self, line: Line) -> New | None:
        """Pass the held line that this one is; what it has beyond that one is new. None when there is none."""
        nearest: tuple[int, int, str] | None = None
        for stream, lines in self._held.items():
            place = self._places[stream]
            for ahead, held in enumerate(lines[place : place + AHEAD]):
                if _same(held, line):
                    nearest = min(nearest or (AHEAD, 0, ""), (ahead, held.t, stream))
                    break
        if nearest is None:
            return None
        ahead, _, stream = nearest
        held = self._held[stream][self._places[stream] + ahead]
        self._places[stream] += ahead + 1
        return New(stream, line.t, line.text[len(held.text) :] if held.open else b"")


def _same(held: HeldLine, line: Line) -> bool:
    if held.open:
        return line.text.startswith(held.text)
    return held.text[:COMPARED] == line.text[:COMPARED]
