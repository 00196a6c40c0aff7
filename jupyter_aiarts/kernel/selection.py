"""Many jobs by what they have in common: everybody's on a node, all of a user, all that ended a week ago.

Whoever chooses by filters sees what will happen to each job before it happens: `--dry-run` lists it and does nothing,
and without `--yes` somebody is asked once. Jobs that do not offer the move are listed as left alone, never guessed at.
"""

from __future__ import annotations

import argparse
import re
from datetime import datetime, timezone
from typing import Any, Dict, List, NamedTuple, Optional

from jupyter_aiarts.kernel.client import JobData
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.options import PHASES
from jupyter_aiarts.kernel.session import Session
from jupyter_aiarts.kernel.terminal import table
from jupyter_aiarts.kernel.words import head, moment, phase_word, running_time

IDLE = 600.0
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
FILTERS = ("user", "phase", "older_than", "idle", "node", "queue", "cluster", "stuck", "q")


def add_filters(parser: argparse.ArgumentParser) -> None:
    """The options that choose jobs, the same for lists and moves."""
    parser.add_argument(
        "--phase", choices=PHASES, metavar="PHASE", help="only jobs in this phase: " + ", ".join(PHASES)
    )
    parser.add_argument("--all-users", action="store_true", help="jobs of everybody, not only yours")
    parser.add_argument("--user", metavar="NAME", help="only jobs of this user (with what you may see)")
    parser.add_argument("--queue", metavar="NAME", help="only jobs in this queue")
    parser.add_argument("--node", metavar="NAME", help="only jobs with a process on this machine")
    parser.add_argument("--cluster", metavar="CLUSTER", help="only jobs of this cluster")
    parser.add_argument(
        "--older-than",
        type=age,
        metavar="AGE",
        help="only jobs that ended, or have run, or have waited, for longer than 90s, 30m, 12h, 7d",
    )
    parser.add_argument(
        "--idle", type=age, nargs="?", const=IDLE, metavar="AGE",
        help="only jobs whose cards, all of them, have done nothing for this long (default 10m), where that is known",
    )  # fmt: skip
    parser.add_argument(
        "--stuck", action="store_const", const=True, help="only jobs with something that should be gone and is not"
    )
    parser.add_argument("-q", "--search", dest="q", metavar="TEXT", help="only jobs with this in their name or id")


def age(text: str) -> float:
    """Seconds out of `90s`, `30m`, `12h`, `7d`, `2w`; argparse names the option when this refuses."""
    found = re.fullmatch(r"(?a)(\d{1,6}(?:\.\d{1,3})?)([smhdw])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 90s, 30m, 12h or 7d")
    return float(found[1]) * UNITS[found[2]]


def filtered(session: Session, given: argparse.Namespace, limit: Optional[int] = None) -> List[JobData]:
    """The jobs that the filters leave, newest first."""
    everybody = given.all_users or given.user is not None
    found = session.client.jobs(phase=given.phase, q=given.q, owner=given.user, mine=not everybody)
    kept = [job for job in found if _is_wanted(job, given)]
    return kept if limit is None else kept[:limit]


def words_of(given: argparse.Namespace) -> Optional[Dict[str, Any]]:
    """The filters as the query of `GET jobs`; None where one of them is only known here."""
    here = (given.queue, given.cluster, given.node, given.stuck, given.idle, given.older_than)
    if any(one is not None for one in here):
        return None
    everybody = given.all_users or given.user is not None
    return {"phase": given.phase, "q": given.q, "owner": given.user, "mine": not everybody, "limit": given.limit}


def _is_wanted(job: JobData, given: argparse.Namespace) -> bool:
    return (
        given.queue in (None, job["spec"].get("queue"))
        and given.cluster in (None, job["cluster"])
        and (given.node is None or given.node in job.get("machines", ()))
        and (given.stuck is None or "release" in job.get("moves", ()))
        and (given.idle is None or idle_seconds(job) > given.idle)
        and (given.older_than is None or seconds_in_phase(job) > given.older_than)
    )


def seconds_in_phase(job: JobData) -> float:
    """How long ago it ended, or else started, or else was made."""
    since = moment(job.get("ended") or job.get("started") or job["created"])
    assert since is not None  # every job was made at some time
    return (datetime.now(timezone.utc) - since).total_seconds()


def idle_seconds(job: JobData) -> float:
    """For how long none of its cards has done anything; 0 where one works, or that is not known."""
    since = moment(job.get("idle_since"))
    return (datetime.now(timezone.utc) - since).total_seconds() if since is not None else 0.0


class Selection(NamedTuple):
    """Who is meant; `left` do not offer the move. `by_name` were named one by one, so nobody needs to be asked."""

    jobs: List[JobData]
    left: List[JobData]
    by_name: bool


def select(session: Session, given: argparse.Namespace, move: str) -> Selection:
    """The jobs that a move is for: those named, or those that the filters leave.

    Every name is looked up before the first move, so that a mistyped one changes nothing.
    """
    chosen = [name for name in FILTERS if getattr(given, name) is not None]
    if given.jobs:
        if chosen or given.all_users:
            raise WrongUsage(
                "Name jobs or choose them by filters, not both.", "aiarts jobs … lists what filters leave."
            )
        ids = list(dict.fromkeys(session.find(text) for text in given.jobs))
        return Selection([session.client.show(job_id) for job_id in ids], [], True)
    if not chosen:
        raise WrongUsage(
            f"Which jobs? `{move}` takes names or ids, or at least one filter.",
            f"aiarts {move} resnet, or aiarts {move} --all-users --node NAME --dry-run",
        )
    found = filtered(session, given)
    offered = [job for job in found if move in job.get("moves", ())]
    return Selection(offered, [job for job in found if move not in job.get("moves", ())], False)


def plan_text(session: Session, selection: Selection, move: str) -> str:
    """What a move would do to each job, as a table."""
    lang = session.style.lang
    columns = ("id", "name", "owner", "phase", "time", "will")
    rows = [
        [job["id"], job["name"], job["owner"], phase_word(lang, job["phase"]),
         running_time(job.get("started"), job.get("ended")), session.say(will), job["phase"]]
        for jobs, will in ((selection.jobs, f"will-{move}"), (selection.left, "will-nothing"))
        for job in jobs
    ]  # fmt: skip
    if not rows:
        return session.say("no-jobs")
    return table([head(lang, column) for column in columns], rows, session.style, columns.index("phase"))
