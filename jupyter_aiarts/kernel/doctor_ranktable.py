"""`aiarts doctor ranktable FILE`: would HCCL take this table, on the cards of this machine, and what did a log say."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional

from jupyter_aiarts.kernel.doctor import missing, speaking, worded
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.hccl_reasons import Heard, read
from jupyter_aiarts.kernel.npus import Seen, seen
from jupyter_aiarts.kernel.session import Session
from jupyter_aiarts.launcher.ascend import checking, reading
from jupyter_aiarts.launcher.ascend.finding import Finding
from jupyter_aiarts.launcher.ascend.table import Server

Report = Dict[str, Any]

_MIXED = ("CM_CHIEF_IP", "CM_CHIEF_PORT", "CM_CHIEF_DEVICE", "CM_WORKER_SIZE", "CM_WORKER_IP")
_ABOUT = "EI0004|EI0014|[Rr]ank_?[Tt]able|[Rr]ank_?[Ii]d|devId"
_LOG_LIMIT = 32 << 20
_NAMES = {"v1": "version 1.0", "v1.2": "version 1.2", "lab": "lab (MindSpore)", "cloud": "cloud (TensorFlow)"}


def check_ranktable(
    text: str,
    environ: Mapping[str, str],
    rank: Optional[str] = None,
    log: Iterable[str] = (),
    dev: str = "/dev",
    lang: str = "en",
) -> Report:
    """`{path, ok, checks: [{ok, message}], findings: [{key, message, cure, code}]}`, as `doctor path` answers.

    Keys and codes are the same in every language.
    """
    path, say = Path(text).expanduser(), speaking(lang)
    checks = worded(missing(path) or _not_a_file(path), say)
    findings: List[Finding] = []
    if not checks:
        here, content = seen(environ, dev), content_of(path)
        findings = [_worded(one, say) for one in _findings(path, content, here, environ, rank)]
        checks = [_check(False, _sentence(one, lang)) for one in findings]
    heard = [one._replace(finding=_worded(one.finding, say)) for one in read(log)]
    checks += [_check(False, _line(one, lang)) for one in heard]
    ok = not checks
    return {
        "path": str(path.absolute()),
        "ok": ok,
        "checks": worded(_compared(content, here.ids, rank), say) if ok else checks,
        "findings": [one._asdict() for one in findings],
        "log": [{"line": one.line, "code": one.code, "said": one.said, **one.finding._asdict()} for one in heard],
    }


def verdict(content: bytes, lang: str = "en") -> Report:
    """`{ok, checks, findings}` about a table by itself, wherever its cards are; words and keys as above."""
    say = speaking(lang)
    findings = [_worded(one, say) for one in checking.check(content)]
    checks = [_check(False, _sentence(one, lang)) for one in findings]
    ok = not findings
    praise = worded([_check(True, one) for one in _praise(content, None)], say) if ok else []
    return {"ok": ok, "checks": checks or praise, "findings": [one._asdict() for one in findings]}


def log_lines(session: Session, log: str) -> List[str]:
    """The lines of a file of this name, else of the job's log; of a very large file the end."""
    path = Path(log).expanduser()
    if not path.exists():
        return [line["text"] for line in session.client.logs(session.find(log), grep=_ABOUT, tail=10_000)[0]]
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - _LOG_LIMIT, 0))
            return file.read(_LOG_LIMIT).decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise WrongUsage(f"The log {log} cannot be read: {error.strerror}.") from None


def _not_a_file(path: Path) -> List[Dict[str, Any]]:
    if path.is_dir():
        return [_check(False, f"{path} is a folder: name the table in it")]
    if not stat.S_ISREG(path.stat().st_mode):
        return [_check(False, f"{path} is no plain file: copy the table into one")]
    if not os.access(path, os.R_OK):
        return [_check(False, f"you cannot read {path}: change its mode, as every rank reads it")]
    return []


def content_of(path: Path) -> bytes:
    """As much of a table as anybody looks at; raises `WrongUsage`."""
    try:
        with path.open("rb") as file:
            return file.read(reading.LIMIT + 1)
    except OSError as error:
        raise WrongUsage(f"{path} cannot be read: {error.strerror}.") from None


def _findings(path: Path, content: bytes, here: Seen, environ: Mapping[str, str], rank: Optional[str]) -> List[Finding]:
    found = checking.check_path(str(path.absolute()))
    found += checking.check(
        content,
        present=here.ids or None,
        rank=rank,
        rings=here.rings,
        roce=environ.get("HCCL_INTRA_ROCE_ENABLE") == "1",
    )
    mixed = [name for name in _MIXED if environ.get(name)]
    if mixed:
        message = "is set, and HCCL takes a rank table or these variables, not both"
        found.append(Finding(mixed[0], message, f"unset {' '.join(mixed)}", "two-ways"))
    return found


def _worded(finding: Finding, say: Callable[[str], str]) -> Finding:
    return finding._replace(message=say(finding.message), cure=say(finding.cure))


def _sentence(finding: Finding, lang: str) -> str:
    return f"{finding.key or '该表'} {finding.message}：{finding.cure}" if lang == "zh" else finding.sentence()


def _line(heard: Heard, lang: str) -> str:
    said = _sentence(heard.finding, lang)
    if lang == "zh":
        return f"日志第 {heard.line} 行（{heard.code}，{heard.said!r}）：{said}"
    return f"line {heard.line} of the log ({heard.code}, {heard.said!r}): {said}"


def _compared(content: bytes, ids: List[int], rank: Optional[str]) -> List[Dict[str, Any]]:
    """What was found in order, also between the table and this machine."""
    machines = len({server.server_id for server in reading.parse(content).servers})
    alone = machines == 1 or rank is not None
    compared = f"its cards are among this machine's: {', '.join(map(str, ids))}"
    unknown = "no card is seen here" if not ids else "which server is this machine, --rank would say"
    last = compared if ids and alone else f"its cards were not compared: {unknown}"
    return [_check(True, one) for one in [*_praise(content, rank), last]]


def _praise(content: bytes, rank: Optional[str]) -> List[str]:
    """What of the table itself is in order, so that "ok" says what it means."""
    table = reading.parse(content)
    cards = sum(len(server.cards) for server in table.servers)
    machines = len({server.server_id for server in table.servers})
    said = [f"a {_NAMES[table.form]} table: {_count(machines, 'server')}, {_count(cards, 'card')}"]
    said.append(f"ranks 0 to {cards - 1}, each once" + (f"; RANK_ID {rank} is one of them" if rank else ""))
    return [*said, _addresses(table.servers)]


def _addresses(servers: List[Server]) -> str:
    without = [card for server in servers for card in server.cards if not card.ip]
    return "every card has its address" if not without else "cards have no address, which one server does without"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _check(ok: bool, message: str) -> Dict[str, Any]:
    return {"ok": ok, "message": message}
