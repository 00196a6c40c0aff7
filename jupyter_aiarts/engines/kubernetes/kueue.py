"""Queues, quotas and workloads as they are watched while somebody looks: the few fields that a queue is shown from.

Kueue has two versions of its objects with other names for some fields; both are read into the same Structs, and what a
version does not have is empty.
"""

from __future__ import annotations

from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes.seen import Condition

LOCAL_QUEUES, CLUSTER_QUEUES, QUOTAS, QUEUED = "localqueues", "clusterqueues", "resourcequotas", "workloads"


class _Owner(Struct, gc=False):
    kind: str = ""
    name: str = ""
    uid: str = ""


class QueueMeta(Struct, gc=False, rename="camel"):
    """The metadata of all these kinds."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[_Owner, ...] = ()


Amount = str | int | float
"""A quantity: text, but a number where somebody wrote one into a custom object."""


class _Use(Struct, gc=False):
    name: str = ""
    total: Amount = "0"
    borrowed: Amount = "0"


class _FlavorUse(Struct, gc=False):
    name: str = ""
    resources: tuple[_Use, ...] | None = None


class _QueueStatus(Struct, gc=False, rename="camel"):
    conditions: tuple[Condition, ...] | None = None
    pending_workloads: int = 0
    flavors_reservation: tuple[_FlavorUse, ...] | None = None
    flavors_usage: tuple[_FlavorUse, ...] | None = None
    flavor_usage: tuple[_FlavorUse, ...] | None = None  # v1beta1's name for it in a LocalQueue

    @property
    def taken(self) -> tuple[_Use, ...]:
        """What is taken of the quota, flavor by flavor: what is reserved, or else what is used."""
        found = self.flavors_reservation or self.flavors_usage or self.flavor_usage or ()
        return tuple(use for flavor in found for use in flavor.resources or ())

    @property
    def inactive(self) -> Condition | None:
        """Why it takes no jobs; None while it does."""
        return next((one for one in self.conditions or () if one.type == "Active" and one.status == "False"), None)


class _LocalQueueSpec(Struct, gc=False, rename="camel"):
    cluster_queue: str = ""


class LocalQueueObject(Struct, gc=False):
    """What a namespace submits to."""

    metadata: QueueMeta
    spec: _LocalQueueSpec = field(default_factory=_LocalQueueSpec)
    status: _QueueStatus = field(default_factory=_QueueStatus)


class _Nominal(Struct, gc=False, rename="camel"):
    name: str = ""
    nominal_quota: Amount = "0"


class _Flavor(Struct, gc=False):
    name: str = ""
    resources: tuple[_Nominal, ...] | None = None


class _Group(Struct, gc=False):
    flavors: tuple[_Flavor, ...] | None = None


class _ClusterQueueSpec(Struct, gc=False, rename="camel"):
    resource_groups: tuple[_Group, ...] | None = None
    cohort: str = ""
    cohort_name: str = ""  # the same in v1beta2

    @property
    def quotas(self) -> tuple[_Nominal, ...]:
        """What it may give out by itself, flavor by flavor."""
        flavors = [flavor for group in self.resource_groups or () for flavor in group.flavors or ()]
        return tuple(one for flavor in flavors for one in flavor.resources or ())


class ClusterQueueObject(Struct, gc=False):
    """Whose quota LocalQueues give out."""

    metadata: QueueMeta
    spec: _ClusterQueueSpec = field(default_factory=_ClusterQueueSpec)
    status: _QueueStatus = field(default_factory=_QueueStatus)


class _QuotaStatus(Struct, gc=False):
    hard: dict[str, str] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)


class QuotaObject(Struct, gc=False):
    """A ResourceQuota."""

    metadata: QueueMeta
    status: _QuotaStatus = field(default_factory=_QuotaStatus)


class _WorkloadSpec(Struct, gc=False, rename="camel"):
    active: bool | None = None
    queue_name: str | None = None
    priority: int | None = None


class _WorkloadStatus(Struct, gc=False):
    conditions: tuple[Condition, ...] | None = None


class QueuedObject(Struct, gc=False):
    """A workload, anybody's."""

    metadata: QueueMeta
    spec: _WorkloadSpec = field(default_factory=_WorkloadSpec)
    status: _WorkloadStatus = field(default_factory=_WorkloadStatus)

    @property
    def job_name(self) -> str | None:
        """The Job that it stands for."""
        return next((owner.name for owner in self.metadata.owner_references if owner.kind == "Job"), None)


class PendingItem(Struct, gc=False, rename="camel"):
    """One who waits, as Kueue's own list of them has it."""

    metadata: QueueMeta
    priority: int = 0
    local_queue_name: str = ""
    position_in_cluster_queue: int = 0


class PendingList(Struct, gc=False):
    """The order in which a queue will let them go."""

    items: tuple[PendingItem, ...] | None = None
