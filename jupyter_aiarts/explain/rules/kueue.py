"""Why a queue holds a job back, in Kueue's words: what is missing, of which resource and flavor, and for how long."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from jupyter_aiarts.explain.rules.amounts import amount, change, shown
from jupyter_aiarts.explain.rules.said import closer, first, lines, text
from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_NAME = r"([\w./-]{1,253})"
_BUSY = re.compile(
    rf"insufficient unused quota (?:in cohort )?for {_NAME} in flavor {_NAME}, ([\w.]{{1,40}}) more needed"
)
_LARGE = re.compile(
    rf"insufficient quota for {_NAME} in flavor {_NAME}, previously considered podsets requests \(([\w.]{{1,40}})\) \+ "
    r"current podset request \(([\w.]{1,40})\) > maximum capacity \(([\w.]{1,40})\)"
)
_LARGE_BEFORE = re.compile(  # Kueue before 0.11
    rf"insufficient quota for {_NAME} in flavor {_NAME}, request > maximum capacity "
    r"\(([\w.]{1,40}) > ([\w.]{1,40})\)"
)
_ABSENT = re.compile(rf"resource {_NAME} unavailable in ClusterQueue")
_QUEUE = re.compile(rf"(LocalQueue|ClusterQueue) {_NAME} (?:is inactive|doesn't exist)")


class Lack(Struct, frozen=True):
    """What one flavor is short of; `asked` and `most` where it could never have enough."""

    resource: str
    flavor: str
    missing: Decimal
    asked: Decimal | None = None
    most: Decimal | None = None


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """What a queue waits for, or why it never will."""
    said = text(cause)
    if cause.code in ("preempted", "unknown"):
        return None  # by whom is all there is to say; and what is said about pods is not a queue's
    if cause.code == "evicted":
        return _evicted(cause, said) if "queue" in cause.values else None
    short = _short(cause, spec) if "couldn't assign flavors" in said or "insufficient" in said else None
    if short is not None:
        return short
    form = _form(said)
    if form is not None:
        return closer(cause, *form)
    absent = first(_ABSENT, cause)
    if absent is not None:
        return closer(cause, "never-fits", "queue-lacks", resource=absent[1])
    if cause.code == "queue-inactive":
        named = first(_QUEUE, cause)
        return closer(cause, None, _inactive(said, named[1] if named is not None else ""))
    if cause.code == "queue-position" and not cause.evidence and "ahead" not in cause.values:
        return closer(cause, None, "queue-untried") if cause.values.get("queue") else None
    return None


def _form(said: str) -> tuple[str, str] | None:
    """Sentences without numbers."""
    if "no longer fits after processing another workload" in said:
        return "quota-exceeded", "queue-lost-race"
    if "to be in podsready condition" in said:
        return "queue-position", "queue-waits-start"
    if "pending the preemption of" in said:
        return "queue-position", "queue-preempting"
    if "workload is deactivated" in said:
        return "queue-inactive", "workload-off"
    if "couldn't assign flavors" in said and ("node affinity" in said or "untolerated taint" in said):
        return "never-fits", "queue-other-nodes"
    if "namespace doesn't match clusterqueue selector" in said:
        return "queue-inactive", "queue-not-for-namespace"
    return None


def _inactive(said: str, kind: str) -> str:
    if "is stopped" in said:
        return "queue-stopped"
    if "doesn't exist" in said or "not found" in said:
        return "queue-missing" if kind != "ClusterQueue" else "queue-unconnected"
    return "queue-off" if "is inactive" in said else ""


def _evicted(cause: Cause, said: str) -> Cause | None:
    """A job that Kueue had let go and took back."""
    if "podsready timeout" in said:
        return closer(cause, None, "not-ready-in-time")
    return closer(cause, None, "queue-evicted")


def _short(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """The sum: what could be had in time before what never can, and of several flavors the nearest."""
    busy = [found for line in lines(cause) for found in map(_busy, _BUSY.finditer(line)) if found]
    large = [found for line in lines(cause) for found in map(_large, _LARGE.finditer(line)) if found]
    large += [found for line in lines(cause) for found in map(_large_before, _LARGE_BEFORE.finditer(line)) if found]
    open_to = {one.resource for one in busy}
    never = [one for one in large if one.resource not in open_to]
    if never:
        return _never(cause, min(never, key=lambda one: one.missing), spec)
    if not busy:
        return None
    near = min(busy, key=lambda one: one.missing)
    values = {"resource": near.resource, "flavor": near.flavor, "missing": shown(near.resource, near.missing)}
    return closer(cause, "quota-exceeded", "queue-busy", **values)


def _never(cause: Cause, lack: Lack, spec: JobSpec | None) -> Cause:
    assert lack.asked is not None and lack.most is not None
    values: dict[str, Any] = {
        "resource": lack.resource,
        "flavor": lack.flavor,
        "asked": shown(lack.resource, lack.asked),
        "most": shown(lack.resource, lack.most),
    }
    nodes = spec.nodes if spec is not None else 0
    found = change(lack.resource, lack.most / nodes, lack.asked / nodes, spec) if nodes else {}
    (key,) = found or ("",)
    return closer(cause, "never-fits", f"queue-too-small-{key}" if key else "queue-too-small", **values, **found)


def _busy(match: re.Match[str]) -> Lack | None:
    missing = amount(match[3])
    return None if missing is None else Lack(match[1], match[2], missing)


def _large(match: re.Match[str]) -> Lack | None:
    before, asked, most = amount(match[3]), amount(match[4]), amount(match[5])
    if before is None or asked is None or most is None:
        return None
    return Lack(match[1], match[2], before + asked - most, before + asked, most)


def _large_before(match: re.Match[str]) -> Lack | None:
    asked, most = amount(match[3]), amount(match[4])
    return None if asked is None or most is None else Lack(match[1], match[2], asked - most, asked, most)
