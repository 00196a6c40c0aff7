"""When a job that waits on this machine may start: from what runs, waits and has ended here."""

from __future__ import annotations

from typing import Any

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.expected import band_of
from jupyter_aiarts.engines.local.slots import Machine, Taken, Waiting
from jupyter_aiarts.engines.observed import between_starts, durations
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import CPU, JobSpec
from jupyter_aiarts.model.times import seconds_between

NOW = "2026-05-01T12:00:00.000000Z"
NPU = "huawei_npu_arm64"
MACHINE = Machine(cpus=8, cards={NPU: 8})


def spec(cards: int = 0, cpu: float = 8, **more: Any) -> JobSpec:
    device = {"device": NPU, "devices": cards} if cards else {}
    return JobSpec(name="x", cpu=cpu, grace_seconds=0, **device, **more)


def taken(job: str, cards: int = 0, cpus: float = 8) -> Taken:
    return Taken(id=job, device=NPU if cards else CPU, cpus=cpus, devices=(tuple(range(cards)),))


def record(job: str, phase: Phase, what: JobSpec, started: str | None = None, ended: str | None = None) -> JobRecord:
    return JobRecord(
        id=job, cluster="local", owner="al", phase=phase, run=1, created=NOW, spec=what, cause=Cause(code="x"),
        started=started, ended=ended,
    )  # fmt: skip


def band(mine: str, running: list[Taken], waiting: list[Waiting], records: list[JobRecord]) -> Any:
    found = band_of(mine, MACHINE, running, waiting, records, {"r": "2026-05-01T11:30:00.000000Z"}, NOW)
    return found and (round(seconds_between(NOW, found.earliest)), round(seconds_between(NOW, found.latest)))


def waiting(job: str, what: JobSpec, queued: str = NOW) -> Waiting:
    return Waiting(id=job, spec=what, queued=queued)


def test_a_time_limit_of_what_runs_bounds_the_wait_and_counts_from_when_it_was_placed() -> None:
    records = [record("r", Phase.RUNNING, spec(max_hours=1))]
    assert band("w", [taken("r")], [waiting("w", spec())], records) == (0, 1860)


def test_without_limits_and_history_nothing_is_said() -> None:
    assert band("w", [taken("r")], [waiting("w", spec())], [record("r", Phase.RUNNING, spec())]) is None
    assert band("nobody", [taken("r")], [], []) is None


def test_jobs_that_have_ended_here_say_what_is_usual() -> None:
    ended = [
        record(f"e{n}", Phase.SUCCEEDED, spec(), "2026-05-01T10:00:00Z", f"2026-05-01T10:{minutes}:00Z")
        for n, minutes in enumerate((40, 40, 50, 50, 50))
    ]
    records = [record("r", Phase.RUNNING, spec()), *ended]
    assert band("w", [taken("r")], [waiting("w", spec())], records) == (600, 1800)


def test_those_ahead_count_and_those_who_can_never_run_do_not() -> None:
    records = [record("r", Phase.RUNNING, spec(max_hours=1))]
    first, never = waiting("a", spec(max_hours=2), "2026-05-01T11:00:00Z"), waiting("n", spec(cards=64), "2026")
    assert band("w", [taken("r")], [first, never, waiting("w", spec())], records) == (0, 1860 + 7260)


def test_cards_of_one_ring_are_not_taken_for_granted_because_enough_are_free_in_sum() -> None:
    records = [
        record("r", Phase.RUNNING, spec(cards=6, max_hours=1)),
        record("s", Phase.RUNNING, spec(cards=2, max_hours=9)),
    ]
    running = [taken("r", 6, 1), Taken(id="s", device=NPU, cpus=1, devices=((6, 7),))]
    found = band("w", running, [waiting("w", spec(cards=4, cpu=1))], records)
    assert found is not None and found[1] > 8 * 3600


def test_what_was_stopped_or_lost_tells_nothing_about_how_long_jobs_take() -> None:
    times = ("2026-05-01T10:00:00Z", "2026-05-01T10:10:00Z")
    records = [record("a", phase, spec(), *times) for phase in Phase]
    assert durations(records, CPU) == [600.0, 600.0] and durations(records, NPU) == []
    assert durations([record("b", Phase.FAILED, spec(), "soon", "later")], CPU) == []


def test_starts_are_told_apart_by_what_lies_between_them() -> None:
    starts = ["2026-05-01T11:00:00Z", "2026-05-01T11:50:00Z", "2026-05-01T11:20:00Z", "2026-06-01T00:00:00Z", None, "x"]
    records = [record(str(n), Phase.RUNNING, spec(), at) for n, at in enumerate(starts)]
    assert between_starts(records, NOW) == ([1800.0, 1200.0], 600.0)
    assert between_starts([], NOW) == ([], 0.0)
