r"""A launcher that somebody sits in front of: `python3 -I -S <here> watched PLAN.json NODE FOLDER`, for `aiarts run`.

Its standard output is a stream of frames, `RANK STREAM COUNT\n` and then COUNT raw bytes, in the order in which they
came. Its standard input is the other's hand: when it lets go, the ranks are ended, and the plan's folder is
removed, for nobody else is there to do it; a byte on it says to kill what still runs.
"""

import os
import signal
from typing import Callable, List, Optional

from . import runner
from .audience import Audience
from .console import HIGH, LOW, End
from .loop import Loop
from .node import Node

HAND, SCREEN = 0, 1


class Onlooker(Audience):
    """Passes on what ranks write. Whoever reads slowly is waited for, as by any program that writes to a terminal."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._node: Optional[Node] = None
        self._held = False
        self._then: Optional[Callable[[], None]] = None
        self.alone = False
        self._screen = End(loop, SCREEN, self._eased)
        self.tap = self._output

    def attend(self, node: Node) -> None:
        """From now on the hand is felt."""
        self._node = node
        self._loop.watch(HAND, self._feel)

    def note(self, text: str) -> None:
        """A word of the launcher's own goes the same way, and belongs to no rank."""
        self._frame(0, "aiarts", text.encode("utf-8", "replace") + b"\n")

    def end(self, result: str, then: Callable[[], None]) -> None:
        """Leave when everything was read, or when nobody is there to read."""
        self._then = then
        self._eased()

    def _output(self, rank: int, stream: str, chunk: memoryview) -> None:
        self._frame(rank, stream, bytes(chunk))

    def _frame(self, rank: int, stream: str, content: bytes) -> None:
        self._screen.write(b"%d %s %d\n" % (rank, stream.encode("ascii"), len(content)) + content)
        if self._screen.waiting > HIGH and not self._held:
            self._hold(True)

    def _eased(self) -> None:
        if self._held and self._screen.waiting <= LOW:
            self._hold(False)
        if self._then is not None and not self._screen.waiting:
            then, self._then = self._then, None
            self._loop.soon(then)

    def _hold(self, held: bool) -> None:
        self._held = held
        if self._node is not None:
            self._node.crew.hold(held)

    def _feel(self) -> None:
        if os.read(HAND, 64):
            if self._node is not None:
                self._node.crew.hurry()
            return
        self._loop.unwatch(HAND)
        self.alone = True
        os.kill(os.getpid(), signal.SIGTERM)


def main(arguments: List[str]) -> int:
    """Like `runner.main`, watched."""
    onlookers: List[Onlooker] = []

    def hear(loop: Loop) -> Onlooker:
        onlookers.append(Onlooker(loop))
        return onlookers[0]

    code = runner.main(arguments[1:], hear)
    if any(one.alone for one in onlookers):
        import shutil

        shutil.rmtree(os.path.dirname(os.path.abspath(arguments[1])), ignore_errors=True)
    return code
