"""Ending processes: ask, wait, force. The same for one rank's leftovers and for a whole node."""

import signal
from typing import Callable, Dict, List, Set, Tuple

from .tree import Process, send

STEP_SECONDS = 0.05
PATIENCE_SECONDS = 30.0
"""How long a killed process may take to go: one that hangs in the kernel must not hang the job's end."""


Find = Callable[[Dict[int, Process]], List[Process]]


class Ending:
    """Ends whatever `find` finds among the processes there are, also what appears meanwhile.

    The owner looks around and calls `step`, again and again, until it says True.
    """

    def __init__(self, find: Find, grace: float, clock: Callable[[], float]) -> None:
        self._find = find
        self._clock = clock
        self._deadline = clock() + grace
        self._asked: Set[Tuple[int, str]] = set()

    def hurry(self) -> None:
        """Wait no longer: the next step forces."""
        self._deadline = min(self._deadline, self._clock())

    def step(self, seen: Dict[int, Process]) -> bool:
        """Signal what is there of it; True when nothing is (or when waiting longer would be in vain)."""
        processes = self._find(seen)
        if not processes:
            return True
        overdue = self._clock() - self._deadline
        if overdue >= 0:
            send(processes, signal.SIGKILL)
            return overdue > PATIENCE_SECONDS
        fresh = [process for process in processes if (process.pid, process.start) not in self._asked]
        self._asked.update((process.pid, process.start) for process in fresh)
        send(fresh, signal.SIGTERM)
        return False
