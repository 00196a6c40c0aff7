"""Every node but the first: finds node 0, reports to it and does as it says; alone, it ends its ranks.

Where the group may regroup (`plan.regroup`), a node 0 that left or fell silent is looked for again, and being
asked to end means to leave: node 0 is told, and another launcher will come in this one's place.
"""

import time
from typing import Optional

from .audience import Audience
from .clock import stretched
from .history import History
from .line import CLOSED, Broken, Line, connect, is_path
from .loop import Loop
from .node import LEFT, Message, Node
from .plan import Plan
from .problem import Problem

_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_HERE = 0.02, 1.0, 0.25
"""Between two looks for node 0; on one machine a look costs next to nothing."""
_BEREFT = "the launcher of node 0 went away"
_ASKED = "this launcher was asked to leave"
_LAST_WORD_SECONDS = 2.0
_WELCOME_SECONDS, _LEAST_SECONDS = 20.0, 1.0
"""How long a node 0 may take to answer; one that hangs is looked for again, as long as there is time to meet."""


class Follower:
    """Connects until node 0 answers or the meeting's time is over."""

    def __init__(self, loop: Loop, plan: Plan, index: int, folder: str, audience: Audience) -> None:
        self._loop = loop
        self._plan = plan
        self._line: Optional[Line] = None
        self._problem: Optional[Problem] = None
        self._pause = _FIRST_PAUSE
        self._deadline = loop.clock() + stretched(plan.gang_timeout)
        self._orphaned = False
        self._forsaken = False
        self._leaving = False
        self._welcomed = False
        self._born = time.time()
        self._history = History(loop.clock)
        self._node = Node(loop, plan, index, folder, self._say, audience)

    def begin(self) -> None:
        """Prepare, then look for node 0."""
        self._problem = self._node.prepare()
        self._seek()

    def stop(self) -> None:
        """Somebody asked this launcher to end: that ends the whole job, or, in a pod, its part in it."""
        if self._plan.regroup:
            return self._depart()
        if self._line is None:
            self._node.leave("stopped", "stopped before the launchers had met")
        else:
            self._say({"type": "stopping"})
            self._node.stop()  # not waiting for node 0, which may be in no state to answer

    def _depart(self) -> None:
        self._leaving = True
        self._say({"type": "leaving"})  # before any rank notices: what the others miss must not look like a failure
        self._node.stop(_ASKED)
        if self._node.idle:
            self._go()

    def _go(self) -> None:
        self._hang_up()
        self._node.leave("stopped", _ASKED, LEFT)

    def _seek(self) -> None:
        if self._node.status.phase == "ended":
            return
        if self._loop.clock() > self._deadline:
            return self._give_up(f"node 0 was not found within {self._plan.gang_timeout:g} s")
        try:
            line = connect(self._plan.meeting or "", self._plan.silence_seconds)
        except OSError:
            return self._seek_later()
        try:
            line.send(self._hello())
        except Broken:
            line.socket.close()
            return self._seek_later()
        self._line, self._welcomed = line, False
        self._loop.watch(line.socket.fileno(), self._listen)
        left = self._deadline - self._loop.clock()
        self._loop.after(max(min(left, _WELCOME_SECONDS), _LEAST_SECONDS), lambda: self._doubt(line))

    def _doubt(self, line: Line) -> None:
        """A node 0 that has not said a word to this connection may be stopped, or not be one."""
        if self._line is line and not self._welcomed:
            self._hang_up()
            self._seek_later()

    def _seek_later(self) -> None:
        longest = _LONGEST_HERE if is_path(self._plan.meeting or "") else _LONGEST_PAUSE
        self._pause = min(self._pause * 1.5, longest)
        self._loop.after(self._pause, self._seek)

    def _hello(self) -> Message:
        plan = self._plan
        return {
            "type": "hello", "node": self._node.index, "token": plan.token, "job": plan.job, "run": plan.run,
            "attempt": plan.attempt, "problem": None if self._problem is None else self._problem.as_json(),
            "born": self._born, "history": self._history.as_json(), "cards": self._node.cards,
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
        except Broken as error:
            return self._bereft(error.how)
        for message in messages:
            self._follow(message)

    def _follow(self, message: Message) -> None:
        kind = message.get("type")
        if kind == "refused":
            return self._refused(message)
        self._welcomed = True
        if kind == "leaving":
            return self._forsake("node 0 was asked to leave")
        if self._leaving and kind != "end":
            return self._go() if kind == "gather" else None
        if kind == "start":
            self._history.learn(message.get("history"))
            self._history.begin()
        self._node.obey(message)
        if kind == "end":
            self._hang_up()  # node 0 sees that it was heard, while our readers may take their time

    def _refused(self, message: Message) -> None:
        self._hang_up()
        if message.get("why") == "token":
            self._give_up("node 0 refused this launcher: wrong token")
        else:
            self._loop.after(_LONGEST_PAUSE, self._seek)  # an earlier attempt's node 0 may be about to go

    def _bereft(self, how: str) -> None:
        """Node 0 is gone: is it to be looked for, or is there nothing left to work for?"""
        self._hang_up()
        phase = self._node.status.phase
        if phase == "ended" or self._forsaken:
            return
        if phase == "meeting" and not (self._plan.regroup and self._welcomed):
            self._loop.after(self._pause, self._seek)
        elif self._plan.regroup and (how != CLOSED or self._leaving):
            self._forsake("node 0 fell silent")
        else:
            self._orphaned = True
            self._node.stop(_BEREFT)
            if self._node.idle:
                self._node.leave("lost", _BEREFT)

    def _forsake(self, why: str) -> None:
        """End the ranks, then look for the node 0 that will come in its place."""
        self._forsaken = True
        self._node.stop(why)
        if self._node.idle:
            self._seek_again()

    def _seek_again(self) -> None:
        self._hang_up()
        if self._leaving:
            return self._go()
        self._forsaken = False
        self._history.pause()
        self._node.status.enter("meeting", "looking for node 0, which left")
        self._pause = _FIRST_PAUSE
        self._deadline = self._loop.clock() + stretched(self._plan.gang_timeout)
        self._loop.after(_LONGEST_PAUSE, self._seek)

    def _say(self, message: Message) -> None:
        if message["type"] == "ended":
            self._history.pause()
        if self._line is not None:
            try:
                self._line.send(message)
            except Broken as error:
                self._bereft(error.how)
        if message["type"] == "ended":
            self._after_the_end()

    def _after_the_end(self) -> None:
        """All ranks of this node have ended, and node 0 knows, if it can."""
        if self._orphaned:
            self._node.leave("lost", _BEREFT)
        elif self._forsaken:
            self._seek_again()
        elif self._leaving:
            # The job may just be over: then its result counts.
            self._loop.after(_LAST_WORD_SECONDS if self._line is not None else 0.0, self._go)

    def _hang_up(self) -> None:
        if self._line is not None:
            self._loop.unwatch(self._line.socket.fileno())
            self._line.socket.close()
            self._line = None
