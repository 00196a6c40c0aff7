"""What both engines say of rank tables."""

from __future__ import annotations

from jupyter_aiarts.errors import RunNotFound


def no_rank_table(job_id: str, run: object, why: str = "") -> RunNotFound:
    """A run without a table: most have none, and nothing is wrong with that."""
    reason = f": {why}" if why else ""
    return RunNotFound(
        f"Run {run} of job {job_id} has no rank table{reason}.",
        "Jobs on Ascend cards have one, from the moment their ranks start.",
    )
