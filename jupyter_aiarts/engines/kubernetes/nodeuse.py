"""What nodes really use of their CPUs and memory, as the cluster's metrics server tells it.

What pods ask for is not what they use: a node may be taken and asleep. It is asked only while somebody looks at the
cluster, for such metrics cannot be watched; the view does not wait long for it, and where nobody serves them, or they
may not be read, what nodes use is unknown.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field, structs

from jupyter_aiarts.engines.kubernetes import paths
from jupyter_aiarts.engines.kubernetes.meta import Meta
from jupyter_aiarts.engines.kubernetes.refusals import Refused
from jupyter_aiarts.engines.kubernetes.site import GB
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.model.cluster import Node
from jupyter_aiarts.model.quantity import parse_quantity

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.rights import Rights

EVERY = 15.0  # seconds between two questions: as often as a metrics server looks itself
OLD = 60.0  # seconds after which an answer is not shown any more
PATIENCE = 1.0  # seconds that a view waits where there is no answer yet


class Use(Struct, frozen=True):
    """CPUs and GB in use; None where the metrics server says something else than an amount."""

    cpu: float | None
    memory_gb: float | None


class _Amounts(Struct):
    cpu: str = ""
    memory: str = ""


class NodeMetrics(Struct):
    """One node as `metrics.k8s.io` tells of it."""

    metadata: Meta = field(default_factory=Meta)
    usage: _Amounts = field(default_factory=_Amounts)


class _Told(Struct):
    items: tuple[NodeMetrics, ...] = ()


class NodeUse:
    """The newest answer of one cluster's metrics server."""

    def __init__(self, api: Api, rights: Rights) -> None:
        self._api, self._rights = api, rights
        self._last: Mapping[str, Use] = {}
        self._at = float("-inf")  # when it was answered, on the monotonic clock
        self._asking: asyncio.Task[None] | None = None

    async def now(self) -> Mapping[str, Use]:
        """By node; the same mapping until there is another answer. Nothing where it is unknown."""
        if self._asking is None and self._age > EVERY:
            self._asking = asyncio.create_task(self._ask())
        if self._asking is not None and self._age > OLD:
            await asyncio.wait({self._asking}, timeout=PATIENCE)
        return self._last if self._age <= OLD else {}

    async def aclose(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    @property
    def _age(self) -> float:
        return time.monotonic() - self._at

    async def _ask(self) -> None:
        found: Mapping[str, Use] = {}
        try:
            with contextlib.suppress(Refused, ClusterUnreachable):  # not served, not allowed, away: unknown
                if await self._may():
                    found = used((await self._api.get(paths.node_metrics(), _Told)).items)
        finally:
            self._last, self._at, self._asking = found, time.monotonic(), None

    async def _may(self) -> bool:
        """Asked first, as always, so that no refusal of ours is in anybody's audit log."""
        served = await self._api.served(paths.METRICS)
        return paths.METRICS_VERSION in served and await self._rights.may("list", "nodes", "", group=paths.METRICS)


def used(items: Iterable[NodeMetrics]) -> dict[str, Use]:
    """What was told of each node."""
    found = {}
    for one in items:
        cpu, memory = _amount(one.usage.cpu), _amount(one.usage.memory)
        memory_gb = None if memory is None else round(memory / GB, 1)
        found[one.metadata.name] = Use(None if cpu is None else round(cpu, 2), memory_gb)
    return found


def joined(rows: tuple[Node, ...], use: Mapping[str, Use]) -> tuple[Node, ...]:
    """The nodes with what they use, where that is known."""
    if not use:
        return rows
    unknown = Use(None, None)
    told = ((row, use.get(row.name, unknown)) for row in rows)
    return tuple(structs.replace(row, used_cpu=one.cpu, used_memory_gb=one.memory_gb) for row, one in told)


def _amount(text: str) -> float | None:
    try:
        amount = float(parse_quantity(text))
    except (ValueError, OverflowError):
        return None
    return amount if 0 <= amount < float("inf") else None
