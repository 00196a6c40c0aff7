"""Looking at the queues of a cluster: what may be watched is, for as long as somebody looks, and the rest is unknown.

With the role `aiarts-user` alone the queues of one's namespaces are seen and the workloads in them; with
`aiarts-viewer` the quotas behind them too, and everybody who waits. Where Kueue tells the order itself it is asked.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.kubernetes import paths
from jupyter_aiarts.engines.kubernetes.kueue import (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    QUEUED,
    QUOTAS,
    ClusterQueueObject,
    LocalQueueObject,
    PendingList,
    QueuedObject,
    QuotaObject,
)
from jupyter_aiarts.engines.kubernetes.looking import Looking
from jupyter_aiarts.engines.kubernetes.queue_picture import Key, QueuePicture
from jupyter_aiarts.engines.kubernetes.queues import Seen, views
from jupyter_aiarts.engines.kubernetes.refusals import Refused
from jupyter_aiarts.engines.kubernetes.watch import CONVERSION, Kind
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.queue import Ahead, Queue

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.link import Link

MOST_ASKED = 20  # queues whose order Kueue itself is asked for, each with one request
MOST_PENDING = 1000  # of those who wait in one, so many are asked for
HINT = (
    "Ask the admin of the cluster for the role aiarts-user in “{namespace}”, or at least for list and watch on {what}."
)


class QueueLook:
    """The queues that one engine's user may see. `changed` is called when they may be other ones."""

    def __init__(self, link: Link, cluster: str, changed: Callable[[], None]) -> None:
        self._link = link
        self._cluster = cluster
        self._changed = changed
        self._near: Looking | None = None  # in the namespaces of the configuration
        self._far: Looking | None = None  # in the whole cluster, as far as that is allowed
        self._wide = False  # whether everybody who waits is seen
        self._visibility: str | None = None  # the version of Kueue's own list of those who wait
        self._opening = asyncio.Lock()

    async def queues(self) -> tuple[Queue, ...]:
        """Every queue as it is now."""
        async with self._opening:
            if not any(look is not None and look.is_watched for look in (self._near, self._far)):
                await self._open()
        await asyncio.gather(*(look.look() for look in (self._near, self._far) if look is not None))
        seen = self._seen()
        seen.asked = await self._asked(seen)
        return views(seen)

    async def aclose(self) -> None:
        """End all watches."""
        for look in (self._near, self._far):
            if look is not None:
                await look.aclose()

    async def _open(self) -> None:
        """Find out what there is and what may be read, anew whenever somebody looks after a while."""
        await self.aclose()
        api = self._link.api
        served, visible = await asyncio.gather(api.served(paths.KUEUE), api.served(paths.VISIBILITY))
        version = paths.NEWER_KUEUE if paths.NEWER_KUEUE in served else served[0] if served else None
        self._visibility = next((one for one in (paths.NEWER_KUEUE, *visible) if one in visible), None)
        may = [await self._may(kind) for kind in (CLUSTER_QUEUES, LOCAL_QUEUES, QUEUED)] if version else [False]
        self._wide = all(may)
        near = [Kind(QUOTAS, paths.resourcequotas, QuotaObject, {}, False)]
        far: list[Kind] = []
        if version is not None:
            shared = [
                Kind(LOCAL_QUEUES, functools.partial(paths.localqueues, version=version), LocalQueueObject, {}, False),
                Kind(QUEUED, functools.partial(paths.workloads, version=version), QueuedObject, {}, False),
            ]
            (far if self._wide else near).extend(shared)
            if may[0]:
                far.append(Kind(CLUSTER_QUEUES, lambda _: paths.clusterqueues(version), ClusterQueueObject, {}, False))
        self._near = Looking(api, tuple(near), self._link.namespaces, QueuePicture, self._changed)
        self._far = Looking(api, tuple(far), ("",), QueuePicture, self._changed) if far else None

    async def _may(self, what: str) -> bool:
        return await self._link.rights.may("list", what, "", group=paths.KUEUE)

    def _seen(self) -> Seen:
        """Everything that was seen, and whose jobs these are."""
        found = [look.picture for look in (self._near, self._far) if look is not None]
        pictures = [one for one in found if isinstance(one, QueuePicture)]
        cluster_wide = self._far is not None and CLUSTER_QUEUES not in self._far.problems
        shared = {key[1]: one for picture in pictures for key, one in picture.cluster.items()}
        waiting = [record for record in self._link.records() if record.phase is Phase.QUEUED]
        local = {key: one for picture in pictures for key, one in picture.local.items()}
        return Seen(
            cluster=self._cluster,
            namespaces=self._link.namespaces,
            local=local,
            shared=shared if cluster_wide else None,
            quotas={key: one for picture in pictures for key, one in picture.quotas.items()},
            lined={key: one for picture in pictures for key, one in picture.lined.items()},
            mine={record.id for record in waiting if self._link.owner in (None, record.owner)},
            known={record.id: Ahead(job=record.id, name=record.name, owner=record.owner) for record in waiting},
            whole=self._wide,
            denied=dict(self._denied(local)),
            stale=self._stale(),
        )

    def _denied(self, local: Collection[Key]) -> Iterable[tuple[str, Cause]]:
        """Namespaces of which no queue can be shown: not allowed, or Kueue, which converts them, was never heard of."""
        problems = self._near.problems if self._near is not None else {}
        wide = self._far.problems if self._far is not None else {}
        for space in self._link.namespaces:
            said = problems.get(f"{LOCAL_QUEUES} in {space}") or wide.get(LOCAL_QUEUES)
            if said is None:
                continue
            if CONVERSION not in said:
                hint = HINT.format(namespace=space, what=f"{LOCAL_QUEUES}.{paths.KUEUE}")
                yield space, Cause(code="not-allowed", values={"message": said, "hint": hint})
            elif not any(key[0] == space for key in local):
                yield space, Cause(code="kueue-away", evidence=(said,))

    def _stale(self) -> Cause | None:
        """Why what is shown of queues may be old: Kueue, which converts its objects, or the cluster is away."""
        looks = [look for look in (self._near, self._far) if look is not None]
        since = min((look.stale_since for look in looks if look.stale_since), default=None)
        if since is not None:
            return Cause(code="cluster-unreachable", values={"since": since})
        said = [text for look in looks for text in look.problems.values() if CONVERSION in text]
        return Cause(code="kueue-away", evidence=(said[0],)) if said else None

    async def _asked(self, seen: Seen) -> dict[Key, PendingList]:
        """Kueue's own order of the queues in which one's jobs wait, where it tells it."""
        if self._visibility is None:
            return {}
        mine = {line.queue for line in seen.lined.values() if line is not None and line.one.key in seen.mine}
        keys = [key for key in sorted(mine) if key in seen.local][:MOST_ASKED]
        found = await asyncio.gather(*map(self._ask, keys))
        return {key: one for key, one in zip(keys, found, strict=True) if one is not None}

    async def _ask(self, key: Key) -> PendingList | None:
        path = paths.pending_workloads(*key, self._visibility or "")
        try:
            return await self._link.api.get(path, PendingList, limit=MOST_PENDING)
        except (Refused, ClusterUnreachable):
            return None  # not allowed, or away: the workloads say it, less exactly
