"""What only the cluster can say about a job before it is submitted: whether its storage and its secret are there, and
whether the quota of its namespace holds all of its nodes.

Each is asked once, of what the job names; what may not be asked is unknown, and nothing is said about it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes import paths
from jupyter_aiarts.engines.kubernetes.kueue import QuotaObject
from jupyter_aiarts.engines.kubernetes.queues import number
from jupyter_aiarts.engines.kubernetes.refusals import Missing, Refused
from jupyter_aiarts.engines.kubernetes.resources import amounts
from jupyter_aiarts.engines.kubernetes.storage import Claim
from jupyter_aiarts.errors import ClusterUnreachable, NotAllowed
from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.order import Order
    from jupyter_aiarts.model.queue import Queue

MOST_CLAIMS = 20
PULL_TYPES = ("kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg")
UNKNOWN = (Refused, NotAllowed, ClusterUnreachable)


class _ClaimSpec(Struct, rename="camel"):
    volume_name: str = ""


class _ClaimStatus(Struct):
    phase: str = ""


class ClaimObject(Struct):
    """A persistent volume claim, as far as it matters here."""

    spec: _ClaimSpec = field(default_factory=_ClaimSpec)
    status: _ClaimStatus = field(default_factory=_ClaimStatus)


class _SecretKind(Struct):
    type: str = ""


class _QuotaScopes(Struct, rename="camel"):
    scopes: list[str] | None = None
    scope_selector: Any = None


class ScopedQuota(QuotaObject):
    """A ResourceQuota, and for which pods it counts."""

    spec: _QuotaScopes = field(default_factory=_QuotaScopes)


class _Quotas(Struct):
    items: list[ScopedQuota] = field(default_factory=list)


async def claims(api: Api, namespace: str, names: Iterable[str]) -> dict[str, ClaimObject | None]:
    """The claims of these names; None for one that is not there, nothing for one that may not be asked about."""
    wanted = sorted(set(names))[:MOST_CLAIMS]
    found = await asyncio.gather(*(_claim(api, namespace, name) for name in wanted))
    return {name: one[0] for name, one in zip(wanted, found, strict=True) if one is not None}


async def _claim(api: Api, namespace: str, name: str) -> tuple[ClaimObject | None] | None:
    try:
        return (await api.get(paths.claims(namespace, name), ClaimObject),)
    except Missing:
        return (None,)
    except UNKNOWN:
        return None


async def volumes(api: Api, namespace: str, names: Iterable[str]) -> dict[str, str]:
    """The volume that each of these claims is bound to, for finding it in this server's mount table."""
    found = await claims(api, namespace, names)
    return {name: one.spec.volume_name for name, one in found.items() if one is not None and one.spec.volume_name}


async def obstacle(api: Api, order: Order) -> Cause | None:
    """What would keep the job's pods from starting: storage that is not there, a quota that its nodes are more than."""
    wanted = {mount.volume.name for mount in order.mounts if isinstance(mount.volume, Claim)}
    found, quotas = await asyncio.gather(claims(api, order.namespace, wanted), _quotas(api, order.namespace))
    return missing_claims(found, order.namespace) or over_quota(quotas, order)


def missing_claims(found: Mapping[str, ClaimObject | None], namespace: str) -> Cause | None:
    """Claims that a job mounts and that are not there, or have lost their volume, in the scheduler's own words."""
    gone = [f'persistentvolumeclaim "{name}" not found' for name, one in found.items() if one is None]
    lost = [
        f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{one.spec.volume_name}"'
        for name, one in found.items()
        if one is not None and one.status.phase == "Lost"
    ]
    if not gone and not lost:
        return None
    first = next(name for name, one in found.items() if one is None or one.status.phase == "Lost")
    values = {"claim": first, "namespace": namespace}
    return Cause(code="mount-missing", values=values, evidence=(*gone, *lost))


async def _quotas(api: Api, namespace: str) -> list[ScopedQuota]:
    """The quotas that count for every pod; whether one of the others does, only the API server knows."""
    try:
        found = (await api.get(paths.resourcequotas(namespace), _Quotas)).items
    except UNKNOWN:
        return []
    return [one for one in found if not one.spec.scopes and not one.spec.scope_selector]


def over_quota(quotas: Iterable[QuotaObject], order: Order) -> Cause | None:
    """A ResourceQuota that all nodes of the job together are more than: a dry run of one pod counts one of them."""
    each = amounts(order)
    for quota in quotas:
        lacks: list[tuple[str, float, float, float]] = []
        for name, text in quota.status.hard.items():
            asked, hard = _asked(name, each, order.spec.nodes), number(text)
            used = number(quota.status.used.get(name, "0"))
            if asked and hard is not None and used is not None and asked + used > hard + 1e-9:
                lacks.append((name, asked, used, hard))
        if lacks:
            return _short(quota.metadata.name, order, lacks)
    return None


def _asked(name: str, each: Mapping[str, Any], nodes: int) -> float | None:
    """How much of what a quota counts the job would take; None for what it does not take part in."""
    if name == "pods":
        return float(nodes)
    side, _, rest = name.partition(".")
    wanted = each["limits"] if side == "limits" else each["requests"]
    text = wanted.get(rest if side in ("limits", "requests") else name)
    amount = number(text) if text is not None else None
    return None if amount is None else amount * nodes


def _short(whose: str, order: Order, lacks: list[tuple[str, float, float, float]]) -> Cause:
    """As the API server says it, with the sum done: of all nodes, not of one."""

    def listed(values: Iterable[tuple[str, float]]) -> str:
        return ",".join(f"{name}={amount:.12g}" for name, amount in values)

    asked = listed((name, asked) for name, asked, _, _ in lacks)
    used = listed((name, used) for name, _, used, _ in lacks)
    hard = listed((name, hard) for name, _, _, hard in lacks)
    name, wants, taken, most = lacks[0]
    values = {
        "whose": whose,
        "resource": name,
        "asked": wants,
        "used": taken,
        "quota": most,
        "missing": round(wants + taken - most, 6),
        "nodes": order.spec.nodes,
    }
    said = f"exceeded quota: {whose}, requested: {asked}, used: {used}, limited: {hard}"
    return Cause(code="quota-exceeded", values=values, evidence=(said,))


def in_queue(queue: Queue, order: Order) -> tuple[Cause | None, tuple[str, ...]]:
    """What a Kueue queue would say to a job now: that it takes none, that its quota is used up, who waits already.

    A queue that may borrow can give more than its own quota, so only one that may not is sure to refuse.
    """
    if queue.active is False:
        return queue.why or Cause(code="queue-inactive", values={"queue": queue.name}), ()
    notes: tuple[str, ...] = ()
    if queue.pending:
        notes = (
            f"{queue.pending} jobs wait in the queue {queue.name}: this one would be number {queue.pending + 1} there, "
            "or come earlier by its priority.",
        )
    each, nodes = amounts(order)["requests"], order.spec.nodes
    lacks: list[tuple[str, float, float, float]] = []
    for name, text in each.items():
        asked, quota, used = number(text), queue.quota.get(name), queue.used.get(name)
        if asked is not None and quota is not None and used is not None and asked * nodes + used > quota + 1e-9:
            lacks.append((name, asked * nodes, used, quota))
    if not lacks:
        return None, notes
    if queue.borrows:
        name, asked, used, quota = lacks[0]
        more = f"{asked + used - quota:.12g} of {name} are missing in the quota of {queue.lends_from}"
        return None, (*notes, f"{more}: {used:.12g} of {quota:.12g} are used. It may borrow them from its cohort.")
    return _short(queue.lends_from or queue.name, order, lacks), notes


async def notes(api: Api, order: Order) -> tuple[str, ...]:
    """What does not stand in the way by itself: a pull secret that is not there, or is none."""
    name = order.reading.spec.image_pull_secret if order.reading.pull_secret is None else None
    if not name:
        return ()
    try:
        secret = await api.get(paths.secrets(order.namespace, name), _SecretKind)
    except Missing:
        return (f"There is no Secret {name} in {order.namespace}: an image that needs a login cannot be pulled.",)
    except UNKNOWN:
        return ()
    if secret.type in PULL_TYPES:
        return ()
    return (f"The Secret {name} has no login for a registry: its type is {secret.type or 'unknown'}.",)
