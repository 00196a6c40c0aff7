"""What this machine has to give: CPUs it may use, and cards."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.local.slots import Machine
from jupyter_aiarts.model.spec import JobSpec


def machine_of(settings: Settings) -> Machine:
    """The machine as configured: declared cards, and the CPUs this process may run on unless fewer are given."""
    return Machine(cpus=settings.cpus or float(usable_cpus()), cards=settings.devices)


def usable_cpus() -> int:
    """CPUs this process may really use, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_gb() -> float:
    """The memory of this machine in GB."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9


def surroundings(spec: JobSpec, settings: Settings) -> list[str]:
    """What a user should know about this machine before relying on it."""
    notes = []
    if spec.devices and spec.device in settings.devices:
        notes.append(f"The {spec.device} cards of this machine are declared in its configuration, not found.")
    machine = machine_of(settings)
    if spec.cpu and spec.cpu * spec.nodes > machine.cpus:
        notes.append(f"It asks for {spec.cpu * spec.nodes:g} CPUs and shares the {machine.cpus:g} of this machine.")
    return notes


def lifetime() -> list[str]:
    """What a user should know about how long a job can live here; said once, when it is submitted."""
    holder = ends_with_us()
    return [f"It runs in a {holder} and ends when that ends."] if holder else []


def ends_with_us() -> str | None:
    """What takes every job of this machine with it when it ends: a container, or a service of systemd; else None."""
    try:
        first = Path("/proc/1/comm").read_text().strip()
        group = Path("/proc/self/cgroup").read_text()
    except OSError:
        return None
    if first not in ("systemd", "init"):
        return "container"
    return "service" if ".service" in group else None
