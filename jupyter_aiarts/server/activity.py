"""Keeping a server alive while local jobs run, for cullers that look at its last activity."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, MutableMapping
from datetime import datetime, timezone

# Cullers count in minutes; jupyter_server's own check runs once a minute.
PERIOD_SECONDS = 30.0


class Activity:
    """Renews one entry of jupyter_server's `last_activity_times` while local jobs run.

    Owned by `AiartsApp`. It looks when a job changes and, only while something runs, every `PERIOD_SECONDS`:
    a server without running jobs has no timer of ours.
    """

    def __init__(
        self, times: MutableMapping[str, datetime], running: Callable[[], int], period: float = PERIOD_SECONDS
    ) -> None:
        self._times = times
        self._running = running
        self._period = period
        self._timer: asyncio.TimerHandle | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def is_ticking(self) -> bool:
        """Whether a timer is set, which is to say whether jobs run."""
        return self._timer is not None

    def watch(self, changes: AsyncIterator[object]) -> None:
        """Look at every change from now on; called once, when the service has started."""
        self._watching = asyncio.ensure_future(self._follow(changes))

    def close(self) -> None:
        """Stop looking; what was recorded stays."""
        if self._watching is not None:
            self._watching.cancel()
        self._unset()

    async def _follow(self, changes: AsyncIterator[object]) -> None:
        async for _ in changes:
            self.look()

    def look(self) -> None:
        """Record activity now if jobs run, and come back later; else let the clock run out."""
        self._unset()
        if self._running() > 0:
            self._times["aiarts"] = datetime.now(timezone.utc)
            self._timer = asyncio.get_running_loop().call_later(self._period, self.look)

    def _unset(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
