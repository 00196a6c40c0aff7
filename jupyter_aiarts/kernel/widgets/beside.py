"""A question to a server that may be slow, beside the kernel's loop: cells run while it is under way."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Any, Callable, TypeVar

T = TypeVar("T")


async def beside(deed: Callable[[], T]) -> T:
    """What `deed` answers or raises. Its thread ends with it; nobody waits for one who is not wanted any more."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def tell(give: Callable[[Any], None], what: Any) -> None:
        if not answer.done():
            give(what)

    def run() -> None:
        try:
            told = functools.partial(tell, answer.set_result, deed())
        except Exception as error:
            told = functools.partial(tell, answer.set_exception, error)
        try:
            loop.call_soon_threadsafe(told)
        except RuntimeError:
            pass  # the kernel has ended

    threading.Thread(target=run, name="aiarts-panel", daemon=True).start()
    return await answer
