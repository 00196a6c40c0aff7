"""Creating the objects of one run so that a crash at any moment leaves nothing half made.

The Job comes first, suspended and marked as being created; everything else belongs to it, so deleting it deletes all.
Where two may make the same run, each claims it by an object that is called by the run alone: one of them is refused.
The last request takes the mark away and lets it go: until then nobody sees the job, and `sweep` removes what stays
marked for too long.
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.engines.kubernetes import manifest, names
from jupyter_aiarts.engines.kubernetes.client import Api, Refused, configmaps, jobs, secrets, services
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.errors import ClusterUnreachable

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.manifest import Order

PLACES = {"Service": services, "ConfigMap": configmaps, "Secret": secrets}
ABANDONED = timedelta(minutes=10)
"""How long an object may stay marked as being created before it counts as what a crash left."""


async def create(api: Api, order: Order) -> JobObject:
    """All objects of a run, released; raises what the cluster refused, and then nothing is left of it.

    A 409 is passed on as `Refused`: somebody makes this very run already, or has made it.
    """
    made = manifest.objects(order)
    job = await api.create(jobs(order.namespace), made.job, JobObject)
    try:
        dependents = [manifest.owned(one, job.name, job.uid) for one in [*claims(order), *made.dependents]]
        await asyncio.gather(*(_create_dependent(api, order.namespace, one) for one in dependents))
        return await api.patch(jobs(order.namespace, job.name), manifest.release(order), JobObject)
    except BaseException:  # a request that its client gave up leaves nothing behind either
        await asyncio.shield(discard(api, job))
        raise


def claims(order: Order) -> list[dict[str, Any]]:
    """What only one who makes this run can have; nothing, where its id is new and so nobody else's.

    The same `submission_id` gives the same id, whatever the job is called the second time.
    """
    if order.reading.spec.submission_id is None and order.run == 1:
        return []
    name = names.claim_name(order.job_id, order.run)
    metadata = {"name": name, "namespace": order.namespace, "labels": manifest.labels(order)}
    return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"job": order.name}}]


async def _create_dependent(api: Api, namespace: str, made: dict[str, Any]) -> None:
    await api.create(PLACES[made["kind"]](namespace), made)


async def discard(api: Api, job: JobObject) -> None:
    """Delete a run that never was, with all that belongs to it; what cannot be deleted now is swept later."""
    with contextlib.suppress(Refused, ClusterUnreachable):
        await api.delete(jobs(job.namespace, job.name), propagation="Background", grace=0, uid=job.uid)


async def sweep(api: Api, creating: list[JobObject], now: datetime | None = None) -> list[str]:
    """Remove what crashed submissions left; the names of what was removed. Younger ones may still be at work."""
    limit = (now or datetime.now(timezone.utc)) - ABANDONED
    left = [job for job in creating if datetime.fromisoformat(job.created.replace("Z", "+00:00")) < limit]
    for job in left:
        await discard(api, job)
    return [job.name for job in left]
