"""Who started on a cluster before somebody who had come earlier, and why: from what this server saw at that moment.

Kueue and the scheduler decide; what is said here is judged from what they said about those who went on waiting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import structs

from jupyter_aiarts.engines.kubernetes.meta import in_full
from jupyter_aiarts.engines.kubernetes.resources import priority_class
from jupyter_aiarts.model.turn import MOST_PASSED, Turn, Waiter, turn_of

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import JobRecord
    from jupyter_aiarts.engines.kubernetes.phase import Facts
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.model.spec import JobSpec

_LACKS = re.compile(r"[Ii]nsufficient (?:unused )?(?:quota for )?([\w./-]*\w)")
_ALWAYS = ("cpu", "memory")
FactsOf = Callable[[str], "Facts | None"]


def passed_by(
    started: JobRecord, waiting: Iterable[JobRecord], facts_of: FactsOf, settings: ClusterSettings, now: str
) -> Turn | None:
    """The turn that a start was, if it was one; only those who waited longest are looked at closely."""
    facts = facts_of(started.id)
    if facts is None:
        return None
    first = _waiter(started, facts, settings)
    earlier = sorted(
        (one for one in waiting if one.created < first.since),
        key=lambda one: (one.spec.queue != started.spec.queue, one.created, one.id),
    )
    near = [(one, facts_of(one.id)) for one in earlier[:MOST_PASSED]]
    left = [_waiter(one, seen, settings) for one, seen in near if seen is not None]
    turn = turn_of(first, left, in_full(facts.job.status.start_time) or now)
    return structs.replace(turn, more=turn.more + max(len(earlier) - MOST_PASSED, 0)) if turn is not None else None


def _waiter(record: JobRecord, facts: Facts, settings: ClusterSettings) -> Waiter:
    spec = record.spec
    card = settings.profile(spec.device).resource if spec.devices else None
    said = facts.workload.priority if facts.workload is not None else None
    return Waiter(
        id=record.id,
        name=record.name,
        since=in_full(facts.job.created) or "",
        queue=facts.job.queue or facts.job.namespace,
        priority=_rank(spec, settings) if said is None else said,
        preemptible=spec.preemptible,
        cards=spec.devices * spec.nodes,
        wants=frozenset((*_ALWAYS, *((card,) if card else ()))),
        why=record.cause.code,
        lacks=_lacks(record),
    )


def _rank(spec: JobSpec, settings: ClusterSettings) -> int:
    """The number that a job's priority is mapped to: two that share a class are equal, and so are all where none is."""
    chosen = priority_class(spec, settings)
    numbers = [int(key) for key, name in settings.priorities.items() if name == chosen and key.isdigit()]
    return min(numbers, default=0)


def _lacks(record: JobRecord) -> frozenset[str] | None:
    """What the cluster says that a job waits for."""
    found = [name for line in record.cause.evidence for name in _LACKS.findall(line)]
    return frozenset(found) if found else None
