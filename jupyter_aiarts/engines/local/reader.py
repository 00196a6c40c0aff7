"""Reads what the files of a run say: what there is to know of a job that is not settled yet."""

from __future__ import annotations

from pathlib import Path

from jupyter_aiarts.engines.local.folder import JobFolder, read_file, this_host
from jupyter_aiarts.engines.local.phase import Life, RunFacts, view
from jupyter_aiarts.engines.local.process import is_held
from jupyter_aiarts.engines.local.records import JobFile, NodeStatus, Placed, Settled, Summary


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
