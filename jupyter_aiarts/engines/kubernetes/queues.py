"""The queues of a cluster, from what is watched while somebody looks at them.

`views` makes them of what `QueuePicture` holds; no request is made here (see `queue_look.py`). Whatever may not be read
is unknown, and the queue says what to ask for.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes.kueue import (
    Amount,
    ClusterQueueObject,
    LocalQueueObject,
    PendingList,
    QuotaObject,
)
from jupyter_aiarts.engines.kubernetes.queue_picture import Key, Lined, key_of
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.quantity import parse_quantity
from jupyter_aiarts.model.queue import (
    MOST_AHEAD,
    MOST_PLACES,
    Ahead,
    Amounts,
    Place,
    Queue,
    Waiting,
    in_order,
    places_of,
)

MOST_QUEUES = 200
_COUNTED = ("pods", "count/", "services", "secrets", "configmaps", "persistentvolumeclaims", "requests.storage")


class Seen(Struct, kw_only=True):
    """All that queues are made from, at one moment."""

    cluster: str
    namespaces: tuple[str, ...]  # where the reader's own queues are
    local: Mapping[Key, LocalQueueObject] = field(default_factory=dict)
    shared: Mapping[str, ClusterQueueObject] | None = None  # None: they may not be read
    quotas: Mapping[Key, QuotaObject] = field(default_factory=dict)
    lined: Mapping[Key, Lined | None] = field(default_factory=dict)
    mine: Collection[str] = ()
    known: Mapping[str, Ahead] = field(default_factory=dict)
    whole: bool = False  # whether the workloads of all namespaces are seen
    denied: Mapping[str, Cause] = field(default_factory=dict)  # namespaces whose queues may not be read, and why
    stale: Cause | None = None
    asked: Mapping[Key, PendingList] = field(default_factory=dict)  # what Kueue itself says about the order


class Lines(Struct):
    """Who waits where: how many in each queue, which of them are the reader's, and the orders that they stand in."""

    counts: dict[Key, int]
    mine: dict[Key, set[str]]
    orders: dict[str, list[Waiting]]  # only those in which the reader has a job


def lines_of(seen: Seen) -> Lines:
    """One pass over everybody who waits, and one sort for each order that somebody wants to know."""
    lines = Lines({}, {}, {})
    by_root: dict[str, list[Waiting]] = {}
    for lined in seen.lined.values():
        if lined is None:
            continue
        lines.counts[lined.queue] = lines.counts.get(lined.queue, 0) + 1
        by_root.setdefault(_root(seen, lined.queue), []).append(lined.one)
        if lined.one.key in seen.mine:
            lines.mine.setdefault(lined.queue, set()).add(lined.one.key)
    roots = {_root(seen, queue) for queue in lines.mine}
    lines.orders = {root: in_order(by_root[root]) for root in roots}
    return lines


def views(seen: Seen) -> tuple[Queue, ...]:
    """Every queue of the reader's namespaces, those that are gone but still waited for and those unseen included."""
    lines = lines_of(seen)
    near = [(key, queue) for key, queue in sorted(seen.local.items()) if key[0] in seen.namespaces]
    found = [_kueue(seen, key, queue, lines) for key, queue in near]
    gone = [key for key in sorted(lines.counts) if key not in seen.local and key[0] in seen.namespaces]
    found += [_gone(seen, key, lines) for key in gone if key[0] not in seen.denied]
    found += [_quota(seen, key, quota) for key, quota in sorted(seen.quotas.items()) if key[0] in seen.namespaces]
    found += [
        Queue(name=space, cluster=seen.cluster, namespace=space, kind="unknown", why=why)
        for space, why in seen.denied.items()
    ]
    return tuple(found[:MOST_QUEUES])


def _root(seen: Seen, key: Key) -> str:
    """Who shares one order: the ClusterQueue; of a LocalQueue that is not there, the queue itself."""
    queue = seen.local.get(key)
    return queue.spec.cluster_queue if queue is not None else f"{key[0]}/{key[1]}"


def _kueue(seen: Seen, key: Key, queue: LocalQueueObject, lines: Lines) -> Queue:
    root = queue.spec.cluster_queue
    shared = seen.shared.get(root) if seen.shared is not None else None
    own = _sum((use.name, use.total) for use in queue.status.taken)
    places = asked_places(seen, key) if key in seen.asked else _places(seen, key, lines)
    return Queue(
        name=key[1],
        cluster=seen.cluster,
        namespace=key[0],
        kind="kueue",
        lends_from=root,
        quota=_sum((one.name, one.nominal_quota) for one in shared.spec.quotas) if shared else dict.fromkeys(own),
        used=_sum((use.name, use.total) for use in shared.status.taken) if shared else dict.fromkeys(own),
        borrowed=_sum((use.name, use.borrowed) for use in shared.status.taken) if shared else dict.fromkeys(own),
        own=own,
        pending=queue.status.pending_workloads,
        active=queue.status.inactive is None and queue.metadata.deletion_timestamp is None,
        places=places,
        source="visibility" if key in seen.asked else "workloads",
        why=seen.stale or _trouble(seen, key, queue, shared),
        borrows=shared is not None and bool(shared.spec.cohort or shared.spec.cohort_name),
    )


def _trouble(seen: Seen, key: Key, queue: LocalQueueObject, shared: ClusterQueueObject | None) -> Cause | None:
    """What is not as it should be with a queue."""
    root, off = queue.spec.cluster_queue, queue.status.inactive
    deeper = shared.status.inactive if shared is not None else None
    if off is not None or deeper is not None:
        said = [one.message or one.reason for one in (off, deeper) if one is not None]
        evidence = tuple(dict.fromkeys(text for text in said if text))
        return Cause(code="queue-inactive", values={"queue": key[1], "lends_from": root}, evidence=evidence)
    if seen.shared is not None and shared is None:
        values = {"queue": key[1], "lends_from": root}
        return Cause(code="queue-inactive", values=values, evidence=(f"There is no ClusterQueue {root}.",))
    if shared is None or shared.spec.cohort or shared.spec.cohort_name:
        return None  # in a cohort more than one's own may be in use: it is borrowed
    quota = _sum((one.name, one.nominal_quota) for one in shared.spec.quotas)
    return _overdrawn(root, quota, _sum((use.name, use.total) for use in shared.status.taken))


def _overdrawn(whose: str, quota: Amounts, used: Amounts) -> Cause | None:
    """A quota that was lowered below what runs: nothing is stopped, and nothing new starts before enough has ended."""
    over = {name: amount for name, amount in used.items() if amount is not None and amount > (quota.get(name) or 0.0)}
    if not over:
        return None
    name = sorted(over)[0]
    values = {"whose": whose, "resource": name, "used": over[name], "quota": quota.get(name) or 0.0}
    return Cause(code="quota-below-use", values=values)


def _gone(seen: Seen, key: Key, lines: Lines) -> Queue:
    """A queue that is not there, though jobs wait in it."""
    count = lines.counts[key]
    return Queue(
        name=key[1],
        cluster=seen.cluster,
        namespace=key[0],
        kind="kueue",
        pending=count,
        active=False,
        places=_places(seen, key, lines),
        source="workloads",
        why=seen.stale or Cause(code="queue-gone", values={"queue": key[1], "count": count}),
    )


def _quota(seen: Seen, key: Key, quota: QuotaObject) -> Queue:
    """A ResourceQuota: its namespace is the queue, and what it refuses waits at the Job's controller."""
    hard = _resources(quota.status.hard)
    used = {name: amount for name, amount in _resources(quota.status.used).items() if name in hard}
    return Queue(
        name=key[0],
        cluster=seen.cluster,
        namespace=key[0],
        kind="quota",
        lends_from=key[1],
        quota=hard,
        used=used,
        active=True,
        why=_overdrawn(key[1], hard, used),
    )


def _resources(amounts: Mapping[str, str]) -> Amounts:
    """Of what a quota counts, the resources of pods; limits and requests of one resource are the smaller of the two."""
    found: Amounts = {}
    for name, text in amounts.items():
        bare = name.removeprefix("requests.").removeprefix("limits.")
        if not name.startswith(_COUNTED):
            amount = number(text)
            known = found.get(bare)
            found[bare] = amount if known is None or amount is None else min(known, amount)
    return found


def _places(seen: Seen, key: Key, lines: Lines) -> tuple[Place, ...]:
    """The reader's own jobs of one queue, with their places in the order that they share with others."""
    mine = lines.mine.get(key)
    return places_of(lines.orders[_root(seen, key)], mine, seen.known, seen.whole) if mine else ()


def asked_places(seen: Seen, key: Key) -> tuple[Place, ...]:
    """The places as Kueue itself tells them."""
    found: list[Place] = []
    before: list[Ahead] = []
    for item in seen.asked[key].items or ():
        owner = item.metadata.owner_references
        name = next((one.name for one in owner if one.kind == "Job"), None)
        job = key_of(name, item.metadata.namespace, item.metadata.name)
        about = seen.known.get(job, Ahead())
        if job in seen.mine and len(found) < MOST_PLACES:
            at = item.position_in_cluster_queue
            last = tuple(before[-MOST_AHEAD:])
            place = Place(job=job, name=about.name or job, owner=about.owner, position=at + 1, ahead=at, before=last)
            found.append(place)
        before.append(about)
    return tuple(found)


def _sum(pairs: Iterable[tuple[str, Amount]]) -> Amounts:
    """Amounts by resource, over all flavors; one that cannot be read makes its sum unknown."""
    found: Amounts = {}
    for name, text in pairs:
        amount, known = number(text), found.get(name, 0.0)
        found[name] = None if amount is None or known is None else known + amount
    return found


@functools.lru_cache(1024)
def number(text: Amount) -> float | None:
    """A quantity as a number; None for what is none."""
    try:
        return float(parse_quantity(str(text)))
    except ValueError:
        return None
