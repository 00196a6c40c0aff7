"""CPU, memory, disks and network of this machine; of its container, where that has limits of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from jupyter_aiarts.devices import cgroup
from jupyter_aiarts.model.usage import Disk, Host

MOMENT = 0.2  # seconds


class _Counters(Struct, frozen=True, kw_only=True):
    """What only grows; two of them make a rate."""

    at: float
    machine: float  # CPU seconds that all CPUs were busy
    group: float | None
    received: int
    sent: int


class HostProbe:
    """Rates are those since the last look; a first look waits a moment to have some."""

    name = "host"

    def __init__(self, paths: Iterable[str] = ("/",), root: Path = Path("/")) -> None:
        self._paths = tuple(dict.fromkeys(paths))
        self._root = root
        self._last: _Counters | None = None

    def look(self) -> Host:
        """One look; raises nothing that a machine without some of the files would cause."""
        import psutil

        if self._last is None:
            self._last = self._counters(cgroup.taken(self._root))
            time.sleep(MOMENT)
        ours = cgroup.taken(self._root)
        memory, before, now = psutil.virtual_memory(), self._last, self._counters(ours)
        self._last = now
        cpus = float(len(os.sched_getaffinity(0)))
        own: list[Literal["cpu", "memory"]] = []
        if ours.cpus is not None and ours.cpus < cpus:
            own.append("cpu")
        if ours.memory_limit is not None and ours.memory_limit < memory.total and ours.memory_used is not None:
            own.append("memory")
        in_group = "cpu" in own and now.group is not None
        return Host(
            cpu=_rate(before, now, (lambda one: one.group) if in_group else (lambda one: one.machine)),
            cpus=ours.cpus if "cpu" in own else float(psutil.cpu_count() or 1),
            memory_used=ours.memory_used if "memory" in own else memory.total - memory.available,
            memory_total=ours.memory_limit if "memory" in own else memory.total,
            disks=tuple(_disks(self._paths)),
            received=_rate(before, now, lambda one: float(one.received)),
            sent=_rate(before, now, lambda one: float(one.sent)),
            own=tuple(own),
        )

    def _counters(self, ours: cgroup.Taken) -> _Counters:
        import psutil

        busy, net = psutil.cpu_times(), _network()
        waiting = busy.idle + getattr(busy, "iowait", 0.0)
        # Guests are counted inside `user` already.
        total = sum(busy) - getattr(busy, "guest", 0.0) - getattr(busy, "guest_nice", 0.0)
        return _Counters(
            at=time.monotonic(),
            machine=total - waiting,
            group=ours.cpu_seconds,
            received=net.bytes_recv if net else 0,
            sent=net.bytes_sent if net else 0,
        )


def _network() -> Any:
    """psutil's counters over all cards; None where a machine has none, though its stubs do not know that."""
    import psutil

    return psutil.net_io_counters()


def _rate(before: _Counters | None, now: _Counters, of: Callable[[_Counters], float | None]) -> float | None:
    """How much of something there was each second; None for a first look, and where a counter began anew."""
    if before is None or now.at <= before.at:
        return None
    first, second = of(before), of(now)
    if first is None or second is None or second < first:
        return None
    return round((second - first) / (now.at - before.at), 3)


def _disks(paths: Iterable[str]) -> Iterable[Disk]:
    """Each file system once, by the first path that is on it; one that cannot be asked is left out."""
    seen = set()
    for path in paths:
        try:
            device, size = os.stat(path).st_dev, os.statvfs(path)
        except OSError:
            continue
        if device not in seen:
            seen.add(device)
            free = size.f_bavail * size.f_frsize
            used = (size.f_blocks - size.f_bfree) * size.f_frsize
            yield Disk(path=path, used=used, total=used + free)
