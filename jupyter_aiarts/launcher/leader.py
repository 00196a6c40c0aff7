"""Node 0: keeps the group together and writes the summary. A job of one node is a group of one."""

from typing import TYPE_CHECKING, Any, Dict, List, Optional

from . import group as orders
from .audience import Audience
from .clock import stretched
from .group import Group
from .history import History
from .loop import Loop, Timer
from .node import LEFT, Message, Node
from .plan import Plan, told_later
from .problem import Problem, from_oserror
from .summary import Desk, document

if TYPE_CHECKING:
    from .ascend.gathering import Agreement

LINGER_SECONDS = 10.0
"""How long node 0 stays to tell those who come late that there is nothing to come for."""
POD_LINGER_SECONDS = 60.0
"""The same where pods may still be pulling their image; the summary can be read at the port meanwhile."""
REVIEW_SECONDS = 30.0
"""How often a pod with a time limit looks whether more is known about those before it."""
GOODBYE_SECONDS = 5.0
"""How long node 0 waits for the others to have heard the last word."""
TABLE_SECONDS = 1.0
"""How often node 0 looks whether the cluster's controller has filled the rank table."""
RING_WAIT = "ring-controller-wait"
"""The word for that in a status; whoever shows the job has its sentence."""
LEAVING_SECONDS = 2.0
"""How long a node 0 that was asked to leave waits for the others' last words; Kubernetes does not wait long for it."""


class Leader:
    """Turns what nodes report into orders for all of them."""

    def __init__(self, loop: Loop, plan: Plan, folder: str, audience: Audience) -> None:
        self._loop = loop
        self._plan = plan
        self._group = Group(plan.nodes, plan.max_restarts, plan.regroup, plan.has_table)
        self._agreement: Optional["Agreement"] = None
        self._table: Optional[Dict[str, Any]] = None
        self._waiting = ""
        self._waiting_since = 0.0
        self._conferring: Optional[Timer] = None
        self._desk = Desk(folder)
        self._door: Any = None
        self._limit: Optional[Timer] = None
        self._patience: Optional[Timer] = None
        self._history = History(loop.clock)
        self._history.learn(plan.history)
        self._leaving = False
        self._node = Node(loop, plan, 0, folder, self._hear_own, audience)

    def begin(self) -> None:
        """Prepare, open the door, wait for the others."""
        problem = self._node.prepare() or self._take_desk()
        problem = self._open_door() or problem  # also with a problem: the others come to hear of it
        self._wait_for_others()
        said = None if problem is None else problem.as_json()
        self._hear(0, {"type": "hello", "problem": said, "cards": self._node.cards})

    def stop(self) -> None:
        """Somebody asked this launcher to end: the job, or, in a pod, its own part, for another to take it over."""
        if self._group.result is not None:
            return self._leave()
        if self._plan.regroup and not self._leaving and not self._group.decided:
            self._leaving = True
            self._tell({"type": "leaving"})
            if self._door is not None:
                self._door.shut()
        self._act(self._group.stop("stopped"))

    def _take_desk(self) -> Optional[Problem]:
        try:
            self._desk.reserve()
            if self._plan.regroup:
                self._desk.clear()
        except OSError as error:
            return from_oserror(error, "write into the job's folder")
        return None

    def _open_door(self) -> Optional[Problem]:
        plan = self._plan
        if plan.nodes == 1 or plan.meeting is None:
            return None
        from .meeting import Door, Rules  # a job of one node needs no sockets

        identity = {"job": plan.job, "run": plan.run, "attempt": plan.attempt}
        rules = Rules(plan.token, identity, plan.nodes, plan.regroup, plan.silence_seconds)
        try:
            self._door = Door(self._loop, plan.meeting, rules, self._hear, self._lose)
        except OSError as error:
            return Problem("meeting-failed", f"cannot listen on {plan.meeting}: {error.strerror}", "")
        return None

    def _wait_for_others(self) -> None:
        if self._plan.nodes > 1 or self._plan.ring is not None:
            self._patience = self._loop.after(stretched(self._plan.gang_timeout), self._give_up)

    def _hear_own(self, message: Message) -> None:
        self._loop.soon(lambda: self._hear(0, message))

    def _hear(self, node: int, message: Message) -> None:
        """One node's message; also called by the door for the others."""
        kind = message.get("type")
        if kind == "hello":
            self._welcome(node, message)
        elif kind == "failed":
            self._act(self._group.fail(node, message.get("failure"), message.get("problem")))
        elif kind == "ended":
            self._act(self._group.end(node, message.get("ranks", [])))
            if node == 0 and self._leaving:
                self._loop.after(LEAVING_SECONDS, lambda: self._act(self._group.conclude()))
        elif kind == "stopping":
            self._act(self._group.stop("stopped"))
        elif kind == "leaving":
            self._act(self._group.leave(node))

    def _welcome(self, node: int, message: Message) -> None:
        self._history.learn(message.get("history"))
        self._group.remember(self._history.restarts)
        if self._plan.has_table:
            self._agree_with(node, message.get("cards"))
        self._act(self._group.join(node, message.get("problem")))
        if self._group.result is not None and node != 0:
            self._tell_late()

    def _lose(self, node: int, how: str) -> None:
        if self._group.result is None:
            self._act(self._group.lose(node, how != "silent"))
        elif self._plan.regroup and self._door is not None and self._door.empty and not self._group.missing:
            self._leave()

    def _agree_with(self, node: int, cards: Any) -> None:
        from .ascend.gathering import Agreement  # other jobs have nothing to agree on

        if self._agreement is None:
            self._agreement = Agreement(self._plan)
        self._agreement.hear(node, cards)

    def _give_up(self) -> None:
        if self._group.gathering and not self._group.missing:
            self._refuse_to_wait()
        elif self._group.gathering:
            missing = ", ".join(map(str, self._group.missing))
            message = f"not all launchers came within {self._plan.gang_timeout:g} s; missing: node {missing}"
            problem = Problem("waiting-for-peers", message, "the cards were given back; the job is tried again later")
            self._act(self._group.stop("meeting-failed", problem.as_json()))

    def _refuse_to_wait(self) -> None:
        """Everybody came, but not the table: to try again would go the same way."""
        from .ascend.ring import overdue

        assert self._plan.ring is not None
        problem = overdue(self._plan.ring, self._waiting, self._plan.gang_timeout)
        self._act(self._group.stop("failed", problem.as_json()))

    def _time_is_up(self) -> None:
        self._act(self._group.stop("time-limit"))

    def _act(self, commands: List[str]) -> None:
        for command in commands:
            if command == orders.END:
                return self._end()
            if command == orders.CONFER:
                return self._confer()
            details = {orders.START: self._start, orders.GATHER: self._gather, orders.STOP: self._halt}
            self._order(details[command](), command)

    def _order(self, details: Dict[str, Any], command: str) -> None:
        order = {**details, "type": command}
        self._tell(order)
        self._node.obey(order)

    def _confer(self) -> None:
        """Everybody is there: a rank table first, which may be a controller's and take its time."""
        if self._conferring is not None:
            self._conferring.cancel()
        if self._group.missing or not self._group.gathering or self._agreement is None:
            return  # somebody has left meanwhile; when everybody is there again, we are asked again
        outcome = self._agreement.settle()
        if outcome.problem is not None:
            return self._act(self._group.stop("failed", outcome.problem.as_json()))
        if outcome.told is None:
            return self._confer_later(outcome.waiting)
        for text in (outcome.warning, self._waited()):
            if text:
                self._node.note(text)
        self._table = outcome.told
        self._act(self._group.agree())

    def _confer_later(self, waiting: str) -> None:
        if waiting != self._waiting or self._node.status.phase != "meeting":
            self._waiting_since = self._waiting_since or self._loop.clock()
            self._waiting = waiting
            self._pause()
            self._node.status.enter("meeting", waiting, RING_WAIT)
        self._conferring = self._loop.after(TABLE_SECONDS, self._confer)

    def _waited(self) -> str:
        """Why the ranks did not start at once, for whoever wonders afterwards."""
        since, self._waiting, self._waiting_since = self._waiting_since, "", 0.0
        if not since or self._plan.ring is None:
            return ""
        seconds = self._loop.clock() - since
        return f"the ranks waited {seconds:.0f} s for the ring controller to complete {self._plan.ring.name}"

    def _start(self) -> Dict[str, Any]:
        """Running time begins with the start of the ranks, and goes on over restarts."""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        self._history.restarts = self._group.restarts
        self._history.begin()
        if self._limit is None and self._plan.max_seconds is not None:
            self._watch_time(self._plan.max_seconds - self._plan.used_seconds)
        table = {} if self._table is None else {"table": self._table}
        if not self._plan.regroup:
            return table
        return {**table, "history": self._history.as_json(), "address": self._plan.address}

    def _watch_time(self, limit: float) -> None:
        """Set the alarm, or look again later: what a replaced pod used up may be told when this one runs already."""
        self._history.learn(told_later(self._plan.attempt_file))
        left = max(limit - self._history.running, 0.0)
        if self._plan.attempt_file is None or left <= REVIEW_SECONDS:
            self._limit = self._loop.after(left, self._time_is_up)
        else:
            self._limit = self._loop.after(REVIEW_SECONDS, lambda: self._watch_time(limit))

    def _gather(self) -> Dict[str, Any]:
        """Somebody is waited for."""
        self._pause()
        return {"missing": self._group.missing}

    def _halt(self) -> Dict[str, Any]:
        """Everybody is to end; where a rank failed, others may be about to tell more of it."""
        return {} if self._group.first_failure is None else {"failed": True}

    def _pause(self) -> None:
        """No rank runs, so no time is used; and nobody waits for ever."""
        self._history.pause()
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        if self._patience is None:
            self._wait_for_others()

    def _tell(self, message: Message) -> None:
        if self._door is not None:
            self._door.tell(message)

    def _end(self) -> None:
        """The summary first: nobody says anything about the end before it can be read."""
        self._history.pause()
        summary = document(self._plan, self._group, self._history)
        self._desk.write(summary, self._plan.bell, self._plan.job)
        self._node.conclude(summary)
        if self._door is None or self._leaving:
            return self._leave()  # in the second case the others wait for another node 0
        self._tell(self._farewell())
        if self._group.result == "failed" and self._group.missing:
            linger = POD_LINGER_SECONDS if self._plan.regroup else LINGER_SECONDS
            self._loop.after(min(linger, self._plan.gang_timeout), self._leave)
        elif self._plan.regroup and not self._door.empty:
            self._loop.after(GOODBYE_SECONDS, self._leave)  # or sooner, when they have hung up
        else:
            self._leave()

    def _tell_late(self) -> None:
        self._tell(self._farewell())
        if not self._group.missing and not self._plan.regroup:
            self._leave()

    def _farewell(self) -> Dict[str, Any]:
        return {"type": orders.END, "result": self._group.result}

    def _leave(self) -> None:
        if self._door is not None:
            self._door.close()
            self._door = None
        problem = self._group.problem
        result = self._group.result or "failed"
        self._node.leave(result, problem["message"] if problem else None, LEFT if self._leaving else None)
