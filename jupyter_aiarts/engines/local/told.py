"""One job of the folder in the engine's own words; the one place where files become a `JobRecord`."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.folder import JobFolder, read_file
from jupyter_aiarts.engines.local.records import JobFile, Settled, Summary
from jupyter_aiarts.errors import JobUnreadable
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import MOST_EARLIER, Attempt, Span
from jupyter_aiarts.model.phase import Phase


def record_of(job: JobFile, seen: Settled, folder: JobFolder) -> JobRecord:
    """A job whose files were understood."""
    return JobRecord(
        id=job.id,
        cluster="local",
        owner=job.owner,
        phase=seen.phase,
        run=job.run,
        created=job.created,
        spec=job.spec,
        cause=seen.cause,
        started=seen.started,
        ended=seen.ended,
        ranks=seen.ranks,
        notes=(*job.notes, *seen.notes),
        machines=(job.host,) if seen.started else (),
        earlier=earlier_runs(job, folder) if job.run > 1 else (),
        attempts=attempts_of(job, seen),
        idle_since=seen.idle_since,
        progress=seen.progress,
    )


def attempts_of(job: JobFile, seen: Settled) -> tuple[Attempt, ...]:
    """The attempts of the current run, the latest last; none where it was never paused, or only rests there."""
    if not job.attempts and job.started is None:
        return ()
    # Resumed by a server that did not write it down: when it paused is not known.
    before = job.attempts or (Attempt(queued=job.created if job.run == 1 else None, started=job.started),)
    is_told = before[-1].queued == job.queued  # it was stopped while it rested
    return before if is_told else (*before, latest_attempt(job, seen))


def latest_attempt(job: JobFile, seen: Settled) -> Attempt:
    """The stretch since it last joined the queue."""
    return Attempt(queued=job.queued, started=seen.again if job.started else seen.started, ended=seen.ended)


def earlier_runs(job: JobFile, folder: JobFolder) -> tuple[Span, ...]:
    """When the runs before this one ran; a run that never started is not among them."""
    numbers = range(max(1, job.run - MOST_EARLIER), job.run)
    found = [_ran(str(folder.run(number)), job.created) for number in numbers]
    return tuple(one for one in found if one is not None)


@lru_cache(maxsize=4096)
def _ran(run: str, created: str) -> Span | None:
    """A run that is over never changes; `created` tells it from one of a job that had the same id before."""
    try:
        summary = read_file(Path(run) / "summary.json", Summary)
    except JobUnreadable:
        return None
    return Span(summary.started, summary.ended) if summary is not None and summary.started else None


def unreadable(job_id: str, folder: JobFolder, error: JobUnreadable) -> JobRecord:
    """The record of a corrupt folder: listed, deletable, and honest about itself."""
    try:
        created = os.stat(folder.root).st_mtime_ns
    except OSError:
        created = 0
    from jupyter_aiarts.model.spec import JobSpec
    from jupyter_aiarts.model.times import from_ns

    return JobRecord(
        id=job_id,
        cluster="local",
        owner="",
        phase=Phase.LOST,
        run=1,
        created=from_ns(created),
        spec=JobSpec(name="(unreadable)"),
        cause=Cause(code="job-unreadable", values={"message": str(error)}),
    )
