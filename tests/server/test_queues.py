"""Queues over REST: this machine's queue, places in it, who started first and why, and news of it on the stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

Ask = Callable[..., Awaitable[HTTPResponse]]
Body = Callable[[HTTPResponse], Any]
Submit = Callable[..., Awaitable[dict[str, Any]]]
FOREVER = "import time; time.sleep(600)"


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    """The server of the other tests, on a machine with two CPUs and two cards."""
    jp_server_config["LocalEngine"] = {"devices": {"huawei_npu_arm64": 2}, "cpus": 2}
    return jp_server_config


async def test_a_queue_tells_what_is_taken_and_where_jobs_stand(
    ask: Ask, body: Body, submitted: Submit, until: Submit
) -> None:
    first = await submitted(FOREVER, name="first", cpu=2)
    await until(first["id"], "running")
    second = await submitted(FOREVER, name="second", cpu=1)
    third = await submitted(FOREVER, name="third", cpu=1, priority=9)
    [queue] = body(await ask("queues"))
    assert {key: queue[key] for key in ("name", "cluster", "kind", "pending", "active", "source", "why")} == {
        "name": "local", "cluster": "local", "kind": "local", "pending": 2, "active": True, "source": "local",
        "why": None,
    }  # fmt: skip
    assert queue["quota"] == {"cpu": 2.0, "huawei_npu_arm64": 2.0}
    assert queue["used"] == {"cpu": 2.0, "huawei_npu_arm64": 0.0}
    assert [(place["job"], place["position"], place["ahead"]) for place in queue["places"]] == [
        (third["id"], 1, 0),
        (second["id"], 2, 1),
    ]
    assert [one["name"] for one in queue["places"][1]["before"]] == ["third"]
    assert body(await ask("queues", params={"cluster": "local"})) == [queue]
    assert (await ask("queues", params={"cluster": "nowhere"})).code == 404


async def test_who_started_first_is_told_and_explained(ask: Ask, body: Body, submitted: Submit, until: Submit) -> None:
    first = await submitted(FOREVER, name="first", cpu=2)
    await until(first["id"], "running")
    early = await submitted(FOREVER, name="early", cpu=2)
    urgent = await submitted(FOREVER, name="urgent <b>", cpu=2, priority=9)
    assert body(await ask("queues/order")) == []
    await ask(f"jobs/{first['id']}/stop", "POST")
    await until(urgent["id"], "running")
    [turn] = body(await ask("queues/order", params={"job": early["id"]}))
    assert (turn["job"], turn["name"], turn["cluster"]) == (urgent["id"], "urgent <b>", "local")
    [passed] = turn["passed"]
    assert (passed["job"], passed["name"], passed["reason"]) == (early["id"], "early", "higher-priority")
    assert "9 > 5" in passed["why"]
    told = body(await ask(f"jobs/{early['id']}/explain", params={"lang": "zh"}))
    assert any("优先级更高" in line and urgent["id"] in line for line in told["evidence"])
    assert body(await ask("queues/order", params={"job": first["id"]})) == []
    assert (await ask("queues/order", params={"job": "../etc"})).code == 404


async def test_the_stream_tells_of_queues_only_while_somebody_looks_at_them(
    ask: Ask, listen: Callable[[], Awaitable[Any]], submitted: Submit
) -> None:
    stream = await listen()

    async def types(until_type: str) -> list[str]:
        seen: list[str] = []
        while until_type not in seen:
            seen.append(json.loads(await asyncio.wait_for(stream.read_message(), 20))["type"])
        return seen

    job = await submitted(FOREVER)
    assert "queues" not in await types("jobs")
    await ask("queues")
    await ask(f"jobs/{job['id']}", "DELETE")
    await types("queues")
