"""Reads jobs of a state folder into records; the one place where files become a `JobRecord`."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.folder import JobFolder, StateFolder, read_file, this_host
from jupyter_aiarts.engines.local.phase import Life, RunFacts, view
from jupyter_aiarts.engines.local.process import is_held
from jupyter_aiarts.engines.local.records import JobFile, NodeStatus, Placed, Settled, Summary
from jupyter_aiarts.errors import JobUnreadable
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.times import from_ns

#: Says of a job whose files cannot be understood what can be said.
UNREADABLE = JobSpec(name="(unreadable)")


def launcher_lock(run: Path, node: int, attempt: int) -> Path:
    """Held by the launcher of one node from its birth to its death."""
    return run / f"node-{node}" / f"launcher.{attempt}.lock"


def life_of(job: JobFile, held: list[bool], spoken: list[bool]) -> Life:
    """Whether any launcher of this attempt lives. One that holds no lock and never spoke was not born."""
    if job.host != this_host():
        return Life.ELSEWHERE
    if any(held):
        return Life.ALIVE
    return Life.DEAD if any(spoken) else Life.UNBORN


def facts_of(job: JobFile, folder: JobFolder) -> RunFacts:
    """What the current run's files say. Locks are looked at first: a launcher writes its summary before it dies."""
    run = folder.run(job.run)
    placed = read_file(run / "placed.json", Placed)
    if placed is None:
        return RunFacts()
    nodes = range(len(placed.devices))
    held = [bool(is_held(launcher_lock(run, node, placed.attempt))) for node in nodes]
    found = [read_file(run / f"node-{node}" / "status.json", NodeStatus) for node in nodes]
    spoken = [status is not None and status.attempt == placed.attempt for status in found]
    return RunFacts(
        placed=placed,
        life=life_of(job, held, spoken),
        statuses=tuple(status for status in found if status is not None),
        summary=read_file(run / "summary.json", Summary),
    )


def current_view(job: JobFile, folder: JobFolder) -> Settled:
    """The job's phase at this moment; a settled job costs no further reading."""
    return job.settled or view(job, facts_of(job, folder))


def record_of(job: JobFile, seen: Settled) -> JobRecord:
    """One job in the engine's own words."""
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
        notes=job.notes,
    )


def read_record(state: StateFolder, job_id: str) -> JobRecord:
    """One job; a folder that cannot be understood is a job that says so, and never hides the others."""
    folder = state.job(job_id)
    try:
        job = folder.read()
        return record_of(job, current_view(job, folder))
    except JobUnreadable as error:
        return unreadable(job_id, folder, error)


def unreadable(job_id: str, folder: JobFolder, error: JobUnreadable) -> JobRecord:
    """The record of a corrupt folder: listed, deletable, and honest about itself."""
    try:
        created = os.stat(folder.root).st_mtime_ns
    except OSError:
        created = 0
    return JobRecord(
        id=job_id,
        cluster="local",
        owner="",
        phase=Phase.LOST,
        run=1,
        created=from_ns(created),
        spec=UNREADABLE,
        cause=Cause(code="job-unreadable", values={"message": str(error)}),
    )
