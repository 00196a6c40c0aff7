"""When a job that waits in a cluster may start, from the records of jobs that may be seen there.

Cards are counted, since that is what jobs wait for and what every job's record tells; how many CPUs somebody else's
job has, none does. In a Kueue queue the quota is the pool and Kueue's order the line; without one it is the cards of
all nodes, as far as they may be seen, and the scheduler's usual order. Others' pods hold what no record explains.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.observed import between_starts, durations
from jupyter_aiarts.model.cluster import ClusterView
from jupyter_aiarts.model.expected import Band, Before, Holder, Line, expected
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.queue import Place, Queue, comparable
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.times import now, seconds_between

HOUR = 3600.0
WAITS_FOR_ROOM = frozenset(
    ("queue-position", "quota-exceeded", "no-node-fits", "ring-fragmented", "fits-as-distributed", "preempted")
)


def in_a_queue(
    mine: JobRecord,
    queues: Sequence[Queue],
    records: Sequence[JobRecord],
    resource: str | None,
    broken: Container[str] = (),
    at: str | None = None,
) -> Band | None:
    """The band of a job in a Kueue queue; None where its place, the quota or too much else may not be seen."""
    queue, place = _place(mine.id, queues)
    if queue is None or place is None or place.ahead is None:
        return None
    moment = at or now()
    sharing = {one.name for one in queues if one.lends_from == queue.lends_from}
    theirs = [one for one in records if one.spec.queue in sharing]
    known = {one.id: one for one in theirs}
    named = [known.get(one.job or "") for one in place.before]
    ahead = [one for one in named if one is not None] if len(named) == place.ahead else []
    quota, used = queue.quota.get(resource or ""), queue.used.get(resource or "")
    if not resource or not mine.spec.devices or quota is None or used is None:
        return _by_rate(place.ahead, theirs, moment)
    running = _holders(theirs, mine.spec.device, broken, moment)
    running += _unseen(used - sum(one.holds[""] for one in running))
    limit = max(quota, used)  # what is borrowed from others comes back to them
    return _judged(mine, limit, running, ahead, place.ahead - len(ahead), theirs, moment)


def on_nodes(
    mine: JobRecord,
    view: ClusterView,
    records: Sequence[JobRecord],
    broken: Container[str] = (),
    at: str | None = None,
) -> Band | None:
    """The band of a job that the scheduler itself places; None where the nodes or who holds them may not be seen."""
    nodes = [one for one in view.nodes if one.device == mine.spec.device and one.ready]
    if view.unknown or view.stale_since or not mine.spec.devices or any(one.free is None for one in nodes):
        return None
    moment = at or now()
    same = [one for one in records if one.spec.device == mine.spec.device and one.spec.queue == mine.spec.queue]
    total = float(sum(one.cards or 0 for one in nodes))
    running = _holders(same, mine.spec.device, broken, moment)
    held = total - sum(one.free or 0 for one in nodes)
    running += _unseen(held - sum(one.holds[""] for one in running))
    mark = comparable(mine.created)
    ahead = [one for one in same if one.phase is Phase.QUEUED and one.id != mine.id and comparable(one.created) < mark]
    ahead.sort(key=lambda one: comparable(one.created))
    return _judged(mine, total, running, ahead, 0, same, moment)


def _judged(
    mine: JobRecord,
    total: float,
    running: Sequence[Holder],
    ahead: Sequence[JobRecord],
    strangers: int,
    records: Sequence[JobRecord],
    at: str,
) -> Band | None:
    intervals, since = between_starts(records, at)
    line = Line(
        wants={"": float(_cards(mine.spec))},
        total={"": total},
        running=running,
        ahead=[Before(wants={"": float(_cards(one.spec))}, limit=_limit(one.spec)) for one in ahead],
        strangers=strangers,
        durations=durations(records, mine.spec.device),
        admissions=intervals,
        since_start=since,
        pooled=False,
        strict=False,
    )
    return expected(line, at)


def _by_rate(ahead: int, records: Sequence[JobRecord], at: str) -> Band | None:
    """Where what is waited for is not counted here, all that can be told is how often somebody starts."""
    intervals, since = between_starts(records, at)
    held = [Holder(holds={"": 1.0})]
    line = Line(
        wants={"": 1.0}, total={"": 1.0}, running=held, strangers=ahead, admissions=intervals, since_start=since
    )
    return expected(line, at)


def _place(job: str, queues: Iterable[Queue]) -> tuple[Queue | None, Place | None]:
    for queue in queues:
        for place in queue.places:
            if place.job == job:
                return queue, place
    return None, None


def _holders(records: Iterable[JobRecord], device: str, broken: Container[str], at: str) -> list[Holder]:
    """Who holds cards. `broken`: whose running time is not what has passed since its start, and may all be left."""
    found = []
    for one in records:
        if one.phase.is_active and one.spec.device == device and one.spec.devices:
            elapsed = max(seconds_between(one.started, at), 0.0) if one.started else 0.0
            limit = _limit(one.spec)
            if limit is not None and one.id in broken:
                limit += elapsed
            found.append(Holder(holds={"": float(_cards(one.spec))}, elapsed=elapsed, limit=limit))
    return found


def _unseen(cards: float) -> list[Holder]:
    """What somebody holds of whom there is no record: nobody knows for how long."""
    return [Holder(holds={"": cards})] if cards > 1e-9 else []


def _cards(spec: JobSpec) -> int:
    return spec.devices * spec.nodes


def _limit(spec: JobSpec) -> float | None:
    return spec.max_hours * HOUR + spec.grace_seconds if spec.max_hours else None
