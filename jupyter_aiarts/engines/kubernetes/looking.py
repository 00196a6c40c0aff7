"""Kinds that are watched only while somebody looks: nodes, everybody's pods, queues.

The first look lists them and opens their watches; a while after the last one the watches end and what was seen is
forgotten. So a cluster of a thousand nodes costs a server nothing whose users never ask for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.watch import Kind, Painted, Stream
from jupyter_aiarts.waiting import within

LINGER = 60.0  # seconds that watches stay open after the last look
PATIENCE = 15.0  # seconds that a look waits for the first lists


class Looking:
    """List and watch some kinds for as long as somebody looks; `namespaces` are ("",) for all of them at once.

    `begin` makes the picture that a look paints from nothing; `changed` is called when it may have changed, once for
    all that happens at one moment.
    """

    def __init__(
        self,
        api: Api,
        kinds: tuple[Kind, ...],
        namespaces: tuple[str, ...],
        begin: Callable[[], Painted],
        changed: Callable[[], None],
        linger: float = LINGER,
    ) -> None:
        self.api = api
        self.picture = begin()
        self._begin = begin
        self._kinds, self._namespaces = kinds, namespaces
        self._changed = changed
        self._linger = linger
        self._streams: list[Stream] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._settled = asyncio.Event()
        self._again = asyncio.Event()
        self._flush: asyncio.Handle | None = None
        self._end: asyncio.TimerHandle | None = None

    async def look(self, seconds: float = PATIENCE) -> bool:
        """Have the picture watched from now on for a while; whether everything was listed once, or cannot be."""
        loop = asyncio.get_running_loop()
        if not self._tasks:
            self.picture = self._begin()
            self._settled.clear()
            self._streams = [Stream(self, kind, space) for space in self._namespaces for kind in self._kinds]
            self._tasks = [asyncio.create_task(stream.run()) for stream in self._streams]
            self._tasks.append(asyncio.create_task(self._first_look()))
        if self._end is not None:
            self._end.cancel()
        self._end = loop.call_later(self._linger, self._stop)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._settled.wait(), seconds)
        return self._settled.is_set()

    @property
    def is_watched(self) -> bool:
        """Whether somebody looked a short while ago."""
        return bool(self._tasks)

    @property
    def is_settled(self) -> bool:
        return self._settled.is_set()

    @property
    def is_listing(self) -> bool:
        """Whether a list is being painted: until its end, what is seen belongs to two moments."""
        return any(stream.is_listing for stream in self._streams)

    @property
    def stale_since(self) -> str | None:
        """Since when what is shown may be old; None while it is not."""
        return min((one.stale_since for one in self._streams if one.stale_since is not None), default=None)

    @property
    def problems(self) -> dict[str, str]:
        """Why something is not seen, by kind and namespace (`nodes`, `pods in team-a`), as the cluster puts it."""
        return {stream.title: stream.problem for stream in self._streams if stream.problem is not None}

    async def aclose(self) -> None:
        """End all watches."""
        tasks = list(self._tasks)
        self._stop()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _stop(self) -> None:
        for handle in (self._flush, self._end):
            if handle is not None:
                handle.cancel()
        for task in self._tasks:
            task.cancel()
        self._tasks, self._streams, self._flush, self._end = [], [], None, None
        self._settled.clear()
        self.picture = self._begin()

    # -- what streams ask for ------------------------------------------------------------------------------------

    def touch(self) -> None:
        """Tell of changes, once for all that happens at this moment."""
        if self._flush is None and self._settled.is_set():
            self._flush = asyncio.get_running_loop().call_soon(self._tell)

    def nudge(self) -> None:
        """Try again now what waits to be tried."""
        self._again.set()
        self._again.clear()

    async def make_records(self) -> None:
        """Nothing: these pictures are made when they are asked for."""

    async def rest(self, seconds: float) -> None:
        """Wait before trying again, unless there is a reason to do it now."""
        with contextlib.suppress(asyncio.TimeoutError):
            await within(seconds, self._again.wait())

    async def _first_look(self) -> None:
        for stream in self._streams:
            await stream.looked.wait()
        self._settled.set()
        self._changed()

    def _tell(self) -> None:
        self._flush = None
        self._changed()
