"""Which cards a job takes, and why there may be none: pure counting, no I/O.

Shape rules belong to the accelerator. An Ascend 910 board has 8 cards in two rings of 4; a job stays inside
a ring or takes the board. Every other device gives any number of cards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from msgspec import Struct, structs

from jupyter_aiarts.model.spec import CPU, JobSpec, Kind

RING = 4
BOARD = 8
_RINGLESS = "cards that know no rings"

#: CPUs are fractions: three tenths of a CPU hold three jobs of a tenth, whatever floating point makes of it.
_A_SPECK = 1e-6

# For 1 card rings with 1, 3, 2, 4 free; for 2 cards with 2, 4, 3: it leaves the most whole rings and pairs.
_RING_PREFERENCE = {1: (1, 3, 2, 4), 2: (2, 4, 3), 4: (4,)}


class Need(Struct, frozen=True, kw_only=True):
    """What each of `nodes` nodes must have free."""

    device: str
    devices: int = 0
    nodes: int = 1
    cpu: float = 0.0


class Machine(Struct, frozen=True, kw_only=True):
    """What a node has and what nobody holds.

    `free` are card ids, or a number where only that is known. `free_cpu` is None where CPUs are not counted.
    `shared` says that several nodes of one job may sit on it, as on this machine.
    """

    name: str
    device: str
    cards: int
    free: frozenset[int] | int
    cpu: float | None = None
    free_cpu: float | None = None
    shared: bool = False

    @property
    def free_cards(self) -> int:
        """How many cards nobody holds."""
        return self.free if isinstance(self.free, int) else len(self.free)


class Seat(Struct, frozen=True, kw_only=True):
    """Where one node of a job goes; `cards` is None where ids are not known before it runs."""

    machine: str
    cards: list[int] | None


class Obstacle(Struct, frozen=True, kw_only=True):
    """Why a job has no place. `explain` turns it into words."""

    code: Literal["never-fits", "no-node-fits", "fits-as-distributed", "ring-fragmented"]
    machine: str | None = None  # the one that comes nearest
    free: int = 0  # cards free on it
    rings: tuple[int, ...] | None = None  # free cards per ring on it
    split: tuple[int, int] | None = None  # nodes x cards that would fit now, or ever where it can never fit as it is


def need_of(spec: JobSpec, cpu: float = 0.0) -> Need:
    """What a spec needs; `cpu` is what the engine grants where the spec leaves it open."""
    return Need(device=spec.device, devices=spec.devices, nodes=spec.nodes, cpu=spec.cpu or cpu)


def has_rings(device: str) -> bool:
    """Whether the 4 + 4 rule holds for this device."""
    return device.startswith("huawei_npu_")


def ring_shapes(device: str, kind: Kind) -> tuple[int, ...] | None:
    """The numbers of cards per node that the device's shape allows; None when any number goes."""
    if not has_rings(device):
        return None
    return (0, 1, 2, 4, 8) if kind == "regular" else (8,)


def choose_cards(free: Collection[int], count: int, device: str) -> list[int] | None:
    """The cards that a node of a job takes from the free ones, or None when no allowed set is free."""
    if count > len(free):
        return None
    if not has_rings(device) or count == 0:
        return sorted(free)[:count]
    if count == BOARD:
        return next((board for board in _groups(free, BOARD) if len(board) == BOARD), None)
    by_size = {len(ring): ring for ring in reversed(_groups(free, RING))}  # of equal rings the lower one
    chosen = next((by_size[size] for size in _RING_PREFERENCE.get(count, ()) if size in by_size), None)
    return chosen and chosen[:count]


def place(need: Need, machines: Iterable[Machine]) -> list[Seat] | None:
    """A seat for every node of the job, fuller machines first, or None when it does not fit now."""
    seats: list[Seat] = []
    for machine in sorted(_usable(need, machines), key=lambda one: (one.free_cards, one.free_cpu or 0.0, one.name)):
        seats += _seats_on(machine, need, need.nodes - len(seats))
        if len(seats) == need.nodes:
            return seats
    return None


def why_not(need: Need, machines: Sequence[Machine]) -> Obstacle | None:
    """What is in the way: never fits, rings in pieces, fits in smaller parts, must wait; None if it fits."""
    if place(need, machines) is not None:
        return None
    emptied = [_emptied(one) for one in machines]
    if place(need, emptied) is None:
        return Obstacle(code="never-fits", machine=_largest(need, machines), split=_split(need, emptied))
    broken = _broken_by_rings(need, machines)
    nearest = max(broken or _usable(need, machines), key=lambda one: _room(need, one))
    split = None if broken else _split(need, machines)
    return Obstacle(
        code="ring-fragmented" if broken else "fits-as-distributed" if split else "no-node-fits",
        machine=nearest.name,
        free=nearest.free_cards,
        rings=_free_per_ring(nearest),
        split=split,
    )


def _usable(need: Need, machines: Iterable[Machine]) -> list[Machine]:
    """The machines whose device is the one asked for; a CPU job runs on any."""
    return [one for one in machines if need.device in (CPU, one.device)]


def _room(need: Need, machine: Machine) -> tuple[float, float]:
    """How much of what the job wants nobody holds: cards, then CPUs; for a CPU job the other way round."""
    cards, cpus = float(machine.free_cards), machine.free_cpu or 0.0
    return (cpus, cards) if need.device == CPU else (cards, cpus)


def _broken_by_rings(need: Need, machines: Iterable[Machine]) -> list[Machine]:
    """Where cards are free that only their rings keep apart, if rings are all that is in the way of this job."""
    loose = structs.replace(need, device=_RINGLESS)
    usable = {one.name: structs.replace(one, device=_RINGLESS) for one in _usable(need, machines)}
    if not has_rings(need.device) or place(loose, usable.values()) is None:
        return []
    wanted = need.nodes
    return [
        one
        for one in _usable(need, machines)
        if len(_seats_on(usable[one.name], loose, wanted)) > len(_seats_on(one, need, wanted))
    ]


def _groups(free: Collection[int], size: int) -> list[list[int]]:
    """The free cards by ring or board, lowest first; empty groups are left out."""
    found: dict[int, list[int]] = {}
    for card in sorted(free):
        found.setdefault(card // size, []).append(card)
    return list(found.values())


def _ids(machine: Machine) -> frozenset[int]:
    """The free ids; where only a number is known, as many as if the lowest were free."""
    return frozenset(range(machine.free)) if isinstance(machine.free, int) else machine.free


def _seats_on(machine: Machine, need: Need, wanted: int) -> list[Seat]:
    """As many seats as the machine has for this job, at most `wanted`, and one unless it is shared."""
    free, cpu, seats = set(_ids(machine)), machine.free_cpu, list[Seat]()
    while len(seats) < (wanted if machine.shared else min(wanted, 1)):
        cards = choose_cards(free, need.devices, need.device)
        if cards is None or (cpu is not None and cpu + _A_SPECK < need.cpu):
            break
        free -= set(cards)
        cpu = None if cpu is None else cpu - need.cpu
        seats.append(Seat(machine=machine.name, cards=None if isinstance(machine.free, int) else cards))
    return seats


def _emptied(machine: Machine) -> Machine:
    """The machine as if nobody held anything."""
    return structs.replace(machine, free=frozenset(range(machine.cards)), free_cpu=machine.cpu)


def _largest(need: Need, machines: Iterable[Machine]) -> str | None:
    """The machine with the most cards of the device, if there is any."""
    usable = _usable(need, machines)
    return max(usable, key=lambda one: one.cards).name if usable else None


def _free_per_ring(machine: Machine) -> tuple[int, ...] | None:
    """How many cards of each ring are free; None where there are no rings or no ids."""
    if not has_rings(machine.device) or isinstance(machine.free, int):
        return None
    return tuple(sum(start <= card < start + RING for card in machine.free) for start in range(0, machine.cards, RING))


def _split(need: Need, machines: Sequence[Machine]) -> tuple[int, int] | None:
    """The fewest nodes over which as many cards would fit now; only devices without rings split."""
    if need.nodes != 1 or need.devices < 2 or has_rings(need.device):
        return None
    for nodes in range(2, need.devices + 1):
        cards, rest = divmod(need.devices, nodes)
        part = Need(device=need.device, devices=cards, nodes=nodes, cpu=need.cpu / nodes)
        if not rest and place(part, machines) is not None:
            return nodes, cards
    return None
