"""What a failed program's last lines tell.

The first rank that failed is asked first. Where it only saw another one's end (a timeout, a closed connection), the
ranks that failed after it are asked too: the one to blame may have taken longer to end. The line that decided stands
first in the evidence; where no line decides, the exit code and the lines are all there is to say.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from jupyter_aiarts.explain.rules import cards, program
from jupyter_aiarts.explain.rules.lines import Account, Statement, account
from jupyter_aiarts.explain.rules.looks import SHM, doubled, memory, shm
from jupyter_aiarts.explain.rules.signs import End, Found, Sign, first_found, spoken_of
from jupyter_aiarts.explain.rules.wrappers import reported
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.harmless import harmless_among

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

SIGNS: tuple[Sign, ...] = (*cards.SIGNS, *program.SIGNS)
_OF_SIGNAL = {
    "SIGKILL": ("out-of-memory",),
    "SIGBUS": ("shared-memory-full",),
    "SIGSEGV": ("device-unhealthy", "driver-mismatch", "device-not-visible", "hccl-timeout", "nccl-error"),
    "SIGTERM": (),
    "SIGINT": (),
}
"""What lines may tell of an end by this signal; an exception that was printed before did not end the process."""
_HOLLOW = (
    "nccl",
    "hccl",
    "npu",
    "ascend",
    "acl",
    "cuda",
    "device",
    "graph",
    "worker",
    "kernel runtime",
    "details",
    "following error",
)
"""Words of exceptions that only say that something below them failed: the lines beside them say what."""
_WITH_SAME = frozenset({"rank", "node", "exit_code", "signal", "oom_kills", "oom_scope", "full"})


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """A closer cause, or None where nothing more is said."""
    if cause.code == "out-of-memory":
        sizes = memory(spec)
        form = "memory-exceeded" if sizes.pop("form", "") else cause.form
        return structs.replace(cause, form=form, values={**sizes, **cause.values})
    if cause.code == "time-limit":
        return structs.replace(cause, values={**cause.values, "more_hours": doubled(cause.values.get("hours"))})
    if "exit_code" not in cause.values:
        return None
    first = decided(cause.evidence, _end(cause.values), spec)
    if first is None or first.is_after:
        blamed = _blamed(cause, spec)
        if blamed is not None and (first is not None or not cause.evidence):
            return blamed
    return _told(cause, first) if first is not None else None


def _blamed(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """The cause of another rank that failed by itself and says why; else one that was killed and could not say it."""
    others = [other for other in cause.values.get("others") or () if isinstance(other, Mapping)]
    for other in others:
        theirs = _of_other(cause, other)
        found = decided(theirs.evidence, _end(other), spec)
        if found is not None and not found.is_after:
            return _told(theirs, found)
    killed = (other for other in others if other.get("signal") not in (None, "SIGTERM", "SIGINT"))
    return next((_of_other(cause, other) for other in killed), None)


def _of_other(cause: Cause, other: Mapping[str, Any]) -> Cause:
    """What was seen of another rank, in the form of what was seen of the first."""
    values = {key: cause.values.get(key) for key in _WITH_SAME - {"oom_kills", "oom_scope", "full"}}
    values.update({key: other[key] for key in _WITH_SAME if key in other})
    values["first"] = cause.values.get("rank")
    lines = tuple(str(line) for line in other.get("lines") or ())
    return Cause(code=cause.code, values=values, evidence=lines)


def _told(cause: Cause, found: Found) -> Cause:
    """The cause with the line that decided in front; lines that mean nothing are left out."""
    kinds = harmless_among(cause.evidence)
    lines = [line for line, kind in zip(cause.evidence, kinds, strict=True) if kind is None] or list(cause.evidence)
    if found.place is not None and found.place < len(cause.evidence):
        deciding = cause.evidence[found.place]
        if deciding in lines:
            lines.remove(deciding)
        lines.insert(0, deciding)
    values = {**{key: value for key, value in cause.values.items() if key != "others"}, **found.values}
    return Cause(code=found.code, form=found.form, values=values, evidence=tuple(lines))


def _end(values: Mapping[str, Any]) -> End:
    code, by = values.get("exit_code"), values.get("signal")
    if by is None and isinstance(code, int) and 128 < code < 160:
        try:
            by = signal.Signals(code - 128).name  # as a shell tells it
        except ValueError:
            by = None
    full = tuple(str(place) for place in values.get("full") or ())
    return End(code, by, full, int(values.get("oom_kills") or 0), values.get("oom_scope"))


def decided(lines: Sequence[str], end: End, spec: JobSpec | None) -> Found | None:
    """The cause that one rank's lines and end tell; None where they tell none."""
    told, signs = account(lines), spoken_of(SIGNS, lines)
    found = _said(told, signs, end, spec) or (None if told.raised or told.is_cut else reported(lines, end, spec))
    if end.signal is None or end.signal == "SIGABRT":
        return found if found is not None else _python(told)
    allowed = _OF_SIGNAL.get(end.signal, ())
    if found is not None and found.code in allowed:
        return found
    return _by_signal(end, spec)


def _said(told: Account, signs: Sequence[Sign], end: End, spec: JobSpec | None) -> Found | None:
    """The first cause that the lines tell, the most telling line first."""
    for one in told.raised:
        found = first_found(signs, one, end, spec)
        if found is not None and not _is_plain(found):
            return found
    if told.is_cut:
        return None
    lines = told.raised if told.raised and not _is_hollow(told.raised[0]) else (*told.more, *told.beside, *told.raised)
    return _best(first_found(signs, one, end, spec) for one in lines)


def _is_plain(found: Found) -> bool:
    """Whether an exception only says that something below failed: other lines may say what."""
    return found.is_after or found.form == "npu-start-failed"


def _is_hollow(one: Statement) -> bool:
    small = one.small
    return not one.said or any(word in small for word in _HOLLOW)


def _best(found: Iterable[Found | None]) -> Found | None:
    """The first that is a cause by itself, else the first that saw one, and among those one that names somebody."""
    known = [one for one in found if one is not None]
    causes = [one for one in known if not _is_plain(one)]
    if causes:
        return causes[0]
    speaking = [one for one in known if one.values] or [one for one in known if one.code != "exit-code"] or known
    return speaking[0] if speaking else None


def _python(told: Account) -> Found | None:
    """An exception that no rule knows: its class and its words, nothing more."""
    if not told.raised:
        return None
    last = told.raised[0]
    if last.kind == "KeyboardInterrupt":
        return Found("exit-code", "interrupted", last.place, {})
    if last.kind in ("Error", "Exception", "SystemExit"):
        return None
    return Found("exit-code", "python-error", last.place, {"error": last.kind, "said": last.said})


def _killed_for_memory(end: End, spec: JobSpec | None) -> Found:
    """Where the kernel counted: only of a job's own container is it known that more memory would have helped."""
    sizes = memory(spec)
    here = sizes.pop("form", "") and "memory-killed-here"
    if end.oom_scope == "machine":
        return Found("out-of-memory", "memory-killed-machine", None, {})
    return Found("out-of-memory", here or "memory-killed", None, sizes)


def _by_signal(end: End, spec: JobSpec | None) -> Found | None:
    """What a signal tells without any line; the kernel's own count is the only proof that it was for memory."""
    if end.signal == "SIGKILL" and end.oom_kills > 0:
        return _killed_for_memory(end, spec)
    if end.signal == "SIGBUS":
        if SHM in end.full:
            known = shm(spec)
            return Found("shared-memory-full", known.pop("form", ""), None, known)
        return Found("exit-code", "bus-error", None, {})
    forms = {"SIGSEGV": "segfault", "SIGTERM": "asked-to-end", "SIGINT": "interrupted"}
    form = forms.get(end.signal or "")
    return Found("exit-code", form, None, {}, is_after=form == "asked-to-end") if form else None
