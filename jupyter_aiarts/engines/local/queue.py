"""This machine as a queue: what it has, what is taken, who waits in which order, and who started out of turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.local.slots import Decision, Machine, Taken, Waiting, free_cpus, queue_order, wants_of
from jupyter_aiarts.engines.turns import TurnBook
from jupyter_aiarts.model import queue
from jupyter_aiarts.model.queue import Ahead, Amounts, Queue, places_of
from jupyter_aiarts.model.spec import CPU
from jupyter_aiarts.model.turn import Turn, Waiter, turn_of

if TYPE_CHECKING:
    from jupyter_aiarts.engines.local.folder import StateFolder

NAME = "local"


def queue_of(
    machine: Machine, running: Iterable[Taken], waiting: Iterable[Waiting], owners: Mapping[str, str]
) -> Queue:
    """The one queue of this machine; every job here is the reader's."""
    taken = list(running)
    line = queue_order(waiting)
    known = {one.id: Ahead(job=one.id, name=one.spec.name, owner=owners.get(one.id)) for one in line}
    ordered = [queue.waiting(one.id, one.spec.priority, one.queued) for one in line]
    return Queue(
        name=NAME,
        cluster=NAME,
        kind="local",
        quota={CPU: machine.cpus, **{device: float(count) for device, count in machine.cards.items()}},
        used=_used(machine, taken),
        pending=len(line),
        active=True,
        places=places_of(ordered, known, known, whole=True),
        source="local",
    )


def _used(machine: Machine, taken: list[Taken]) -> Amounts:
    cards = {
        device: sum(len(node) for job in taken if job.device == device for node in job.devices)
        for device in machine.cards
    }
    return {CPU: machine.cpus - free_cpus(machine, taken), **{device: float(count) for device, count in cards.items()}}


def turns_of(waiting: Iterable[Waiting], decision: Decision, at: str) -> list[Turn]:
    """Whom each start of a decision passed, and why."""
    every = {one.id: one for one in waiting}
    left = [_waiter(every[job_id], decision) for job_id in decision.waits]
    found = [turn_of(_waiter(every[start.id], decision), left, at) for start in decision.starts]
    return [turn for turn in found if turn is not None]


def _waiter(job: Waiting, decision: Decision) -> Waiter:
    cause = decision.waits.get(job.id)
    return Waiter(
        id=job.id,
        name=job.spec.name,
        since=job.queued,
        queue=NAME,
        priority=job.spec.priority,
        cards=job.spec.devices * job.spec.nodes,
        wants=frozenset(wants_of(job.spec)),
        why=cause.code if cause is not None else "queued",
        lacks=decision.lacks.get(job.id),
    )


def book_of(state: StateFolder) -> TurnBook:
    """Where this machine's starts out of turn are kept."""
    return TurnBook(Path(state.root) / "order")
