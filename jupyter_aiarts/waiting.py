"""Waiting for something, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def within(seconds: float, awaited: Coroutine[Any, Any, T]) -> T:
    """The result, or `asyncio.TimeoutError`.

    Unlike `wait_for` of Python 3.10 and 3.11 it never swallows a cancellation: a loop that waits for news by that one
    and is ended just when they come goes on, and whoever waits for its end waits for ever.
    """
    task = asyncio.ensure_future(awaited)
    try:
        done, _ = await asyncio.wait([task], timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if done:
        return task.result()
    task.cancel()
    await asyncio.wait([task])
    raise asyncio.TimeoutError
