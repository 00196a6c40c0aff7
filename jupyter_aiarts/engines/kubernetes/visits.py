"""Logs of somebody else's jobs: fetched for as long as they are looked at, where one's own are kept all the time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.archive import Archive
    from jupyter_aiarts.engines.kubernetes.door import PodFacts

LOOKING = 60.0  # seconds for which somebody else's log is fetched after a look at it
FIRST_LINES = 3.0  # seconds that a look waits for the first of them


class Visits:
    """One engine's. `do` lets something go on beside for as long as the engine is open."""

    def __init__(
        self,
        archive: Archive,
        pods_of: Callable[[str, int], list[PodFacts]],
        do: Callable[[Awaitable[None]], None],
    ) -> None:
        self._archive, self._pods_of, self._do = archive, pods_of, do
        self._ends: dict[tuple[str, int], asyncio.TimerHandle] = {}

    async def pay(self, job_id: str, run: int) -> None:
        """Have what this run printed until now, and for a while what it prints; a later look prolongs it."""
        known = self._ends.pop((job_id, run), None)
        over = asyncio.Event()
        self._ends[job_id, run] = asyncio.get_running_loop().call_later(LOOKING, over.set)
        if known is not None:
            known.cancel()
        self._do(self._mirror(job_id, run, over))
        await self._archive.fetch_once(lambda: self._pods_of(job_id, run), FIRST_LINES)

    def end(self) -> None:
        """Nobody looks any more."""
        for timer in self._ends.values():
            timer.cancel()

    async def _mirror(self, job_id: str, run: int, over: asyncio.Event) -> None:
        async with self._archive.lease(lambda: self._pods_of(job_id, run)):
            await over.wait()
