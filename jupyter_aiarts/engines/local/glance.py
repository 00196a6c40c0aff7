"""This machine at a glance: one node for each kind of card, who holds them, and what fits now."""

from __future__ import annotations

import os
from collections.abc import Iterable

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.machine import memory_gb
from jupyter_aiarts.engines.local.slots import Machine, Taken, free_cards, free_cpus
from jupyter_aiarts.model.cluster import CARDS_MISSING, ClusterView, Holding, Node, fitting, split_cards
from jupyter_aiarts.model.spec import LOCAL
from jupyter_aiarts.model.times import now


def view_of(machine: Machine, running: list[Taken], records: Iterable[JobRecord]) -> ClusterView:
    """What is there and what each running job has of it; memory is not handed out here, so how much is free is not
    known."""
    owners = {record.id: record.owner for record in records}
    holdings = [(job.device, _holding(job, owners.get(job.id))) for job in running]
    with_cards = {device for device, one in holdings if one.cards}
    devices = [device for device, cards in machine.cards.items() if cards]
    devices += sorted(with_cards.difference(devices))
    told: list[str | None] = [*devices] or [None]
    rows = tuple(_row(machine, running, device, _of(device, devices, holdings)) for device in told)
    fits = {device: fitting(device, frozenset(free_cards(machine, running, device))) for device in devices}
    return ClusterView(cluster=LOCAL, at=now(), nodes=rows, fits=fits)


def _holding(job: Taken, owner: str | None) -> Holding:
    ids = tuple(sorted(card for node in job.devices for card in node))
    return Holding(owner=owner, job=job.id, namespace=None, pod=None, cards=len(ids), ids=ids, cpu=job.cpus)


def _of(device: str | None, devices: list[str], holdings: list[tuple[str, Holding]]) -> tuple[Holding, ...]:
    """Who has cards of a device, the most first; who has CPUs alone is told once, with the first device."""
    is_first = not devices or device == devices[0]
    found = [one for of, one in holdings if (of == device if one.cards else is_first)]
    return tuple(sorted(found, key=lambda one: (-one.cards, one.job or "")))


def _row(machine: Machine, running: list[Taken], device: str | None, held_by: tuple[Holding, ...]) -> Node:
    cards = machine.cards.get(device, 0) if device else 0
    free, missing = split_cards(cards, sum(one.cards for one in held_by))
    return Node(
        cluster=LOCAL,
        name=os.uname().nodename,
        ready=True,
        device=device,
        cards=cards,
        free=free,
        held_by=held_by,
        problems=(CARDS_MISSING,) if missing else (),
        missing=missing,
        cpu=machine.cpus,
        free_cpu=max(free_cpus(machine, running), 0.0),
        memory_gb=round(memory_gb(), 1),
    )
