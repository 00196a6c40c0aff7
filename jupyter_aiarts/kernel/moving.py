"""Stop, pause, resume, rerun, release, delete: on jobs that are named, or on all that filters leave."""

from __future__ import annotations

import argparse
from typing import Any, Callable, Dict, List, Optional, Tuple

from jupyter_aiarts.kernel import display
from jupyter_aiarts.kernel.api import Job, Jobs
from jupyter_aiarts.kernel.client import JobData
from jupyter_aiarts.kernel.errors import ClientError, RequestFailed, WrongUsage
from jupyter_aiarts.kernel.following import wait
from jupyter_aiarts.kernel.selection import Selection, plan_text, select
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said
from jupyter_aiarts.kernel.terminal import plain
from jupyter_aiarts.kernel.words import phase_word


def stop(session: Session, given: argparse.Namespace) -> Outcome:
    """End jobs."""
    return _move(session, given, "stop")


def pause(session: Session, given: argparse.Namespace) -> Outcome:
    """Give devices back."""
    return _move(session, given, "pause")


def resume(session: Session, given: argparse.Namespace) -> Outcome:
    """Queue paused jobs again."""
    return _move(session, given, "resume")


def release(session: Session, given: argparse.Namespace) -> Outcome:
    """Give up on pods that a dead node holds."""
    return _move(session, given, "release")


def rerun(session: Session, given: argparse.Namespace) -> Outcome:
    """Run ended jobs again; `--wait` follows one."""
    if given.wait and len(given.jobs) > 1:
        raise WrongUsage("--wait follows one job.", "Rerun them without --wait, then follow one with aiarts logs -f.")
    ids = list(dict.fromkeys(session.find(text) for text in given.jobs))
    outcome = _shown(session, [session.client.act(job, "rerun") for job in ids], "rerun")
    if not given.wait:
        return outcome
    if not given.json:
        session.notice(outcome.text)
    return wait(session, outcome.data, quiet=given.json)


def delete(session: Session, given: argparse.Namespace) -> Outcome:
    """Remove jobs, after asking about each one that was named, or once about all that filters leave."""
    if not given.yes and not given.dry_run and session.ask is None:
        raise WrongUsage("Deleting cannot be undone, and nobody can be asked here.", "Add --yes.")
    selection = select(session, given, "delete")
    if given.dry_run:
        return _plan(session, selection, "delete")
    if selection.by_name:
        gone = [job for job in selection.jobs if given.yes or _agreed(session, job)]
        stayed = {job["id"]: session.client.delete(job["id"]) for job in gone}
        return _deleted(session, gone, stayed, {})
    if not given.yes and not _agreed_to_all(session, selection, "delete"):
        return _deleted(session, [], {}, {})
    stayed = {}
    done, failed = _each(selection.jobs, lambda job: stayed.update({job["id"]: session.client.delete(job["id"])}))
    return _deleted(session, done, stayed, failed)


def _move(session: Session, given: argparse.Namespace, move: str) -> Outcome:
    selection = select(session, given, move)
    if given.dry_run:
        return _plan(session, selection, move)
    if selection.by_name:
        return _shown(session, [session.client.act(job["id"], move) for job in selection.jobs], move)
    if not given.yes:
        if session.ask is None:
            raise WrongUsage(
                f"{len(selection.jobs)} jobs would be chosen by filters, and nobody can be asked here.",
                "Look with --dry-run, then add --yes.",
            )
        if not _agreed_to_all(session, selection, move):
            return Outcome(Said(session.say("nothing-done")), [], session.say("nothing-done"))
    moved: List[JobData] = []
    _, failed = _each(selection.jobs, lambda job: moved.append(session.client.act(job["id"], move)))
    return _shown(session, moved, move, failed)


def _each(jobs: List[JobData], do: Callable[[JobData], None]) -> Tuple[List[JobData], Dict[str, ClientError]]:
    """Do it to every job; one that refuses does not keep the others from it."""
    done: List[JobData] = []
    failed: Dict[str, ClientError] = {}
    for job in jobs:
        try:
            do(job)
            done.append(job)
        except RequestFailed as error:
            failed[job["id"]] = error
    return done, failed


def _plan(session: Session, selection: Selection, move: str) -> Outcome:
    text = plan_text(session, selection, move)
    data = {move: [job["id"] for job in selection.jobs], "left": [job["id"] for job in selection.left]}
    return Outcome(Said(text), data, text)


def _shown(
    session: Session, moved: List[JobData], move: str, failed: Optional[Dict[str, ClientError]] = None
) -> Outcome:
    """One job as itself, several as a list; what was refused below."""
    objects: Any = Jobs(Job(session.client, job) for job in moved)
    lines = [display.moved_text(job, move, session.style) for job in moved] + _refusals(failed)
    text = "\n".join(lines) or session.say("no-jobs")
    one = len(moved) == 1 and not failed
    return Outcome(objects[0] if one else objects, moved[0] if one else moved, text, 1 if failed else 0)


def _refusals(failed: Optional[Dict[str, ClientError]]) -> List[str]:
    return [f"{job_id}: {plain(error)}" for job_id, error in (failed or {}).items()]


def _deleted(
    session: Session, gone: List[JobData], stayed: Dict[str, Optional[str]], failed: Dict[str, ClientError]
) -> Outcome:
    """Each job that is gone, below it what of it could not be removed; then what was refused."""
    lines: List[str] = []
    for job in gone:
        left = stayed.get(job["id"])
        lines += [session.say("deleted", name=plain(job["name"]), id=job["id"]), *([plain(left)] if left else [])]
    text = "\n".join(lines + _refusals(failed)) or session.say("kept")
    data: Dict[str, Any] = {"deleted": [job["id"] for job in gone]}
    left_by = {job_id: left for job_id, left in stayed.items() if left}
    return Outcome(Said(text), {**data, "left": left_by} if left_by else data, text, 1 if failed else 0)


def _agreed(session: Session, job: JobData) -> bool:
    question = "delete-stops?" if job["phase"] in ("starting", "running") else "delete?"
    known = {
        "name": plain(job["name"]),
        "id": job["id"],
        "phase": phase_word(session.style.lang, job["phase"]),
    }
    return session.ask is not None and session.ask(session.say(question, **known))


def _agreed_to_all(session: Session, selection: Selection, move: str) -> bool:
    if not selection.jobs:
        return True
    session.notice(plan_text(session, selection, move))
    return session.ask is not None and session.ask(session.say("all?", count=len(selection.jobs)))
