"""One list and one watch per kind and namespace, for ever: how the picture of a cluster stays true.

Nothing is polled: while nothing changes there are open watches and nothing else. A watch that ends is opened again
where it stood; one that the cluster has forgotten (410) begins with a new list; one that fails is tried again without
end, ever more slowly up to a cap, and `stale_since` says since when the picture may be old.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import time
from collections.abc import Callable, Collection
from datetime import datetime, timedelta, timezone
from typing import Any, Protocol

from msgspec import Struct, structs

from jupyter_aiarts.engines.base import Change
from jupyter_aiarts.engines.kubernetes import names, paths
from jupyter_aiarts.engines.kubernetes.causes import PULLING
from jupyter_aiarts.engines.kubernetes.client import Api, Delta
from jupyter_aiarts.engines.kubernetes.objects import (
    EVENTS,
    JOBS,
    PODS,
    PULLS,
    WORKLOADS,
    EventObject,
    JobObject,
    PodObject,
    WorkloadObject,
)
from jupyter_aiarts.engines.kubernetes.picture import Picture
from jupyter_aiarts.engines.kubernetes.refusals import Expired, Forbidden, Missing, Refused, Silent, Unwell
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.model.times import text_of
from jupyter_aiarts.waiting import within

FIRST, CAP = 0.25, 10.0  # seconds before trying again: 0.25, 0.5, 1 … 10, each shortened at random by up to a half
DENIED_CAP = 60.0  # the same where rights are missing
ABSENT = 1800.0  # seconds before asking again for what one can do without: Kueue that is not there, events not allowed
SHORT = 1.0  # a watch that lived less than this counts as failed, or a server that ends each at once is asked for ever
SILENCE = timedelta(seconds=37.5)  # what a dead connection had been silent for when it was noticed
SLICE = 0.005  # seconds of the event loop for making records after a list
CONVERSION = "conversion webhook"  # what an API server says where whoever converts a kind does not answer
BREATH = 100  # objects of a list that are taken without letting others do something


class Kind(Struct, frozen=True):
    """A kind of object that is watched."""

    name: str
    path: Callable[[str], str]
    item: type[Any]
    params: dict[str, str]
    needed: bool  # whether the picture is old without it


KINDS = (
    Kind(JOBS, paths.jobs, JobObject, {"labelSelector": names.JOB}, True),
    Kind(PODS, paths.pods, PodObject, {"labelSelector": names.JOB}, True),
    Kind(WORKLOADS, paths.workloads, WorkloadObject, {}, False),
    Kind(EVENTS, paths.events, EventObject, {"fieldSelector": "type=Warning"}, False),
    Kind(PULLS, paths.events, EventObject, {"fieldSelector": f"reason={PULLING}"}, False),
)


def kinds_of(kueue: str) -> tuple[Kind, ...]:
    """What is watched for jobs, with Kueue's objects in this version."""
    path = functools.partial(paths.workloads, version=kueue)
    return tuple(structs.replace(kind, path=path) if kind.name == WORKLOADS else kind for kind in KINDS)


class Painted(Protocol):
    """What streams paint: it is told of every object as it is now, and after a list what is all there is.

    Names are `namespace/name` where all namespaces are watched at once.
    """

    def apply(self, kind: str, type: str, found: Any) -> None: ...

    def keep_only(self, kind: str, namespace: str, names: Collection[str]) -> None: ...


class Painter(Protocol):
    """Whom a stream works for."""

    api: Api

    @property
    def picture(self) -> Painted: ...

    @property
    def is_settled(self) -> bool: ...

    def touch(self) -> None: ...

    def nudge(self) -> None: ...

    async def make_records(self) -> None: ...

    async def rest(self, seconds: float) -> None: ...


class Watcher:
    """Keeps a picture true. Made by the engine when somebody first looks at its jobs."""

    def __init__(
        self, api: Api, picture: Picture, namespaces: tuple[str, ...], changed: Callable[[Change], None]
    ) -> None:
        self.api = api
        self.picture = picture
        self._namespaces = namespaces
        self._changed = changed
        self._streams: list[Stream] = []
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._told: str | None = None  # the `stale_since` that was last told
        self._flush: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.again = asyncio.Event()  # set for a moment: whoever waits to try again tries now

    def start(self) -> None:
        """Begin; returns at once."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
            self._task.add_done_callback(self._ended)

    async def aclose(self) -> None:
        """End all watches."""
        for handle in (self._flush, self._timer):
            if handle is not None:
                handle.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def is_settled(self) -> bool:
        """Whether everything was listed once, or cannot be; before that the picture is half painted."""
        return self._settled.is_set()

    async def settled(self, seconds: float | None = None) -> bool:
        """Wait until everything was listed once or cannot be, for so long at most; whether it is so."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._settled.wait(), seconds)
        return self._settled.is_set()

    @property
    def stale_since(self) -> str | None:
        """Since when the picture may be old; None while it is true."""
        stale = [stream.stale_since for stream in self._streams if stream.stale_since is not None]
        return min(stale, default=None)

    @property
    def problems(self) -> dict[str, str]:
        """Why something is not seen, by kind and namespace (`pods in team-a`), as the cluster puts it."""
        return {stream.title: stream.problem for stream in self._streams if stream.problem is not None}

    def nudge(self) -> None:
        """Try again now what waits to be tried: somebody looks, or the cluster was heard of."""
        self.again.set()
        self.again.clear()

    def touch(self) -> None:
        """The picture may have changed: tell so, once for all that happens at this moment."""
        if self._flush is None and self._settled.is_set():
            self._flush = asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._flush = None
        news, stale = self.picture.drain(), self.stale_since
        if news.jobs or news.removed or stale != self._told:
            self._changed(structs.replace(news, health=stale != self._told))
        self._told = stale
        self._set_timer()

    def _set_timer(self) -> None:
        """Look again when time alone may change something."""
        if self._timer is not None:
            self._timer.cancel()
        seconds = self.picture.next_look()
        loop = asyncio.get_running_loop()
        self._timer = None if seconds is None else loop.call_later(seconds + 0.05, self._tick)

    def _tick(self) -> None:
        self.picture.tick()
        self._tell()

    async def _run(self) -> None:
        delays = Delays(CAP)
        while True:  # until there are credentials, nothing is known: not even the namespace
            try:
                await self.api.ready()
                break
            except ClusterUnreachable as error:
                self._settled.set()
                self._streams = self._streams or [Stream(self, KINDS[0], "")]
                self._streams[0].note(error)
                await self.rest(delays.next())
        spaces = self._namespaces or (self.api.namespace,)
        self._streams = [Stream(self, kind, namespace) for namespace in spaces for kind in kinds_of(self.api.kueue)]
        self._settled.clear()
        tasks = [asyncio.create_task(stream.run()) for stream in self._streams]
        tasks.append(asyncio.create_task(self._first_look()))
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Only a fault of ours ends it by itself; then the picture is old, and that is said."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            for stream in self._streams:
                stream.note(error)
            self._settled.set()
            told = {"message": f"The watch of the cluster {self.api.name} ended.", "exception": error}
            asyncio.get_running_loop().call_exception_handler(told)

    async def _first_look(self) -> None:
        for stream in self._streams:
            await stream.looked.wait()
        await self.make_records()
        self._settled.set()
        self.touch()

    async def make_records(self) -> None:
        """Make the records after a list without holding up the event loop."""
        done = False
        while not done:
            done = self.picture.settle(SLICE)
            await asyncio.sleep(0)

    async def rest(self, seconds: float) -> None:
        """Wait before trying again, unless there is a reason to do it now."""
        with contextlib.suppress(asyncio.TimeoutError):
            await within(seconds, self.again.wait())


class Stream:
    """One kind in one namespace."""

    def __init__(self, watcher: Painter, kind: Kind, namespace: str) -> None:
        self._watcher = watcher
        self._kind = kind
        self._namespace = namespace
        self._version: str | None = None  # where the watch goes on; None when a list is needed
        self.looked = asyncio.Event()  # listed once, or tried in vain
        self.is_listing = False  # what is seen is partly of before and partly of now
        self.stale_since: str | None = None
        self.problem: str | None = None

    @property
    def title(self) -> str:
        name = EVENTS if self._kind.name == PULLS else self._kind.name  # which is what a role has to name
        return f"{name} in {self._namespace}" if self._namespace else name

    async def run(self) -> None:
        """List and watch until cancelled."""
        delays, denied = Delays(CAP), Delays(DENIED_CAP)
        while True:
            began = time.monotonic()
            try:
                await self._once()
                if time.monotonic() - began > SHORT:
                    delays, denied = Delays(CAP), Delays(DENIED_CAP)
                    continue
                seconds = delays.next()
            except Expired:
                self._version = None
                seconds = 0.0 if time.monotonic() - began > SHORT else delays.next()
            except (Forbidden, Missing) as error:
                seconds = self._without(error, denied)
            except (Refused, ClusterUnreachable) as error:
                self._failed(error)
                seconds = delays.next()
            self.looked.set()
            await self._watcher.rest(seconds)

    async def _once(self) -> None:
        if self._version is None:
            self.is_listing = True
            try:
                self._version = await self._list()
            finally:
                self.is_listing = False
        path = self._kind.path(self._namespace)
        deltas = self._watcher.api.watch(path, self._kind.item, self._version, **self._kind.params)
        async with contextlib.aclosing(deltas):
            async for delta in deltas:
                self._take(delta)

    def _take(self, delta: Delta[Any]) -> None:
        self._version = delta.version or self._version
        if delta.object is not None:
            self._watcher.picture.apply(self._kind.name, delta.kind, delta.object)
            self._watcher.touch()
        elif delta.kind == "OPENED":
            self._fresh()

    async def _list(self) -> str:
        """Everything there is; what the picture has beyond it is gone."""
        picture, version, there = self._watcher.picture, "", set()
        first, path = not self.looked.is_set(), self._kind.path(self._namespace)
        pages = self._watcher.api.pages(path, self._kind.item, from_memory=first, **self._kind.params)
        async for page in pages:
            version = page.version
            for number, found in enumerate(page.items):
                meta = found.metadata
                there.add(meta.name if self._namespace else f"{meta.namespace}/{meta.name}")
                picture.apply(self._kind.name, "ADDED", found)
                if number % BREATH == 0:
                    await asyncio.sleep(0)
        picture.keep_only(self._kind.name, self._namespace, there)
        if self._watcher.is_settled:
            await self._watcher.make_records()
            self._watcher.touch()
        return version

    def _fresh(self) -> None:
        """The picture is true again; the others need not wait to find out."""
        was_stale = self.stale_since is not None
        self.stale_since = self.problem = None
        self.looked.set()
        if was_stale:
            self._watcher.nudge()
            self._watcher.touch()

    def _without(self, error: Forbidden | Missing, denied: Delays) -> float:
        """Go on without this kind where that is possible; seconds until it is tried again."""
        if error.http == 401 or (self._kind.name == JOBS and isinstance(error, Forbidden)):
            self.note(error)
            return denied.next()
        self.problem, self.stale_since = str(error), None
        return denied.next() if self._kind.needed else ABSENT * random.uniform(0.5, 1.0)

    def _failed(self, error: Refused | ClusterUnreachable) -> None:
        """Kueue converts its own objects: while it is away they cannot be listed, and nothing else is old by that."""
        if isinstance(error, Unwell) and CONVERSION in str(error) and not self._kind.needed:
            self.problem = str(error)
        else:
            self.note(error)

    def note(self, error: BaseException) -> None:
        """This failed, and from now on, if not before, the picture is old."""
        self.problem = str(error)
        if self.stale_since is None:
            since = datetime.now(timezone.utc) - (SILENCE if isinstance(error, Silent) else timedelta())
            self.stale_since = text_of(since)
            self._watcher.touch()


class Delays:
    """How long to wait before the next try: ever longer up to a cap, and never the same for everybody."""

    def __init__(self, cap: float) -> None:
        self._cap = cap
        self._tries = 0

    def next(self) -> float:
        """Seconds."""
        seconds = min(self._cap, FIRST * 2.0 ** min(self._tries, 20))
        self._tries += 1
        return seconds * random.uniform(0.5, 1.0)
