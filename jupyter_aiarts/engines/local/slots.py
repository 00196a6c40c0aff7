"""Who starts next on this machine: a pure decision over slots, the same for the supervisor and for whoever asks why.

CPUs and cards are slots. Jobs go by priority, then by age. A job that has to wait holds back the later ones that want
anything it waits for; one that wants none of that delays nobody and may pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from jupyter_aiarts.engines.obstacles import cause_of
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.placement import Machine as Board
from jupyter_aiarts.model.placement import Need, Obstacle, place, why_not
from jupyter_aiarts.model.spec import CPU, JobSpec


class Machine(Struct, frozen=True, kw_only=True):
    """What this machine has: CPUs, and cards by device name (declared ones are labelled so wherever they are shown)."""

    cpus: float
    cards: Mapping[str, int] = field(default_factory=dict)


class Waiting(Struct, frozen=True, kw_only=True):
    """One queued job, as far as the decision needs it."""

    id: str
    spec: JobSpec
    queued: str


class Taken(Struct, frozen=True, kw_only=True):
    """What one running job holds."""

    id: str
    device: str
    cpus: float
    devices: tuple[tuple[int, ...], ...] = ()


class Decision(Struct, frozen=True, kw_only=True):
    """Jobs to start, in order, with what each is given; and for each of the others the reason it waits."""

    starts: tuple[Taken, ...] = ()
    waits: Mapping[str, Cause] = field(default_factory=dict)
    lacks: Mapping[str, frozenset[str]] = field(default_factory=dict)  # what each of the others waits for


def cpus_of(spec: JobSpec, machine: Machine) -> float:
    """CPU slots a job takes here: what it asks, else one, else its cards' fair share; never more than there are."""
    each = spec.cpu
    if each is None:
        share = machine.cards.get(spec.device, 0)
        each = machine.cpus * spec.devices / share if share and spec.devices else 1.0
    return min(each * spec.nodes, machine.cpus)


def queue_order(waiting: Iterable[Waiting]) -> list[Waiting]:
    """Higher priority first, then who came first; the id settles what came in the same microsecond."""
    return sorted(waiting, key=lambda job: (-job.spec.priority, job.queued, job.id))


def decide(machine: Machine, running: Iterable[Taken], waiting: Iterable[Waiting]) -> Decision:
    """Which waiting jobs start now, and why each of the others does not."""
    taken = list(running)
    starts: list[Taken] = []
    waits: dict[str, Cause] = {}
    lacks: dict[str, frozenset[str]] = {}
    blocked: set[str] = set()
    ahead = 0
    for job in queue_order(waiting):
        never = never_fits(machine, job.spec)
        wants = wants_of(job.spec)
        given = None if never or wants & blocked else give(machine, taken, job)
        if given is not None:
            taken.append(given)
            starts.append(given)
        elif never is not None:
            waits[job.id] = never  # it can block nobody: nothing will ever be kept free for it
        elif wants & blocked:
            waits[job.id] = Cause(code="queue-position", values={"ahead": ahead})
            lacks[job.id] = frozenset(wants & blocked)
            blocked |= wants
            ahead += 1
        else:
            short, waits[job.id] = shortage(machine, taken, job.spec)
            lacks[job.id] = frozenset(short)
            blocked |= short
            ahead += 1
    return Decision(starts=tuple(starts), waits=waits, lacks=lacks)


def wants_of(spec: JobSpec) -> set[str]:
    """The kinds of slots that a job takes."""
    return {CPU, spec.device} if spec.devices else {CPU}


def give(machine: Machine, taken: list[Taken], job: Waiting) -> Taken | None:
    """Slots for this job out of what is free, or None."""
    seats = place(_need(machine, job.spec), [_free(machine, taken, job.spec.device)])
    if seats is None:
        return None
    devices = tuple(tuple(seat.cards or ()) for seat in seats)
    return Taken(id=job.id, device=job.spec.device, cpus=cpus_of(job.spec, machine), devices=devices)


def _need(machine: Machine, spec: JobSpec) -> Need:
    # Rounded down, so that the thirds of a machine add up to no more than the machine.
    share = math.floor(cpus_of(spec, machine) / spec.nodes * 1e6) / 1e6
    return Need(device=spec.device, devices=spec.devices, nodes=spec.nodes, cpu=share)


def _free(machine: Machine, taken: list[Taken], device: str) -> Board:
    return Board(
        name="local",
        device=device,
        cards=machine.cards.get(device, 0),
        free=frozenset(free_cards(machine, taken, device)),
        cpu=machine.cpus,
        free_cpu=free_cpus(machine, taken),
        shared=True,
    )


def free_cpus(machine: Machine, taken: Iterable[Taken]) -> float:
    return machine.cpus - sum(job.cpus for job in taken)


def free_cards(machine: Machine, taken: Iterable[Taken], device: str) -> set[int]:
    """Cards of one kind that no job holds."""
    held = {card for job in taken if job.device == device for node in job.devices for card in node}
    return set(range(machine.cards.get(device, 0))) - held


def never_fits(machine: Machine, spec: JobSpec) -> Cause | None:
    """More cards than this machine has will never be free at once."""
    need = spec.devices * spec.nodes
    have = machine.cards.get(spec.device, 0)
    if need <= have:
        return None
    return Cause(code="never-fits", values={"device": spec.device, "need": need, "have": have})


def shortage(machine: Machine, taken: list[Taken], spec: JobSpec) -> tuple[set[str], Cause]:
    """What a job that could run here lacks at this moment."""
    need, free = cpus_of(spec, machine), free_cpus(machine, taken)
    if need > free + 1e-6:
        values = {"device": CPU, "need": need, "free": max(free, 0.0), "total": machine.cpus}
        return {CPU}, Cause(code="no-node-fits", values=values)
    wanted, board = _need(machine, spec), _free(machine, taken, spec.device)
    obstacle = why_not(wanted, [board]) or Obstacle(code="no-node-fits", machine=board.name, free=board.free_cards)
    return {spec.device}, cause_of(wanted, obstacle, [board])
