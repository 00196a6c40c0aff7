"""Waiting for an event, but not for ever."""

from __future__ import annotations

import asyncio


async def came(event: asyncio.Event, seconds: float | None) -> bool:
    """Whether the event comes within this time; None waits as long as it takes. Called by engines that watch.

    Not `asyncio.wait_for`: before Python 3.12 that may swallow a cancellation that comes together with the event, and
    whoever cancelled a watch would wait for its end for ever.
    """
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({waiting}, timeout=seconds)
    finally:
        waiting.cancel()
    return event.is_set()
