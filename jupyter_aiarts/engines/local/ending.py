"""After a launcher died without a word: nothing of the job keeps running, and what can be known is kept."""

from __future__ import annotations

import signal
from pathlib import Path

from msgspec import structs

from jupyter_aiarts.engines.local.process import leftovers, send
from jupyter_aiarts.engines.local.records import Settled
from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.model.times import now

LAST_LINES = 20


def sweep_leftovers(job_id: str) -> int:
    """Kill what still carries the job's id in its environment, so that no zombie holds a card; how many there were."""
    found = leftovers(f"DLWS_JOB_ID={job_id}")
    return sum(send(process, signal.SIGKILL) for process in found)


def last_words(seen: Settled, run: Path) -> Settled:
    """The end of a run nobody wrote a summary for: now, with the last lines its ranks printed."""
    lines = open_log(run).lines(LogQuery(tail=LAST_LINES), ended=True)
    said = tuple(line.text[:500] for line in lines)
    cause = structs.replace(seen.cause, evidence=said or launcher_words(run))
    return structs.replace(seen, ended=now(), cause=cause)


def launcher_words(run: Path) -> tuple[str, ...]:
    """What the launcher itself had to say, for one that ended before it could do anything."""
    try:
        text = (run / "node-0" / "launcher.log").read_text("utf-8", "replace")
    except OSError:
        return ()
    return tuple(text.splitlines()[-LAST_LINES:])
