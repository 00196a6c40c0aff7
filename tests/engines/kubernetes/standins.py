"""What stands between a client and a real API server in tests: a pipe that can be stopped, a proxy that can refuse."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientSession, TCPConnector, web
from yarl import URL

Json = dict[str, Any]
HOP = ("Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade")


def rewritten(kubeconfig: Path, target: Path, cluster: Json, user: Json | None = None) -> Path:
    """A copy of a kubeconfig whose cluster, and perhaps user, have other values."""
    content = json.loads(kubeconfig.read_text())
    content["clusters"][0]["cluster"].update(cluster)
    if user is not None:
        content["users"][0]["user"] = user
    target.write_text(json.dumps(content))
    return target


@contextlib.contextmanager
def full_server() -> Iterator[int]:
    """A port where connecting hangs: nobody accepts, and the line before it is full."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


class Pipe:
    """Carries bytes to and fro; `hold` makes it silent without closing anything, as a broken balancer does."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._ends: set[asyncio.StreamWriter] = set()
        self._carrying: set[asyncio.Task[None]] = set()
        self.port = 0

    def hold(self) -> None:
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    def cut(self) -> None:
        """Close every connection."""
        for writer in self._ends:
            writer.transport.abort()

    async def aclose(self) -> None:
        """End all that is carried; afterwards nothing of it is open."""
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)
        await asyncio.sleep(0)  # a transport that was aborted closes its socket in the next round of the loop

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection has come."""
        task = asyncio.create_task(self.serve(reader, writer))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = {writer}
        try:
            with contextlib.suppress(OSError):  # nobody is there to be carried to
                there, back = await asyncio.open_connection(self._address, 443)
                ends.add(back)
                self._ends |= ends
                await asyncio.gather(self._carry(reader, back), self._carry(there, writer))
        finally:
            self._ends -= ends
            for end in ends:
                end.transport.abort()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                await self._flowing.wait()
                sink.write(data)
                await sink.drain()
            sink.close()


@contextlib.asynccontextmanager
async def pipe_to(address: str) -> AsyncIterator[Pipe]:
    """A pipe to an API server, on a port of the loopback."""
    pipe = Pipe(address)
    server = await asyncio.start_server(pipe.take, "127.0.0.1")
    pipe.port = server.sockets[0].getsockname()[1]
    try:
        yield pipe
    finally:
        server.close()
        await pipe.aclose()


class Gate:
    """An HTTP proxy before an API server: `rule` may answer instead of it. Websockets do not get through."""

    def __init__(self, kubeconfig: Path) -> None:
        found = json.loads(kubeconfig.read_text())["clusters"][0]["cluster"]
        self._server = found["server"]
        self._session: ClientSession | None = None
        self.asked: list[tuple[str, str]] = []  # method and path with its query, as they came
        self.rule: Callable[[web.Request], web.Response | None] = lambda request: None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.method, request.path_qs))
        refused = self.rule(request)
        if refused is not None:
            return refused
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return web.Response(status=400, text="no websockets here")
        return await self._forward(request)

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        assert self._session is not None
        headers = {key: value for key, value in request.headers.items() if key not in HOP}
        url = URL(self._server + request.raw_path, encoded=True)
        body = await request.read()
        async with self._session.request(request.method, url, headers=headers, data=body or None) as answer:
            response = web.StreamResponse(status=answer.status, headers={"Content-Type": answer.content_type})
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            return response

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Gate]:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = urlsplit(site.name).port or runner.addresses[0][1]
        async with ClientSession(connector=TCPConnector(ssl=context)) as self._session:
            try:
                yield self
            finally:
                await runner.cleanup()


def status(code: int, reason: str, message: str = "", **headers: str) -> web.Response:
    """An answer as an API server gives it."""
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message or reason}
    return web.json_response(body, status=code, headers=headers)
