"""Waiting until something is so, by an engine's own news."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from jupyter_aiarts.engines.base import Engine, JobRecord

T = TypeVar("T")


async def reached(engine: Engine, look: Callable[[], Awaitable[T]], is_so: Callable[[T], bool]) -> T:
    """What `look` finds as soon as `is_so`.

    Listening begins before the first look: a change between the two would be the last one, and waited for in vain.
    """
    async with contextlib.aclosing(engine.watch()) as news:
        coming = asyncio.ensure_future(anext(news, None))
        await asyncio.sleep(0)  # from here on it listens
        try:
            while not is_so(found := await look()):
                assert await coming is not None, f"the engine closed: {found}"
                coming = asyncio.ensure_future(anext(news, None))
            return found
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


async def job_reached(engine: Engine, job_id: str, is_so: Callable[[JobRecord], bool], seconds: float) -> JobRecord:
    """The job, as soon as this is so of it; after so many seconds it is said how it stands."""
    seen: list[JobRecord] = []

    async def look() -> JobRecord:
        seen[:] = [await engine.get(job_id)]
        return seen[0]

    try:
        return await asyncio.wait_for(reached(engine, look, is_so), seconds)
    except asyncio.TimeoutError:
        raise AssertionError(f"after {seconds} s: {seen}") from None


async def none_left(engine: Engine, job_id: str | None = None) -> None:
    """Until this job is listed no more, or none at all."""
    await reached(engine, engine.snapshot, lambda jobs: not [one for one in jobs if job_id in (None, one.id)])
