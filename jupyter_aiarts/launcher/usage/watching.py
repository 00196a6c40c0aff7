"""What this node's ranks and cards do while they run: looked at now and then, and never waited for.

What nobody tells is unknown: cards are called idle only where every one of them said so, look after look.
"""

import os
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from .. import clock, record
from ..crew import Rank
from ..loop import Loop, Timer
from ..plan import Plan
from ..tree import Tree
from .carduse import CardUse, Reading
from .ledger import NAME
from .netuse import NetUse
from .rankuse import RankUse

if TYPE_CHECKING:
    from .tool import Tool

FIRST_SECONDS, PERIOD_SECONDS = 5.0, 30.0


class UsageWatch:
    """Looks at one node from `start` to `stop`; `changed` is called after each look, the past is in a file beside."""

    def __init__(self, loop: Loop, plan: Plan, node: int, folder: str, tree: Tree, changed: Callable[[], None]) -> None:
        self._loop, self._tree, self._changed = loop, tree, changed
        self._path = os.path.join(folder, NAME)
        self._cards = CardUse(list(plan.devices[node]) if plan.inside is None else [], plan.cards)
        self._ranks = RankUse()
        self._network = NetUse() if plan.own_network else None
        self._started: List[Rank] = []
        self._dawn = time.time() - loop.clock()  # so that times never go back, whatever becomes of the machine's clock
        self._tool = _tool(loop, plan, node, tree) if plan.cards else None
        self._timer: Optional[Timer] = None
        self._read = ""
        self.version = 0
        """Counts the looks: the past is another one after each."""

    @property
    def idle_since(self) -> Optional[str]:
        """Since when all of its cards do nothing; None where one works or does not tell."""
        return self._cards.idle_since

    def start(self, started: List[Rank]) -> None:
        """These ranks are running now; where they are started again, what was seen before stays."""
        self.stop()
        if self._tool is not None:
            self._tool.begin({rank.pid for rank in started})
        self._cards.begin()
        self._ranks.begin(self._loop.clock())
        if self._network is not None:
            self._network.look(self._loop.clock(), self._now())
        self._started = started
        self._timer = self._loop.after(FIRST_SECONDS, self._look)

    def stop(self) -> None:
        """Look no more; what was seen stays."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._tool is not None:
            self._tool.end()

    def as_json(self) -> Optional[Dict[str, Any]]:
        """What the status says beside `idle_since`; None where nobody has looked yet."""
        if not self._read:
            return None
        network = None if self._network is None else self._network.as_json()
        ranks = self._ranks.ledger.as_json()
        return {"t": self._read, "cards": self._cards.as_json(), "ranks": ranks, "network": network}

    def past(self) -> Dict[str, Any]:
        """What was seen since the ranks were first started."""
        network = None if self._network is None else self._network.past.as_json()
        ranks = self._ranks.ledger.past.as_json()
        return {"cards": self._cards.ledger.past.as_json(), "ranks": ranks, "network": network}

    def verdict(self) -> Optional[str]:
        """A sentence about cards that were asked for and never used; None where that cannot be said."""
        return self._cards.verdict()

    def _look(self) -> None:
        self._timer = None
        pids = {rank.prepared.seat.rank: rank.pid for rank in self._started if rank.ended is None}
        self._ranks.look(pids, self._tree.look_around(), self._loop.clock(), self._now())
        if self._network is not None:
            self._network.look(self._loop.clock(), self._now())
        if self._tool is None:
            return self._told([])
        self._tool.ask(self._told)

    def _told(self, readings: Optional[List[Reading]]) -> None:
        if readings is not None:
            self._cards.take(readings, self._now())
        self._timer = self._loop.after(PERIOD_SECONDS, self._look)
        self._read = clock.now()
        self.version += 1
        try:
            record.write_json(self._path, self.past())
        except OSError:
            pass  # the disk is full: there is a next look, and the ranks have nothing to do with it
        self._changed()

    def _now(self) -> float:
        return round(self._dawn + self._loop.clock(), 1)


def _tool(loop: Loop, plan: Plan, node: int, tree: Tree) -> "Tool":
    from .tool import Tool, cards_of  # jobs without cards need nothing of it

    return Tool(loop, cards_of(plan, node), tree.apart)
