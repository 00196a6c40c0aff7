"""Installers that run: whoever listens hears their lines, and a server that stops ends them all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from jupyter_aiarts.errors import Unavailable


class Installers:
    """Those of one `KernelBook`. Each has a session of its own, so that nothing but this ends one with the server."""

    def __init__(self) -> None:
        self._running: dict[AsyncGenerator[str, None], asyncio.Future[Any] | None] = {}
        self._is_closed = False

    async def heard(self, lines: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
        """What one says; raises `Unavailable` when the server stops. Whoever listens no more ends it."""
        try:
            while not self._is_closed:
                coming = asyncio.ensure_future(anext(lines))
                self._running[lines] = coming
                try:
                    await asyncio.wait([coming])
                finally:
                    await _ended(coming)
                if coming.cancelled():
                    break
                self._running[lines] = None
                try:
                    yield coming.result()
                except StopAsyncIteration:
                    return
            raise _stopping()
        finally:
            ending = self._running.pop(lines, None)
            if ending is not None:
                await asyncio.wait([ending])
            await lines.aclose()

    async def aclose(self) -> None:
        """End them, each as one that is given up; called by the server when it stops."""
        self._is_closed = True
        await asyncio.gather(*map(self._end, list(self._running)), return_exceptions=True)

    async def _end(self, lines: AsyncGenerator[str, None]) -> None:
        coming = self._running[lines]
        if coming is not None:
            await _ended(coming)
        else:  # whoever listens is busy with the line before
            ending = self._running[lines] = asyncio.ensure_future(lines.aclose())
            await ending


async def _ended(coming: asyncio.Future[Any]) -> None:
    if not coming.done():
        coming.cancel()
        await asyncio.wait([coming])


def _stopping() -> Unavailable:
    error = Unavailable("The server stops, so the installer was ended.", "Start it again when the server is back.")
    return error.in_chinese("服务器正在停止，安装程序已被结束。", "请在服务器恢复后重新开始。")
