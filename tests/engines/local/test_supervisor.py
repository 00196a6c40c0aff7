"""The supervisor lives as long as there is something it can do, and is there again when there is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.engine import LocalEngine
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.model.phase import Phase
from tests.engines.reaching import none_left

Submit = Callable[..., Awaitable[JobRecord]]
Until = Callable[..., Awaitable[JobRecord]]
Processes = Callable[[str], list[int]]

MISSING = {"device": "nvidia_gpu_amd64", "devices": 1}  # a card that the engine of these tests does not have

pytestmark = pytest.mark.parametrize("engine", ["local"], indirect=True)


async def ended(pid: int, seconds: float) -> bool:
    """Whether a process ends in this time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool((await asyncio.to_thread(select.select, [handle], [], [], seconds))[0])
    finally:
        os.close(handle)


async def end(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            assert await ended(pid, 5)


async def test_it_ends_when_only_jobs_that_can_never_fit_are_left(
    engine: LocalEngine, submit: Submit, until: Until, processes: Processes
) -> None:
    job = await submit(**MISSING)
    await until((await submit()).id)
    for pid in processes("supervisor"):  # the second submission may have started one, too, which goes when it sees that
        assert await ended(pid, 25)
    assert [record.cause.code for record in await engine.snapshot() if record.id == job.id] == ["never-fits"]
    assert processes("supervisor") == []


async def test_a_job_that_could_never_fit_starts_when_the_machine_has_its_cards(
    engine: LocalEngine, state_dir: Path, submit: Submit, until: Until, processes: Processes
) -> None:
    job = await submit(**MISSING)
    await end(processes("supervisor"))
    await engine.snapshot()
    assert processes("supervisor") == []
    await open_local(state_dir, Settings(devices={"nvidia_gpu_amd64": 1}, cpus=16)).snapshot()
    assert (await until(job.id)).phase is Phase.SUCCEEDED


async def test_a_list_starts_it_for_finished_jobs_whose_time_is_over(
    engine: LocalEngine, state_dir: Path, submit: Submit, until: Until, processes: Processes
) -> None:
    await until((await submit()).id)
    await end(processes("supervisor"))
    await asyncio.wait_for(none_left(open_local(state_dir, Settings(retention_days=1e-9))), 30)
