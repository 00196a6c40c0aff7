"""The cluster at a glance: nodes, cards, who holds them and what fits now, kept from one state of what was seen.

`Looking` paints it. A change costs one node, not all of them: each node's rows are kept until something of it changes,
and everything that is asked for is made from the same rows. No request is made here. Used from one event loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import structs

from jupyter_aiarts.engines.kubernetes.nodes import CLOSED, CPU, MEMORY, BoundPod, NodeObject, number_of
from jupyter_aiarts.engines.kubernetes.settings import DeviceProfile
from jupyter_aiarts.engines.kubernetes.site import (
    COUNTED,
    GB,
    Offer,
    Site,
    counts_of,
    free_of,
    held_of,
    holdings,
)
from jupyter_aiarts.engines.kubernetes.unwell import TELLS, HealthObject
from jupyter_aiarts.model import cluster
from jupyter_aiarts.model.cluster import Fits, Holding, Node, split_cards
from jupyter_aiarts.model.placement import Machine

NODES, PODS, HEALTH = "nodes", "pods", "configmaps"
SYSTEM = "kube-system"
DELETED = "DELETED"
MOST_ROWS = 10_000  # twice as many nodes as Kubernetes is made for


class Glance:
    """All nodes of one cluster and what is held of them.

    `sees_nodes` and `sees_all` say how far the user's rights go: without the first only the names of nodes are known
    where own pods are, without the second what others hold is not, so nothing is said to be free.
    """

    def __init__(
        self,
        cluster: str,
        devices: Mapping[str, DeviceProfile],
        people: tuple[str, ...] = (),
        sees_nodes: bool = True,
        sees_all: bool = True,
    ) -> None:
        self.cluster = cluster
        self.sees_nodes, self.sees_all = sees_nodes, sees_all
        self._people = people
        self._profiles = dict(devices)
        self._resources = tuple(dict.fromkeys(one.resource for one in devices.values() if one.resource))
        self._sites: dict[str, Site] = {}
        self._where: dict[str, str] = {}  # the node of each pod
        self._dirty: set[str] = set()
        self._order: list[str] | None = None  # the names of nodes; None when it has to be made again
        self._rows: tuple[Node, ...] | None = None
        self._totals: dict[str, Counter[str]] = {}  # what `fits` says, and how many nodes say it

    # -- in ------------------------------------------------------------------------------------------------------

    def apply(self, kind: str, type: str, found: Any) -> None:
        """One object as it is now, or was when it was DELETED."""
        gone = type == DELETED
        if isinstance(found, NodeObject):
            self._take_node(found, gone)
        elif isinstance(found, BoundPod):
            self._take_pod(found, gone)
        elif isinstance(found, HealthObject) and found.node is not None:
            self._site(found.node).unwell = {} if gone else found.unwell()
            self._changed(found.node)

    def keep_only(self, kind: str, namespace: str, names: Collection[str]) -> None:
        """Forget what a complete list did not have; `pods:team-a` is the list of that namespace alone."""
        what, _, space = kind.partition(":")
        if what == PODS:
            gone = [key for key in self._where if key not in names and (not space or key.startswith(f"{space}/"))]
            for key in gone:
                self._drop(key)
            return
        for name, site in self._sites.items():
            if what == NODES and site.node is not None and f"/{name}" not in names:
                site.node = None
                self._changed(name)
            elif what == HEALTH and site.unwell and f"{SYSTEM}/{TELLS}{name}" not in names:
                site.unwell = {}
                self._changed(name)

    def _take_node(self, found: NodeObject, gone: bool) -> None:
        name = found.metadata.name
        known = self._sites[name].node if name in self._sites else None
        same = known is not None and known.metadata.uid == found.metadata.uid
        if gone and known is not None and not same:
            return  # the end of one that had this name before
        if same and known is not None and _is_older(found.metadata.resource_version, known.metadata.resource_version):
            return
        self._site(name).node = None if gone else found
        self._changed(name)

    def _take_pod(self, found: BoundPod, gone: bool) -> None:
        key = f"{found.metadata.namespace}/{found.metadata.name}"
        known = self._sites[self._where[key]].pods[key] if key in self._where else None
        if known is not None:
            same = known.uid == found.metadata.uid
            if (gone and not same) or (same and number_of(found.metadata.resource_version) < known.version):
                return
        held = None if gone else found.held(self._resources, self._people)
        if known is not None and (held is None or held.node != known.node):
            self._drop(key)
        if held is None:
            return
        self._where[key] = held.node
        self._site(held.node).pods[key] = held
        if known is None or structs.replace(known, version=held.version) != held:
            self._changed(held.node)  # most news of a pod are not about what it holds

    def _drop(self, key: str) -> None:
        name = self._where.pop(key)
        del self._sites[name].pods[key]
        self._changed(name)

    def _site(self, name: str) -> Site:
        found = self._sites.get(name)
        if found is None:
            found = self._sites[name] = Site()
            self._order = None
        return found

    def _changed(self, name: str) -> None:
        self._dirty.add(name)

    # -- out -----------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[Node, ...]:
        """Every node by name; the same tuple as long as nothing changed."""
        self._settle()
        if self._order is None:
            self._order = sorted(self._sites)
        if self._rows is None:
            sites = self._sites
            self._rows = tuple([row for name in self._order for row in sites[name].rows][:MOST_ROWS])
        return self._rows

    def fits(self) -> Fits | None:
        """By device, how many jobs of each size fit now; None where nobody here may see what is free."""
        self._settle()
        if not self.sees_nodes or not self.sees_all:
            return None
        found = {}
        for device, total in self._totals.items():
            if total[COUNTED]:
                found[device] = {size: count for size, count in total.items() if size != COUNTED}
        return found

    def offers(self, device: str) -> list[Offer]:
        """The nodes that jobs of a device may ever go to, closed ones among them; none where that is not seen."""
        self._settle()
        if not self.sees_nodes or not self.sees_all or device not in self._profiles:
            return []
        return [site.offers[device] for site in self._sites.values() if device in site.offers]

    def _count(self, site: Site, counts: Fits) -> None:
        """Put what a node says into the totals, in place of what it said before."""
        for sign, said in ((-1, site.counts), (1, counts)):
            for device, each in said.items():
                total = self._totals.setdefault(device, Counter())
                for size, count in each.items():
                    total[size] += sign * count
        site.counts = counts

    def _settle(self) -> None:
        """Make anew what changed, and nothing else."""
        if not self._dirty:
            return
        for name in self._dirty:
            site = self._sites[name]
            if site.is_empty:
                self._count(site, {})
                del self._sites[name]
                self._order = None
            else:
                site.rows, site.offers = self._made(name, site)
                self._count(site, counts_of(site))
        self._dirty.clear()
        self._rows = None

    def _made(self, name: str, site: Site) -> tuple[tuple[Node, ...], dict[str, Offer]]:
        if site.node is None:  # its pods go when Kubernetes has noticed, or it is not shown to us
            return (self._guests(name, site) if not self.sees_nodes else ()), {}
        node = site.node
        offers = {
            device: self._offer(site, node, device, profile)
            for device, profile in self._profiles.items()
            if node.matches(profile.node_selector) and (profile.resource is None or self._concerns(site, profile))
        }
        rows = [self._row(site, node, device) for device in self._told(offers)]
        return tuple(rows or [self._row(site, node, None)]), offers

    def _concerns(self, site: Site, profile: DeviceProfile) -> bool:
        """Whether a node has cards of this device, or somebody holds some that it does not have any more."""
        assert site.node is not None and profile.resource is not None
        is_there = site.node.offers(profile.resource) or site.node.has(profile.resource)
        return bool(is_there) or held_of(site, profile.resource) > 0

    def _told(self, offers: Collection[str]) -> list[str]:
        """Of devices that share a resource and a node, the first: its cards are told once."""
        by_resource: dict[str, str] = {}
        for device in offers:
            by_resource.setdefault(self._profiles[device].resource or "", device)
        by_resource.pop("", None)
        return list(by_resource.values())

    def _offer(self, site: Site, node: NodeObject, device: str, profile: DeviceProfile) -> Offer:
        cards = node.offers(profile.resource) if profile.resource else 0
        cpu, memory = node.offers(CPU, 1000), node.offers(MEMORY)
        free_cpu = max(cpu - sum(pod.cpu for pod in site.pods.values()), 0)
        free_memory = max(memory - sum(pod.memory for pod in site.pods.values()), 0)
        problems = node.problems(profile.tolerations)
        is_open = CLOSED.isdisjoint(problems)
        machine = Machine(
            name=node.metadata.name,
            device=device,
            cards=cards,
            free=free_of(site, profile.resource, device, cards) if is_open else 0,
            cpu=cpu / 1000,
            free_cpu=free_cpu / 1000 if is_open else 0.0,
        )
        return Offer(machine=machine, memory=memory, free_memory=free_memory if is_open else 0, problems=problems)

    def _row(self, site: Site, node: NodeObject, device: str | None) -> Node:
        profile = self._profiles.get(device or CPU, DeviceProfile())
        resource = profile.resource if device is not None else None
        cards = node.offers(resource) if resource else 0
        held = held_of(site, resource) if resource else 0
        free, missing = split_cards(cards, held)
        unwell = max(node.has(resource) - cards, len(site.unwell.get(resource, ()))) if resource else 0
        problems = node.problems(profile.tolerations)
        problems += (cluster.UNHEALTHY_CARDS,) if unwell > 0 else ()
        problems += (cluster.CARDS_MISSING,) if missing else ()
        cpu, memory = node.offers(CPU, 1000), node.offers(MEMORY)
        used_cpu, used_memory = (sum(getattr(pod, what) for pod in site.pods.values()) for what in (CPU, MEMORY))
        return Node(
            cluster=self.cluster,
            name=node.metadata.name,
            ready=node.is_ready,
            device=device,
            cards=cards,
            free=free if self.sees_all else None,
            held_by=holdings(site, resource),
            problems=problems,
            unhealthy=max(unwell, 0),
            missing=missing,
            cpu=cpu / 1000,
            free_cpu=max(cpu - used_cpu, 0) / 1000 if self.sees_all else None,
            memory_gb=round(memory / GB, 1),
            free_memory_gb=round(max(memory - used_memory, 0) / GB, 1) if self.sees_all else None,
        )

    def _guests(self, name: str, site: Site) -> tuple[Node, ...]:
        """What own pods hold on a node that one may not see: all that is known of it."""
        found = []
        for resource in self._resources:
            held = holdings(site, resource)
            if held:
                device = self._device_of(resource, site)
                found.append(self._unseen(name, device, held))
        return tuple(found or [self._unseen(name, None, ())])

    def _device_of(self, resource: str, site: Site) -> str | None:
        said = {pod.device for pod in site.pods.values() if resource in pod.cards}
        named = [device for device, profile in self._profiles.items() if profile.resource == resource]
        return next((device for device in named if device in said), named[0] if len(named) == 1 else None)

    def _unseen(self, name: str, device: str | None, held: tuple[Holding, ...]) -> Node:
        return Node(cluster=self.cluster, name=name, ready=None, device=device, cards=None, free=None, held_by=held)


def _is_older(version: str, known: str) -> bool:
    return number_of(version) < number_of(known)
