"""CPU, memory and network of this machine; of its container, where that has limits of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from jupyter_aiarts.devices import cgroup
from jupyter_aiarts.model.usage import Host

MOMENT = 0.2  # seconds
OLD = 90.0  # seconds after which a look before is none: what a machine did on average since then is not what it does
LIMITS = 10.0  # seconds for which a container's limits are taken to hold; hardly anybody changes them at all


class _Counters(Struct, frozen=True, kw_only=True):
    """What only grows; two of them make a rate."""

    at: float
    machine: float  # CPU seconds that all CPUs were busy
    group: float | None
    received: int | None
    sent: int | None


class HostProbe:
    """Rates are those since the last look; a first look waits a moment to have some."""

    name = "host"

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._last: _Counters | None = None
        self._limits = cgroup.Limits()
        self._limits_until = 0.0

    def look(self) -> Host:
        """One look; raises nothing that a machine without some of the files would cause."""
        import psutil

        limits, memory, cores = self._held(), psutil.virtual_memory(), float(psutil.cpu_count() or 1)
        cpus = min(limits.cpus or cores, len(os.sched_getaffinity(0)))  # a container may also be bound to some of them
        own: list[Literal["cpu", "memory"]] = ["cpu"] if cpus < cores else []
        before = self._last
        if before is None or time.monotonic() - before.at > OLD:
            before = self._counters("cpu" in own)
            time.sleep(MOMENT)
        self._last = now = self._counters("cpu" in own)
        is_less = limits.memory is not None and limits.memory < memory.total
        used = cgroup.memory_used(self._root, limits.memory_above) if is_less else memory.total - memory.available
        if is_less:
            own.append("memory")
        cpu = _rate(before, now, (lambda one: one.group) if "cpu" in own else (lambda one: one.machine))
        return Host(
            # The kernel counts in ticks of 10 ms: between two quick looks that can be more than there is.
            cpu=None if cpu is None else min(cpu, cores),
            cpus=cpus,
            memory_used=used,
            memory_total=limits.memory if is_less else memory.total,
            received=_rate(before, now, lambda one: one.received),
            sent=_rate(before, now, lambda one: one.sent),
            own=tuple(own),
        )

    def _held(self) -> cgroup.Limits:
        if time.monotonic() >= self._limits_until:
            self._limits, self._limits_until = cgroup.limits(self._root), time.monotonic() + LIMITS
        return self._limits

    def _counters(self, of_group: bool) -> _Counters:
        """What was counted until now; of the group only where it is shown, for it is read from more files."""
        import psutil

        busy, (received, sent) = psutil.cpu_times(), _network(self._root)
        waiting = busy.idle + getattr(busy, "iowait", 0.0)
        # Guests are counted inside `user` already.
        total = sum(busy) - getattr(busy, "guest", 0.0) - getattr(busy, "guest_nice", 0.0)
        return _Counters(
            at=time.monotonic(),
            machine=round(total - waiting, 3),  # in hundredths: a last digit less would look as if it began anew
            group=cgroup.cpu_seconds(self._root, self._limits.cpus_above) if of_group else None,
            received=received,
            sent=sent,
        )


def _network(root: Path) -> tuple[int | None, int | None]:
    """Bytes that came and went, each counted once; None where there is no interface but the machine's own with itself.

    Bonds, bridges and the ends of containers' links carry what a device carries too. Where there is no device, as in a
    container, all interfaces count.
    """
    import psutil

    told = {name: one for name, one in psutil.net_io_counters(pernic=True).items() if name != "lo"}
    devices = [one for name, one in told.items() if os.path.exists(f"{root}/sys/class/net/{name}/device")]
    counted = devices or list(told.values())
    if not counted:
        return None, None
    return sum(one.bytes_recv for one in counted), sum(one.bytes_sent for one in counted)


def _rate(before: _Counters | None, now: _Counters, of: Callable[[_Counters], float | None]) -> float | None:
    """How much of something there was each second; None for a first look, and where a counter began anew."""
    if before is None or now.at <= before.at:
        return None
    first, second = of(before), of(now)
    if first is None or second is None or second < first:
        return None
    return round((second - first) / (now.at - before.at), 3)
