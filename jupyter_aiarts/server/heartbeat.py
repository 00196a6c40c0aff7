"""A sign of life for whoever listens to something that may be quiet for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator


async def never_silent(words: AsyncGenerator[bytes, None], sign: bytes, every: float) -> AsyncGenerator[bytes, None]:
    """The words, and the sign wherever none came for `every` seconds: by nothing else is a quiet line told from a dead
    one. Ends with the words, and closes them. Called by the handlers whose answers have no end."""

    async def following() -> bytes | None:
        return await anext(words, None)

    waiting = asyncio.ensure_future(following())
    try:
        while True:
            await asyncio.wait({waiting}, timeout=every)
            if not waiting.done():
                yield sign
            elif (word := waiting.result()) is not None:
                yield word
                waiting = asyncio.ensure_future(following())
            else:
                return
    finally:
        waiting.cancel()
        await asyncio.wait({waiting})
        await words.aclose()
