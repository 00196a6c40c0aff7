"""Whether a job would find room now, and if not, why: pure, over the nodes as a job of its device sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import Any

from msgspec import structs

from jupyter_aiarts.engines.kubernetes.site import GB, Offer
from jupyter_aiarts.engines.obstacles import cause_of
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.placement import Machine, Need, Obstacle, choose_cards, has_rings, why_not
from jupyter_aiarts.model.spec import JobSpec

A_SPECK = 1e-6  # CPUs are fractions


def in_the_way(spec: JobSpec, offers: Sequence[Offer]) -> Cause | None:
    """What keeps a job from starting now: cards first, then CPUs, then memory; None where it would fit."""
    need = Need(device=spec.device, devices=spec.devices, nodes=spec.nodes, cpu=spec.cpu or 0.0)
    memory = int((spec.memory_gb or 0) * GB)
    if seats(need, [one.machine for one in offers if one.free_memory >= memory]) >= need.nodes:
        return None
    evidence = closed_nodes(offers)
    machines = [one.machine for one in offers]
    loose = structs.replace(need, cpu=0.0)
    obstacle = obstacle_of(loose, machines)
    if obstacle is not None:
        return _cards_cause(loose, obstacle, machines, evidence)
    if seats(need, machines) < need.nodes:
        amounts = [(one.cpu or 0.0, one.free_cpu or 0.0, one.name) for one in machines]
        return _amount_cause("CPU", need.cpu, need.nodes, amounts, evidence)
    sizes = [(one.memory / GB, one.free_memory / GB, one.machine.name) for one in offers]
    return _amount_cause("GB", spec.memory_gb or 0.0, need.nodes, sizes, evidence)


def seats(need: Need, machines: Iterable[Machine], emptied: bool = False) -> int:
    """How many of these machines take a node of the job, now or if nobody held anything.

    Nodes are alike by the hundred: whether cards do is found once for each number or set of free ones.
    """
    known: dict[frozenset[int] | int, bool] = {}
    count = 0
    for one in machines:
        free = one.cards if emptied else one.free
        enough = known.get(free)
        if enough is None:
            ids = range(free) if isinstance(free, int) else free
            enough = known[free] = choose_cards(ids, need.devices, need.device) is not None
        cpu = one.cpu if emptied else one.free_cpu
        count += enough and (cpu is None or cpu + A_SPECK >= need.cpu)
    return count


def obstacle_of(need: Need, machines: Sequence[Machine]) -> Obstacle | None:
    """`placement.why_not` for many nodes: the same answer, without walking through all of them several times."""
    if seats(need, machines) >= need.nodes:
        return None
    rings_matter = has_rings(need.device) and any(not isinstance(one.free, int) for one in machines)
    if need.nodes == 1 or rings_matter:
        return why_not(need, telling(need, machines))
    if seats(need, machines, emptied=True) < need.nodes:
        largest = max(machines, key=lambda one: one.cards, default=None)
        return Obstacle(code="never-fits", machine=largest.name if largest else None)
    nearest = max(machines, key=lambda one: (one.free_cards, one.free_cpu or 0.0))
    return Obstacle(code="no-node-fits", machine=nearest.name, free=nearest.free_cards)


def telling(need: Need, machines: Iterable[Machine]) -> list[Machine]:
    """As few machines as give the same answer as all of them.

    Of machines that differ in their CPUs alone, those with the most can do all that the others can. A job takes at
    most `nodes` of them; one that is split, as many as it has cards.
    """
    kinds: dict[tuple[int, frozenset[int] | int], list[Machine]] = {}
    for one in machines:
        kinds.setdefault((one.cards, one.free), []).append(one)
    most = max(need.nodes, need.devices)
    found: list[Machine] = []
    for alike in kinds.values():
        if len(alike) > 2 * most:
            roomiest = nlargest(most, alike, key=lambda one: one.free_cpu or 0.0)
            largest = nlargest(most, alike, key=lambda one: one.cpu or 0.0)
            alike = list({one.name: one for one in (*roomiest, *largest)}.values())
        found += alike
    return found


def closed_nodes(offers: Iterable[Offer]) -> tuple[str, ...]:
    """Which nodes take no jobs of this device at the moment, counted by why."""
    why = Counter(problem for one in offers if not one.is_open for problem in one.problems)
    return tuple(f"{problem}: {count}" for problem, count in sorted(why.items()))


def _cards_cause(need: Need, obstacle: Obstacle, machines: Sequence[Machine], evidence: tuple[str, ...]) -> Cause:
    if obstacle.split is not None:
        return structs.replace(cause_of(need, obstacle, machines), evidence=evidence)
    nearest = next((one for one in machines if one.name == obstacle.machine), None)
    values: dict[str, Any] = {
        "device": need.device,
        "need": need.devices,
        "count": need.nodes,
        "node": obstacle.machine,
        "free": obstacle.free,
        "have": nearest.cards if nearest is not None else 0,
    }
    if obstacle.rings is not None:
        values["rings"] = " + ".join(str(count) for count in obstacle.rings)
    return Cause(code=obstacle.code, values=values, evidence=evidence)


def _amount_cause(
    what: str, need: float, nodes: int, amounts: Sequence[tuple[float, float, str]], evidence: tuple[str, ...]
) -> Cause:
    """CPUs or memory: `amounts` are what each node has, what of it is free, and its name."""
    largest = max((has for has, _, _ in amounts), default=0.0)
    enough = sum(has >= need for has, _, _ in amounts) >= nodes
    free, name = max(((free, name) for _, free, name in amounts), default=(0.0, None))
    values = {"device": what, "need": need, "count": nodes, "node": name, "free": round(free, 2)}
    return Cause(
        code="no-node-fits" if enough else "never-fits", values={**values, "have": round(largest, 2)}, evidence=evidence
    )
