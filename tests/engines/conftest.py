"""Engines to say the same sentences about, and ways to wait for what they do."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jupyter_aiarts.engines.base import Caller, Engine, JobRecord
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.reading import read_spec

Until = Callable[..., Awaitable[JobRecord]]
Submit = Callable[..., Awaitable[JobRecord]]


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest_asyncio.fixture(params=["local"])
async def engine(request: pytest.FixtureRequest, state_dir: Path) -> AsyncIterator[Engine]:
    """Each engine there is; eight declared cards, so that shapes can be tried anywhere."""
    settings = Settings(devices={"huawei_npu_arm64": 8}, cpus=16)
    found = open_local(state_dir, settings)
    yield found
    for record in await found.snapshot():
        await found.delete(record.id)
    await asyncio.wait_for(_gone(found), 30)
    await found.aclose()


async def _gone(engine: Engine) -> None:
    """Until nothing of a test's jobs is left."""
    if not await engine.snapshot():
        return
    async for _ in engine.watch():
        if not await engine.snapshot():
            return


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    """The person who submits, in a folder of their own."""
    folder = tmp_path / "home"
    folder.mkdir(exist_ok=True)
    return Caller(owner="alice", python=sys.executable, environ=dict(os.environ), folder=folder)


@pytest.fixture
def submit(engine: Engine, caller: Caller) -> Submit:
    """Write a start file, submit it, give the job."""

    async def send(source: str = "print('hello')", *, file: str = "train.py", **keys: Any) -> JobRecord:
        (caller.folder / file).write_text(source)
        raw = {"script": file, "grace_seconds": 1, **keys}
        record, created = await engine.submit(read_spec(raw), caller)
        assert created
        return record

    return send


@pytest.fixture
def until(engine: Engine) -> Until:
    """Wait, by the engine's own news, until a job is in one of these phases."""

    async def wait(job_id: str, *phases: Phase, seconds: float = 30) -> JobRecord:
        wanted = phases or (Phase.SUCCEEDED, Phase.FAILED, Phase.LOST, Phase.STOPPED)
        return await asyncio.wait_for(_reach(engine, job_id, wanted), seconds)

    return wait


async def _reach(engine: Engine, job_id: str, wanted: tuple[Phase, ...]) -> JobRecord:
    record = await engine.get(job_id)
    if record.phase in wanted:
        return record
    async for _ in engine.watch():
        record = await engine.get(job_id)
        if record.phase in wanted:
            return record
    raise AssertionError(f"the engine closed while {job_id} was {record.phase}")


@pytest.fixture
def text_of(engine: Engine) -> Callable[..., Awaitable[list[str]]]:
    """What a job printed, line by line."""

    async def read(job_id: str, run: int | None = None, rank: int | None = None) -> list[str]:
        log = await engine.log(job_id, run)
        query = LogQuery(tail=1000, rank=rank)
        lines = await asyncio.to_thread(lambda: log.lines(query, ended=True))
        return [line.text for line in lines]

    return read


@pytest.fixture
def printed(engine: Engine) -> Callable[..., Awaitable[None]]:
    """Wait until a line with this text is in the job's log."""

    async def wait(job_id: str, text: str, seconds: float = 30) -> None:
        async def look() -> None:
            follower = (await engine.log(job_id)).follow(LogQuery(tail=1000))
            while not any(text in line.text for line in await asyncio.to_thread(follower.step, False)):
                await asyncio.sleep(0.02)

        await asyncio.wait_for(look(), seconds)

    return wait
