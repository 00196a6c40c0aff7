"""What was seen before: every second of the last ten minutes, then a mean for each minute of a day. Bounded.

Series are arrays of single floats with NaN for unknown: eight cards and the machine are 200 KB, and stay so.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from jupyter_aiarts.model.usage import Card, Lines, Usage

SECONDS = 600
MINUTES = 1440
MOST_SERIES = 512
PUT_RIGHT = 60.0  # seconds that a clock may be set back by without a day being forgotten for it
SLACK = 60  # values more than are shown, so that old ones are forgotten together
_UNKNOWN = math.nan


class Copy(NamedTuple):
    """A part of what was seen, which nobody changes any more: made in no time, and read in any thread."""

    times: array[float]
    series: Mapping[str, array[float]]

    def lines(self) -> Lines:
        """None where a value is not known; series that never were are left out."""
        shown = {name: [_known(value) for value in series] for name, series in self.series.items()}
        known = {name: values for name, values in shown.items() if any(value is not None for value in values)}
        return Lines(times=list(self.times), series=known)


class Ring:
    """The newest values of many series at common times; a series that comes later was unknown before."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.times: array[float] = array("d")
        self._series: dict[str, array[float]] = {}

    def add(self, at: float, values: Mapping[str, float]) -> None:
        """Take note of one moment; series that are not told of are unknown at it."""
        for name in values:
            if name not in self._series and len(self._series) < MOST_SERIES:
                self._series[name] = array("f", [_UNKNOWN]) * len(self.times)
        self.times.append(at)
        for name, series in self._series.items():
            series.append(values.get(name, _UNKNOWN))
        if len(self.times) >= self._size + SLACK:
            self._forget(len(self.times) - self._size)

    def copy(self, at: float) -> Copy:
        """The times from one on, and what was seen at them."""
        first = max(bisect_left(self.times, at), len(self.times) - self._size)
        return Copy(self.times[first:], {name: series[first:] for name, series in self._series.items()})

    def _forget(self, count: int) -> None:
        del self.times[:count]
        for name in list(self._series):
            series = self._series[name]
            del series[:count]
            if all(math.isnan(value) for value in series):
                del self._series[name]  # a card that is gone


class History:
    """Both rings. Times are wall clock: one that is set back a little is waited for, one that goes far back begins
    anew, as no line can be drawn through it."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.seconds, self.minutes = Ring(SECONDS), Ring(MINUTES)
        self._minute: list[Mapping[str, float]] = []
        self._of: int | None = None

    def add(self, at: float, values: Mapping[str, float]) -> None:
        """Take note of one moment."""
        back = self.seconds.times[-1] - at if self.seconds.times else 0.0
        if 0 < back <= PUT_RIGHT:
            return
        if back > 0:
            self._begin()
        minute = int(at // 60)
        if self._of is not None and minute != self._of and self._minute:
            self.minutes.add(self._of * 60.0, _means(self._minute))
            self._minute = []
        self._of = minute
        self._minute.append(values)
        self.seconds.add(at, values)

    def copy(self, seconds: float) -> Copy:
        """What was seen in the last so many seconds: each of them where they are all kept, else minutes."""
        ring = self.seconds if seconds <= SECONDS else self.minutes
        newest = self.seconds.times[-1] if self.seconds.times else 0.0
        return ring.copy(newest - seconds)

    def lines(self, seconds: float) -> Lines:
        """The same as it travels: with many cards that takes a while."""
        return self.copy(seconds).lines()


def _means(moments: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each series over the moments in which it was known."""
    known: dict[str, list[float]] = {}
    for moment in moments:
        for name, value in moment.items():
            known.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in known.items()}


def values_of(usage: Usage) -> dict[str, float]:
    """The numbers of one look that are drawn as lines, by name; what is not known is not there."""
    host = usage.host
    found = {"cpu": host.cpu, "memory": host.memory_used, "received": host.received, "sent": host.sent}
    for card in usage.devices:
        name = card_name(card)
        found[f"{name} utilization"] = card.utilization
        found[f"{name} memory"] = card.memory_used_mb
    return {name: float(value) for name, value in found.items() if value is not None}


def card_name(card: Card) -> str:
    """`npu 3`, `gpu 0`, `gpu 0 1g.10gb`: what a card is called in a series."""
    return f"{card.kind} {card.id}" + (f" {card.part}" if card.part else "")


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 3)
