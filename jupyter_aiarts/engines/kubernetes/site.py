"""One node with all that is bound to it: what is free of it, who holds the rest, what fits there. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from jupyter_aiarts.engines.kubernetes.nodes import CLOSED, Held, NodeObject
from jupyter_aiarts.model.cluster import Fits, Holding, Node, fitting, split_cards
from jupyter_aiarts.model.placement import Machine, has_rings

GB = 1 << 30
COUNTED = "nodes"  # beside what fits on a node: that it is one


class Offer(Struct, frozen=True, kw_only=True):
    """A node as a job of one device sees it: what `placement` counts with, and memory, which it does not count."""

    machine: Machine
    memory: int
    free_memory: int
    problems: tuple[str, ...]

    @property
    def is_open(self) -> bool:
        """Whether it takes pods of this device now."""
        return CLOSED.isdisjoint(self.problems)


class Site:
    """One node with all that is bound to it, and what was made of that until something of it changes."""

    __slots__ = ("counts", "node", "offers", "pods", "rows", "unwell")

    def __init__(self) -> None:
        self.node: NodeObject | None = None
        self.pods: dict[str, Held] = {}
        self.unwell: Mapping[str, frozenset[int]] = {}
        self.rows: tuple[Node, ...] = ()
        self.offers: dict[str, Offer] = {}
        self.counts: Fits = {}

    @property
    def is_empty(self) -> bool:
        return self.node is None and not self.pods and not self.unwell


def counts_of(site: Site) -> Fits:
    """What fits on a node, by device."""
    with_cards = {device: offer.machine for device, offer in site.offers.items() if offer.machine.cards}
    return {device: {COUNTED: 1, **fitting(device, one.free)} for device, one in with_cards.items()}


def held_of(site: Site, resource: str) -> int:
    return sum(pod.cards.get(resource, 0) for pod in site.pods.values())


def holdings(site: Site, resource: str | None) -> tuple[Holding, ...]:
    """Who holds cards, the most first; equal ones by name, so that the same state always reads the same."""
    if resource is None:
        return ()
    pods = [pod for pod in site.pods.values() if resource in pod.cards]
    pods.sort(key=lambda pod: (-pod.cards[resource], pod.namespace, pod.name))
    return tuple(
        Holding(
            owner=pod.owner,
            job=pod.job,
            namespace=pod.namespace,
            pod=pod.name,
            cards=pod.cards[resource],
            ids=pod.ids,
            cpu=pod.cpu / 1000,
        )
        for pod in pods
    )


def free_of(site: Site, resource: str | None, device: str, cards: int) -> frozenset[int] | int:
    """The ids of free cards where every pod's are known and rings matter, else their number."""
    if resource is None:
        return 0
    pods = [pod for pod in site.pods.values() if resource in pod.cards]
    free, _ = split_cards(cards, held_of(site, resource))
    if not has_rings(device) or not free or any(pod.ids is None for pod in pods):
        return free
    taken = {card for pod in pods for card in pod.ids or ()} | site.unwell.get(resource, frozenset())
    assert site.node is not None
    ids = frozenset(range(max(site.node.has(resource), cards))) - taken
    return ids if len(ids) == free else free
