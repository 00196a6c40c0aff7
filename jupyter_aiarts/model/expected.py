"""When a job that waits may start: a band with what it is based on, or nothing.

Pure. Declared time limits say when a job has ended at the latest, finished jobs how long one usually takes. Everybody
goes in order: with nobody running over and nobody with a higher priority coming, the job starts within the band. Where
neither limits nor enough finished jobs bound it, there is no band: a number that is a guess is never shown.
"""

from __future__ import annotations

import heapq
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from msgspec import Struct, field

from jupyter_aiarts.model.times import parse, text_of

FEWEST = 5  # observations below which nothing is usual
GRACE = 60.0  # seconds that ending a job and starting the next may take
NARROWEST = 60.0  # seconds: a narrower band would be a number
A_SPECK = 1e-9

Amounts = Mapping[str, float]
Basis = Literal["limits", "observed", "limits-observed", "rate"]


class Holder(Struct, frozen=True, kw_only=True):
    """Somebody who runs: what it holds, for how many seconds it has, and how many it may, where it said so."""

    holds: Amounts
    elapsed: float = 0.0
    limit: float | None = None


class Before(Struct, frozen=True, kw_only=True):
    """Somebody who waits and comes first."""

    wants: Amounts
    limit: float | None = None


class Line(Struct, frozen=True, kw_only=True):
    """All that is known of a job's turn.

    `strangers` are those ahead of it whose size nobody knows. `pooled`: whatever is free anywhere is of use, as with a
    quota; where machines or rings matter, enough in sum may still be too little in one place. `strict`: nobody passes.
    """

    wants: Amounts
    total: Amounts
    running: Sequence[Holder] = ()
    ahead: Sequence[Before] = ()
    strangers: int = 0
    durations: Sequence[float] = ()  # of finished jobs, in seconds
    admissions: Sequence[float] = ()  # seconds between one start and the next
    since_start: float = 0.0  # seconds since the last start
    pooled: bool = True
    strict: bool = True


class Band(Struct, frozen=True, kw_only=True):
    """Between which moments a job is expected to start, and the sentence that says why, by its id."""

    earliest: str
    latest: str
    basis: Basis
    values: Mapping[str, Any] = field(default_factory=dict)


def expected(line: Line, now: str) -> Band | None:
    """When this job may start, as seen at `now`; None where nothing bounds it, or nothing is in its way."""
    usual = quartiles(line.durations)
    first = _start(line, lambda one: _left_at_least(one, usual), lambda one: _least(one.limit, usual), hopeful=True)
    last = _start(line, lambda one: _left_at_most(one, usual), lambda one: _most(one.limit, usual))
    if first is None or last is None or (last == 0 and not line.strangers):
        return None
    basis: Basis = _basis(line)
    if math.isinf(last) or line.strangers:
        rate = quartiles(line.admissions)
        if rate is None:
            return None
        count = len(line.ahead) + line.strangers + 1
        # what limits and finished jobs do say still holds; those whom they do not bound count as nothing here
        known = _start(line, lambda one: _known(_left_at_most(one, usual)), lambda one: _known(_most(one.limit, usual)))
        first = max(first, rate[0] * count - line.since_start)
        last = max(known or 0.0, rate[1] * count + line.since_start)
        usual, basis = rate, "rate"
    return _band(line, now, max(first, 0.0), last, basis, usual)


def quartiles(seconds: Sequence[float]) -> tuple[float, float] | None:
    """The middle half of what was seen; None where too little was."""
    if len(seconds) < FEWEST:
        return None
    low, _, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return max(low, 0.0), max(high, 0.0)


def _band(
    line: Line, now: str, first: float, last: float, basis: Basis, usual: tuple[float, float] | None
) -> Band | None:
    last = max(last, first + NARROWEST)
    values: dict[str, Any] = {"ahead": len(line.ahead) + line.strangers, "running": len(_relevant(line))}
    if usual is not None and basis != "limits":
        seen = len(line.admissions if basis == "rate" else line.durations)
        values |= {"seen": seen, "low": round(usual[0] / 60, 1), "high": round(usual[1] / 60, 1)}
    try:
        moment = parse(now)
        earliest, latest = moment + timedelta(seconds=first), moment + timedelta(seconds=last)
    except (ValueError, OverflowError):
        return None  # a limit of a thousand years bounds nothing that anybody waits for
    return Band(earliest=text_of(earliest), latest=text_of(latest), basis=basis, values=values)


# -- how long others take ------------------------------------------------------------------------------------------


def _least(limit: float | None, usual: tuple[float, float] | None) -> float:
    """How long a job takes at least, as far as anybody can say: a limit is no promise to use it up."""
    return 0.0 if usual is None else min(usual[0], math.inf if limit is None else limit)


def _most(limit: float | None, usual: tuple[float, float] | None) -> float:
    """How long it takes at most: its limit, else what is usual, else nobody knows."""
    if limit is not None:
        return limit + GRACE
    return math.inf if usual is None else usual[1]


def _left_at_least(one: Holder, usual: tuple[float, float] | None) -> float:
    return max(_least(one.limit, usual) - one.elapsed, 0.0)


def _left_at_most(one: Holder, usual: tuple[float, float] | None) -> float:
    """A limit ends it. Without one, what has run long may as well run as long again: it is not about to end because
    most have ended by now."""
    most = _most(one.limit, usual)
    if one.limit is not None:
        return max(most - one.elapsed, GRACE)
    return most if math.isinf(most) else max(most - one.elapsed, one.elapsed)


def _known(seconds: float) -> float:
    return 0.0 if math.isinf(seconds) else seconds


# -- going in order ------------------------------------------------------------------------------------------------


def _relevant(line: Line) -> list[Holder]:
    return [one for one in line.running if _shares(one.holds, line.wants)]


def _shares(some: Amounts, others: Amounts) -> bool:
    return any(amount > 0 and others.get(name, 0) > 0 for name, amount in some.items())


def _basis(line: Line) -> Basis:
    limits = [*(one.limit for one in _relevant(line)), *(one.limit for one in line.ahead)]
    if all(one is not None for one in limits):
        return "limits" if len(line.durations) < FEWEST else "limits-observed"
    return "limits-observed" if any(one is not None for one in limits) else "observed"


def _start(
    line: Line, left: Callable[[Holder], float], lasts: Callable[[Before], float], hopeful: bool = False
) -> float | None:
    """After how many seconds the job starts when everybody takes so long; None where it can never start.

    Nobody passes, so one more who is ahead never helps; hopefully seen, where jobs may pass, those ahead do not matter.
    """
    total = line.total
    if not _fits(line.wants, total):
        return None
    line_up = [] if hopeful and not line.strict else [one for one in line.ahead if _shares(one.wants, line.wants)]
    demands = [(one.wants, lasts(one)) for one in line_up if _fits(one.wants, total)]
    free = dict(total)
    ends: list[tuple[float, int, Amounts]] = []
    for number, one in enumerate(line.running):
        _change(free, one.holds, -1)
        heapq.heappush(ends, (left(one), number, one.holds))
    clock = 0.0
    for number, (wants, seconds) in enumerate([*demands, (line.wants, 0.0)], len(ends)):
        # where places matter, nothing less than everything free is surely enough
        needs = wants if line.pooled or hopeful else {name: total.get(name, 0.0) for name, n in wants.items() if n}
        while not _fits(needs, free):
            if not ends:
                return math.inf  # somebody unseen holds it
            end, _, holds = heapq.heappop(ends)
            clock = max(clock, end)
            _change(free, holds, 1)
            if math.isinf(clock):
                return math.inf
        _change(free, wants, -1)
        heapq.heappush(ends, (clock + seconds, number, wants))
    return clock


def _fits(wants: Amounts, free: Amounts) -> bool:
    return all(amount <= free.get(name, 0.0) + A_SPECK for name, amount in wants.items() if amount)


def _change(free: dict[str, float], amounts: Amounts, sign: int) -> None:
    for name, amount in amounts.items():
        free[name] = free.get(name, 0.0) + sign * amount
