"""One launcher's own part in the group: obeys start, stop and end; reports what becomes of its ranks."""

import os
from typing import Any, Callable, Dict, List, Optional

from .crew import Crew, Rank
from .linux import adopt_orphans
from .loop import Loop
from .plan import Plan
from .prepare import Prepared, prepare
from .problem import Problem, Refused, from_oserror
from .status import Status
from .tree import Tree

Message = Dict[str, Any]
EXIT_CODES = {"succeeded": 0, "meeting-failed": 75}


class Node:
    """The ranks of this node and its status file. `report` takes its messages to node 0."""

    def __init__(self, loop: Loop, plan: Plan, index: int, folder: str, report: Callable[[Message], None]) -> None:
        self.index = index
        self._loop = loop
        self._plan = plan
        self._folder = folder
        self._report = report
        self._prepared: List[Prepared] = []
        self.status = Status(loop, plan, index, folder)
        tree = Tree(os.getpid(), adopt_orphans())
        self._crew = Crew(
            loop, tree, plan.grace_seconds, plan.log_limit_bytes,
            self.status.mark, self._failed, self._finished, self.status.drop,
        )  # fmt: skip

    def prepare(self) -> Optional[Problem]:
        """Make and check everything that can be without starting anything."""
        try:
            self.status.write()
            self._prepared = prepare(self._plan, self.index, self._folder)
        except Refused as error:
            return error.problem
        except OSError as error:
            return from_oserror(error, "write the job's status")
        return None

    def obey(self, order: Message) -> None:
        """Do what node 0 says."""
        kind = order["type"]
        if kind == "start":
            self._start()
        elif kind == "stop":
            self.stop()
        elif kind == "end":
            self.leave(order["result"])

    def stop(self, message: Optional[str] = None) -> None:
        """End the ranks; where none runs, there is nothing to end."""
        if self.status.phase in ("starting", "running"):
            self.status.enter("stopping", message)
            self._crew.stop()

    def leave(self, result: str, message: Optional[str] = None) -> None:
        """The launcher's last act."""
        self.status.enter("ended", message or self.status.message)
        self.status.write_last(lambda: self._loop.stop(EXIT_CODES.get(result, 1)))

    @property
    def idle(self) -> bool:
        """Whether none of its ranks runs, or leaves anything that does."""
        return self._crew.over

    def _start(self) -> None:
        self.status.enter("starting")
        try:
            self._crew.start(self._prepared)
        except Refused as error:
            self._report({"type": "failed", "failure": None, "problem": error.problem.as_json()})
            self.status.ranks = self._crew.ranks
            return self.stop()
        self.status.ranks = self._crew.ranks
        self.status.enter("running")

    def _failed(self, rank: Rank) -> None:
        """Node 0 hears of it first; then this node's other ranks are ended, without waiting for an order."""
        self._report({"type": "failed", "failure": rank.failure(), "problem": None})
        self.stop()

    def _finished(self) -> None:
        self.status.mark()
        self._report({"type": "ended", "ranks": [rank.outcome() for rank in self._crew.ranks]})
