"""What each user or queue holds now and has used in the last days: counted from the jobs that are still known.

A number says how far it reaches: jobs that were deleted are counted nowhere, and earlier runs of a job as far as they
are still known.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Mapping, Sequence

from jupyter_aiarts.kernel.client import JobData
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said
from jupyter_aiarts.kernel.terminal import table
from jupyter_aiarts.kernel.words import head, local_time, moment

HOLDING = ("starting", "running")
COLUMNS = ("jobs", "running", "waiting", "cards", "card_hours", "hours")


def totals(session: Session, jobs: Sequence[JobData], by: str, days: int) -> Outcome:
    """The table, most card hours first, and the sentence about how far back it reaches."""
    now = datetime.now(timezone.utc)
    rows = counted(jobs, by, now - timedelta(days=days), now)
    heads = [head(session.style.lang, column) for column in (by, *COLUMNS)]
    text = table(heads, [[_cell(row[column]) for column in (by, *COLUMNS)] for row in rows], session.style)
    oldest = min((job["created"] for job in jobs), default=None)
    since = (now - timedelta(days=days)).isoformat()
    reach = session.say("totals-since", since=local_time(since), oldest=local_time(oldest) or "-")
    text = f"{text}\n{reach}" if rows else session.say("no-jobs")
    return Outcome(Said(text), {"since": since, "oldest": oldest, "totals": rows}, text)


def counted(jobs: Sequence[JobData], by: str, since: datetime, until: datetime) -> List[Dict[str, Any]]:
    """One row for each user or queue; `card_hours` and `hours` lie between the two moments."""
    found: Dict[str, Dict[str, Any]] = {}
    for job in jobs:
        key = job["owner"] if by == "user" else job["spec"].get("queue") or "-"
        row = found.setdefault(key, {by: key, **dict.fromkeys(COLUMNS, 0)})
        cards = (job["spec"].get("devices") or 0) * (job["spec"].get("nodes") or 1)
        hours = hours_between(job, since, until)
        row["jobs"] += 1
        row["running"] += job["phase"] in HOLDING
        row["waiting"] += job["phase"] == "queued"
        row["cards"] += cards if job["phase"] in HOLDING else 0
        row["hours"] += hours
        row["card_hours"] += hours * cards
    return sorted(found.values(), key=lambda row: (-row["card_hours"], -row["hours"], row[by]))


def hours_between(job: JobData, since: datetime, until: datetime) -> float:
    """How long all runs of a job together ran between two moments."""
    runs = (*(job.get("attempts") or (job,)), *(job.get("earlier") or ()))
    return sum(_hours(run, since, until) for run in runs)


def _hours(run: Mapping[str, Any], since: datetime, until: datetime) -> float:
    begin, end = moment(run.get("started")), moment(run.get("ended")) or until
    if begin is None:
        return 0.0
    return max(0.0, (min(end, until) - max(begin, since)).total_seconds() / 3600)


def _cell(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
