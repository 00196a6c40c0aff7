"""What is known of a job before it runs: what submitting it would come to, when it may start, where its files will be.

Asked by people, one question at a time; what the cluster does not tell soon enough or does not let be seen is unknown.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.base import Caller, Fit, JobRecord
from jupyter_aiarts.engines.kubernetes import beforehand, expected
from jupyter_aiarts.engines.kubernetes import places as storage
from jupyter_aiarts.engines.kubernetes.kubectl import kubectl_yaml
from jupyter_aiarts.engines.kubernetes.orders import person_here
from jupyter_aiarts.engines.kubernetes.outlook import HURRY
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.model.names import new_id

if TYPE_CHECKING:
    from pathlib import Path

    from jupyter_aiarts.engines.kubernetes.link import Link
    from jupyter_aiarts.engines.kubernetes.order import Order
    from jupyter_aiarts.engines.kubernetes.orders import Orders
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.model.cause import Cause
    from jupyter_aiarts.model.expected import Band
    from jupyter_aiarts.model.places import Place
    from jupyter_aiarts.model.queue import Queue
    from jupyter_aiarts.model.reading import Reading


async def fits(link: Link, reading: Reading, caller: Caller) -> Fit:
    """What submitting would come to; raises `InvalidSpec` with all that is refused.

    In this order: what admission says, storage and quotas, nodes, the queue. The first that stands against it is told.
    """
    place = await link.orders.place(reading.spec.queue)
    order = await link.orders.fresh(reading, caller.folder, link.owner or caller.owner, new_id(), place)
    tried = await link.orders.try_out(order)
    notes = [note for note in order.reading.notes if note not in reading.notes]
    if order.shipment.files:
        notes.append(f"Shipped with the job: {', '.join(order.shipment.files)}.")
    if tried.refused is not None:
        return Fit(spec=order.spec, now=False, cause=tried.refused, notes=tuple(notes))
    cause, more = await asyncio.gather(beforehand.obstacle(link.api, order), beforehand.notes(link.api, order))
    notes += more
    if cause is not None:
        return Fit(spec=order.spec, now=False, cause=cause, notes=tuple(notes))
    room = await link.outlook.room(order.spec, order.queue)
    waits, told = await _in_queue(link, order)
    if room.cause is None and waits is not None:
        return Fit(spec=order.spec, now=False, cause=waits, notes=(*notes, *told))
    return Fit(spec=order.spec, now=room.now, cause=room.cause, notes=(*notes, *room.notes, *told))


async def manifest(orders: Orders, reading: Reading, folder: Path, owner: str) -> str:
    """The objects of the run that submitting would make, for `kubectl apply`, in the form that the cluster accepts.

    They have an id and a token of their own: applied, they are another job than the one that is submitted here.
    """
    place = await orders.place(reading.spec.queue)
    tried = await orders.try_out(await orders.fresh(reading, folder, owner, new_id(), place))
    return await asyncio.to_thread(kubectl_yaml, tried.order)


async def _in_queue(link: Link, order: Order) -> tuple[Cause | None, tuple[str, ...]]:
    """What the job's Kueue queue would say."""
    found = await _queues(link) if order.queue is not None else ()
    here = [one for one in found if (one.namespace, one.name) == (order.namespace, order.queue)]
    return beforehand.in_queue(here[0], order) if here else (None, ())


async def _queues(link: Link) -> tuple[Queue, ...]:
    try:
        return await asyncio.wait_for(link.queues(), HURRY)
    except (asyncio.TimeoutError, AiartsError):
        return ()


async def expected_start(link: Link, settings: ClusterSettings, record: JobRecord) -> Band | None:
    """When a job that waits for room may start, as far as those before it are seen."""
    if record.cause.code not in expected.WAITS_FOR_ROOM or link.stale_since is not None:
        return None
    records = link.records()
    broken = {one.id for one in records if one.phase.is_active and _was_broken(link, one.id)}
    if link.picture.facts(record.id).job.queue is not None:
        resource = settings.profile(record.spec.device).resource
        return expected.in_a_queue(record, await _queues(link), records, resource, broken)
    try:
        return expected.on_nodes(record, await link.outlook.view(HURRY), records, broken)
    except AiartsError:
        return None


def _was_broken(link: Link, job_id: str) -> bool:
    """Whether a job's running time is not simply what has passed since its start."""
    said = link.picture.facts(job_id).job.metadata.annotations
    return said.attempt != "1" or said.used != "0" or said.spent is not None


async def places(link: Link, settings: ClusterSettings, record: JobRecord | None) -> tuple[Place, ...]:
    """Where the storage of a job is, or of any; a cluster that is away still has what the admin said about it."""
    if record is None:
        await link.looked()
    owner, spec = (link.owner or "", None) if record is None else (record.owner, record.spec)
    whose = person_here(settings, owner)
    volumes: dict[str, str] = {}
    claims = storage.claims_of(settings, whose, spec)
    if claims and link.problem is None and link.namespaces:
        namespace = link.namespaces[0] if record is None else link.picture.facts(record.id).job.namespace
        volumes = await beforehand.volumes(link.api, namespace, claims)
    table = await asyncio.to_thread(storage.mount_table)
    return await asyncio.to_thread(storage.places_of, settings, whose, spec, table, volumes)
