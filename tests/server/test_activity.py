"""A culler sees the truth: looking is no activity, running jobs are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.server.activity import Activity
from jupyter_aiarts.server.app import AiartsApp

Ask = Callable[..., Awaitable[HTTPResponse]]
Listen = Callable[[], Awaitable[Any]]
Submit = Callable[..., Awaitable[dict[str, Any]]]
FOREVER = "import time\ntime.sleep(600)\n"


async def test_while_jobs_run_the_time_is_renewed_and_the_timer_ends_with_them() -> None:
    times: dict[str, datetime] = {}
    running = 1
    renewed = asyncio.Event()

    def count() -> int:
        renewed.set()
        return running

    activity = Activity(times, count, period=0.01)
    activity.look()
    first = times["aiarts"]
    renewed.clear()
    await renewed.wait()
    assert times["aiarts"] > first
    running = 0
    renewed.clear()
    await renewed.wait()
    assert not activity.is_ticking


async def test_without_running_jobs_there_is_no_timer_and_no_time() -> None:
    times: dict[str, datetime] = {}
    activity = Activity(times, lambda: 0)
    activity.look()
    assert times == {}
    assert not activity.is_ticking


def last_activity(server: ServerApp) -> datetime:
    found = server.web_app.last_activity()  # type: ignore[no-untyped-call]
    assert isinstance(found, datetime)
    return found


async def test_background_requests_are_no_activity(ask: Ask, jp_serverapp: ServerApp) -> None:
    await ask("jobs")
    before = last_activity(jp_serverapp)
    await ask("jobs", params={"no_track_activity": "1"})
    assert last_activity(jp_serverapp) == before
    await ask("jobs")
    assert last_activity(jp_serverapp) > before


async def test_broken_bytes_in_that_parameter_break_nothing(ask: Ask, jp_fetch: Ask) -> None:
    answer = await ask("jobs", params={"no_track_activity": b"\xff"})
    assert answer.code == 200


async def test_an_open_stream_is_no_activity(ask: Ask, listen: Listen, jp_serverapp: ServerApp) -> None:
    await ask("jobs")
    before = last_activity(jp_serverapp)
    stream = await listen()
    assert await stream.read_message() is not None
    await stream.write_message("anything")
    assert last_activity(jp_serverapp) == before


async def test_a_running_job_is_activity_until_it_ends(
    ask: Ask, app: AiartsApp, submitted: Submit, until: Submit, jp_serverapp: ServerApp
) -> None:
    job = await submitted(FOREVER)
    await until(job["id"], "running")
    assert app.current_activity() == {"jobs": 1}
    assert jp_serverapp.web_app.settings["last_activity_times"]["aiarts"] is not None
    await ask(f"jobs/{job['id']}/stop", "POST")
    await until(job["id"], "stopped")
    assert app.current_activity() is None


class TestOff:
    """`AiartsApp.keep_server_active = False`"""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["AiartsApp"]["keep_server_active"] = False
        return jp_server_config

    async def test_a_running_job_is_no_activity(
        self, app: AiartsApp, submitted: Submit, until: Submit, jp_serverapp: ServerApp
    ) -> None:
        job = await submitted(FOREVER)
        await until(job["id"], "running")
        assert app.current_activity() is None
        assert "aiarts" not in jp_serverapp.web_app.settings["last_activity_times"]
