"""`aiarts run -n 2 train.py`: ranks right here, beside this notebook or terminal, with no job and no queue.

The real launcher runs them as a child of this process, so a rank finds the same variables as in a job.
"""

from __future__ import annotations

import argparse
import getpass
import os
import re
import secrets
import shutil
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from jupyter_aiarts.kernel.cards import Cards, chosen, visible
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.session import INTERRUPTED, Outcome, Session
from jupyter_aiarts.kernel.shown import Shown
from jupyter_aiarts.kernel.terminal import Style, plain
from jupyter_aiarts.kernel.watching import Screen, Watched
from jupyter_aiarts.kernel.words import say
from jupyter_aiarts.launcher.freeports import free_ports

MOST = 256
GRACE = 10.0
CELL_HINT = "Write %%aiarts run -n 2, and arguments after --."
ASCEND_SHAPES = (1, 2, 4, 8)
LOG_BYTES = 8 * 1024 * 1024  # of each rank: the launcher keeps a log, though nobody reads it after the run
KINDS = {".py": "python", ".sh": "shell", ".ipynb": "notebook"}
IMPORTS = {"torch": "pytorch", "torch_npu": "pytorch", "tensorflow": "tensorflow", "mindspore": "mindspore"}
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(" + "|".join(IMPORTS) + r")\b", re.MULTILINE)


def run(
    script: Union[str, "os.PathLike[str]"],
    n: Optional[int] = None,
    args: Sequence[Any] = (),
    framework: Optional[str] = None,
    grace: float = GRACE,
) -> Ran:
    """Run `n` ranks of a start file right here (one for each card, else one) and show what they write as it comes.

    Like `subprocess.run`: it returns when all have ended, and a rank that failed is in what it returns. An interrupt
    ends the ranks first and is raised then, so that what follows in the program does not run.
    """
    from jupyter_aiarts.kernel.api import connect_later

    def write(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def notice(text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    client = connect_later()
    session = Session(client, Style(client.lang or "en"), write, notice, notebook="ipykernel" in sys.modules)
    done = ranks_here(session, os.fspath(script), [str(one) for one in args], n, framework, grace)
    if done.interrupted:
        raise KeyboardInterrupt
    return done


def run_here(session: Session, given: argparse.Namespace) -> Outcome:
    """Run the ranks, show what they write as it comes, and say which failed first."""
    words = [*([given.start] if given.start else []), *(given.after_dashes or [])]
    if not words:
        raise WrongUsage("There is nothing to run.", "aiarts run -n 2 train.py")
    return _outcome(session, ranks_here(session, words[0], words[1:], given.ranks, given.framework, given.grace))


def run_cell(session: Session, given: argparse.Namespace, path: str, folder: str) -> Outcome:
    """The same with a cell of a notebook in `folder`, which was written to `path`."""
    if given.start:
        raise WrongUsage("The cell is the start file; another start file makes no sense beside it.", CELL_HINT)
    more = {"PYTHONPATH": os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))}
    args = given.after_dashes or []
    return _outcome(session, ranks_here(session, path, args, given.ranks, given.framework, given.grace, more))


def _outcome(session: Session, done: Ran) -> Outcome:
    return Outcome(done, done.data, done.text(session.style), done.exit_code)


def ranks_here(
    session: Session,
    start: str,
    args: Sequence[str],
    wanted: Optional[int],
    framework: Optional[str],
    grace: float,
    env: Optional[Mapping[str, str]] = None,
) -> Ran:
    """Run the ranks to their end, whoever asked for them."""
    script = os.path.abspath(os.path.expanduser(start))
    seen = visible(os.environ)
    ranks = len(seen.names) or 1 if wanted is None else wanted
    if not 1 <= ranks <= MOST:
        raise WrongUsage(f"{ranks} ranks cannot be run here; 1 to {MOST} can.", "aiarts run -n 2 train.py")
    cards = seen.first(ranks) if len(seen.names) >= ranks else Cards()
    if cards.rings and ranks not in ASCEND_SHAPES:
        shapes = ", ".join(map(str, ASCEND_SHAPES))
        raise WrongUsage(f"Ascend 910 cards train together as {shapes}, not as {ranks}.", "aiarts run -n 2 train.py")
    if seen.names and not cards.names:
        session.notice(session.say("run-few-cards", count=len(seen.names), ranks=ranks))
    folder = tempfile.mkdtemp(prefix="aiarts-run-")  # nobody else may look into it
    try:
        plan = plan_of(script, args, ranks, cards, grace)
        plan["env"] = {**chosen(seen, cards, os.environ), **(env or {})}
        plan["framework"] = framework or framework_of(script)
        plan["start"]["python"] = session.client.python or sys.executable
        watched = Watched(plan, folder)
        interrupted = watched.follow(Screen(session, ranks > 1), lambda: session.notice(session.say("run-ending")))
        return Ran(watched.summary(), interrupted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def plan_of(script: str, args: Sequence[str], ranks: int, cards: Cards, grace: float) -> Dict[str, Any]:
    """The launcher's plan: a rank for each card, or so many ranks without any."""
    environ = dict(os.environ)
    return {
        "schema": 1, "job": "r" + secrets.token_hex(5)[:9], "run": 1, "attempt": 1, "user": _user(), "queue": "default",
        "device": cards.device, "nodes": 1, "cards": len(cards.names), "ranks": ranks, "processes": "card",
        "framework": "none",
        "start": {"kind": KINDS.get(os.path.splitext(script)[1].lower(), "exec"), "path": script, "line": None,
                  "python": sys.executable},
        "args": list(args), "paths": [], "workdir": os.getcwd(), "main_path": os.path.dirname(script),
        "save_path": os.getcwd(), "environ": environ,
        "env": {}, "extra": {}, "secrets_file": None, "devices": [cards.ids],
        "grants": [cards.grants(environ)], "master_addr": "127.0.0.1", "master_port": free_ports(ranks),
        "grace_seconds": grace, "max_restarts": 0, "max_seconds": None, "used_seconds": 0.0, "gang_timeout": 60,
        "meeting": None, "token": "", "log_limit_bytes": LOG_BYTES, "bell": None,
    }  # fmt: skip


def framework_of(script: str) -> str:
    """What the start file imports first of the frameworks that have variables of their own."""
    if not os.path.isfile(script):
        return "none"  # the launcher says what is wrong with it
    try:
        with open(script, encoding="utf-8", errors="replace") as file:
            match = _IMPORT.search(file.read(1 << 20))
    except OSError:
        return "none"
    return IMPORTS[match[1]] if match else "none"


def _user() -> str:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)


class Ran(Shown):
    """How the ranks ended: `exit_code`, `first_failure` (rank, exit_code, signal, last_lines), `ranks`, `problem`."""

    def __init__(self, summary: Mapping[str, Any], interrupted: bool) -> None:
        self.interrupted = interrupted
        self.first_failure: Optional[Dict[str, Any]] = None if interrupted else summary.get("first_failure")
        self.problem: Optional[Dict[str, str]] = summary.get("problem")
        self.ranks: List[Dict[str, Any]] = [
            {"rank": one["rank"], "exit_code": one["exit_code"]} for one in summary.get("ranks") or ()
        ]
        self.exit_code = self._exit_code(summary)

    def _exit_code(self, summary: Mapping[str, Any]) -> int:
        if self.interrupted:
            return INTERRUPTED
        if self.first_failure:
            return int(self.first_failure["exit_code"] or 1)
        return 0 if summary.get("result") == "succeeded" else 1

    @property
    def data(self) -> Dict[str, Any]:
        """As `--json` shows it."""
        shown = ("exit_code", "interrupted", "first_failure", "problem", "ranks")
        return {name: getattr(self, name) for name in shown}

    def text(self, style: Style) -> str:
        if self.interrupted:
            return say(style.lang, "run-interrupted")
        if self.first_failure:
            failure = self.first_failure
            how = f"{failure['exit_code']}" + (f" ({failure['signal']})" if failure.get("signal") else "")
            return say(style.lang, "run-failed", rank=failure["rank"], code=how)
        if self.problem:
            lines = (self.problem.get("message"), self.problem.get("hint"))
            return "\n".join(plain(line[:1].upper() + line[1:]) for line in lines if line)
        return say(style.lang, "run-ended", count=len(self.ranks))
