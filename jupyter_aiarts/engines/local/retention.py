"""How long finished jobs are kept: for ever, unless the admin's configuration names a number of days."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.model.times import parse, text_of


def kept_until(record: JobRecord, days: float | None) -> str | None:
    """When a finished job will be removed; None for one that is kept."""
    if not days or record.ended is None or not record.phase.is_terminal:
        return None
    return text_of(parse(record.ended) + timedelta(days=days))


def due(records: Iterable[JobRecord], days: float | None, now: str) -> list[str]:
    """The jobs whose time is over."""
    ends = ((record.id, kept_until(record, days)) for record in records)
    return [job_id for job_id, end in ends if end is not None and end <= now]


def note_of(record: JobRecord, days: float | None) -> str | None:
    """What a job says about its own end, so that nobody is surprised."""
    end = kept_until(record, days)
    return end and f"It will be removed after {end}: finished jobs are kept for {days:g} days here."
