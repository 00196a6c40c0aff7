"""The cards of one node over a run: what they do, since when they do nothing, and which were never used."""

import time
from typing import Any, Dict, Generator, List, NamedTuple, Optional, Sequence

from .. import clock
from .ledger import Ledger

IDLE_PERCENT = 5.0
GONE = "gone"
ENOUGH_LOOKS = 10
"""Looks after which it may be said that a card was never used: five minutes."""
UNTOLD_SECONDS = 300.0
"""A tool that fails once an hour is no reason to count idle time anew; after so long nobody knows."""
DRIFT_SECONDS = 5.0


class Reading(NamedTuple):
    """One card at one look; memory in MB, power in watts, temperature in degrees."""

    id: int
    name: str
    utilization: Optional[float]
    memory: Optional[float]
    total: Optional[float]
    health: Optional[str]
    power: Optional[float] = None
    temperature: Optional[float] = None


Talk = Generator[Sequence[str], str, List[Reading]]
"""One look by the driver's tool: it yields words to ask with, is sent what was said, and returns the cards."""


class CardUse:
    """`wanted` are the ids of this node's cards, empty where nobody knows them; `count` is how many it has."""

    def __init__(self, wanted: Sequence[int], count: int) -> None:
        self._wanted, self._count = wanted, count
        self._last: Dict[int, Reading] = {}
        self._idle_at: Optional[float] = None  # on a clock that nobody sets
        self._told_at = self._idle_told = 0.0
        self.idle_since: Optional[str] = None
        self.ledger = Ledger()

    def begin(self) -> None:
        """The ranks were started, perhaps again: nobody can say yet that they leave their cards alone."""
        self._idle_at = self.idle_since = None

    def take(self, readings: List[Reading], now: float) -> None:
        """Take note of what the driver's tool told; of cards that are not this node's nothing is kept.

        `now` is on a clock that never goes back. Where nothing is told of our cards, nothing is known of them: what
        they did a look ago is not what they do.
        """
        found = self._own(readings)
        if found:
            self._told_at = now
            idle = all(one.utilization is not None and one.utilization < IDLE_PERCENT for one in found)
            self._idle(now if idle and self._idle_at is None else self._idle_at if idle else None, now)
        elif now - self._told_at > UNTOLD_SECONDS:
            self._idle(None, now)
        unknown = [Reading(card, one.name, None, None, one.total, None) for card, one in self._last.items()]
        self._last.update((one.id, one) for one in found or unknown)
        seen = {one.id: {"utilization": one.utilization, "memory": one.memory} for one in found or unknown}
        self.ledger.add(now, seen)

    def _idle(self, at: Optional[float], now: float) -> None:
        """They do nothing since `at`; told by the machine's clock, and anew only where that was set since."""
        self._idle_at = at
        if at is None:
            self.idle_since = None
            return
        moment = time.time() - (now - at)
        if self.idle_since is None or abs(moment - self._idle_told) > DRIFT_SECONDS:
            self._idle_told, self.idle_since = moment, clock.stamp(moment)

    def as_json(self) -> List[Dict[str, Any]]:
        """Card by card; none where nothing was ever seen of them."""
        also = ("name", "total", "health", "power", "temperature")
        seen = [(self._last[card["id"]], card) for card in self.ledger.as_json()]
        return [{**card, **{key: getattr(one, key) for key in also}} for one, card in seen]

    def verdict(self) -> Optional[str]:
        """A sentence about cards that were asked for and never used; None where that cannot be said."""
        busy = {card: gauges["utilization"] for card, gauges in sorted(self.ledger.gauges.items())}
        if len(busy) < 2 or any(gauge.looks < ENOUGH_LOOKS for gauge in busy.values()):
            return None
        unused = [card for card, gauge in busy.items() if (gauge.most or 0.0) < IDLE_PERCENT]
        if not unused or len(unused) == len(busy):
            return None
        named = ", ".join(map(str, unused))
        return f"{len(unused)} of its {len(busy)} cards were never used ({named}): ask for fewer next time"

    def _own(self, found: List[Reading]) -> List[Reading]:
        """The readings of this node's cards; none where it cannot be told which those are.

        One that was seen before and is not told of any more fell off the bus: the others are told all the same.
        """
        known = self._wanted or self._last
        if known:
            found = [one for one in found if one.id in known]
        there = {one.id for one in found}
        gone = [Reading(card, one.name, None, None, one.total, GONE) for card, one in self._last.items()]
        found = [*found, *(one for one in gone if found and one.id not in there)]
        return found if len(found) == self._count else []
