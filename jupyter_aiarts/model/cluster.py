"""Nodes, their cards, who holds them and what fits now: the shapes that travel, and the counting behind them.

Everything here is pure: an engine gives one state of what it sees, and all numbers come from that one state.
"""

# Annotations are values: see spec.py.

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Explanation
from jupyter_aiarts.model.placement import BOARD, RING, has_rings

SIZES = (1, 2, 4, 8)
WHOLE = "nodes_of_8"

CORDONED, TAINTED, NOT_READY = "cordoned", "tainted", "not-ready"
DISK_PRESSURE, MEMORY_PRESSURE, PID_PRESSURE = "disk-pressure", "memory-pressure", "pid-pressure"
UNHEALTHY_CARDS, CARDS_MISSING = "unhealthy-cards", "cards-missing"

Fits = dict[str, dict[str, int]]
"""By device: how many jobs of 1, 2, 4 and 8 cards fit now, and `nodes_of_8`, nodes that have 8 free. By cards alone."""


class Holding(Struct, frozen=True, kw_only=True):
    """Who holds some cards of a node; on this machine also who holds CPUs and no card.

    `owner` and `job` are null for what is not a job of ours: then the namespace is all that is known. `ids` is null
    where nobody reported which cards they are.
    """

    owner: str | None
    job: str | None
    namespace: str | None
    pod: str | None
    cards: int
    ids: tuple[int, ...] | None = None
    cpu: float | None = None


class Node(Struct, frozen=True, kw_only=True):
    """One machine with the cards of one device; a machine with two kinds of cards is told twice.

    `free` + what is held = `cards` + `missing`, always, where `free` is known: `missing` are cards that somebody holds
    and the node does not offer any more. Null is unknown: what the user's rights do not show is never guessed.
    Free CPUs and memory are those that nobody asked for; what is used, whoever asked for it, a metrics server tells.
    """

    cluster: str
    name: str
    ready: bool | None
    device: str | None
    cards: int | None
    free: int | None
    held_by: tuple[Holding, ...] = ()
    problems: tuple[str, ...] = ()
    unhealthy: int = 0
    missing: int = 0
    cpu: float | None = None
    free_cpu: float | None = None
    memory_gb: float | None = None
    free_memory_gb: float | None = None
    used_cpu: float | None = None
    used_memory_gb: float | None = None


class Stuck(Struct, frozen=True, kw_only=True):
    """Something that holds cards, or a name, and that nobody uses any more.

    `pod-stuck`: told to go, and its node does not say that it went; `keeps-cards`: the same of a job that has ended;
    `half-deleted`: the same of a job that was deleted; `unfinished`: what a submission left that crashed half way,
    which is removed by itself.
    """

    cluster: str
    kind: Literal["pod-stuck", "keeps-cards", "half-deleted", "unfinished"]
    job: str
    name: str
    owner: str
    namespace: str
    pod: str | None
    node: str | None
    device: str
    cards: int
    since: str


class ClusterView(Struct, frozen=True, kw_only=True):
    """What an engine sees of its machines at one moment; `fits` is None where nobody here may see what is free."""

    cluster: str
    at: str
    nodes: tuple[Node, ...] = ()
    fits: Fits | None = None
    unknown: tuple[Cause, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    stale_since: str | None = None


class Glimpsed(Struct, frozen=True, kw_only=True):
    """One cluster of the answer: when it was seen, since when that may be old, and what of it cannot be seen."""

    name: str
    at: str
    fits: Fits | None
    unknown: list[Explanation]
    stale_since: str | None = None


class ClusterPage(Struct, frozen=True, kw_only=True):
    """The answer of `cluster`: all nodes, what fits now on all of them together, and each cluster by itself."""

    nodes: list[Node]
    fits: Fits | None
    clusters: list[Glimpsed]
    stuck: list[Stuck] = []


def fitting(device: str, free: frozenset[int] | int) -> dict[str, int]:
    """How many jobs of each size the free cards of one node hold, by the device's shape.

    Of cards whose ids are not known, as many as if the lowest were free: the most that it can be.
    """
    counts = {str(size): _jobs_of(size, device, free) for size in SIZES}
    return {**counts, WHOLE: int(counts[str(BOARD)] > 0)}


def _jobs_of(size: int, device: str, free: frozenset[int] | int) -> int:
    if not has_rings(device):
        return (free if isinstance(free, int) else len(free)) // size
    group = BOARD if size > RING else RING
    return sum(each // size for each in _by_group(free, group))


def _by_group(free: frozenset[int] | int, size: int) -> Iterable[int]:
    """How many cards are free of each ring or board."""
    if isinstance(free, int):
        whole, rest = divmod(free, size)
        return [*[size] * whole, rest]
    groups: dict[int, int] = {}
    for card in free:
        groups[card // size] = groups.get(card // size, 0) + 1
    return groups.values()


def together(views: Iterable[Fits | None]) -> Fits | None:
    """What fits on several clusters, added up; None when nothing is known of any."""
    known = [one for one in views if one is not None]
    total: Fits = {}
    for fits in known:
        for device, counts in fits.items():
            into = total.setdefault(device, {})
            for size, count in counts.items():
                into[size] = into.get(size, 0) + count
    return total if known else None


def split_cards(cards: int, held: int) -> tuple[int, int]:
    """Free and missing cards, neither ever negative: free + held = cards + missing."""
    return max(cards - held, 0), max(held - cards, 0)


def held_cards(node: Node) -> int:
    """How many cards are held on a node."""
    return sum(one.cards for one in node.held_by)
