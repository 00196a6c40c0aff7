"""What was seen of queues, quotas and those who wait, while somebody looks; `queues.py` makes queues of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import Struct

from jupyter_aiarts.engines.kubernetes.kueue import (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    QUEUED,
    QUOTAS,
    ClusterQueueObject,
    LocalQueueObject,
    QueuedObject,
    QuotaObject,
)
from jupyter_aiarts.engines.kubernetes.meta import run_named
from jupyter_aiarts.engines.kubernetes.picture import DELETED
from jupyter_aiarts.model.queue import Waiting, waiting

Key = tuple[str, str]  # namespace and name
_LET_GO = frozenset(("Finished", "QuotaReserved", "Admitted"))
_REQUEUED = ("PodsReadyTimeout", "AdmissionCheck")  # evictions after which a workload goes to the end


class Lined(Struct, frozen=True, gc=False):
    """One who waits in a queue, boiled down: there may be ten thousand."""

    queue: Key
    one: Waiting


class QueuePicture:
    """What was seen of queues, in some namespaces or in all."""

    def __init__(self) -> None:
        self.local: dict[Key, LocalQueueObject] = {}
        self.cluster: dict[Key, ClusterQueueObject] = {}
        self.quotas: dict[Key, QuotaObject] = {}
        self.lined: dict[Key, Lined | None] = {}  # None: it does not wait

    def _held(self, kind: str) -> dict[Key, Any]:
        held: dict[str, dict[Key, Any]] = {
            LOCAL_QUEUES: self.local,
            CLUSTER_QUEUES: self.cluster,
            QUOTAS: self.quotas,
            QUEUED: self.lined,
        }
        return held[kind]

    def apply(self, kind: str, type: str, found: Any) -> None:
        """One object as it is now, or was when it was DELETED."""
        held, key = self._held(kind), (found.metadata.namespace, found.metadata.name)
        if type == DELETED:
            held.pop(key, None)
        else:
            held[key] = lined_of(found) if isinstance(found, QueuedObject) else found

    def keep_only(self, kind: str, namespace: str, names: Collection[str]) -> None:
        """Forget what a complete list did not have; names have their namespace where all of them were listed."""
        held = self._held(kind)
        for key in [key for key in held if namespace in ("", key[0])]:
            if (key[1] if namespace else f"{key[0]}/{key[1]}") not in names:
                del held[key]


def lined_of(found: QueuedObject) -> Lined | None:
    """Where a workload stands in the order; None for one that does not wait."""
    conditions = {one.type: one for one in found.status.conditions or ()}
    holds = {kind for kind, one in conditions.items() if one.status == "True"}
    meta = found.metadata
    if holds & _LET_GO or found.spec.active is False or meta.deletion_timestamp or not found.spec.queue_name:
        return None
    since = meta.creation_timestamp
    if "Evicted" in holds and conditions["Evicted"].reason in _REQUEUED:
        since = conditions["Evicted"].last_transition_time
    key = key_of(found.job_name, meta.namespace, meta.name)
    return Lined((meta.namespace, found.spec.queue_name), waiting(key, found.spec.priority or 0, since or ""))


def key_of(job_name: str | None, namespace: str, name: str) -> str:
    """The id of our job that a workload is of; for anybody else's its own name with its namespace."""
    ours = run_named(job_name or "")
    return ours[0] if ours is not None else f"{namespace}/{name}"
