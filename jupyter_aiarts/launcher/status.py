"""status.json of one node: what its launcher is doing, as a file that is always whole."""

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from . import bell, clock, record
from .crew import Rank
from .loop import Loop, Timer
from .plan import Plan
from .segments import Drop
from .tree import look

if TYPE_CHECKING:
    from .progress import ProgressWatch
    from .usage.watching import UsageWatch

RETRY_SECONDS = 1.0
DROP_SECONDS = 0.5
MOST_DROPS = 1000
LAST_TRIES, LAST_PAUSE = 3, 0.3


class Status:
    """Collects changes and writes them together, at most once per turn of the loop."""

    def __init__(self, loop: Loop, plan: Plan, node: int, folder: str, changed: Callable[[], None]) -> None:
        self._loop = loop
        self._changed = changed
        self._plan = plan
        self._node = node
        self._path = os.path.join(folder, "status.json")
        self._timer: Optional[Timer] = None
        self._due = 0.0
        self.drops = _earlier_drops(self._path)
        self._since = clock.now()
        self.ranks: List[Rank] = []
        self.phase = "meeting"
        self.message: Optional[str] = None
        self.code: Optional[str] = None
        self.notes: List[str] = []
        self.watch: Optional["UsageWatch"] = None
        self.progress: Optional["ProgressWatch"] = None

    def enter(self, phase: str, message: Optional[str] = None, code: Optional[str] = None) -> None:
        """The node is in another phase now; `code` is the word for what it waits for."""
        self.phase, self.message, self.code, self._since = phase, message, code, clock.now()
        self.mark()

    def mark(self, seconds: float = 0.0) -> None:
        """Something changed: write it within `seconds`."""
        due = self._loop.clock() + seconds
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = self._loop.after(seconds, self._write_or_retry)

    def drop(self, rank: int, drop: Drop) -> None:
        """Output was lost; what follows on another loss is one loss."""
        fresh = {
            "rank": rank,
            "stream": drop.stream,
            "from": drop.start,
            "to": drop.end,
            "reason": drop.reason,
        }
        for last in reversed(self.drops[-8:]):
            if all(last[key] == fresh[key] for key in ("rank", "stream", "reason")) and last["to"] == drop.start:
                last["to"] = drop.end
                break
        else:
            self.drops.append(fresh)
            del self.drops[:-MOST_DROPS]
        self.mark(DROP_SECONDS)

    def write(self) -> None:
        """Write it now; raises `OSError`. The loop is not needed for it."""
        self._changed()
        record.write_json(self._path, self.document())
        bell.ring(self._plan.bell, self._plan.job)

    def write_last(self, then: Callable[[], None], tries: int = LAST_TRIES) -> None:
        """Write it, then call `then`; after some tries `then` is called even if the disk will not have it."""
        try:
            self.write()
        except OSError:
            if tries > 0:
                self._loop.after(LAST_PAUSE, lambda: self.write_last(then, tries - 1))
                return
        then()

    def _write_or_retry(self) -> None:
        self._timer = None
        try:
            self.write()
        except OSError:
            self.mark(RETRY_SECONDS)  # the disk may have room again; the ranks have nothing to do with it

    def document(self) -> Dict[str, Any]:
        """What the file says, or is about to."""
        return {
            "schema": 1,
            "node": self._node,
            "attempt": self._plan.attempt,
            "phase": self.phase,
            "since": self._since,
            **identity(),
            "ranks": [_rank(rank) for rank in self.ranks],
            "drops": self.drops,
            "message": self.message,
            "code": self.code,
            "notes": self.notes,
            "idle_since": self.watch.idle_since if self.watch is not None else None,
            "usage": self.watch.as_json() if self.watch is not None else None,
            "progress": self.progress.as_json() if self.progress is not None else None,
        }


def identity() -> Dict[str, Any]:
    """Who this launcher is, for good: a pid alone may be somebody else's by the time it is signalled."""
    pid = os.getpid()
    me = look(pid)
    return {
        "pid": pid,
        "start": me.start if me else None,
        "boot": _line("/proc/sys/kernel/random/boot_id"),
        "pidns": _pidns(),
    }


def _line(path: str) -> Optional[str]:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return None


def _pidns() -> Optional[str]:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None


def _rank(rank: Rank) -> Dict[str, Any]:
    return {
        "rank": rank.prepared.seat.rank,
        "pid": rank.pid,
        "start": rank.start,
        "started": rank.started,
        "ended": rank.ended,
        "exit_code": rank.exit_code,
        "devices": rank.prepared.seat.devices,
    }


def _earlier_drops(path: str) -> List[Dict[str, Any]]:
    """What earlier attempts lost of the logs that this one continues."""
    try:
        with open(path, "rb") as file:
            drops = json.loads(file.read().decode("utf-8"))["drops"]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # there was no earlier attempt, or it could not write
    return list(drops)
