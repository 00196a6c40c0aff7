"""Nodes, and everybody's pods as far as they hold something of a node: the few fields that free cards are counted from.

msgspec decodes the API server's JSON straight into these. What a pod holds is what the scheduler counts for it, in
whole thousandths of a CPU, whole bytes and whole cards, so that sums never depend on the order of events.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

import msgspec
from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.meta import number
from jupyter_aiarts.engines.kubernetes.seen import Condition
from jupyter_aiarts.engines.kubernetes.settings import Toleration
from jupyter_aiarts.model import cluster
from jupyter_aiarts.model.quantity import parse_quantity

CPU, MEMORY = "cpu", "memory"
OVER = ("Succeeded", "Failed")
#: Taints that Kubernetes itself puts on a node for what is told by its own name.
_TOLD = re.compile(
    r"node\.kubernetes\.io/(unschedulable|not-ready|unreachable|disk-pressure|memory-pressure|pid-pressure)"
)
_CARD = re.compile(r"[A-Za-z][A-Za-z0-9]*-(\d{1,4})")


class NodeMeta(Struct, gc=False, rename="camel"):
    """A node's metadata; it has no namespace."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = field(default_factory=dict)


class Taint(Struct, gc=False):
    """What keeps pods away that do not tolerate it."""

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Struct, gc=False):
    """What an admin says about a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(Struct, gc=False):
    """What the kubelet says about it: all it has, what it gives, how it is."""

    capacity: dict[str, str] = field(default_factory=dict)
    allocatable: dict[str, str] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


class NodeObject(Struct, gc=False):
    """A node as it is watched."""

    metadata: NodeMeta
    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)

    def offers(self, resource: str, unit: int = 1) -> int:
        """How much of a resource it gives, in `unit`ths."""
        return units(self.status.allocatable.get(resource, "0"), unit)

    def has(self, resource: str) -> int:
        """How many of these cards it has, well or not."""
        return units(self.status.capacity.get(resource, "0"))

    def matches(self, selector: Mapping[str, str]) -> bool:
        """Whether pods with this selector may go there."""
        return all(self.metadata.labels.get(key) == value for key, value in selector.items())

    @property
    def is_ready(self) -> bool:
        return any(one.type == "Ready" and one.status == "True" for one in self.status.conditions)

    def problems(self, tolerations: Iterable[Toleration]) -> tuple[str, ...]:
        """Why it may not take a pod with these tolerations, as codes."""
        holds = {one.type for one in self.status.conditions if one.status == "True"}
        found = {
            cluster.NOT_READY: not self.is_ready,
            cluster.CORDONED: self.spec.unschedulable,
            cluster.TAINTED: any(not tolerated(one, tolerations) for one in self.spec.taints),
            cluster.DISK_PRESSURE: "DiskPressure" in holds,
            cluster.MEMORY_PRESSURE: "MemoryPressure" in holds,
            cluster.PID_PRESSURE: "PIDPressure" in holds,
        }
        return tuple(code for code, is_so in found.items() if is_so)


#: Problems that keep every pod of ours away; memory pressure keeps only pods away that request nothing.
CLOSED = frozenset({cluster.NOT_READY, cluster.CORDONED, cluster.TAINTED, cluster.DISK_PRESSURE, cluster.PID_PRESSURE})


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether a pod may go there all the same; what Kubernetes taints by itself is told by another name."""
    if taint.effect not in ("NoSchedule", "NoExecute") or _TOLD.fullmatch(taint.key):
        return True
    return any(
        one.effect in (None, taint.effect)
        and (one.key in (None, taint.key))
        and (one.operator == "Exists" or (one.key is not None and (one.value or "") == taint.value))
        for one in tolerations
    )


class _PodLabels(Struct, gc=False):
    job: str | None = field(default=None, name=names.JOB)
    owner: str = field(default="", name=names.OWNER)
    device: str = field(default="", name=names.DEVICE)


class _PodNotes(Struct, gc=False):
    """Which cards a pod has: as mounted, as reported to the ring controller, as chosen by the scheduler."""

    real: str | None = field(default=None, name="huawei.com/AscendReal")
    reported: str | None = field(default=None, name="ascend.kubectl.kubernetes.io/ascend-910-configuration")
    chosen: str | None = field(default=None, name="huawei.com/Ascend910")


class _PodMeta(Struct, gc=False, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: _PodLabels = field(default_factory=_PodLabels)
    annotations: _PodNotes = field(default_factory=_PodNotes)


class _Resources(Struct, gc=False):
    requests: dict[str, str] = field(default_factory=dict)


class _Container(Struct, gc=False, rename="camel"):
    resources: _Resources = field(default_factory=_Resources)
    restart_policy: str | None = None


class _BoundSpec(Struct, gc=False, rename="camel"):
    node_name: str | None = None
    containers: tuple[_Container, ...] = ()
    init_containers: tuple[_Container, ...] = ()
    overhead: dict[str, str] = field(default_factory=dict)
    resources: _Resources | None = None


class _BoundStatus(Struct, gc=False):
    phase: str = "Pending"


class BoundPod(Struct, gc=False):
    """Anybody's pod as it is watched; `held` makes what the picture keeps of it."""

    metadata: _PodMeta
    spec: _BoundSpec = field(default_factory=_BoundSpec)
    status: _BoundStatus = field(default_factory=_BoundStatus)

    def held(self, resources: Collection[str], people: Iterable[str] = ()) -> Held | None:
        """What it holds of its node; None while it has none, and when it is over. One that is told to go still does."""
        if not self.spec.node_name or self.status.phase in OVER:
            return None
        asked = {name: requested(self.spec, name) for name in resources}
        cards = {name: count for name, count in asked.items() if count}
        meta = self.metadata
        return Held(
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            version=number_of(meta.resource_version),
            node=self.spec.node_name,
            job=meta.labels.job,
            owner=person_of(meta.labels.owner, tuple(people)) if meta.labels.job else None,
            device=meta.labels.device,
            cards=cards,
            cpu=requested(self.spec, CPU, 1000),
            memory=requested(self.spec, MEMORY),
            ids=card_ids(meta.annotations, sum(cards.values())) if len(cards) == 1 else None,
        )


class Held(Struct, frozen=True, kw_only=True):
    """What one pod holds of its node: cards by resource, thousandths of a CPU, bytes."""

    namespace: str
    name: str
    uid: str
    version: int
    node: str
    job: str | None
    owner: str | None
    device: str
    cards: dict[str, int]
    cpu: int
    memory: int
    ids: tuple[int, ...] | None


def requested(spec: _BoundSpec, resource: str, unit: int = 1) -> int:
    """What the scheduler counts for a pod: its containers, or the most that its start takes at once, and its overhead.

    An init container that is always restarted stays beside the containers, and beside the init containers after it.
    """
    if spec.resources is not None and resource in spec.resources.requests:  # of the pod as a whole: in place of all
        running = units(spec.resources.requests[resource], unit)
    else:
        beside = most = 0
        for one in spec.init_containers:
            own = units(one.resources.requests.get(resource, "0"), unit)
            beside += own if one.restart_policy == "Always" else 0
            most = max(most, beside if one.restart_policy == "Always" else beside + own)
        running = sum(units(one.resources.requests.get(resource, "0"), unit) for one in spec.containers)
        running = max(running + beside, most)
    return running + units(spec.overhead.get(resource, "0"), unit)


@lru_cache(maxsize=8192)
def units(text: str, unit: int = 1) -> int:
    """A quantity in whole `unit`ths, rounded up as Kubernetes does; what is none counts nothing."""
    try:
        return max(math.ceil(parse_quantity(text) * unit), 0)
    except ValueError:
        return 0


@lru_cache(maxsize=8192)
def person_of(label: str, people: tuple[str, ...]) -> str | None:
    """Whose label this is: it holds a name and a hash, so a name is told only if its hash is the same."""
    readable = label.rpartition("-")[0]
    return next((one for one in (*people, readable) if one and names.owner_label(one) == label), None)


def number_of(version: str) -> int:
    """A resource version as a number, which API servers let nobody but etcd compare; 0 where it is none."""
    return int(version) if version.isascii() and version.isdigit() else 0


def card_ids(notes: _PodNotes, count: int) -> tuple[int, ...] | None:
    """Which cards a pod has, if what is noted names as many as it holds."""
    for found in (named_cards(notes.real), _reported(notes.reported), named_cards(notes.chosen)):
        if found is not None and len(found) == count:
            return tuple(sorted(found))
    return None


def named_cards(text: str | None) -> set[int] | None:
    """`Ascend910-0,Ascend910-1`"""
    matches = [_CARD.fullmatch(part.strip()) for part in (text or "").split(",") if part.strip()]
    return {int(one[1]) for one in matches if one is not None} if matches and all(matches) else None


class _ReportedCard(Struct):
    device_id: str = ""


class _Reported(Struct):
    devices: tuple[_ReportedCard, ...] = ()


def _reported(text: str | None) -> set[int] | None:
    try:
        found = msgspec.json.decode(text or "", type=_Reported).devices
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    return {number(one.device_id) for one in found} if all(one.device_id.isdigit() for one in found) else None
