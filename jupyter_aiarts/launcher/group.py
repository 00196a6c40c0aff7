"""What a group of launchers decides together. Pure: events in, orders out; node 0 keeps the only one.

    gathering --everybody joined--> running --everybody ended--> over
        ^                              ^  '--failed, restarts left--'
        '--somebody had to leave (regroup)--'
Where something must be agreed on before each start (`confers`), node 0 is asked to, and says when it is.
A failure, a stop, the time limit or a dead launcher stops everybody; the first of them is the verdict. Where a
group may regroup (pods are replaced), who leaves with a word or falls silent is waited for, without a verdict.
"""

from typing import Any, Dict, List, Optional, Set

START, STOP, GATHER, CONFER, END = "start", "stop", "gather", "confer", "end"
Failure = Dict[str, Any]
OTHERS, OTHER_LINES, OTHER_WIDTH = 8, 5, 300
"""How much is kept of ranks that failed after the first."""


def brief(failure: Failure) -> Failure:
    """A failure in few words: one that is not the first is worth no more room."""
    lines = failure.get("last_lines")
    last = lines[-OTHER_LINES:] if isinstance(lines, list) else []
    return {**failure, "last_lines": [str(line)[:OTHER_WIDTH] for line in last]}


class Group:
    """Counts who is there and who has ended; every method returns the orders for all nodes, in order."""

    def __init__(self, nodes: int, max_restarts: int, regroup: bool = False, confers: bool = False) -> None:
        self._nodes = set(range(nodes))
        self._max_restarts = max_restarts
        self._restarts_left = max_restarts
        self._regroup = regroup
        self._confers = confers
        self._joined: Set[int] = set()
        self._ended: Set[int] = set()
        self._gone: Set[int] = set()
        self._running = False
        self._apart = False
        self._verdict: Optional[str] = None
        self.result: Optional[str] = None
        self.restarts = 0
        self.first_failure: Optional[Failure] = None
        self.others: List[Failure] = []
        self.problem: Optional[Dict[str, str]] = None
        self.ranks: Dict[int, List[Dict[str, Any]]] = {}

    @property
    def missing(self) -> List[int]:
        """The nodes that have not come yet, or not come again."""
        return sorted(self._nodes - self._joined)

    @property
    def gathering(self) -> bool:
        """Whether nothing runs because somebody is waited for."""
        return not self._running and self.result is None

    @property
    def decided(self) -> bool:
        """Whether the end has been decided, though not everybody has ended."""
        again = self._verdict == "failed" and self.problem is None and self._restarts_left > 0
        return self._verdict is not None and not again

    def join(self, node: int, problem: Optional[Dict[str, str]] = None) -> List[str]:
        """A launcher is there and has checked what it is to start; `problem` says that it cannot."""
        self._joined.add(node)
        if problem is not None:
            return self._decide("failed", problem=problem)
        if self._running or self.result or self.missing:
            return []
        return self._begin()

    def agree(self) -> List[str]:
        """What had to be agreed on is; nothing comes of it when somebody has left or the job is over meanwhile."""
        if self._running or self.result or self.missing:
            return []
        self._running = True
        return [START]

    def fail(self, node: int, failure: Optional[Failure], problem: Optional[Dict[str, str]] = None) -> List[str]:
        """A rank of `node` failed, or could not be started; after the group's first failure little is kept of them."""
        if self._apart and problem is None:
            return []  # it missed who has left
        if failure is not None and self.first_failure is not None and len(self.others) < OTHERS:
            self.others.append(brief(failure))
        return self._decide("failed", failure, problem)

    def stop(self, verdict: str, problem: Optional[Dict[str, str]] = None) -> List[str]:
        """The job is to end without a restart: verdict is stopped, time-limit, meeting-failed, or failed where it
        cannot begin."""
        self._restarts_left = 0
        return self._decide(verdict, problem=problem)

    def leave(self, node: int) -> List[str]:
        """The launcher of `node` has to go and said so; its ranks are yet to end, and another will come for it."""
        self._joined.discard(node)
        return self._come_apart()

    def lose(self, node: int, dead: bool = True) -> List[str]:
        """The launcher of `node` went away: `dead` without a word, or with one, or silent and perhaps alive."""
        if self._regroup and (not dead or node not in self._joined):
            return self._miss(node)
        if not self._running and not self._regroup:
            self._joined.discard(node)  # before the start it may come again
            return []
        self._gone.add(node)
        self._restarts_left = 0
        orders = self._decide("lost", problem=self._loss(node))
        return orders + self._settle()

    def end(self, node: int, ranks: List[Dict[str, Any]]) -> List[str]:
        """All ranks of `node` have ended, as its launcher tells in `ranks`."""
        self.ranks[node] = ranks
        self._ended.add(node)
        return self._settle()

    def conclude(self) -> List[str]:
        """Wait for nobody any more: the verdict is the result."""
        if self.result is not None:
            return []
        self._running = False
        self.result = self._verdict or "stopped"
        return [END]

    def remember(self, restarts: int) -> None:
        """What an earlier node 0 of this attempt had counted."""
        self.restarts = max(self.restarts, restarts)
        self._restarts_left = min(self._restarts_left, max(self._max_restarts - restarts, 0))

    def _decide(
        self, verdict: str, failure: Optional[Failure] = None, problem: Optional[Dict[str, str]] = None
    ) -> List[str]:
        if self._verdict is not None or self.result is not None:
            return []
        self._verdict, self.first_failure, self.problem = verdict, failure, problem
        if self._running:
            return [STOP]
        self.result = verdict
        return [END]

    def _miss(self, node: int) -> List[str]:
        """Do without `node` until it comes again. A failure seen while it was out of reach is no verdict."""
        if node in self._joined and self._verdict == "failed" and self.problem is None:
            self._forget()
        self._joined.discard(node)
        if self._running:
            self._gone.add(node)
        return self._come_apart() + self._settle()

    def _come_apart(self) -> List[str]:
        if not self._running or self._apart or self._verdict is not None:
            return []
        self._apart = True
        return [STOP]

    def _settle(self) -> List[str]:
        if not self._running or self.result is not None or (self._ended | self._gone) != self._nodes:
            return []
        self._running = False
        if self._verdict == "failed" and self.problem is None and self._restarts_left > 0:
            self._restarts_left -= 1
            self.restarts += 1
            return self._again()
        if self._verdict is None and self._apart:
            return self._again()
        self.result = self._verdict or "succeeded"
        return [END]

    def _forget(self) -> None:
        self._verdict = self.first_failure = None
        self.others = []

    def _again(self) -> List[str]:
        self._forget()
        self._apart = False
        self._ended.clear()
        self._gone.clear()
        if self.missing:
            return [GATHER]
        return self._begin()

    def _begin(self) -> List[str]:
        if self._confers:
            return [CONFER]
        self._running = True
        return [START]

    def _loss(self, node: int) -> Dict[str, str]:
        code = "launcher-lost" if self._regroup else "node-lost"
        message = f"the launcher of node {node} went away while the job was running"
        return {"code": code, "message": message, "hint": ""}
