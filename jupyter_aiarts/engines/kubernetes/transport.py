"""How requests travel: one aiohttp session per cluster, answers as they come, failures as errors of this package.

Credentials are renewed once when they are refused, 429 is waited out. This is the only module that imports aiohttp,
and it is imported only where a cluster is configured.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import aiohttp
from yarl import URL

from jupyter_aiarts.engines.kubernetes.clocks import lead_of
from jupyter_aiarts.engines.kubernetes.credentials import Credentials, Identity
from jupyter_aiarts.engines.kubernetes.refusals import Refused, Silent, refusal
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.waiting import within

if TYPE_CHECKING:
    Socket = aiohttp.ClientWebSocketResponse[bool]

Params = Mapping[str, str | int | float]

CONNECT = 5.0  # seconds
ANSWER = 30.0  # seconds without a byte of an answer
READ = 4 << 20  # bytes of an answer that may wait to be taken: a page
AT_ONCE = 16  # requests on their way, watches and streams not counted
SILENT = 10.0  # seconds for which a server that could not be connected to is not tried again by just anybody
TRIES, LONGEST_WAIT = 4, 10.0  # when told to come back later
HEARTBEAT = 25.0  # seconds; a watch that does not answer a ping within half of that again is dead: 37.5 s in all
LIFE = (300, 600)  # seconds that a watch lives, as client-go's do
PLAIN_LIFE = (25, 33)  # the same where pings are not possible: its end, or the lack of it, shows that it lives
PLAIN_SPARE = 8.0

_NO_SOCKETS = (200, 400, 403, 404, 405, 426, 501)
"""Answers to a websocket's request that, when the plain request is served, mean that websockets do not get through."""

_KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 40_000}
"""The system itself notices within 40 s that the other side of a connection is gone."""


class Transport:
    """The way to one API server. Used by `Api` alone."""

    def __init__(self, name: str, credentials: Credentials) -> None:
        self.name = name
        self.credentials = credentials
        self._session: aiohttp.ClientSession | None = None
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._silent_until = 0.0
        self.lead = 0.0  # seconds that the API server's clock is ahead of ours
        self._plain = False  # whether something on the way does not let websockets through

    async def aclose(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    @contextlib.asynccontextmanager
    async def send(
        self,
        method: str,
        path: str,
        params: Params,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        quiet: float | None = ANSWER,
        lasting: bool = False,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer that is a success, its body still to be read; `quiet` is how long it may be silent meanwhile.

        One that is not `lasting` waits for its turn: a hundred requests at once shall not be a hundred connections.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT, sock_read=quiet)
        kept = {"data": body, "headers": headers or {}, "timeout": timeout}
        turn: AbstractAsyncContextManager[Any] = contextlib.nullcontext() if lasting else self._turns
        async with turn, await self._answer(method, path, params, kept) as response:
            try:
                yield response
            except aiohttp.ClientError as error:
                raise self._away(error) from error

    async def _answer(self, method: str, path: str, params: Params, kept: Mapping[str, Any]) -> aiohttp.ClientResponse:
        if time.monotonic() < self._silent_until:
            raise self._away(asyncio.TimeoutError())
        identity = await self.credentials.current()
        for attempt in range(1, TRIES + 1):
            response = await self._ask(identity, method, _url(identity, path, params), kept)
            if response.status < 300:
                return response
            identity = await self._before_next(await self._refusal(response), identity, attempt)
        raise AssertionError("the last attempt raises")

    async def _ask(self, identity: Identity, method: str, url: URL, kept: Mapping[str, Any]) -> aiohttp.ClientResponse:
        options = {**kept, **_seen_by(identity), "headers": {**kept["headers"], **identity.headers}}
        try:
            response = await self._client().request(method, url, allow_redirects=False, **options)
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            raise self._away(error) from error
        self._silent_until = 0.0
        self.lead = lead_of(response.headers.get("Date"), time.time())
        return response

    async def _refusal(self, response: aiohttp.ClientResponse) -> Refused:
        async with response:
            try:
                return refusal(response.status, await response.read(), _retry_after(response.headers))
            except aiohttp.ClientError as error:
                raise self._away(error) from error

    async def _before_next(self, error: Refused, identity: Identity, attempt: int) -> Identity:
        """Wait, or renew the credentials, if that may help; raises the error otherwise."""
        if attempt < TRIES and error.http == 429:
            await asyncio.sleep(min(error.retry_after or 1.0, LONGEST_WAIT) * random.uniform(1.0, 1.2))
            return identity
        if attempt == 1 and error.http == 401:
            fresh = await self.credentials.renewed(identity)
            if fresh is not identity:
                return fresh
        raise error

    # -- watches ---------------------------------------------------------------------------------------------------

    async def lines(self, path: str, params: Params) -> AsyncGenerator[str | bytes, None]:
        """The lines of a watch, an empty one when it is open, until the server ends it.

        A connection that died silently raises within 45 s.
        """
        opened: Socket | int = 200 if self._plain else await self._open_socket(path, params)
        if isinstance(opened, int):
            source = self._plain_lines(path, params, remember=opened in _NO_SOCKETS)
        else:
            source = self._socket_lines(opened)
        async with contextlib.aclosing(source) as lines:
            async for line in lines:
                yield line

    async def _open_socket(self, path: str, params: Params) -> Socket | int:
        """A websocket that carries a watch, or the status it was refused with: the plain request tells more then."""
        identity = await self.credentials.current()
        try:
            return await self._connect_socket(identity, path, params)
        except aiohttp.WSServerHandshakeError as error:
            fresh = await self.credentials.renewed(identity) if error.status == 401 else identity
            if fresh is identity:
                return error.status
        try:
            return await self._connect_socket(fresh, path, params)
        except aiohttp.WSServerHandshakeError as error:
            return error.status

    async def _connect_socket(self, identity: Identity, path: str, params: Params) -> Socket:
        url = _url(identity, path, {**params, "timeoutSeconds": random.randint(*LIFE)})
        try:
            opened = await within(
                ANSWER,
                self._client().ws_connect(
                    url,
                    headers=identity.headers,
                    origin=identity.server,  # the API server's library insists on one
                    heartbeat=HEARTBEAT,
                    max_msg_size=0,
                    **_seen_by(identity),
                ),
            )
        except aiohttp.WSServerHandshakeError:
            raise
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            raise self._away(error) from error
        self._silent_until = 0.0
        return opened

    async def _socket_lines(self, opened: Socket) -> AsyncGenerator[str | bytes, None]:
        async with opened:
            yield b""
            async for message in opened:
                if message.type is aiohttp.WSMsgType.ERROR:
                    raise self._away(opened.exception() or ConnectionError("the watch broke"))
                yield message.data

    async def _plain_lines(self, path: str, params: Params, remember: bool) -> AsyncGenerator[str | bytes, None]:
        life = random.randint(*PLAIN_LIFE)
        asked = {**params, "timeoutSeconds": life}
        async with self.send("GET", path, asked, quiet=life + PLAIN_SPARE, lasting=True) as response:
            self._plain = self._plain or remember
            rest = b""
            yield rest
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield line

    # -- below -----------------------------------------------------------------------------------------------------

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, socket_factory=_socket),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT),
                read_bufsize=READ,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Accept-Encoding": "identity", "User-Agent": "jupyter-aiarts"},
            )
        return self._session

    def _away(self, error: BaseException) -> ClusterUnreachable:
        """The error for a server that gave no answer; one that could not be connected to is left alone for a while."""
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            self._silent_until = time.monotonic() + SILENT
        timeout = isinstance(error, asyncio.TimeoutError)
        why = "it does not answer" if timeout else str(error) or type(error).__name__
        return (Silent if timeout else ClusterUnreachable)(
            f"The cluster “{self.name}” cannot be reached: {why}.",
            "Its jobs are shown as they were last seen; everything goes on by itself when it is back.",
        )


def _seen_by(identity: Identity) -> dict[str, Any]:
    """What aiohttp has to know of who asks, and where."""
    return {"ssl": identity.tls, "server_hostname": identity.server_name, "proxy": identity.proxy}


def _url(identity: Identity, path: str, params: Params) -> URL:
    return URL(identity.server + path, encoded=True).update_query(dict(params))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    said = headers.get("Retry-After", "")
    return float(said) if said.isascii() and said.isdigit() else None


def _socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE.items():
        if hasattr(socket, option):  # not on every system
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made
