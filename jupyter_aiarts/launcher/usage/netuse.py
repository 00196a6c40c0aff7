"""What comes to a pod through its network and leaves it: the gradients of all its ranks, their data, their downloads.

Ranks share the network of their pod, so it is told for the node as a whole; on a machine that others use too, whose
bytes they are cannot be told, and nobody looks.
"""

from typing import Any, Dict, List, Optional, Tuple

from .ledger import Gauge, Past

NAMES = ("received", "sent")
COUNTERS = "/proc/net/dev"


class NetUse:
    """Bytes a second; `at` counts on the loop's clock, `now` is the time of day."""

    def __init__(self, path: str = COUNTERS) -> None:
        self.past = Past()
        self._path = path
        self._gauges = {name: Gauge() for name in NAMES}
        self._before: Optional[Tuple[List[int], float]] = None

    def look(self, at: float, now: float) -> None:
        """Take note of what went through since the last look; the first one only says where the counters stand."""
        moved, before = counters(self._path), self._before
        self._before = None if moved is None else (moved, at)
        if moved is None or before is None or at <= before[1] or any(new < old for new, old in zip(moved, before[0])):
            return
        rates = [float(round((new - old) / (at - before[1]))) for new, old in zip(moved, before[0])]
        for name, rate in zip(NAMES, rates):
            self._gauges[name].add(rate)
        self.past.add(now, dict(zip(NAMES, rates)))

    def as_json(self) -> Dict[str, Any]:
        """Last, mean and most of both."""
        return {name: gauge.as_json() for name, gauge in self._gauges.items()}


def counters(path: str = COUNTERS) -> Optional[List[int]]:
    """Bytes received and sent by all interfaces but the one for itself; None where there is none, or nobody tells."""
    try:
        with open(path) as file:
            lines = [line.split(":", 1) for line in file.read().splitlines()[2:]]
        rows = [numbers.split() for name, numbers in lines if name.strip() != "lo"]
        return [sum(int(row[place]) for row in rows) for place in (0, 8)] if rows else None
    except (OSError, ValueError, IndexError):
        return None
