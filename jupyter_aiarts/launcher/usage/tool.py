"""The tool of the cards' driver: asked in a process of its own, heard through the loop, and never waited for.

It may take seconds, hang in the driver or print anything.
"""

import errno
import functools
import os
import shutil
import signal
from typing import TYPE_CHECKING, Callable, List, Optional, Set, Union

from .. import ranks
from ..loop import Loop
from ..plan import Plan
from ..tree import look
from .carduse import Reading, Talk

if TYPE_CHECKING:
    from .gpus import Gpus
    from .npus import Npus

DEADLINE_SECONDS = 20.0
"""For all questions of one look."""
REST = 4
"""How many times as long as a look took the next one waits at least: some tools take seconds for each question."""
_MOST_BYTES = 256 * 1024

Heard = Callable[[Optional[List[Reading]]], None]


class Tool:
    """Asks about `cards`, one question at a time; its processes are `apart` from those of the ranks."""

    def __init__(self, loop: Loop, cards: "Optional[Union[Gpus, Npus]]", apart: Set[int]) -> None:
        self._loop, self._cards, self._apart = loop, cards, apart
        self._path = shutil.which(cards.tool) if cards else None
        self._child: Optional["_Child"] = None
        self._rested = 0.0

    def begin(self, started: Set[int]) -> None:
        """One of these may have the number of a process of ours that has ended; one of ours that hangs stays ours."""
        self._apart.intersection_update([pid for pid in self._apart if pid not in started and is_alive(pid)])

    def ask(self, heard: Heard) -> None:
        """Have it look; `heard` is called with what it told, or with None where it was not asked because it rests."""
        now = self._loop.clock()
        if not self._cards or not self._path or any(is_alive(pid) for pid in self._apart):
            return heard([])  # not there, or it hangs in the driver: a second one would hang beside it
        if now < self._rested:
            return heard(None)
        self._apart.clear()
        self._go_on(self._cards.look(), now, heard, None)

    def end(self) -> None:
        """Whatever it would still say is not wanted."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def _go_on(self, talk: Talk, begun: float, heard: Heard, said: Optional[str]) -> None:
        """Pass on what it said and ask what is asked next; where the time is over, nothing is said."""
        self._child = None
        seconds = begun + DEADLINE_SECONDS - self._loop.clock()
        try:
            words = next(talk) if said is None else talk.send(said)
            while seconds <= 0:
                words = talk.send("")
            argv = [self._path or "", *words]
            go_on = functools.partial(self._go_on, talk, begun, heard)
            self._child = _Child(self._loop, argv, seconds, go_on, self._apart)
        except StopIteration as end:
            now = self._loop.clock()
            self._rested = now + REST * (now - begun)
            heard(end.value)
        except (OSError, ranks.NotStarted) as error:
            if _is_gone(error):
                self._path = None
            heard([])  # else it is the machine that had no process or no memory left just now


def cards_of(plan: Plan, node: int) -> "Optional[Union[Gpus, Npus]]":
    """Who knows what to ask about cards of this kind."""
    ids, inside = plan.devices[node], plan.inside is not None
    if "npu" in plan.device:
        from .npus import Npus

        return Npus([] if inside else ids, plan.cards)
    if "gpu" in plan.device:
        from .gpus import Gpus

        return Gpus(ids, plan.grants[node].get("CUDA_VISIBLE_DEVICES", ""), inside)
    return None


def _is_gone(error: "Union[OSError, ranks.NotStarted]") -> bool:
    number = error.number if isinstance(error, ranks.NotStarted) else error.errno
    return number == errno.ENOENT


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    process = look(pid)
    return process is not None and not process.zombie


class _Child:
    """One run of the tool, heard through the loop; its process is `apart` from those of the ranks."""

    def __init__(
        self, loop: Loop, argv: List[str], seconds: float, heard: Callable[[str], None], apart: Set[int]
    ) -> None:
        self._loop, self._heard, self._apart = loop, heard, apart
        self._said: List[bytes] = []
        self._size = 0
        self._pid, pipes = ranks.spawn(argv, {**os.environ, "LC_ALL": "C"}, "/")
        apart.add(self._pid)
        self._open = set(pipes)
        for end in pipes:
            os.set_blocking(end, False)
        loop.watch(pipes.stdout, lambda: self._hear(pipes.stdout, keep=True))
        loop.watch(pipes.stderr, lambda: self._hear(pipes.stderr, keep=False))
        self._timer = loop.after(seconds, self._late)

    def end(self) -> None:
        """Whatever it would still say is not wanted; where it hangs in the kernel nobody waits for it."""
        self._timer.cancel()
        for end in list(self._open):
            self._close(end)
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except OSError:
            pass  # it has ended

    def _hear(self, end: int, keep: bool) -> None:
        try:
            piece = os.read(end, 65536)
        except BlockingIOError:
            return
        if keep and self._size < _MOST_BYTES:
            self._said.append(piece)
            self._size += len(piece)
        if piece:
            return
        self._close(end)
        if not self._open:
            self._timer.cancel()
            self._apart.discard(self._pid)
            self._heard(b"".join(self._said).decode("utf-8", "replace"))

    def _late(self) -> None:
        self.end()
        self._heard("")

    def _close(self, end: int) -> None:
        self._open.discard(end)
        self._loop.unwatch(end)
        os.close(end)
