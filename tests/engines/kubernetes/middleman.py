"""A plain-HTTP stand between an engine and the real API server: it sees every request, and a test may cut in."""

from __future__ import annotations

import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import yaml
from aiohttp import web

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

Cut = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
_SKIPPED = ("host", "content-length", "connection", "upgrade", "accept-encoding", "transfer-encoding")


def is_change(method: str, path: str) -> bool:
    """Whether a request really changes something: no dry run, no question about rights."""
    return method != "GET" and "dryRun" not in path and "/self" not in path


class Middleman:
    """Passes requests on as one user. `before` and `after` are asked around each; an answer of theirs is the answer."""

    def __init__(self, cluster: Cluster, user: str) -> None:
        config = yaml.safe_load(cluster.kubeconfig(user).read_text())
        self._upstream = cluster.api_url
        self._token = config["users"][0]["user"]["token"]
        authority = config["clusters"][0]["cluster"]
        data = authority.get("certificate-authority-data")
        self._tls = ssl.create_default_context(
            cadata=base64.b64decode(data).decode() if data else None, cafile=authority.get("certificate-authority")
        )
        self._tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
        self.before: Cut | None = None
        self.after: Cut | None = None
        self.seen: list[tuple[str, str]] = []
        self.url = ""

    @property
    def changes(self) -> list[tuple[str, str]]:
        """What was really changed: no dry runs, no questions about rights."""
        return [one for one in self.seen if is_change(*one)]

    def kubeconfig(self, folder: Path) -> Path:
        """For an engine that is to go through here."""
        path = folder / "middleman.kubeconfig"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        path.write_text(yaml.safe_dump(document))
        return path

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Middleman]:
        """Stand there for a while."""
        app = web.Application(client_max_size=1 << 24)
        app.router.add_route("*", "/{path:.*}", self._pass_on)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            async with aiohttp.ClientSession(auto_decompress=False) as self._session:
                yield self
        finally:
            await runner.cleanup()

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade"):
            return web.Response(status=400)  # a watch does without a websocket then
        self.seen.append((request.method, request.path_qs))
        cut = await self.before(request) if self.before else None
        if cut is not None:
            return cut
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _SKIPPED}
        headers["Authorization"] = f"Bearer {self._token}"
        headers["Accept-Encoding"] = "identity"  # what is packed would have to be said in the answer
        url = self._upstream + request.path_qs
        timeout = aiohttp.ClientTimeout(total=None)
        body = await request.read()
        async with self._session.request(
            request.method, url, headers=headers, data=body, ssl=self._tls, timeout=timeout
        ) as answer:
            if "watch" in request.query or "follow" in request.query:
                return await _stream(request, answer)
            content = await answer.read()
            cut = await self.after(request) if self.after else None
            kind = answer.headers.get("Content-Type", "application/json")
            return cut or web.Response(status=answer.status, body=content, headers={"Content-Type": kind})


async def _stream(request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
    out = web.StreamResponse(status=answer.status)
    await out.prepare(request)
    async for chunk in answer.content.iter_any():
        await out.write(chunk)
    return out
