"""What a group of launchers decides together. Pure: events in, orders out; node 0 keeps the only one.

    gathering --everybody joined--> running --everybody ended--> over
                                       ^  '--failed, restarts left--'
A failure, a stop, the time limit or a lost launcher stops everybody; the first of them is the verdict.
"""

from typing import Any, Dict, List, Optional, Set

START, STOP, END = "start", "stop", "end"
Failure = Dict[str, Any]


class Group:
    """Counts who is there and who has ended; every method returns the orders for all nodes, in order."""

    def __init__(self, nodes: int, max_restarts: int) -> None:
        self._nodes = set(range(nodes))
        self._restarts_left = max_restarts
        self._joined: Set[int] = set()
        self._ended: Set[int] = set()
        self._gone: Set[int] = set()
        self._running = False
        self._verdict: Optional[str] = None
        self.result: Optional[str] = None
        self.restarts = 0
        self.first_failure: Optional[Failure] = None
        self.problem: Optional[Dict[str, str]] = None
        self.ranks: Dict[int, List[Dict[str, Any]]] = {}

    @property
    def missing(self) -> List[int]:
        """The nodes that have not come yet."""
        return sorted(self._nodes - self._joined)

    def join(self, node: int, problem: Optional[Dict[str, str]] = None) -> List[str]:
        """A launcher is there and has checked what it is to start; `problem` says that it cannot."""
        self._joined.add(node)
        if problem is not None:
            return self._decide("failed", problem=problem)
        if self._running or self.result or self.missing:
            return []
        self._running = True
        return [START]

    def fail(self, node: int, failure: Optional[Failure], problem: Optional[Dict[str, str]] = None) -> List[str]:
        """A rank of `node` failed, or could not be started; only the group's first failure is kept."""
        return self._decide("failed", failure, problem)

    def stop(self, verdict: str, problem: Optional[Dict[str, str]] = None) -> List[str]:
        """The job is to end without a restart: verdict is stopped, time-limit or meeting-failed."""
        self._restarts_left = 0
        return self._decide(verdict, problem=problem)

    def lose(self, node: int) -> List[str]:
        """The launcher of `node` went away without a word; before the start it may come again."""
        if not self._running:
            self._joined.discard(node)
            return []
        self._gone.add(node)
        self._restarts_left = 0
        message = f"the launcher of node {node} went away while the job was running"
        orders = self._decide("lost", problem={"code": "node-lost", "message": message, "hint": ""})
        return orders + self._settle()

    def end(self, node: int, ranks: List[Dict[str, Any]]) -> List[str]:
        """All ranks of `node` have ended, as its launcher tells in `ranks`."""
        self.ranks[node] = ranks
        self._ended.add(node)
        return self._settle()

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

    def _settle(self) -> List[str]:
        if not self._running or self.result is not None or (self._ended | self._gone) != self._nodes:
            return []
        self._running = False
        if self._verdict == "failed" and self.problem is None and self._restarts_left > 0:
            return self._restart()
        self.result = self._verdict or "succeeded"
        return [END]

    def _restart(self) -> List[str]:
        self._restarts_left -= 1
        self.restarts += 1
        self._verdict = self.first_failure = None
        self._ended.clear()
        self._running = True
        return [START]
