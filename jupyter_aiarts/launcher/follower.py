"""Every node but the first: finds node 0, reports to it and does as it says; alone, it ends its ranks."""

from typing import Optional

from .loop import Loop
from .meeting import Broken, Line, connect
from .node import Message, Node
from .plan import Plan
from .problem import Problem

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_BEREFT = "the launcher of node 0 went away"


class Follower:
    """Connects until node 0 answers or the meeting's time is over."""

    def __init__(self, loop: Loop, plan: Plan, index: int, folder: str) -> None:
        self._loop = loop
        self._plan = plan
        self._line: Optional[Line] = None
        self._problem: Optional[Problem] = None
        self._pause = _FIRST_PAUSE
        self._deadline = loop.clock() + plan.gang_timeout
        self._orphaned = False
        self._node = Node(loop, plan, index, folder, self._say)

    def begin(self) -> None:
        """Prepare, then look for node 0."""
        self._problem = self._node.prepare()
        self._seek()

    def stop(self) -> None:
        """Somebody asked this launcher to end: that ends the whole job."""
        if self._line is None:
            self._node.leave("stopped", "stopped before the launchers had met")
        else:
            self._say({"type": "stopping"})
            self._node.stop()  # not waiting for node 0, which may be in no state to answer

    def _seek(self) -> None:
        if self._node.status.phase == "ended":
            return
        if self._loop.clock() > self._deadline:
            return self._give_up(f"node 0 was not found within {self._plan.gang_timeout:g} s")
        try:
            self._line = connect(self._plan.meeting or "")
            self._line.send(self._hello())
        except (OSError, Broken):
            self._line = None
            self._pause = min(self._pause * 1.5, _LONGEST_PAUSE)
            self._loop.after(self._pause, self._seek)
            return
        self._loop.watch(self._line.socket.fileno(), self._listen)

    def _hello(self) -> Message:
        plan = self._plan
        return {
            "type": "hello", "node": self._node.index, "token": plan.token, "job": plan.job, "run": plan.run,
            "attempt": plan.attempt, "problem": None if self._problem is None else self._problem.as_json(),
        }  # fmt: skip

    def _give_up(self, why: str) -> None:
        """A problem of our own counts more than not having met."""
        if self._problem is not None:
            self._node.leave("failed", self._problem.message)
        else:
            self._node.leave("meeting-failed", why)

    def _listen(self) -> None:
        if self._line is None:
            return
        try:
            messages = self._line.receive()
        except Broken:
            return self._bereft()
        for message in messages:
            self._follow(message)

    def _follow(self, message: Message) -> None:
        if message.get("type") != "refused":
            return self._node.obey(message)
        self._hang_up()
        if message.get("why") == "token":
            self._give_up("node 0 refused this launcher: wrong token")
        else:
            self._loop.after(_LONGEST_PAUSE, self._seek)  # an earlier attempt's node 0 may be about to go

    def _bereft(self) -> None:
        """Node 0 is gone: before the start it may come again, after it there is nothing left to work for."""
        self._hang_up()
        if self._node.status.phase == "meeting":
            self._loop.after(self._pause, self._seek)
        elif self._node.status.phase != "ended":
            self._orphaned = True
            self._node.stop(_BEREFT)
            if self._node.idle:
                self._node.leave("lost", _BEREFT)

    def _say(self, message: Message) -> None:
        if self._line is not None:
            try:
                self._line.send(message)
            except Broken:
                self._bereft()
        if self._orphaned and message["type"] == "ended":
            self._node.leave("lost", _BEREFT)

    def _hang_up(self) -> None:
        if self._line is not None:
            self._loop.unwatch(self._line.socket.fileno())
            self._line.socket.close()
            self._line = None
