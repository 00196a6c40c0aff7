"""One job of the folder in the engine's own words; the one place where files become a `JobRecord`."""

from __future__ import annotations

import os

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.folder import JobFolder
from jupyter_aiarts.engines.local.records import JobFile, Settled
from jupyter_aiarts.errors import JobUnreadable
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.phase import Phase


def record_of(job: JobFile, seen: Settled) -> JobRecord:
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
    )


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
