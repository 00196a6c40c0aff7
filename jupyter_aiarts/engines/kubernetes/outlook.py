"""Looking at the whole cluster for somebody who asks: as far as their rights go, and no longer than they look.

What may be seen is asked first, so that a thousand nodes are never listed in vain; what may not be seen is said, with
what to ask the admin for, and never guessed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes import paths
from jupyter_aiarts.engines.kubernetes.glance import HEALTH, NODES, PODS, SYSTEM, Glance
from jupyter_aiarts.engines.kubernetes.looking import Looking
from jupyter_aiarts.engines.kubernetes.nodes import BoundPod, NodeObject
from jupyter_aiarts.engines.kubernetes.nodeuse import NodeUse, joined
from jupyter_aiarts.engines.kubernetes.refusals import Refused
from jupyter_aiarts.engines.kubernetes.room import in_the_way
from jupyter_aiarts.engines.kubernetes.unwell import HealthObject
from jupyter_aiarts.engines.kubernetes.watch import Kind
from jupyter_aiarts.errors import ClusterUnreachable, NotAllowed
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.cluster import ClusterView, Node
from jupyter_aiarts.model.times import now

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.nodeuse import Use
    from jupyter_aiarts.engines.kubernetes.rights import Rights
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.model.spec import JobSpec

PATIENCE = 15.0  # seconds that whoever wants to see the cluster waits for the first lists
HURRY = 1.5  # the same for a dry run, which has other things to say
ALIVE = {"fieldSelector": "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"}
ROLE = "aiarts-viewer"


class Sight(Struct, frozen=True):
    """How far the rights of this user go."""

    nodes: bool
    pods: bool
    health: bool


class Room(Struct, frozen=True, kw_only=True):
    """Whether a job would find room now; None, with a note, where that is not known."""

    now: bool | None
    cause: Cause | None = None
    notes: tuple[str, ...] = ()


class Outlook:
    """Nodes and what is held of them, for as long as somebody looks. One for each engine."""

    def __init__(
        self, api: Api, rights: Rights, settings: ClusterSettings, namespaces: tuple[str, ...], owner: str | None
    ) -> None:
        self._api, self._rights, self._settings = api, rights, settings
        self._namespaces, self._owner = namespaces, owner
        self._sight: Sight | None = None
        self._looking: Looking | None = None
        self._use = NodeUse(api, rights)
        self._joined: tuple[tuple[Node, ...], Mapping[str, Use], tuple[Node, ...]] = ((), {}, ())
        self._kept: ClusterView | None = None  # the last whole view: shown while a new list is being painted over it

    async def view(self, seconds: float = PATIENCE) -> ClusterView:
        """The cluster as it is now; raises `ClusterUnreachable` where nothing was ever seen of it."""
        looking = await self._look(seconds)
        if looking.stale_since is not None:
            return self._last_seen(looking.stale_since)
        unknown, use = await self._unknown(), await self._used()
        if looking.is_listing and looking.is_settled and self._kept is not None:
            return self._kept
        if looking.is_listing or not looking.is_settled:
            return ClusterView(cluster=self._settings.name, at=now(), unknown=(*unknown, Cause(code="still-listing")))
        glance = self._glance(looking)
        self._kept = ClusterView(
            cluster=self._settings.name, at=now(), nodes=self._rows(glance, use), fits=glance.fits(), unknown=unknown
        )
        return self._kept

    def _rows(self, glance: Glance, use: Mapping[str, Use]) -> tuple[Node, ...]:
        """Every node with what it uses; the same tuple as long as nothing changed."""
        rows = glance.rows()
        if self._joined[0] is not rows or self._joined[1] is not use:
            self._joined = (rows, use, joined(rows, use))
        return self._joined[2]

    async def _used(self) -> Mapping[str, Use]:
        """What nodes use, for whoever may see them."""
        return await self._use.now() if self._sight is not None and self._sight.nodes else {}

    def _last_seen(self, since: str) -> ClusterView:
        """While the cluster is away: the last whole view with its age, never one half of which is newer."""
        if self._kept is not None:
            return structs.replace(self._kept, stale_since=min(self._kept.at, since))
        away = Cause(code="cluster-unreachable", values={"since": since})
        return ClusterView(cluster=self._settings.name, at=now(), unknown=(away,), stale_since=since)

    async def room(self, spec: JobSpec, queue: str | None) -> Room:
        """Whether a job would find room now, as far as nodes are concerned."""
        try:
            sight = await self._asked(frozenset())
            if not sight.nodes or not sight.pods:
                return Room(now=None)  # nothing is listed for somebody who could not be told anything
            looking = await self._look(HURRY)
        except (ClusterUnreachable, Refused, NotAllowed):
            return Room(now=None)
        glance = self._glance(looking)
        if looking.stale_since is not None or not glance.sees_nodes or not glance.sees_all:
            return Room(now=None)
        if looking.is_listing or not looking.is_settled:
            return Room(now=None, notes=("The nodes are still being listed: ask again in a moment.",))
        cause = in_the_way(spec, glance.offers(spec.device))
        if cause is None and queue is not None:
            return Room(now=None, notes=(f"There is room for it; the queue {queue} decides when it starts.",))
        return Room(now=cause is None, cause=cause)

    async def aclose(self) -> None:
        """End all watches."""
        await self._use.aclose()
        if self._looking is not None:
            await self._looking.aclose()

    def _glance(self, looking: Looking) -> Glance:
        assert isinstance(looking.picture, Glance)  # `_begin` made it
        return looking.picture

    async def _look(self, seconds: float) -> Looking:
        """Have the cluster watched as far as rights go; where those changed meanwhile, from the beginning."""
        looking = await self._opened(frozenset())
        await looking.look(seconds)
        refused = looking.problems.keys() & {NODES, PODS} if looking.stale_since is None else set()
        if refused:  # what was allowed when it was asked is not any more
            self._rights.forget()
            looking = await self._opened(frozenset(refused))
            await looking.look(seconds)
        return looking

    async def _opened(self, refused: frozenset[str]) -> Looking:
        if self._looking is not None and self._looking.stale_since is not None:
            return self._looking  # away: what was seen is shown with its age
        try:
            sight = await self._asked(refused)
        except (ClusterUnreachable, Refused):
            if self._looking is None:
                raise
            return self._looking
        if self._looking is None or sight != self._sight:
            if self._looking is not None:
                await self._looking.aclose()
            self._sight, self._kept = sight, None
            self._looking = Looking(self._api, self._kinds(sight), ("",), lambda: self._begin(sight), lambda: None)
        return self._looking

    async def _asked(self, refused: frozenset[str]) -> Sight:
        may = self._rights.may
        nodes, pods = await asyncio.gather(may("list", NODES, ""), may("list", PODS, ""))
        return Sight(
            nodes=nodes and NODES not in refused,
            pods=pods and PODS not in refused,
            health=nodes and await may("list", HEALTH, SYSTEM),
        )

    def _begin(self, sight: Sight) -> Glance:
        people = (self._owner,) if self._owner else ()
        return Glance(self._settings.name, self._settings.devices, people, sight.nodes, sight.pods)

    def _kinds(self, sight: Sight) -> tuple[Kind, ...]:
        """What is watched: as much as may be seen."""
        kinds = [Kind(NODES, lambda _: paths.nodes(), NodeObject, {}, True)] if sight.nodes else []
        if sight.pods:
            kinds.append(Kind(PODS, paths.pods, BoundPod, ALIVE, True))
        else:
            kinds += [_own_pods(namespace) for namespace in self._namespaces]
        if sight.health and sight.nodes:
            kinds.append(Kind(HEALTH, lambda _: paths.configmaps(SYSTEM), HealthObject, {}, False))
        return tuple(kinds)

    async def _unknown(self) -> tuple[Cause, ...]:
        """What cannot be seen, and what to ask the admin for."""
        sight = self._sight
        if sight is None or (sight.nodes and sight.pods):
            return ()
        missing = " · ".join(name for name, seen in ((NODES, sight.nodes), (PODS, sight.pods)) if not seen)
        try:
            user = await self._rights.whoami()
        except (ClusterUnreachable, Refused):
            user = self._owner or ""
        values = {"user": user, "cluster": self._settings.name, "missing": missing, "role": ROLE}
        return (Cause(code="cards-not-visible", values=values),)


def _own_pods(namespace: str) -> Kind:
    return Kind(f"{PODS}:{namespace}", lambda _: paths.pods(namespace), BoundPod, ALIVE, True)
