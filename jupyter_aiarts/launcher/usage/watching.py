"""What this node's cards do while the ranks run: the driver's own tool is asked now and then, and never waited for.

A tool may take seconds, hang in the driver or print anything; the ranks have nothing to do with it. What it does not
tell is unknown: cards are called idle only where every one of them said so, look after look.
"""

import os
import shutil
import signal
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set

from .. import clock, ranks
from ..loop import Loop, Timer
from ..plan import Plan
from ..tree import look
from . import npusmi, nvidiasmi

FIRST_SECONDS, PERIOD_SECONDS = 10.0, 30.0
DEADLINE_SECONDS = 20.0
IDLE_PERCENT = 5.0
ENOUGH_LOOKS = 10
"""Looks after which it may be said that a card was never used: five minutes."""
_MOST_BYTES = 256 * 1024


class Reading(NamedTuple):
    """One card at one look; memory in MB."""

    id: int
    name: str
    utilization: Optional[float]
    memory: Optional[float]
    total: Optional[float]
    health: Optional[str]


class Card:
    """One card over all looks."""

    def __init__(self) -> None:
        self.last: Optional[Reading] = None
        self.looks = 0
        self._sum = 0.0
        self.most: Optional[float] = None
        self.most_memory: Optional[float] = None

    def add(self, reading: Reading) -> None:
        """Take note of a look; what it does not tell changes no mean."""
        self.last = reading
        if reading.utilization is not None:
            self.looks += 1
            self._sum += reading.utilization
            self.most = max(self.most or 0.0, reading.utilization)
        if reading.memory is not None:
            self.most_memory = max(self.most_memory or 0.0, reading.memory)

    def as_json(self) -> Dict[str, Any]:
        """As the status carries it."""
        assert self.last is not None
        mean = round(self._sum / self.looks, 1) if self.looks else None
        return {
            "id": self.last.id, "name": self.last.name, "utilization": self.last.utilization,
            "memory_used_mb": self.last.memory, "memory_total_mb": self.last.total, "health": self.last.health,
            "mean": mean, "most": self.most, "most_memory_mb": self.most_memory,
        }  # fmt: skip


class CardWatch:
    """Looks at the cards of one node from `start` to `stop`; `changed` is called after each look."""

    def __init__(self, loop: Loop, plan: Plan, node: int, apart: Set[int], changed: Callable[[], None]) -> None:
        self._loop = loop
        self._apart = apart
        self._changed = changed
        self._wanted = list(plan.devices[node]) if plan.inside is None else []
        self._count = plan.cards
        self._argv = command(plan.device)
        self._timer: Optional[Timer] = None
        self._child: Optional["_Child"] = None
        self._cards: Dict[int, Card] = {}
        self._read = ""
        self.idle_since: Optional[str] = None

    def start(self) -> None:
        """Begin anew; without cards or without their tool there is nothing to look at."""
        self.stop()
        self._apart.clear()
        self._cards, self.idle_since, self._read = {}, None, ""
        if self._argv and self._count:
            self._timer = self._loop.after(FIRST_SECONDS, self._look)

    def stop(self) -> None:
        """Look no more; what was seen stays."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._child is not None:
            self._child.end()
            self._child = None

    def as_json(self) -> Optional[Dict[str, Any]]:
        """What the status says of the cards beside `idle_since`; None where nothing was ever seen of them."""
        if not self._cards:
            return None
        cards = [self._cards[number].as_json() for number in sorted(self._cards)]
        return {"t": self._read, "cards": cards}

    def verdict(self) -> Optional[str]:
        """A sentence about cards that were asked for and never used; None where that cannot be said."""
        if len(self._cards) < 2 or any(card.looks < ENOUGH_LOOKS for card in self._cards.values()):
            return None
        unused = [number for number, card in sorted(self._cards.items()) if (card.most or 0.0) < IDLE_PERCENT]
        if not unused or len(unused) == len(self._cards):
            return None
        named = ", ".join(map(str, unused))
        return f"{len(unused)} of its {len(self._cards)} cards were never used ({named}): ask for fewer next time"

    def _look(self) -> None:
        self._timer = None
        if any(is_alive(pid) for pid in self._apart):  # it hangs in the driver: a second one would hang beside it
            self._timer = self._loop.after(PERIOD_SECONDS, self._look)
            return
        self._apart.clear()
        try:
            self._child = _Child(self._loop, self._argv, self._heard, self._apart)
        except (OSError, ranks.NotStarted):
            self._argv = []  # the tool cannot be run here, and will not be later
            return

    def _heard(self, text: str) -> None:
        self._child = None
        self._timer = self._loop.after(PERIOD_SECONDS, self._look)
        found = self._own(readings(self._argv, text))
        if not found:
            return
        for one in found:
            self._cards.setdefault(one.id, Card()).add(one)
        idle = all(one.utilization is not None and one.utilization < IDLE_PERCENT for one in found)
        self._read = clock.now()
        self.idle_since = (self.idle_since or self._read) if idle else None
        self._changed()

    def _own(self, found: List[Reading]) -> List[Reading]:
        """The readings of this node's cards; none where it cannot be told which those are."""
        if self._wanted:
            found = [one for one in found if one.id in self._wanted]
        return found if len(found) == self._count else []


def command(device: str) -> List[str]:
    """What asks about cards of this kind; nothing where the tool is not there."""
    words = ["npu-smi", "info"] if "npu" in device else list(nvidiasmi.COMMAND) if "gpu" in device else []
    tool = shutil.which(words[0]) if words else None
    return [tool, *words[1:]] if tool else []


def readings(argv: Sequence[str], text: str) -> List[Reading]:
    """What the tool told, card by card."""
    if len(argv) > 1 and argv[1] == "info":
        return _npus(npusmi.parse(text))
    gpus = nvidiasmi.parse(text).gpus
    return [Reading(g.number, g.name, g.utilization, g.memory_used, g.memory_total, None) for g in gpus]


def _npus(report: npusmi.Report) -> List[Reading]:
    found = []
    for number, chip in npusmi.counted(report):
        memory = npusmi.memory_of(chip)
        health = chip.health.lower() if chip.health else None
        found.append(Reading(number, chip.name, chip.aicore, memory[0], memory[1], health))
    return found


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    process = look(pid)
    return process is not None and not process.zombie


class _Child:
    """One run of the tool, heard through the loop; its process is `apart` from those of the ranks."""

    def __init__(self, loop: Loop, argv: List[str], heard: Callable[[str], None], apart: Set[int]) -> None:
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
        self._timer = loop.after(DEADLINE_SECONDS, self._late)

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
