"""Why a later job started before an earlier one: a pure judgement over what was known at that moment.

Only what is known is said: `unknown` is an answer. A turn is one start and those whom it passed; turns are kept, so
that whoever was passed can ask later.
"""

# Annotations are values: see spec.py.

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from jupyter_aiarts.model.queue import comparable

Reason = Literal[
    "higher-priority",
    "preemptible",
    "other-queue",
    "inactive",
    "quota",
    "smaller-delays-nobody",
    "smaller",
    "unknown",
]
MOST_PASSED = 50  # of those whom one start passed, so many are kept by name: those who had waited longest

_NO_ROOM = ("no-node-fits", "ring-fragmented", "quota-exceeded")


class Waiter(Struct, frozen=True, kw_only=True, gc=False):
    """A job that waits, or waited until now, with what decides about its turn.

    `wants` are the resources it takes, `lacks` those it is known to wait for; None where nobody said.
    """

    id: str
    name: str
    since: str
    queue: str | None = None
    priority: int = 5
    preemptible: bool = False
    cards: int = 0
    wants: frozenset[str] = frozenset()
    why: str = "queued"
    lacks: frozenset[str] | None = None


class Passed(Struct, frozen=True, kw_only=True):
    """One whom a start passed, and why that was right."""

    job: str
    reason: Reason
    about: str = ""  # the queue, the resource or the priorities that the reason speaks of


class Turn(Struct, frozen=True, kw_only=True):
    """One start before others who had come earlier; `more` is how many further ones are not named."""

    at: str
    job: str
    name: str
    queue: str | None = None
    passed: tuple[Passed, ...] = ()
    more: int = 0


def turn_of(started: Waiter, waiting: Iterable[Waiter], at: str) -> Turn | None:
    """Whom a start passed and why; None where everybody who still waits came later."""
    mark = comparable(started.since)
    earlier = [one for one in waiting if one.id != started.id and comparable(one.since) < mark]
    if not earlier:
        return None
    earlier.sort(key=lambda one: (one.queue != started.queue, comparable(one.since), one.id))
    passed = tuple(reason_for(started, one) for one in earlier[:MOST_PASSED])
    more = max(len(earlier) - MOST_PASSED, 0)
    return Turn(at=at, job=started.id, name=started.name, queue=started.queue, passed=passed, more=more)


def reason_for(started: Waiter, waits: Waiter) -> Passed:
    """Why one job may have started before another that had come earlier and still waits."""
    reason, about = _reason(started, waits)
    return Passed(job=waits.id, reason=reason, about=about)


def _reason(started: Waiter, waits: Waiter) -> tuple[Reason, str]:
    if waits.why == "queue-inactive":
        return "inactive", waits.queue or ""
    if started.queue != waits.queue:
        return "other-queue", started.queue or ""
    if started.priority > waits.priority:
        reason: Reason = "preemptible" if waits.preemptible else "higher-priority"
        return reason, f"{started.priority} > {waits.priority}"
    if waits.why == "preempted" and waits.preemptible:
        return "preemptible", ""
    if waits.why == "never-fits":
        return "smaller-delays-nobody", ""
    return _room(started, waits)


def _room(started: Waiter, waits: Waiter) -> tuple[Reason, str]:
    """The earlier one waits for room: the later one took what it does not wait for, or fits where it does not."""
    if waits.lacks is not None and not waits.lacks & started.wants:
        return "smaller-delays-nobody", ", ".join(sorted(waits.lacks))
    if waits.why in ("quota-exceeded", "preempted"):
        return "quota", ", ".join(sorted(waits.lacks or ()))
    if waits.why in _NO_ROOM and started.cards < waits.cards:
        return "smaller", ""
    return "unknown", ""


class ShownPassed(Struct, frozen=True, kw_only=True):
    """One whom a start passed; `name` is null where that job is gone or may not be seen, `why` is a sentence."""

    job: str
    name: str | None
    reason: Reason
    about: str
    why: str


class ShownTurn(Struct, frozen=True, kw_only=True):
    """One start before others who had come earlier; `more` is how many further ones are not named."""

    at: str
    cluster: str
    job: str
    name: str
    queue: str | None
    passed: list[ShownPassed]
    more: int = 0
