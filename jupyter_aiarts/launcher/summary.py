"""summary.json: how an attempt ended. Written once, by node 0, and waited for by everybody."""

import os
import time
from typing import Any, Dict, Optional

from . import bell, clock, record
from .group import Group
from .history import History
from .plan import Plan

_TRIES = 20
_PAUSE_SECONDS = 0.5
_RESERVE = 64 * 1024


def document(plan: Plan, group: Group, history: History) -> Dict[str, Any]:
    """What the file says of a group that has its result."""
    others = {"others": group.others} if group.others else {}
    return {
        "schema": 1,
        "attempt": plan.attempt,
        "restarts": group.restarts,
        "result": group.result,
        "started": None if history.started is None else clock.stamp(history.started),
        "ended": clock.now(),
        "running_seconds": round(history.running, 6),
        "first_failure": group.first_failure,
        **others,
        "problem": group.problem,
        "ranks": [rank for node in sorted(group.ranks) for rank in group.ranks[node]],
    }


def failed(attempt: int, result: str, problem: Dict[str, str]) -> Dict[str, Any]:
    """The summary of an attempt that never got as far as having ranks."""
    return {
        "schema": 1, "attempt": attempt, "restarts": 0, "result": result, "started": None,
        "ended": clock.now(), "running_seconds": 0.0, "first_failure": None, "problem": problem, "ranks": [],
    }  # fmt: skip


class Desk:
    """Where the summary will be written: some room is kept for it, so that a full disk cannot prevent it."""

    def __init__(self, folder: str) -> None:
        run = os.path.dirname(os.path.abspath(folder))
        self._path = os.path.join(run, "summary.json")
        self._reserve = os.path.join(folder, ".reserve")

    def reserve(self) -> None:
        """Take the room; raises `OSError`."""
        record.write(self._reserve, os.urandom(_RESERVE))  # random: a compressing disk would keep nothing of zeros

    def clear(self) -> None:
        """Remove what an earlier node 0 of this attempt left when it had to go; raises `OSError`."""
        try:
            os.unlink(self._path)
        except FileNotFoundError:
            pass

    def write(self, summary: Dict[str, Any], ring: Optional[str] = None, job: str = "") -> bool:
        """Write the summary, trying for some seconds; False when the disk would not have it."""
        self.release()
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(_PAUSE_SECONDS)
            try:
                record.write_json(self._path, summary, lasting=True)
            except OSError:
                continue
            bell.ring(ring, job)
            return True
        return False

    def release(self) -> None:
        """Give the room back."""
        try:
            os.unlink(self._reserve)
        except OSError:
            pass  # there was none
