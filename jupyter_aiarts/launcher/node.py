"""One launcher's own part in the group: obeys start, stop and end; reports what becomes of its ranks."""

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from . import evidence
from .audience import Audience
from .crew import Crew, Rank
from .environment import seats
from .group import brief
from .linux import adopt_orphans
from .loop import Loop
from .plan import Plan
from .prepare import Prepared, prepare
from .problem import Problem, Refused, from_oserror
from .progress import ProgressWatch
from .status import Status
from .tree import Tree

if TYPE_CHECKING:
    from .ascend.part import Part
    from .usage.watching import UsageWatch

Message = Dict[str, Any]
LEFT = 75
"""The exit code that asks for another try: no meeting, or this launcher had to go."""
LAST_WORDS_SECONDS = 1.0
"""How long the others may live after a rank failed. When one falls, its peers lose their connections, and not seldom
one of them is gone before it: only a rank that ends by itself can tell why it does."""
MOST_FAILURES = 9
"""How many ranks of one node are told of: the first, and as many as a summary has room for."""
EXIT_CODES = {"succeeded": 0, "meeting-failed": LEFT}


class Node:
    """The ranks of this node and its status file. `report` takes its messages to node 0."""

    def __init__(
        self, loop: Loop, plan: Plan, index: int, folder: str, report: Callable[[Message], None], audience: Audience
    ) -> None:
        self.index = index
        self.folder = folder
        self.numbers = [seat.rank for seat in seats(plan, index)]
        self.summary: Optional[Dict[str, Any]] = None
        self.npu_log: Optional[Dict[str, Any]] = None
        self.prepared: List[Prepared] = []
        self._loop = loop
        self._plan = plan
        self._report = report
        self._audience = audience
        self._left = False
        self._part: Optional["Part"] = None
        self._kills: Optional[evidence.Kills] = None
        self._failures = 0
        self.status = Status(loop, plan, index, folder, audience.changed)
        self._tree = Tree(os.getpid(), adopt_orphans())
        if index == 0:  # what the first rank says is said for all
            self.status.progress = ProgressWatch(loop, self.status.mark)
        self.crew = Crew(
            loop, self._tree, plan.grace_seconds, plan.log_limit_bytes,
            self.status.mark, self._failed, self._finished, self.status.drop, audience.tap,
        )  # fmt: skip
        audience.attend(self)

    def prepare(self) -> Optional[Problem]:
        """Make and check everything that can be without starting anything."""
        try:
            self.status.write()
            if self._plan.environment is not None:
                self._activate()
            if self._plan.is_ascend:
                self._equip()
            self.prepared = prepare(self._plan, self.index, self.folder)
        except Refused as error:
            return error.problem
        except OSError as error:
            return from_oserror(error, "write the job's status")
        return None

    @property
    def cards(self) -> Optional[Dict[str, Any]]:
        """What node 0 has to know of this node's cards to make a rank table; None where there will be none."""
        return None if self._part is None else self._part.hello

    def note(self, text: str) -> None:
        """Say something to whoever looks at the job, once."""
        if text not in self.status.notes:
            self.status.notes.append(text)
            self.status.mark()
            self._audience.note(text)

    def obey(self, order: Message) -> None:
        """Do what node 0 says."""
        kind = order["type"]
        if kind == "start":
            self._start(order)
        elif kind == "stop":
            self.stop(patience=LAST_WORDS_SECONDS if order.get("failed") else 0.0)
        elif kind == "gather":
            missing = ", ".join(map(str, order["missing"]))
            self.status.enter("meeting", f"waiting for node {missing} to come again")
        elif kind == "end":
            self.leave(order["result"])

    def stop(self, message: Optional[str] = None, patience: float = 0.0) -> None:
        """End the ranks, at once or after a moment; where none runs, there is nothing to end."""
        if self.status.phase in ("starting", "running"):
            self.status.enter("stopping", message)
            self.crew.stop_soon(patience)

    def conclude(self, summary: Dict[str, Any]) -> None:
        """How the job ended is known; only node 0's hears of it."""
        self.summary = summary
        self._audience.changed()

    def leave(self, result: str, message: Optional[str] = None, code: Optional[int] = None) -> None:
        """The launcher's last act."""
        if self._left:
            return
        self._left = True
        self.status.enter("ended", message or self.status.message)
        last = EXIT_CODES.get(result, 1) if code is None else code
        self.status.write_last(lambda: self._audience.end(result, lambda: self._loop.stop(last)))

    @property
    def idle(self) -> bool:
        """Whether none of its ranks runs, or leaves anything that does."""
        return self.crew.over

    def _activate(self) -> None:
        from .activation import activated  # other jobs need nothing of it

        self._plan = activated(self._plan)

    def _equip(self) -> None:
        from .ascend.part import Part  # other jobs need nothing of it

        self._part = Part(self._plan, self.index, self.folder)
        self._plan = self._part.equip(self._plan)
        for text in self._part.notes:
            self.note(text)

    def _watch(self) -> "UsageWatch":
        """Made when the ranks run: nobody waits for it."""
        from .usage.watching import UsageWatch

        return UsageWatch(self._loop, self._plan, self.index, self.folder, self._tree, self.status.mark)

    def _start(self, order: Message) -> None:
        self.status.enter("starting")
        self._failures = 0
        self._kills = evidence.Kills(machine_too=self._plan.inside is None)
        try:
            self._learn(order)
        except Refused as error:
            self._report({"type": "failed", "failure": None, "problem": error.problem.as_json()})
            return self._report({"type": "ended", "ranks": []})
        try:
            self.crew.start(self.prepared)
        except Refused as error:
            self._report({"type": "failed", "failure": None, "problem": error.problem.as_json()})
            self.status.ranks = self.crew.ranks
            return self.stop()
        self.status.ranks = self.crew.ranks
        self.status.watch = self.status.watch or self._watch()
        self.status.watch.start(self.crew.ranks)
        if self.status.progress is not None:
            self.status.progress.start(self.crew.ranks[0].output.tail)
        self.status.enter("running")

    def _learn(self, order: Message) -> None:
        """Node 0's address and the rank table are known only now, and are others when a pod was replaced."""
        plan = self._plan._replace(address=order.get("address") or self._plan.address)
        if self._part is not None:
            plan = self._part.learn(plan, order.get("table"))
        if plan != self._plan:
            self._plan = plan
            self.prepared = prepare(plan, self.index, self.folder)

    def _failed(self, rank: Rank) -> None:
        """Node 0 hears of it first; then this node's other ranks are ended, without waiting for an order."""
        self._failures += 1
        if self._failures <= MOST_FAILURES:
            failure = {**rank.failure(), **self._evidence(rank)}
            self._report({"type": "failed", "failure": failure if self._failures == 1 else brief(failure)})
        if self._failures == 1:
            self.stop(patience=LAST_WORDS_SECONDS)

    def _evidence(self, rank: Rank) -> Dict[str, Any]:
        """What is known of the machine at this moment; nothing where there is nothing to say."""
        found: Dict[str, Any] = {} if self._kills is None else self._kills.since()
        root = self._plan.inside.root if self._plan.inside is not None else ""
        own = (rank.prepared.workdir, self._plan.save_path, rank.prepared.environ.get("TMP_PATH", ""))
        without_room = evidence.full([("/dev/shm", f"{root}/dev/shm"), *((path, path) for path in own)])
        return {**found, "full": without_room} if without_room else found

    def _finished(self) -> None:
        if self.status.progress is not None:
            self.status.progress.stop()
        if self.status.watch is not None:
            self.status.watch.stop()
            said = self.status.watch.verdict()
            if said is not None:
                self.note(said)
        self.status.mark()
        self._report({"type": "ended", "ranks": [rank.outcome() for rank in self.crew.ranks]})
