"""What holds cards that nobody uses: pods that were told to go and cannot, and what crashed submissions left.

Pure, over what the picture holds. Pods of earlier runs count too: a job that was run again while its first pod was
stuck still keeps that pod's cards.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from jupyter_aiarts.engines.kubernetes.meta import in_full
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.phase import is_stuck
from jupyter_aiarts.engines.kubernetes.runs import Run, read_short
from jupyter_aiarts.model.cluster import Stuck
from jupyter_aiarts.model.times import parse


def stuck_of(cluster: str, runs: Iterable[Run], now: str) -> list[Stuck]:
    """The pods of these runs that should be gone."""
    return [
        Stuck(
            cluster=cluster,
            kind=_kind(run.job),
            job=run.job.job_id,
            name=run.spec.name,
            owner=run.job.owner,
            namespace=run.job.namespace,
            pod=pod.name,
            node=pod.node,
            device=run.spec.device,
            cards=run.spec.devices,
            since=in_full(pod.deleted) or "",
        )
        for run in runs
        if run.job is not None and run.spec is not None
        for pod in run.pods.values()
        if is_stuck(pod, now)
    ]


def _kind(job: JobObject) -> Literal["pod-stuck", "keeps-cards", "half-deleted"]:
    if job.is_deleting:
        return "half-deleted"
    return "keeps-cards" if job.condition("Complete") or job.condition("Failed") else "pod-stuck"


def unfinished(cluster: str, creating: Iterable[JobObject], limit: timedelta, now: str) -> list[Stuck]:
    """What is being made for longer than making takes."""
    before: datetime = parse(now) - limit
    return [
        Stuck(
            cluster=cluster,
            kind="unfinished",
            job=job.job_id,
            name=(spec := read_short(job.metadata.annotations.short, cluster)).name,
            owner=job.owner,
            namespace=job.namespace,
            pod=None,
            node=None,
            device=spec.device,
            cards=0,
            since=in_full(job.created) or "",
        )
        for job in creating
        if parse(job.created) < before
    ]
