"""How much of the CPUs, of the memory and of the disks each rank takes, with every process it started.

A rank's processes are those below it and those of its session. CPU time and bytes of children that have ended are in
their parents' own accounts, so a rank's only grow; where an orphan took some away they are unknown until the next look.
Memory is what is resident, and pages that several processes share count in each of them, as in `ps` and `top`. Bytes
are those that came from disks and went to them, network disks included: what the page cache had costs nothing.
"""

import os
from typing import Dict, List, Mapping, Optional, Tuple

from ..tree import Process, descendants
from .ledger import Ledger, Values

_TICKS = os.sysconf("SC_CLK_TCK")  # a second
_PAGES = (1 << 20) / os.sysconf("SC_PAGE_SIZE")  # a MB


class RankUse:
    """The ranks of one node; `at` counts on the loop's clock, `now` is the time of day."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.begin(0.0)

    def begin(self, at: float) -> None:
        """The ranks were started, perhaps again: new processes have used nothing yet."""
        self._before: Dict[Tuple[int, str], Tuple[float, float]] = {}  # how much, and when
        self._begun = at

    def look(self, pids: Mapping[int, int], processes: Dict[int, Process], at: float, now: float) -> None:
        """Take note of the ranks that live, `{rank: pid}`; of others what is known stays."""
        seen: Dict[int, Values] = {}
        for rank, pid in pids.items():
            members = processes_of(pid, processes)
            if members:
                seconds = self._rate(rank, "cpu", sum(one.ticks for one in members) / _TICKS, at)
                seen[rank] = {
                    "cpu": None if seconds is None else round(seconds, 2),
                    "memory": round(sum(one.pages for one in members) / _PAGES, 1),
                    **self._disk(rank, members, at),
                }
        self.ledger.add(now, seen)

    def _disk(self, rank: int, members: List[Process], at: float) -> Values:
        """Bytes a second; unknown where one of its processes does not tell."""
        told = [_moved(one.pid) for one in members]
        rates: Dict[str, Optional[float]] = {"read": None, "written": None}
        if None not in told:
            for name, bytes_ in zip(rates, zip(*(one for one in told if one is not None))):
                rate = self._rate(rank, name, sum(bytes_), at)
                rates[name] = None if rate is None else round(rate)
        return rates

    def _rate(self, rank: int, name: str, whole: float, at: float) -> Optional[float]:
        """How much came to what only grows, a second."""
        before, since = self._before.get((rank, name), (0.0, self._begun))
        self._before[rank, name] = (whole, at)
        return (whole - before) / (at - since) if whole >= before and at > since else None


def _moved(pid: int) -> Optional[Tuple[int, int]]:
    """What a process read from disks and wrote to them, in bytes; None where that is not for us to know."""
    try:
        with open(f"/proc/{pid}/io", "rb") as file:
            said = dict(line.split(b": ") for line in file.read().splitlines())
        return int(said[b"read_bytes"]), int(said[b"write_bytes"])
    except (OSError, ValueError, KeyError):
        return None


def processes_of(pid: int, processes: Dict[int, Process]) -> List[Process]:
    """A rank and all that it started; none when it is gone."""
    if pid not in processes:
        return []
    roots = {pid} | {process.pid for process in processes.values() if process.session == pid}
    return [processes[one] for one in roots | {process.pid for process in descendants(processes, roots)}]
