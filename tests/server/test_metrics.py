"""`/metrics`: jobs by phase and what machine and cards do, without waiting for anybody, and only what is known."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tornado.httpclient import HTTPResponse

from jupyter_aiarts.server.app import AiartsApp

from .conftest import Printed

Submit = Callable[..., Awaitable[dict[str, Any]]]
SAMPLE = Path(__file__).parent.parent / "launcher/usage/npu_smi/15_health_alarm_critical_unknown.txt"


async def scraped(jp_fetch: Callable[..., Awaitable[HTTPResponse]]) -> list[str]:
    lines = (await jp_fetch("metrics")).body.decode().splitlines()
    return [line for line in lines if line.startswith("aiarts_")]


async def test_jobs_are_counted_by_cluster_and_phase(jp_fetch: Any, submitted: Submit, until: Submit) -> None:
    job = await submitted()
    await until(job["id"], "succeeded")
    assert await scraped(jp_fetch) == ['aiarts_jobs{cluster="local",phase="succeeded"} 1.0']


async def test_a_scrape_tells_what_was_last_seen_of_machine_and_cards_and_has_a_look_taken_for_the_next(
    jp_fetch: Any, said: Printed, app: AiartsApp
) -> None:
    """Nobody looks here but the scraper."""
    said.write_text(SAMPLE.read_text())
    service = await app.service()
    assert said.runs == 0 and await scraped(jp_fetch) == []
    lines = await told(jp_fetch)
    busy = [line for line in lines if line.startswith("aiarts_card_utilization_ratio{")]
    assert [value(line) for line in busy] == [0.0, 0.96]
    well = [line for line in lines if line.startswith("aiarts_card_healthy{")]
    assert [value(line) for line in well] == [1.0, 0.0, 0.0], "of the fourth nothing is known"
    memory = 'aiarts_card_memory_bytes{id="1",kind="npu",name="910B4-1",part=""} 6.8719476736e+10'
    assert any(line.startswith(memory) for line in lines)
    known = {line.partition("{")[0].split()[0]: value(line) for line in lines}
    assert 0 <= known["aiarts_host_cpus_busy"] <= known["aiarts_host_cpus"]
    assert 0 < known["aiarts_host_memory_used_bytes"] < known["aiarts_host_memory_bytes"]
    assert known["aiarts_disk_used_bytes"] <= known["aiarts_disk_bytes"]
    assert service.machine().said("en") is None  # no page hears of it


async def test_a_number_comes_with_the_time_at_which_it_was_seen(jp_fetch: Any, said: Printed, app: AiartsApp) -> None:
    said.write_text(SAMPLE.read_text())
    before = time.time()
    await app.service()
    await scraped(jp_fetch)
    lines = await told(jp_fetch)
    times = {int(line.split()[-1]) / 1000 for line in lines if not line.startswith("aiarts_jobs")}
    assert len(times) == 1 and before - 1 <= times.pop() <= time.time()


async def told(jp_fetch: Any) -> list[str]:
    """Scrape until there is something of the machine."""

    async def scrape() -> list[str]:
        while not (lines := await scraped(jp_fetch)):
            await asyncio.sleep(0.05)
        return lines

    return await asyncio.wait_for(scrape(), 60)


def value(line: str) -> float:
    return float(line.rpartition("}")[2].split()[0] if "}" in line else line.split()[1])
