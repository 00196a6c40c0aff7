"""Finished jobs are kept until deleted, unless the admin says for how long; then each says so, and only those go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.engine import LocalEngine
from jupyter_aiarts.engines.local.folder import StateFolder
from jupyter_aiarts.engines.local.picture import Picture
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.local.retention import due, kept_until
from jupyter_aiarts.engines.local.round import Round
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec

Submit = Callable[..., Awaitable[JobRecord]]
Until = Callable[..., Awaitable[JobRecord]]


def record(phase: Phase, ended: str | None) -> JobRecord:
    return JobRecord(
        id="a123456789", cluster="local", owner="a", phase=phase, run=1, created="", spec=JobSpec(), ended=ended,
        cause=Cause(code="x"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("phase", "ended", "days", "until"),
    [
        (Phase.SUCCEEDED, "2026-11-01T00:00:00.000000Z", 10, "2026-11-11T00:00:00.000000Z"),
        (Phase.SUCCEEDED, "2026-11-01T00:00:00.000000Z", None, None),
        (Phase.RUNNING, None, 10, None),
        (Phase.PAUSED, "2026-11-01T00:00:00.000000Z", 10, None),
    ],
)
def test_only_finished_jobs_have_an_end(phase: Phase, ended: str | None, days: float | None, until: str | None) -> None:
    job = record(phase, ended)
    assert kept_until(job, days) == until
    assert due([job], days, "2026-11-12T00:00:00.000000Z") == ([job.id] if until else [])


async def test_jobs_past_their_time_are_removed_and_others_stay(
    engine: LocalEngine, state_dir: Path, submit: Submit, until: Until
) -> None:
    job = await submit()
    await until(job.id)
    state = StateFolder.open(state_dir)
    Round(state, engine.runtime).clean()
    assert job.id in state.job_ids(), "kept for ever by default"
    state.record_settings(Settings(retention_days=100))
    Round(state, engine.runtime).clean()
    assert "100 days" in Picture(state).read(job.id).notes[-1]
    state.record_settings(Settings(retention_days=1e-9))
    Round(state, engine.runtime).clean()
    assert state.job_ids() == set()
