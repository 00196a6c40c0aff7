"""A real Jupyter server with the extension, the real service and the local engine below it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPClientError, HTTPResponse
from tornado.iostream import IOStream

from jupyter_aiarts.devices import lookout
from jupyter_aiarts.server.app import AiartsApp
from tests.at_once import write_at_once
from tests.startfile import start_file

Ask = Callable[..., Awaitable[HTTPResponse]]
Submit = Callable[..., Awaitable[dict[str, Any]]]


@pytest_asyncio.fixture
async def jp_asyncio_loop() -> AsyncIterator[asyncio.AbstractEventLoop]:
    """The test's own loop, so that server and test share one."""
    yield asyncio.get_running_loop()


@pytest.fixture
def jp_environ(jp_environ: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pytest-jupyter's, which gives this Python's modules to all children; so a job's `python3` is this Python."""
    here = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", os.pathsep.join([here, os.environ.get("PATH", os.defpath)]))


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    """Where this test's jobs live."""
    return tmp_path / "aiarts"


@pytest.fixture
def jp_server_config(state_dir: Path) -> dict[str, Any]:
    """Our extension on, and jupyter_server's own check for handlers without a login."""
    return {
        "ServerApp": {
            "jpserver_extensions": {"jupyter_aiarts": True, "jupyter_server_terminals": False},
            "allow_unauthenticated_access": False,
        },
        "AiartsApp": {"state_dir": str(state_dir)},
    }


@pytest.fixture
def jp_server_cleanup(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Stop the server as it would stop by itself, extensions included."""
    yield
    if not ServerApp.initialized():
        return
    server = ServerApp.instance()
    jp_asyncio_loop.run_until_complete(server._cleanup())
    if hasattr(server, "kernel_manager"):
        server.kernel_manager.context.destroy()
    ServerApp.clear_instance()


@pytest.fixture
def app(jp_serverapp: ServerApp) -> AiartsApp:
    """The extension inside the server."""
    found = jp_serverapp.web_app.settings["jupyter_aiarts"]
    assert isinstance(found, AiartsApp)
    return found


@pytest.fixture
def ask(jp_fetch: Ask) -> Ask:
    """Send a request below `aiarts/`; the answer comes back whatever its status."""

    async def send(path: str, method: str = "GET", body: Any = None, **kwargs: Any) -> HTTPResponse:
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            kwargs.setdefault("headers", {}).setdefault("Content-Type", "application/json")
        try:
            return await jp_fetch(
                "aiarts", *path.split("/"), method=method, body=body, allow_nonstandard_methods=True, **kwargs
            )
        except HTTPClientError as error:
            if error.response is None:
                raise
            return error.response

    return send


@pytest.fixture
def script(jp_root_dir: Path) -> Callable[[str], str]:
    """Write a start file into the server's root folder."""
    return partial(start_file, jp_root_dir)


@pytest_asyncio.fixture
async def submitted(app: AiartsApp, ask: Ask, script: Callable[[str], str]) -> AsyncIterator[Submit]:
    """Submit a start file and get the job; whatever still runs when the test is over is deleted."""

    async def submit(text: str = "print('hello')\n", **spec: Any) -> dict[str, Any]:
        answer = await ask("jobs", "POST", {"script": script(text), "grace_seconds": 1, **spec})
        assert answer.code == 201, answer.body
        return dict(json.loads(answer.body))

    yield submit
    service = await app.service()
    for job in json.loads((await ask("jobs")).body):
        await ask(f"jobs/{job['id']}", "DELETE")
    async for _ in service.subscribe():
        if (await ask("jobs")).body == b"[]":
            return


@pytest.fixture
def until(app: AiartsApp, ask: Ask) -> Submit:
    """Wait, by the service's own messages, until a job is in one of these phases."""

    async def wait(job_id: str, *phases: str) -> dict[str, Any]:
        service = await app.service()
        async for _ in service.subscribe():
            job = dict(json.loads((await ask(f"jobs/{job_id}")).body))
            if job["phase"] in phases:
                return job
        raise AssertionError("the service ended")

    return wait


@pytest_asyncio.fixture
async def listen(jp_ws_fetch: Callable[..., Awaitable[Any]]) -> AsyncIterator[Callable[[], Awaitable[Any]]]:
    """Open the websocket; it is closed when the test is over."""
    opened: list[tuple[Any, IOStream]] = []

    async def connect() -> Any:
        stream = await jp_ws_fetch("aiarts", "stream")
        opened.append((stream, stream.protocol.stream))
        return stream

    yield connect
    for stream, below in opened:
        stream.close()
        while not below.closed():  # only when the server has said goodbye as well
            await stream.read_message()


class Printed:
    """What a tool prints, also while it is changed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write_text(self, text: str) -> None:
        write_at_once(self.path, text)

    @property
    def runs(self) -> int:
        """How often the tool was run."""
        noted = self.path.with_name("runs")
        return noted.read_text().count("run") if noted.exists() else 0


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Printed:
    """What the machine's `npu-smi` prints."""
    path = tmp_path / "tools/npu-smi"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\necho run >> "{tmp_path}/tools/runs"\ncat "{tmp_path}/tools/said"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(lookout, "PATIENCE", 30.0)  # a machine that is busy may not have started it after a second
    return Printed(path.with_name("said"))


@pytest.fixture
def body() -> Callable[[HTTPResponse], Any]:
    """The JSON of an answer."""
    return lambda answer: json.loads(answer.body)
