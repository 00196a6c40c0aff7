"""Node 0: keeps the group together and writes the summary. A job of one node is a group of one."""

import os
import time
from typing import Any, Dict, List, Optional

from . import group as orders
from .group import Group
from .loop import Loop, Timer
from .node import Message, Node
from .plan import Plan
from .problem import Problem, from_oserror
from .summary import Desk, document

LINGER_SECONDS = 10.0
"""How long node 0 stays to tell those who come late that there is nothing to come for."""


class Leader:
    """Turns what nodes report into orders for all of them."""

    def __init__(self, loop: Loop, plan: Plan, folder: str) -> None:
        self._loop = loop
        self._plan = plan
        self._group = Group(plan.nodes, plan.max_restarts)
        self._desk = Desk(folder)
        self._door: Any = None
        self._limit: Optional[Timer] = None
        self._started: Optional[float] = None
        self._since: Optional[float] = None
        self._running = 0.0
        self._node = Node(loop, plan, 0, folder, self._hear_own)

    def begin(self) -> None:
        """Prepare, open the door, wait for the others."""
        problem = self._node.prepare() or self._take_desk()
        problem = self._open_door() or problem  # also with a problem: the others come to hear of it
        if self._plan.nodes > 1:
            share = os.urandom(1)[0] / 2550.0  # jitter: half-placed jobs must not give up and come back together
            self._loop.after(self._plan.gang_timeout * (1 + share), self._give_up)
        self._hear(0, {"type": "hello", "problem": None if problem is None else problem.as_json()})

    def stop(self) -> None:
        """Somebody asked this launcher to end the job."""
        if self._group.result is None:
            self._act(self._group.stop("stopped"))
        else:
            self._leave()

    def _take_desk(self) -> Optional[Problem]:
        try:
            self._desk.reserve()
        except OSError as error:
            return from_oserror(error, "write into the job's folder")
        return None

    def _open_door(self) -> Optional[Problem]:
        if self._plan.nodes == 1 or self._plan.meeting is None:
            return None
        from .meeting import Door  # a job of one node needs no sockets

        plan = self._plan
        identity = {"job": plan.job, "run": plan.run, "attempt": plan.attempt}
        try:
            self._door = Door(self._loop, plan.meeting or "", plan.token, identity, plan.nodes, self._hear, self._lose)
        except OSError as error:
            return Problem("meeting-failed", f"cannot listen on {plan.meeting}: {error.strerror}", "")
        return None

    def _hear_own(self, message: Message) -> None:
        self._loop.soon(lambda: self._hear(0, message))

    def _hear(self, node: int, message: Message) -> None:
        """One node's message; also called by the door for the others."""
        kind = message.get("type")
        if kind == "hello":
            self._act(self._group.join(node, message.get("problem")))
            if self._group.result is not None and node != 0:
                self._tell_late()
        elif kind == "failed":
            self._act(self._group.fail(node, message.get("failure"), message.get("problem")))
        elif kind == "ended":
            self._act(self._group.end(node, message.get("ranks", [])))
        elif kind == "stopping":
            self._act(self._group.stop("stopped"))

    def _lose(self, node: int) -> None:
        if self._group.result is None:
            self._act(self._group.lose(node))

    def _give_up(self) -> None:
        if self._started is None and self._group.result is None:
            missing = ", ".join(map(str, self._group.missing))
            message = f"not all launchers came within {self._plan.gang_timeout:g} s; missing: node {missing}"
            problem = Problem("waiting-for-peers", message, "the cards were given back; the job is tried again later")
            self._act(self._group.stop("meeting-failed", problem.as_json()))

    def _time_is_up(self) -> None:
        self._act(self._group.stop("time-limit"))

    def _act(self, commands: List[str]) -> None:
        for command in commands:
            if command == orders.START:
                self._count_from_now()
            if command == orders.END:
                return self._end()
            self._tell({"type": command})
            self._node.obey({"type": command})

    def _tell(self, message: Message) -> None:
        if self._door is not None:
            self._door.tell(message)

    def _count_from_now(self) -> None:
        """Running time begins with the start of the ranks, and goes on over restarts."""
        self._count()
        self._since = self._loop.clock()
        if self._started is None:
            self._started = time.time()
            if self._plan.max_seconds is not None:
                left = self._plan.max_seconds - self._plan.used_seconds
                self._limit = self._loop.after(max(left, 0.0), self._time_is_up)

    def _count(self) -> None:
        if self._since is not None:
            self._running += self._loop.clock() - self._since
            self._since = None

    def _end(self) -> None:
        """The summary first: nobody says anything about the end before it can be read."""
        self._count()
        self._desk.write(
            document(self._plan, self._group, self._started, self._running), self._plan.bell, self._plan.job
        )
        self._tell(self._farewell())
        if self._door is not None and self._group.result == "failed" and self._group.missing:
            self._loop.after(min(LINGER_SECONDS, self._plan.gang_timeout), self._leave)
        else:
            self._leave()

    def _tell_late(self) -> None:
        self._tell(self._farewell())
        if not self._group.missing:
            self._leave()

    def _farewell(self) -> Dict[str, Any]:
        return {"type": orders.END, "result": self._group.result}

    def _leave(self) -> None:
        if self._door is not None:
            self._door.close()
            self._door = None
        problem = self._group.problem
        self._node.leave(self._group.result or "failed", problem["message"] if problem else None)
