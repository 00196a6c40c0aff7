"""The end of a test's engine: its jobs deleted and gone, then closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from jupyter_aiarts.engines.base import Engine
from tests.engines.reaching import none_left


async def closed_after(engine: Engine) -> AsyncIterator[Engine]:
    """The engine for a test, and afterwards nothing of what it ran."""
    yield engine
    for record in await engine.snapshot():
        await engine.delete(record.id)
    await asyncio.wait_for(none_left(engine), 60)
    await engine.aclose()
