"""Routes for environments as kernels: list, register, unregister, repair, doctor."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_aiarts.errors import AiartsError, BadRequest
from jupyter_aiarts.server.base import AiartsHandler

if TYPE_CHECKING:
    from jupyter_aiarts.model.environment import KernelRequest, KernelSize


SIGN_OF_LIFE = 15.0  # seconds; proxies and clients give up a stream that is silent for a minute


async def with_signs_of_life(lines: AsyncGenerator[str, None]) -> AsyncGenerator[str | None, None]:
    """Lines as they come, and None while none does: every client of ours passes over an empty line."""
    coming: asyncio.Future[str] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(lines))
            await asyncio.wait([coming], timeout=SIGN_OF_LIFE)
            if not coming.done():
                yield None
                continue
            try:
                line = coming.result()
            except StopAsyncIteration:
                return
            coming = None
            yield line
    finally:
        if coming is not None and not coming.done():  # given up: what is being done is ended, and that waited for
            coming.cancel()
            await asyncio.wait([coming])


class _KernelsHandler(AiartsHandler):
    def asked(self) -> KernelRequest:
        """What the body asks for; the environment is looked up among those that are there before anything is done."""
        from jupyter_aiarts.model.environment import KernelRequest

        request = self.json_as(KernelRequest)
        self.subject = request.which[:200]
        if "/" in request.which and not request.which.startswith(("/", "~")):
            raise BadRequest(f"{self.subject!r} is not a whole path.", "Give the whole path of the folder.").in_chinese(
                f"{self.subject!r} 不是完整路径。", "请给出该文件夹的完整路径。"
            )
        return request


class KernelsHandler(_KernelsHandler):
    """`kernels`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Every environment of this machine, the kernel that stands for it, and what is wrong with it; for a while
        the stream tells when they change."""
        await self.app.kernel_watch.look()
        self.answer(await self.app.kernels.all(self.language))


class KernelActHandler(_KernelsHandler):
    """`kernels/{act}`"""

    _measuring: asyncio.Future[KernelSize] | None = None

    @web.authenticated
    @authorized
    async def post(self, act: str) -> None:
        """Register or unregister a kernel, look at it closely, or say how large its environment is."""
        self.deed = f"{act}-kernel"
        request, book = self.asked(), self.app.kernels
        if act == "register":
            self.answer(await book.register(request.which, request.scope, self.language))
            self.app.note_kernels()
        elif act == "unregister":
            self.answer(await book.unregister(request.which))
            self.app.note_kernels()
        elif act == "size":
            await self._measure(request.which)
        else:
            self.answer(await book.doctor(request.which, self.language))

    async def _measure(self, which: str) -> None:
        """Looking at every file may take a minute; whoever goes away ends it."""
        self._measuring = asyncio.ensure_future(self.app.kernels.size(which))
        try:
            self.answer(await self._measuring)
        except asyncio.CancelledError:
            if not self._measuring.cancelled():
                raise

    def on_connection_close(self) -> None:
        """Called by tornado when nobody waits for the answer any more."""
        if self._measuring is not None:
            self._measuring.cancel()
        super().on_connection_close()


class KernelRepairHandler(_KernelsHandler):
    """`kernels/repair`"""

    _telling: asyncio.Future[None] | None = None

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Do what can be done about a kernel, told line by line as NDJSON; whoever goes away ends it."""
        self.deed = "repair-kernel"
        self._telling = asyncio.ensure_future(self._tell(self.asked().which))
        try:
            await self._telling
        except asyncio.CancelledError:
            if not self._telling.cancelled():
                raise

    async def _tell(self, which: str) -> None:
        self.set_header("Content-Type", "application/x-ndjson")
        begun = False
        try:
            said = self.app.kernels.repair(which, self.language)
            async with aclosing(said), aclosing(with_signs_of_life(said)) as told:
                async for line in told:
                    begun = True
                    self.write("\n" if line is None else json.dumps({"line": line}) + "\n")
                    await self.flush()
        except StreamClosedError:
            return  # nobody reads any more
        except AiartsError as error:
            if not begun:
                raise
            self.write(json.dumps({"error": error.as_dict(self.language)}) + "\n")
        self.app.note_kernels()
        self.finish()

    def on_connection_close(self) -> None:
        """Called by tornado when nobody reads any more; an installer may be silent for long, so it is ended here."""
        if self._telling is not None:
            self._telling.cancel()
        super().on_connection_close()
