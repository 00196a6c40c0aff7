"""What ends and starts a run that exists: stop, pause, resume, release, delete.

The intent is written before anything ends, so whoever looks later, or again, knows what was wanted. Without Kueue one
patch says both, the intent and `suspend`. Kueue would unsuspend an admitted Job at once, so there its Workload is told.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.client import Missing, configmaps, jobs, pods, secrets, services, workloads
from jupyter_aiarts.engines.kubernetes.meta import Meta
from jupyter_aiarts.engines.kubernetes.objects import JobObject

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.seen import Pod, Workload


async def end(api: Api, job: JobObject, workload: Workload | None, intent: str) -> JobObject:
    """Have the pods of a run end, with their grace; `intent` is stop or pause. Saying it twice is once."""
    body: dict[str, Any] = {"metadata": {"annotations": {names.INTENT: intent}}}
    if job.queue is None:
        body["spec"] = {"suspend": True}
    fresh = await api.patch(jobs(job.namespace, job.name), body, JobObject)
    if job.queue is not None and workload is not None:
        await _activate(api, job.namespace, workload, False)
    return fresh


async def resume(api: Api, job: JobObject, workload: Workload | None, used_seconds: float, attempts: str) -> JobObject:
    """The next attempt of the same run; the launchers find its number and the time used so far beside their plan.

    `attempts` is when the others ran, for whoever looks at the job.
    """
    attempt = job.attempt + 1
    told = msgspec.json.encode({"attempt": attempt, "used_seconds": used_seconds}).decode()
    await api.patch(configmaps(job.namespace, job.name), {"data": {names.ATTEMPT_FILE: told}})
    notes = {
        names.INTENT: "run",
        names.ATTEMPT: str(attempt),
        names.ATTEMPTS: attempts,
        names.USED: f"{used_seconds:.3f}",
        names.GIVES_WAY: None,
    }
    body: dict[str, Any] = {"metadata": {"annotations": notes}}
    if job.queue is None:
        body["spec"] = {"suspend": False}
    fresh = await api.patch(jobs(job.namespace, job.name), body, JobObject)
    if job.queue is not None and workload is not None:
        await _activate(api, job.namespace, workload, True)
    return fresh


async def give_way(api: Api, job: JobObject, to: str | None) -> JobObject:
    """Have a Job give its place back for another one's sake, or come back; nothing, if it was changed meanwhile."""
    body = {
        "metadata": {"resourceVersion": job.metadata.resource_version, "annotations": {names.GIVES_WAY: to}},
        "spec": {"suspend": to is not None},
    }
    return await api.patch(jobs(job.namespace, job.name), body, JobObject)


async def _activate(api: Api, namespace: str, workload: Workload, active: bool) -> None:
    if workload.active is not active:
        await api.patch(workloads(namespace, workload.name, api.kueue), {"spec": {"active": active}})


def is_held(job: JobObject, workload: Workload | None) -> bool:
    """Whether a run that is to stop or pause is told so everywhere: a crash may have come between two requests."""
    if job.intent not in ("stop", "pause"):
        return True
    if job.queue is None:
        return job.suspended
    return workload is None or not workload.active


async def remove(api: Api, job: JobObject, *, active: bool) -> None:
    """Delete a run. One that is active ends with its grace first: its Job goes when its pods have gone."""
    way = "Foreground" if active else "Background"
    try:
        await api.delete(jobs(job.namespace, job.name), propagation=way, uid=job.uid)
    except Missing:
        pass  # it went by itself
    await _remove_unowned(api, job)


class _Dependent(Struct):
    metadata: Meta


async def _remove_unowned(api: Api, job: JobObject) -> None:
    """What belongs to a run goes with its Job, but for what `kubectl apply` made: that does not know its owner."""
    with contextlib.suppress(Missing):
        if (await api.get(configmaps(job.namespace, job.name), _Dependent)).metadata.owner_references:
            return
    for place in (services, configmaps, secrets):
        with contextlib.suppress(Missing):
            await api.delete(place(job.namespace, job.name))
    table = configmaps(job.namespace, names.ring_name(job.name))
    login = secrets(job.namespace, names.pull_secret_name(job.name))
    for path in (table, login):  # names that others use too, so a look comes first
        with contextlib.suppress(Missing):
            found = (await api.get(path, _Dependent)).metadata
            if is_left_of(job, found):
                await api.delete(path, uid=found.uid)


def is_left_of(job: JobObject, found: Meta) -> bool:
    """Whether this was made for the run and belongs to nobody; what a controller made is the controller's."""
    return (found.labels.job, found.labels.run) == (job.job_id, str(job.run)) and not found.owner_references


async def keep_summary(api: Api, job: JobObject, summary: str) -> JobObject:
    """Write node 0's last words where they outlive its pod."""
    body = {"metadata": {"annotations": {names.SUMMARY: summary}}}
    return await api.patch(jobs(job.namespace, job.name), body, JobObject)


async def release(api: Api, namespace: str, pod: Pod) -> None:
    """Give up on a pod that a dead node holds: its process may still run there, and nobody waits for it any more."""
    path = pods(namespace, pod.name)
    try:
        await api.delete(path, propagation="Background", grace=0)
        await api.patch(path, {"metadata": {"$deleteFromPrimitiveList/finalizers": [names.TRACKING]}}, kind="strategic")
    except Missing:
        pass  # it went by itself
