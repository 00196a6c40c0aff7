"""`aiarts env`: a rank's variables, what differs between two, and the same variables here in the notebook."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Dict, Optional, Tuple

from jupyter_aiarts.kernel import display
from jupyter_aiarts.kernel.apply import Applied, restore_all
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Difference, Said, Variables

Values = Dict[str, Optional[str]]


def env(session: Session, given: argparse.Namespace) -> Outcome:
    """A rank's variables, what differs between two, or the variables set here."""
    if given.restore:
        return _restore(session, given)
    if given.diff:
        return _difference(session, given)
    if not given.job:
        raise WrongUsage("Which job's variables?", "aiarts env JOB, or aiarts env --diff JOB JOB")
    found = session.client.env(session.find(given.job), given.run, given.rank)
    if given.apply:
        return _apply(session, found)
    return Outcome(Variables(found), found, display.env_text(found, session.style))


def _difference(session: Session, given: argparse.Namespace) -> Outcome:
    """`JOB --diff A B`, `JOB --rank A --diff B`, or `--diff JOB JOB`; only what differs, with both values."""
    if not given.job and len(given.diff) == 3:
        given.job = given.diff.pop()  # written last: --diff A B JOB
    a, b = _two_ranks(session, given) if given.job else _two_jobs(session, given)
    shown = Difference(a, b)
    return Outcome(shown, dict(shown), shown.text(session.style), 0)


def _two_ranks(session: Session, given: argparse.Namespace) -> Tuple[Values, Values]:
    ranks = [str(given.rank), *given.diff] if len(given.diff) == 1 else given.diff
    if len(ranks) != 2 or not all(rank.isdigit() for rank in ranks):
        raise WrongUsage("With a job, --diff takes its rank numbers.", "aiarts env JOB --diff 0 1")
    job = session.find(given.job)
    a, b = (session.client.env(job, given.run, int(rank)) for rank in ranks)
    return a, b


def _two_jobs(session: Session, given: argparse.Namespace) -> Tuple[Values, Values]:
    if len(given.diff) != 2:
        raise WrongUsage("--diff without a job before it takes two jobs.", "aiarts env --diff JOB JOB")
    a, b = (session.client.env(session.find(side), given.run, given.rank) for side in given.diff)
    return a, b


def _apply(session: Session, found: Values) -> Outcome:
    """Set them in this very process, which only a notebook's kernel has any use of."""
    if not session.notebook:
        problem = "--apply works in a notebook: it sets variables in the kernel, and a command cannot set its shell's."
        raise WrongUsage(problem, _source(found))
    shown = Applied(found, session.style.lang)
    return Outcome(shown, {"set": shown.set, "left_out": shown.left_out}, shown.text(session.style))


def _source(found: Values) -> str:
    """The shell's own way to the same variables."""
    path = found.get("AIARTS_POD_ENV") or "/pod.env"
    where = "In a shell" if os.path.exists(path) else "In a shell of the pod or machine where it ran"
    return f"{where}: source {shlex.quote(path)}"


def _restore(session: Session, given: argparse.Namespace) -> Outcome:
    if given.job or given.diff or given.apply:
        raise WrongUsage("--restore undoes what --apply set and takes nothing else.", "%aiarts env --restore")
    if not session.notebook:
        raise WrongUsage("--restore undoes what --apply set in a notebook's kernel.", "Use it as %aiarts env --restore")
    names = restore_all()
    text = session.say("restored", count=len(names)) if names else session.say("nothing-applied")
    return Outcome(Said(text), {"restored": names}, text)
