"""Usage over REST and on the stream: one look for everybody, unknown as null, nothing while nobody looks."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.devices import counting, lookout
from tests.launcher.conftest import lives

from .conftest import Printed

Ask = Callable[..., Awaitable[HTTPResponse]]
Listen = Callable[[], Awaitable[Any]]
SAMPLES = Path(__file__).parent.parent / "launcher/usage/npu_smi"


async def test_cards_and_machine_are_told_with_null_for_unknown(ask: Ask, said: Printed) -> None:
    said.write_text((SAMPLES / "15_health_alarm_critical_unknown.txt").read_text())
    page = json.loads((await ask("usage")).body)
    assert [card["health"] for card in page["devices"]] == ["ok", "alarm", "critical", "unknown"]
    assert page["devices"][3]["utilization"] is None and page["devices"][0]["utilization"] == 0
    assert page["host"]["memory_total"] > page["host"]["memory_used"] > 0
    assert page["host"]["cpu"] is not None and page["problems"] == [] and "history" not in page


async def test_a_tool_that_fails_is_explained_in_the_readers_language(ask: Ask, said: Printed) -> None:
    said.write_text((SAMPLES / "20_error_8005.txt").read_text())
    page = json.loads((await ask("usage", params={"lang": "zh"})).body)
    [problem] = page["problems"]
    assert problem["code"] == "npu-smi-failed" and "npu-smi 无法" in problem["title"]
    assert "-8005" in problem["evidence"][0] and page["devices"] == []


async def test_any_number_of_viewers_cost_one_look_a_second(
    ask: Ask, said: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookout, "PERIOD", 600.0)  # the second after the first look is a long one
    said.write_text((SAMPLES / "08_310_23.0_hugepages.txt").read_text())
    await asyncio.gather(*(ask("usage") for _ in range(20)))
    assert said.runs == 1


async def test_looks_go_to_every_stream_for_a_while(ask: Ask, listen: Listen, said: Printed) -> None:
    said.write_text((SAMPLES / "08_310_23.0_hugepages.txt").read_text())
    stream = await listen()
    await ask("usage")
    times = []
    while len(times) < 2:
        message = json.loads(await asyncio.wait_for(stream.read_message(), 30))
        if message["type"] == "usage":
            times.append(message["usage"]["t"])
            assert message["usage"]["devices"][0]["name"] == "310"
    assert times == sorted(set(times))


async def test_what_was_seen_before_is_told_when_it_is_asked_for(ask: Ask, said: Printed) -> None:
    said.write_text((SAMPLES / "08_310_23.0_hugepages.txt").read_text())
    await ask("usage")
    page = json.loads((await ask("usage", params={"history": "600"})).body)
    lines = page["history"]
    assert len(lines["times"]) >= 1
    assert {len(values) for values in lines["series"].values()} == {len(lines["times"])}
    assert lines["series"]["npu 0 memory"][0] == 577.0
    for wrong in ("0", "86401", "x"):
        assert (await ask("usage", params={"history": wrong})).code == 400


async def test_nothing_is_asked_and_no_thread_stands_while_nobody_looks(ask: Ask, said: Printed) -> None:
    assert (await ask("jobs")).code == 200
    assert said.runs == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("aiarts-")]


# -- what takes the room -----------------------------------------------------------------------------------------------


async def test_what_takes_the_room_of_a_folder_is_told_the_largest_first(ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "training"
    (folder / "sets").mkdir(parents=True)
    (folder / "sets/<b>.bin").write_bytes(os.urandom(1 << 20))
    (folder / "small").write_text("x")
    page = json.loads((await ask("usage/disk", params={"path": str(folder)})).body)
    assert [one["name"] for one in page["takers"]] == ["sets", "small"]
    assert page["complete"] is True and page["disk"]["total"] > page["bytes"] > 1 << 20


async def test_a_folder_that_is_not_there_and_wrong_words_are_refused(ask: Ask, tmp_path: Path) -> None:
    assert (await ask("usage/disk", params={"path": str(tmp_path / "missing")})).code == 404
    for wrong in ({"seconds": "0"}, {"seconds": "46"}, {"path": "/" + "x" * 5000}):
        assert (await ask("usage/disk", params=wrong)).code == 400


async def test_a_client_that_goes_ends_the_count(
    jp_fetch: Any, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """As a page does whose *Cancel* is pressed; a counter that waits stands for a large disk."""
    pid, waits = tmp_path / "pid", tmp_path / "counting.py"
    waits.write_text(f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    monkeypatch.setattr(counting, "__file__", str(waits))
    await jp_fetch("aiarts", "jobs")
    _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
    login = f"Host: localhost\r\nAuthorization: {jp_auth_header['Authorization']}"
    writer.write(f"GET {jp_base_url}aiarts/usage/disk?path={tmp_path} HTTP/1.1\r\n{login}\r\n\r\n".encode())
    while not pid.exists() or not pid.read_text():
        await asyncio.sleep(0.02)
    counter = int(pid.read_text())
    assert lives(counter)
    writer.close()

    async def gone() -> None:
        while lives(counter):
            await asyncio.sleep(0.02)

    await asyncio.wait_for(gone(), 30)


# -- the cards of a job ------------------------------------------------------------------------------------------------

NPU = "huawei_npu_arm64"


class TestOfAJob:
    """The launcher looks some seconds after the start; this is the whole way from there to the doors."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        return {**jp_server_config, "LocalEngine": {"devices": {NPU: 2}, "cpus": 4}}

    async def test_a_job_whose_cards_do_nothing_says_since_when_and_keeps_what_was_seen(
        self, ask: Ask, listen: Listen, submitted: Callable[..., Awaitable[dict[str, Any]]], said: Printed
    ) -> None:
        text = (SAMPLES / "10_910B4_26.0_wide_five_columns.txt").read_text()
        said.write_text(text.replace("| 71 ", "| 0  "))
        stream = await listen()
        job = await submitted("import time\ntime.sleep(600)\n", device=NPU, devices=2)
        idle = None
        while idle is None:
            message = json.loads(await asyncio.wait_for(stream.read_message(), 60))
            mine = [one for one in message.get("jobs", ()) if one["id"] == job["id"]]
            idle = mine[0].get("idle_since") if mine else None
        [node] = json.loads((await ask(f"jobs/{job['id']}/usage")).body)["nodes"]
        assert node["idle_since"] == idle
        assert [(card["id"], card["utilization"], card["most"]) for card in node["cards"]] == [
            (0, 0.0, 0.0),
            (1, 0.0, 0.0),
        ]
        await ask(f"jobs/{job['id']}/stop", "POST")
        while (await job_now(ask, job["id"]))["phase"] != "stopped":
            await asyncio.wait_for(stream.read_message(), 60)
        ended = await job_now(ask, job["id"])
        assert "idle_since" not in ended
        [kept] = json.loads((await ask(f"jobs/{job['id']}/usage")).body)["nodes"]
        assert kept["cards"] == node["cards"] and kept["history"] is None
        [past] = json.loads((await ask(f"jobs/{job['id']}/usage", params={"history": "1"})).body)["nodes"]
        assert past["history"]["cards"]["series"]["1 utilization"][0] == 0.0


async def job_now(ask: Ask, job_id: str) -> dict[str, Any]:
    return dict(json.loads((await ask(f"jobs/{job_id}")).body))


async def test_a_job_that_nobody_has_looked_at_has_no_usage_and_an_unknown_one_is_not_found(
    ask: Ask, submitted: Callable[..., Awaitable[dict[str, Any]]]
) -> None:
    job = await submitted()
    assert json.loads((await ask(f"jobs/{job['id']}/usage")).body) == {"nodes": []}
    assert (await ask("jobs/abcdefghij/usage")).code == 404
    assert (await ask(f"jobs/{job['id']}/usage", params={"history": "yes"})).code == 400
