"""Threads that look at environments: a disk that does not answer holds up these, and nothing else of the server's."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import ParamSpec, TypeVar

from jupyter_aiarts.errors import Unavailable

PATIENCE = 20.0  # seconds that a look may take before nobody waits for it, or for what would wait for it
_THREADS = 8  # a doctor or a count of files may take one for a minute

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class Threads:
    """One per `KernelBook`. A thread that waits for a dead disk cannot be ended, so no more are lent to that disk."""

    def __init__(self) -> None:
        self._looks: dict[object, float] = {}

    async def do(self, act: Callable[Given, Answer], *given: Given.args, **more: Given.kwargs) -> Answer:
        """Do this in a thread; raises `Unavailable` where a look before it does not end."""
        return await self._begun(partial(act, *given, **more))

    async def soon(self, act: Callable[Given, Answer], *given: Given.args, **more: Given.kwargs) -> Answer:
        """The same for what changes nothing, so that whoever asks need not wait for its end."""
        try:
            return await asyncio.wait_for(self._begun(partial(act, *given, **more)), PATIENCE)
        except asyncio.TimeoutError:
            raise _unanswered() from None

    def _begun(self, act: Callable[[], Answer]) -> asyncio.Future[Answer]:
        if any(time.monotonic() - begun > PATIENCE for begun in list(self._looks.values())):
            raise _unanswered()
        return asyncio.get_running_loop().run_in_executor(self._pool, act)

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """Around what looks at everybody's disks, in its thread."""
        look = object()
        self._looks[look] = time.monotonic()
        try:
            yield
        finally:
            del self._looks[look]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_THREADS, "aiarts-kernels")


def _unanswered() -> Unavailable:
    error = Unavailable(
        f"Looking for environments has not ended for {PATIENCE:g} s: a disk does not answer.",
        "Try again later; or have the one that is away taken out of ~/.conda/environments.txt.",
    )
    return error.in_chinese(
        f"查找环境已超过 {PATIENCE:g} 秒仍未结束：某个磁盘没有响应。",
        "请稍后重试；或从 ~/.conda/environments.txt 中移除不可用的目录。",
    )
