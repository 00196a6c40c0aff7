"""`aiarts doctor path P`: can this be a start file, checked step by step as the launcher will use it.

Where pods see the same path, and why not, the server knows: `doctor_path`.
`aiarts doctor ranktable FILE` is in `doctor_ranktable`, loaded when it is asked for.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said
from jupyter_aiarts.kernel.terminal import plain

INTERPRETED = {".py": "python3", ".sh": "bash", ".ipynb": "python3"}


def doctor(session: Session, given: argparse.Namespace) -> Outcome:
    """Can this path be a start file, and where is it visible; or can this be a rank table. 1 when it cannot."""
    if given.noun == "path" and (given.rank or given.log):
        raise WrongUsage("--rank and --log are about rank tables.", "aiarts doctor ranktable FILE --rank 3")
    if given.noun == "path":
        return _path(session, given)
    if given.path is None or given.cluster or given.job:
        raise WrongUsage("A rank table is checked here, by its file.", "aiarts doctor ranktable FILE")
    report = _ranktable(session, given)
    text = "\n".join(_lines(report))
    return Outcome(Said(text), report, text, 0 if report["ok"] else 1)


def _path(session: Session, given: argparse.Namespace) -> Outcome:
    """What this machine says about a path, and what the path map does; without a path, the whole map."""
    from jupyter_aiarts.kernel.doctor_path import all_places, lines_of, look_for

    if given.path is None:
        return all_places(session, given)
    report = look_for(session, given, check_path(given.path, session.style.lang))
    text = "\n".join([*_lines(report), *lines_of(report, session.style)])
    return Outcome(Said(text), report, text, 0 if report["ok"] else 1)


def _lines(report: Dict[str, Any]) -> List[str]:
    marks = {True: "ok", False: "NO"}
    return [f"{marks[one['ok']]}  {plain(one['message'])}" for one in report["checks"]]


def _ranktable(session: Session, given: argparse.Namespace) -> Dict[str, Any]:
    from jupyter_aiarts.kernel.doctor_ranktable import check_ranktable, log_lines

    log = log_lines(session, given.log) if given.log else ()
    return check_ranktable(given.path, os.environ, given.rank, log, lang=session.style.lang)


def speaking(lang: str) -> Callable[[str], str]:
    """What turns a doctor's English sentence into the reader's."""
    if lang != "zh":
        return str
    from jupyter_aiarts.kernel.doctor_zh import chinese

    return chinese


def worded(checks: List[Dict[str, Any]], say: Callable[[str], str]) -> List[Dict[str, Any]]:
    """The checks in the reader's language."""
    return [{**one, "message": say(one["message"])} for one in checks]


def check_path(text: str, lang: str = "en") -> Dict[str, Any]:
    """`{path, ok, checks: [{ok, message}]}`; it stops at the first link, folder or file that is not there."""
    path = Path(text).expanduser()
    checks = missing(path)
    if not checks:
        checks = [_check(True, f"{path} exists" + _through(path)), *_readable(path)]
    ok = all(one["ok"] for one in checks)
    return {"path": str(path.absolute()), "ok": ok, "checks": worded(checks, speaking(lang))}


def missing(path: Path) -> List[Dict[str, Any]]:
    """Which part of the path is not there; nothing when all of it is."""
    if path.exists():
        return []
    if path.is_symlink():
        return [_check(False, f"{path} is a link to {os.readlink(path)}, which does not exist")]
    try:
        there = next(parent for parent in path.absolute().parents if parent.exists())
    except PermissionError as error:
        return [_check(False, f"{error.filename} cannot be entered: permission denied")]
    gone = path.absolute().relative_to(there).parts[0]
    near = _nearest(gone, there)
    return [_check(False, f"{there} has no {gone!r}" + (f"; it has {near!r}" if near else ""))]


def _nearest(name: str, folder: Path) -> Optional[str]:
    from jupyter_aiarts.kernel.grammar import nearest

    try:
        return nearest(name, os.listdir(folder))
    except OSError:
        return None


def _through(path: Path) -> str:
    return f" (a link to {path.resolve()})" if path.is_symlink() else ""


def _readable(path: Path) -> List[Dict[str, Any]]:
    if path.is_dir():
        fine = os.access(path, os.R_OK | os.X_OK)
        return [_check(fine, "it is a folder you can read" if fine else "it is a folder you cannot read")]
    checks = [_check(os.access(path, os.R_OK), "you can read it" if os.access(path, os.R_OK) else "you cannot read it")]
    if path.suffix in INTERPRETED:
        tool = INTERPRETED[path.suffix]
        return [
            *checks,
            _check(
                bool(shutil.which(tool)),
                f"{tool} runs it" if shutil.which(tool) else f"there is no {tool} on PATH",
            ),
        ]
    return [*checks, *_executable(path)]


def _executable(path: Path) -> List[Dict[str, Any]]:
    if not os.access(path, os.X_OK):
        return [_check(False, f"it is not executable: chmod +x {path}")]
    with path.open("rb") as file:
        first = file.readline(256)
    if not first.startswith(b"#!"):
        return [_check(True, "it is executable")]
    interpreter = first[2:].decode("utf-8", "replace").strip("\n").split(" ")[0]
    if interpreter.endswith("\r"):
        return [
            _check(
                False,
                "its first line ends in a Windows line break, so its interpreter is not found: dos2unix it",
            )
        ]
    found = os.access(interpreter, os.X_OK)
    return [_check(found, f"its interpreter {interpreter} " + ("exists" if found else "does not exist"))]


def _check(ok: bool, message: str) -> Dict[str, Any]:
    return {"ok": ok, "message": message}
