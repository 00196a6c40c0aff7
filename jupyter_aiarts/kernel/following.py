"""What is seen while it happens: following a log, and waiting for a job to end. Ctrl-C never touches the job."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any, Dict, Iterator, Optional

from jupyter_aiarts.kernel import display
from jupyter_aiarts.kernel.api import FIRST_LOOK, LAST_LOOK, Job, many_ranks
from jupyter_aiarts.kernel.client import ENDED, JobData
from jupyter_aiarts.kernel.errors import ClientError, WrongUsage
from jupyter_aiarts.kernel.session import INTERRUPTED, Outcome, Session
from jupyter_aiarts.kernel.shown import Log
from jupyter_aiarts.kernel.terminal import plain


def wait(session: Session, job: JobData, quiet: bool) -> Outcome:
    """Follow a job's log until it ends; 1 unless it succeeded. Ctrl-C leaves the job alone and says so."""
    try:
        done = _await_end(session, job, quiet)
    except KeyboardInterrupt:
        done = _as_it_is(session, job)
    if _is_hopeless(done):
        return Outcome(Job(session.client, done), done, display.ended_text(done, session.style), 1)
    if done["phase"] not in ENDED:
        session.notice(session.say("left-running", name=plain(job["name"]), id=job["id"]))
        return Outcome(Job(session.client, done), done, "", INTERRUPTED)
    status = 0 if done["phase"] == "succeeded" else 1
    return Outcome(Job(session.client, done), done, display.ended_text(done, session.style), status)


def _as_it_is(session: Session, job: JobData) -> JobData:
    """The job after an interrupt, which may have come when it had just ended; as last known if nobody answers."""
    try:
        return session.client.show(job["id"])
    except ClientError:
        return job


def _await_end(session: Session, job: JobData, quiet: bool) -> JobData:
    """The job once it has ended and its log was told; a pause ends the log's stream but not the wait."""
    cursor: Optional[str] = None
    pause, told = FIRST_LOOK, quiet
    while not (told and job["phase"] in ENDED) and not _is_hopeless(job):
        if not quiet and job["phase"] != "paused":
            told = True
            for line in session.client.follow(job["id"], run=job["run"], after=cursor):
                session.write(display.line_text(line, session.style, many_ranks(job)))
                cursor = line["seq"] or cursor
        job = session.client.show(job["id"])
        if job["phase"] not in ENDED:
            time.sleep(pause)
            pause = min(LAST_LOOK, pause * 1.5)
    return job


def _is_hopeless(job: JobData) -> bool:
    """A job that can never start where it is: waiting for it would be waiting for ever."""
    return bool(job["phase"] == "queued" and (job.get("explanation") or {}).get("code") == "never-fits")


def logs(session: Session, given: argparse.Namespace) -> Outcome:
    """The last lines, or with `--follow` all that come."""
    job = session.client.show(session.find(given.job))
    if given.npu:
        return _npu_log(session, job, given)
    asked = {"rank": given.rank, "run": given.run, "grep": given.grep, "tail": given.tail, "fold": given.fold}
    if given.follow:
        return _follow(session, job, asked, given)
    lines, why_empty = session.client.logs(job["id"], **asked)
    log = Log(lines, why_empty, many_ranks(job) and given.rank is None)
    if not lines and why_empty and given.json:
        session.notice(why_empty)
    return Outcome(log, log.data, log.text(session.style), lines=True)


def _npu_log(session: Session, job: JobData, given: argparse.Namespace) -> Outcome:
    """What the NPU driver says of the job's cards; what is missing is said beside the lines."""
    if given.follow or given.grep or given.fold:
        raise WrongUsage("--npu shows the NPU driver's errors once.", "aiarts logs JOB --npu [--rank N] [--tail N]")
    lines, why = session.client.npu_log(job["id"], given.rank, given.run, given.tail)
    log = Log(lines, why, many_ranks(job) and given.rank is None)
    if why and (lines or given.json):
        session.notice(why)
    return Outcome(log, log.data, log.text(session.style), lines=True)


def _follow(session: Session, job: JobData, asked: Dict[str, Any], given: argparse.Namespace) -> Outcome:
    try:
        for text in _live_texts(session, job, asked, given):
            session.write(text)
    except KeyboardInterrupt:
        if _as_it_is(session, job)["phase"] not in ENDED:
            session.notice(session.say("left-running", name=plain(job["name"]), id=job["id"]))
    return Outcome(None, [], "", lines=True)


def _live_texts(session: Session, job: JobData, asked: Dict[str, Any], given: argparse.Namespace) -> Iterator[str]:
    stream = session.client.follow(job["id"], **asked)
    tagged = many_ranks(job) and given.rank is None
    if given.json:
        return (json.dumps(line, ensure_ascii=False) for line in stream)
    if given.fold:
        return display.folded_live(stream, session.style, tagged)
    return (display.line_text(line, session.style, tagged) for line in stream)
