"""`/metrics`: jobs by phase and what the cards did, from what is known already, and only what is known."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

Ask = Callable[..., Awaitable[HTTPResponse]]
Submit = Callable[..., Awaitable[dict[str, Any]]]
SAMPLE = Path(__file__).parent.parent / "launcher/usage/npu_smi/15_health_alarm_critical_unknown.txt"


async def scraped(jp_fetch: Callable[..., Awaitable[HTTPResponse]]) -> list[str]:
    lines = (await jp_fetch("metrics")).body.decode().splitlines()
    return [line for line in lines if line.startswith("aiarts_")]


async def test_jobs_are_counted_by_cluster_and_phase(jp_fetch: Any, submitted: Submit, until: Submit) -> None:
    job = await submitted()
    await until(job["id"], "succeeded")
    assert await scraped(jp_fetch) == ['aiarts_jobs{cluster="local",phase="succeeded"} 1.0']


async def test_a_card_tells_what_it_knows_and_nothing_is_asked_for_a_scrape(
    ask: Ask, jp_fetch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "npu-smi"
    tool.write_text(f'#!/bin/sh\ncat "{SAMPLE}"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    await ask("jobs")
    assert await scraped(jp_fetch) == []
    await ask("usage")
    lines = await scraped(jp_fetch)
    busy = [line for line in lines if line.startswith("aiarts_card_utilization_ratio{")]
    assert [line.split()[-1] for line in busy] == ["0.0", "0.96"]
    assert 'aiarts_card_memory_bytes{id="1",kind="npu",name="910B4-1",part=""} 6.8719476736e+10' in lines
