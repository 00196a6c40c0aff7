"""What would become of a job if it were submitted now: the answer to a dry run."""

from __future__ import annotations

from msgspec import structs

from jupyter_aiarts.engines.base import Caller, Fit
from jupyter_aiarts.engines.local.checks import check_here, settle_spec
from jupyter_aiarts.engines.local.machine import machine_of
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.local.slots import Taken, Waiting, decide
from jupyter_aiarts.model.reading import Reading

LAST = "~"  # sorts after every time: the job would join the end of its priority


def rehearse(reading: Reading, caller: Caller, settings: Settings, running: list[Taken], waiting: list[Waiting]) -> Fit:
    """Whether it would start now beside what runs and waits; raises `InvalidSpec` for what is known to be wrong."""
    machine = machine_of(settings)
    settled = structs.replace(reading, spec=settle_spec(reading.spec, caller, machine))
    check_here(settled, caller)
    mine = Waiting(id="", spec=settled.spec, queued=LAST)
    cause = decide(machine, running, [*waiting, mine]).waits.get("")
    return Fit(now=cause is None, cause=cause, spec=settled.spec)
