"""Every process a job has: found through /proc, also those that left their session or their parent.

The launcher adopts orphans (`linux.adopt_orphans`), so whatever a rank starts stays below it. A process is
known to be a rank's by ancestry, by session, or by the `AIARTS_POD_ENV` it was started with.
"""

import os
import signal
from typing import Dict, Iterable, List, NamedTuple, Optional, Set


class Process(NamedTuple):
    """One line of the process table. `start` (clock ticks since boot) tells a reused pid from the old one.

    `ticks` is its CPU time and that of its ended children, `pages` what it has of the memory.
    """

    pid: int
    parent: int
    session: int
    start: str
    zombie: bool
    ticks: int
    pages: int


def look(pid: int) -> Optional[Process]:
    """The process with this pid, or None when there is none (or no /proc)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            content = file.read()
    except OSError:
        return None
    # The name in parentheses may hold anything, parentheses and blanks included.
    fields = content[content.rindex(b")") + 2 :].split()
    zombie, ticks = fields[0] in (b"Z", b"X"), sum(map(int, fields[11:15]))
    return Process(pid, int(fields[1]), int(fields[3]), fields[19].decode("ascii"), zombie, ticks, int(fields[21]))


def table() -> Dict[int, Process]:
    """All processes that live now, zombies left out."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return {}
    found = (look(pid) for pid in pids)
    return {process.pid: process for process in found if process is not None and not process.zombie}


def descendants(processes: Dict[int, Process], roots: Iterable[int]) -> List[Process]:
    """Everything below `roots`, the roots themselves left out."""
    children: Dict[int, List[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    found: List[Process] = []
    waiting = list(roots)
    while waiting:
        below = children.get(waiting.pop(), [])
        found.extend(below)
        waiting.extend(process.pid for process in below)
    return found


class Tree:
    """The processes of one launcher's ranks; `adopting` says whether orphans come to the launcher."""

    def __init__(self, launcher: int, adopting: bool) -> None:
        self._launcher = launcher
        self._adopting = adopting
        self.apart: Set[int] = set()
        """Processes of the launcher's own that are no rank's, and that nobody waits for."""

    def look_around(self) -> Dict[int, Process]:
        """All processes that live now. It reads a file for each, so one look serves all who ask at the same moment."""
        return table()

    def leftovers(self, processes: Dict[int, Process], living: Set[int], session: int, marker: bytes) -> List[Process]:
        """What an ended rank left running: what has its session or carries its `marker`, and all below.

        `living` are ranks that still run: nothing below them is touched.
        """
        spared = {process.pid for process in descendants(processes, living)} | living
        roots = {
            process.pid
            for process in self._candidates(processes)
            if process.pid not in spared and (process.session == session or carries(process.pid, marker))
        }
        return [processes[pid] for pid in roots | {process.pid for process in descendants(processes, roots)}]

    def everything(self, processes: Dict[int, Process], markers: Iterable[bytes]) -> List[Process]:
        """Every process of every rank, whatever became of its session and its environment."""
        below = {process.pid for process in self._below(processes)}
        if not self._adopting:
            wanted = tuple(markers)
            strays = (p.pid for p in self._candidates(processes) if any(carries(p.pid, m) for m in wanted))
            below.update(strays)
        return [processes[pid] for pid in below]

    def _candidates(self, processes: Dict[int, Process]) -> List[Process]:
        if self._adopting:
            return self._below(processes)
        return [process for process in processes.values() if process.pid != self._launcher]

    def _below(self, processes: Dict[int, Process]) -> List[Process]:
        spared = {process.pid for process in descendants(processes, self.apart)} | self.apart
        return [process for process in descendants(processes, [self._launcher]) if process.pid not in spared]


def carries(pid: int, marker: bytes) -> bool:
    """Whether the process was started with the variable `marker` (`NAME=VALUE`)."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return marker in file.read().split(b"\0")
    except OSError:
        return False  # gone, or another user's


def send(processes: Iterable[Process], number: signal.Signals) -> None:
    """Signal each process that is still the one we saw."""
    for process in processes:
        present = look(process.pid)
        if present is None or present.start != process.start:
            continue
        try:
            os.kill(process.pid, number)
        except OSError:
            pass  # ended in between, or changed its user: not ours to signal
