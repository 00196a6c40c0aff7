"""The websocket: a snapshot, then every change, for as long as somebody listens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.server import stream
from jupyter_aiarts.server.app import AiartsApp
from jupyter_aiarts.server.stream import MAX_INCOMING

Ask = Callable[..., Awaitable[HTTPResponse]]
Listen = Callable[[], Awaitable[Any]]
Submit = Callable[..., Awaitable[dict[str, Any]]]


async def told(stream: Any) -> dict[str, Any]:
    message = await stream.read_message()
    assert message is not None, "the stream ended"
    return dict(json.loads(message))


async def test_a_snapshot_comes_first_then_changes_then_what_is_gone(
    ask: Ask, listen: Listen, submitted: Submit, until: Submit
) -> None:
    stream = await listen()
    assert await told(stream) == {"type": "snapshot", "jobs": []}
    job = await submitted()
    phases = []
    while "succeeded" not in phases:
        message = await told(stream)
        assert message["type"] == "jobs"
        phases += [one["phase"] for one in message["jobs"] if one["id"] == job["id"]]
    await ask(f"jobs/{job['id']}", "DELETE")
    while (message := await told(stream))["type"] != "removed":
        pass
    assert message["ids"] == [job["id"]]


async def test_a_second_listener_gets_the_picture_as_it_is(listen: Listen, submitted: Submit) -> None:
    job = await submitted()
    stream = await listen()
    message = await told(stream)
    assert [one["id"] for one in message["jobs"]] == [job["id"]]


async def test_a_listener_that_goes_is_forgotten(listen: Listen) -> None:
    stream = await listen()
    await told(stream)
    telling = [task for task in asyncio.all_tasks() if "StreamHandler._tell" in repr(task.get_coro())]
    assert len(telling) == 1
    stream.close()
    await asyncio.wait(telling)


async def test_a_quiet_stream_says_that_it_lives_because_a_page_hears_no_ping(
    listen: Listen, submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "ALIVE_EVERY", 0.05)
    line = await listen()
    assert (await told(line))["type"] == "snapshot"
    assert [await told(line) for _ in range(3)] == [{"type": "alive"}] * 3
    job = await submitted()
    while (message := await told(line))["type"] == "alive":
        pass
    assert [one["id"] for one in message["jobs"]] == [job["id"]]


async def test_a_long_message_from_a_client_ends_the_connection(listen: Listen) -> None:
    stream = await listen()
    await told(stream)
    await stream.write_message("x" * (MAX_INCOMING + 1))
    assert await stream.read_message() is None


async def test_the_stream_ends_when_the_server_stops(listen: Listen, app: AiartsApp) -> None:
    stream = await listen()
    await told(stream)
    await app.stop_extension()
    assert await stream.read_message() is None


async def test_a_mistake_of_ours_ends_the_connection_so_that_the_page_comes_again(
    listen: Listen, app: AiartsApp, caplog: pytest.LogCaptureFixture
) -> None:
    stream = await listen()
    await told(stream)
    service = await app.service()
    service._fanout._usage = lambda lang: msgspec.json.encode("\udce9")
    service._fanout.send_usage()
    assert await asyncio.wait_for(stream.read_message(), 30) is None
    assert "surrogates not allowed" in caplog.text


async def test_nothing_starts_before_somebody_asks(app: AiartsApp, state_dir: Any) -> None:
    assert app._service is None
    assert not state_dir.exists()


async def test_many_who_ask_at_once_get_one_service(app: AiartsApp) -> None:
    services = await asyncio.gather(*(app.service() for _ in range(20)))
    assert len(set(map(id, services))) == 1
