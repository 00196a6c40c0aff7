"""System calls of a server where nothing happens, with the extension and its stream open, against without."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from .jupyter import Jupyter, jupyter_server
from .measure import Aim, Figure, keep

pytestmark = [
    pytest.mark.bench,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace counts the calls"),
]

WINDOW = 60  # seconds: a whole number of every period below
WINDOWS = 3
POLLED = ("api/kernels", "api/sessions", "api/contents?content=1")  # what an open JupyterLab page asks for
PERIOD = 10.0  # every so often


async def test_idle(tmp_path: Path) -> None:
    with (
        jupyter_server(tmp_path / "with", extension=True) as ours,
        jupyter_server(tmp_path / "without", extension=False) as peer,
    ):
        alone = await counts(ours, peer, 1)
        async with sockets(ours, "aiarts/stream"):
            streaming = await counts(ours, peer, 1)
            async with page(ours), page(peer):
                both = await counts(ours, peer, WINDOWS)
    keep(
        "5 idle",
        Figure(
            title="System calls a minute, no job, a JupyterLab page and `aiarts/stream` open",
            unit="calls",
            peer_name="the same server and page without the extension",
            ours=both[0],
            peer=both[1],
            aim=Aim(by="ratio", bound=1.1),
            more={
                "no client at all": {"ours": alone[0][0], "peer": alone[1][0]},
                "nothing but aiarts/stream open": {"ours": streaming[0][0], "peer": streaming[1][0]},
            },
        ),
    )


async def counts(ours: Jupyter, peer: Jupyter, windows: int) -> tuple[list[float], list[float]]:
    """Calls per window of both servers at the same time; counting is not disturbed by what else runs."""
    await asyncio.sleep(PERIOD / 2)  # first answers and handshakes are over
    pairs = [await asyncio.gather(calls(ours), calls(peer)) for _ in range(windows)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


async def calls(server: Jupyter) -> float:
    """System calls of one server process with its threads during one window."""
    words = ["strace", "-f", "-c", "-q", "-p", str(server.process.pid)]
    tracer = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
    await asyncio.sleep(WINDOW)
    tracer.send_signal(2)
    _, said = await tracer.communicate()
    totals = [line.split() for line in said.decode().splitlines() if line.endswith("total")]
    return float(totals[0][3]) if totals else 0.0  # no call, no table


def request(server: Jupyter, path: str, scheme: str = "http") -> HTTPRequest:
    url = f"{scheme}://127.0.0.1:{server.port}/{path}"
    return HTTPRequest(url, headers={"Authorization": server.headers["Authorization"]})


@contextlib.asynccontextmanager
async def sockets(server: Jupyter, path: str) -> AsyncIterator[None]:
    """A websocket that is read, and answers pings, as a browser's does."""
    socket = await websocket_connect(request(server, path, "ws"))
    reading = asyncio.ensure_future(_read(socket))
    try:
        yield
    finally:
        reading.cancel()
        socket.close()


async def _read(socket: object) -> None:
    while await socket.read_message() is not None:  # type: ignore[attr-defined]
        pass


@contextlib.asynccontextmanager
async def page(server: Jupyter) -> AsyncIterator[None]:
    """An open JupyterLab page that nobody touches: its event socket and its polls."""
    async with sockets(server, "api/events/subscribe"):
        polling = asyncio.ensure_future(_poll(server))
        try:
            yield
        finally:
            polling.cancel()


async def _poll(server: Jupyter) -> None:
    while True:
        for path in POLLED:
            await AsyncHTTPClient().fetch(request(server, path))
        await asyncio.sleep(PERIOD)
