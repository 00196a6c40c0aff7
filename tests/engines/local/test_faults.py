"""Kills, full disks, strangers and garbage: every job is accounted for, and what went wrong is said."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from jupyter_aiarts.engines.base import Caller, JobRecord
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.engine import LocalEngine
from jupyter_aiarts.engines.local.folder import StateFolder
from jupyter_aiarts.engines.local.process import Identity, identify, is_alive, send, take_lock
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.local.supervisor import lock_of
from jupyter_aiarts.errors import JobUnreadable, StateUnusable
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.model.reading import read_spec
from tests.engines.reaching import job_reached, reached

Submit = Callable[..., Awaitable[JobRecord]]
Until = Callable[..., Awaitable[JobRecord]]
Printed = Callable[..., Awaitable[None]]
Processes = Callable[[str], list[int]]

FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(600)"
KILLS = 100


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


async def test_a_killed_launcher_is_lost_with_the_reason_and_leaves_nothing_running(
    submit: Submit, until: Until, printed: Printed, processes: Processes
) -> None:
    source = "import subprocess, sys, time\nsubprocess.Popen(['setsid', 'sleep', '600'])\n" + FOREVER
    job = await submit(source)
    await printed(job.id, "up")
    kill(processes("launcher")[0])
    done = await until(job.id)
    assert (done.phase, done.cause.code, done.cause.evidence) == (Phase.LOST, "launcher-lost", ("up",))
    await asyncio.to_thread(_let_end, processes("rank"))  # killed, and on its way out
    assert processes("rank") == []


async def test_a_killed_rank_is_the_users_failure(
    submit: Submit, until: Until, printed: Printed, processes: Processes
) -> None:
    job = await submit(FOREVER)
    await printed(job.id, "up")
    kill(processes("rank")[0])
    done = await until(job.id)
    assert (done.phase, done.cause.values["exit_code"], done.cause.values["signal"]) == (Phase.FAILED, 137, "SIGKILL")


async def test_a_job_outlives_its_supervisor_and_the_next_one_takes_over(
    engine: LocalEngine, submit: Submit, until: Until, printed: Printed, processes: Processes
) -> None:
    job = await submit(FOREVER)
    await printed(job.id, "up")
    kill(processes("supervisor")[0])
    assert (await engine.get(job.id)).phase is Phase.RUNNING
    await engine.act(job.id, Move.STOP)
    assert (await until(job.id)).phase is Phase.STOPPED


async def test_a_supervisor_that_dies_just_when_it_is_needed_is_replaced_soon(
    engine: LocalEngine, submit: Submit, until: Until
) -> None:
    """Its lock is still held when the job is submitted, and gone a moment later."""
    dying = take_lock(lock_of(engine.state.root))
    assert dying is not None
    job = await submit()
    os.close(dying)
    assert (await until(job.id, seconds=15)).phase is Phase.SUCCEEDED


async def test_a_job_outlives_every_process_that_knew_it(
    engine: LocalEngine, state_dir: Path, submit: Submit, printed: Printed, processes: Processes
) -> None:
    """A new server on the same folder shows the running job and can stop it."""
    job = await submit(FOREVER)
    await printed(job.id, "up")
    kill(processes("supervisor")[0])
    other = open_local(state_dir)
    found = await other.get(job.id)
    assert (found.phase, found.spec) == (Phase.RUNNING, job.spec)
    await other.act(job.id, Move.STOP)
    await job_reached(other, job.id, lambda record: record.phase is Phase.STOPPED, 60)
    await other.aclose()


def test_a_pid_that_was_used_again_is_never_signalled() -> None:
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        real = identify(sleeper.pid)
        assert real is not None
        stale = Identity(boot=real.boot, pidns=real.pidns, pid=real.pid, start=str(int(real.start) - 1))
        rebooted = Identity(boot="other", pidns=real.pidns, pid=real.pid, start=real.start)
        assert [is_alive(stale), send(stale, signal.SIGKILL), send(rebooted, signal.SIGKILL)] == [False] * 3
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()


async def settled(engine: LocalEngine, job_id: str) -> None:
    """Until the supervisor has written the job's end down and will not touch its files again."""
    while engine.state.is_active(job_id):
        await asyncio.sleep(0.01)


@pytest.fixture
def submitter(state_dir: Path, caller: Caller) -> Iterator[Callable[[int], subprocess.Popen[str]]]:
    """Start a process that submits jobs from a number on; ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(first: int) -> subprocess.Popen[str]:
        words = [sys.executable, str(Path(__file__).with_name("submitter.py")), str(state_dir), str(caller.folder)]
        server = subprocess.Popen([*words, str(first)], stdout=subprocess.PIPE, text=True)
        started.append(server)
        return server

    yield start
    for server in started:
        server.kill()
        server.wait()
        assert server.stdout is not None
        server.stdout.close()


@pytest.mark.timeout(240)
async def test_a_hundred_kills_at_random_moments_lose_no_job_and_double_none(
    engine: LocalEngine,
    caller: Caller,
    processes: Processes,
    submitter: Callable[[int], subprocess.Popen[str]],
) -> None:
    """Server, supervisor, launcher and rank are killed while jobs come and go; each job is found, once, with an end."""
    # One step: no kill can come between making the mark and having made it.
    source = "import os, sys, time\nos.mkdir(f'ran-{sys.argv[1]}-{os.getpid()}')\ntime.sleep(.3)"
    (caller.folder / "train.py").write_text(source)
    chance = random.Random(20261116)
    accepted: dict[str, int] = {}
    server = submitter(0)
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(0.05, 0.25))
        kind = chance.choices(["server", "supervisor", "launcher", "rank"], [1, 3, 3, 3])[0]
        if kind == "server":
            server.kill()
            accepted |= await asyncio.to_thread(_acknowledged, server)
            server = submitter(1 + max(accepted.values(), default=-1))
        elif victims := processes(kind):
            kill(chance.choice(victims))
    server.send_signal(signal.SIGKILL)
    accepted |= await asyncio.to_thread(_acknowledged, server)
    records = await asyncio.wait_for(_settled(engine), 120)
    ids = [record.id for record in records]
    assert len(ids) == len(set(ids))
    assert set(accepted) <= set(ids)
    assert len(accepted) > 20, "the test must have had something to lose"
    assert len(ids) - len(accepted) <= KILLS, "at most one job per kill was accepted without a word about it"
    assert {record.phase for record in records} <= {Phase.SUCCEEDED, Phase.FAILED, Phase.LOST}
    assert all(record.cause.code != "unknown" for record in records)
    # A launcher that has just written its summary, and a rank that was killed, are on their way out.
    await asyncio.to_thread(_let_end, processes("launcher") + processes("rank"))
    assert processes("rank") + processes("launcher") == []
    for number in accepted.values():
        assert len(list(caller.folder.glob(f"ran-{number}-*"))) <= 1, f"job {number} ran twice"


def _acknowledged(server: subprocess.Popen[str]) -> dict[str, int]:
    """Job ids that the killed server had told, with their numbers; a torn last line was not told."""
    assert server.stdout is not None
    lines = [line.split() for line in server.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    return {job_id: int(number) for number, job_id in lines}


async def _settled(engine: LocalEngine) -> tuple[JobRecord, ...]:
    """Every job, once none waits or runs."""
    return await reached(engine, engine.snapshot, lambda jobs: all(record.phase.is_terminal for record in jobs))


@pytest.mark.timeout(240)
async def test_a_thousand_submissions_at_once_are_a_thousand_jobs(engine: LocalEngine, caller: Caller) -> None:
    (caller.folder / "train.py").write_text("")
    board = {"script": "train.py", "device": "huawei_npu_arm64", "devices": 8}
    readings = [read_spec({**board, "submission_id": f"s{number // 2}"}) for number in range(2000)]
    answers = await asyncio.gather(*(engine.submit(reading, caller) for reading in readings))
    assert sum(created for _, created in answers) == 1000
    assert len({record.id for record, _ in answers}) == 1000
    assert {record.id for record in await engine.snapshot()} == {record.id for record, _ in answers}
    for record in await engine.snapshot():
        with contextlib.suppress(Exception):
            await engine.act(record.id, Move.STOP)


async def test_a_corrupt_job_shows_as_unreadable_and_hides_nobody(
    engine: LocalEngine, state_dir: Path, submit: Submit, until: Until
) -> None:
    good, bad = await submit(), await submit()
    for job in (good, bad):
        await until(job.id)
        await settled(engine, job.id)
    (state_dir / "jobs" / bad.id / "job.json").write_bytes(b'{"id": "torn')
    fresh = open_local(state_dir)
    found = {record.id: record for record in await fresh.snapshot()}
    assert found[good.id].phase is Phase.SUCCEEDED
    assert found[bad.id].cause.code == "job-unreadable"
    with pytest.raises(JobUnreadable):
        await fresh.act(bad.id, Move.RERUN)
    await fresh.delete(bad.id)
    assert [record.id for record in await fresh.snapshot()] == [good.id]
    await fresh.aclose()


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"\xff\xfe", b'{"id": 1}', b"{}" * 10])
async def test_garbage_in_a_job_file_is_never_a_crash(
    engine: LocalEngine, state_dir: Path, submit: Submit, until: Until, content: bytes
) -> None:
    job = await submit()
    await until(job.id)
    await settled(engine, job.id)
    (state_dir / "jobs" / job.id / "job.json").write_bytes(content)
    assert (await open_local(state_dir).snapshot())[0].cause.code == "job-unreadable"


async def test_a_job_file_that_is_a_link_is_not_followed(
    engine: LocalEngine, state_dir: Path, tmp_path: Path, submit: Submit, until: Until
) -> None:
    job = await submit()
    await until(job.id)
    await settled(engine, job.id)
    path = state_dir / "jobs" / job.id / "job.json"
    stolen = tmp_path / "elsewhere.json"
    shutil.move(path, stolen)
    path.symlink_to(stolen)
    assert (await open_local(state_dir).snapshot())[0].cause.code == "job-unreadable"


def test_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(StateUnusable, match="other users"):
        StateFolder.open(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(StateUnusable, match="12345"):
        StateFolder.open(folder)


def test_a_folder_of_a_newer_version_is_left_alone(state_dir: Path) -> None:
    StateFolder.open(state_dir)
    (state_dir / "version").write_text("99\n")
    with pytest.raises(StateUnusable, match="99"):
        StateFolder.open(state_dir)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of a few hundred kilobytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
async def test_a_full_disk_refuses_the_job_and_says_so(tiny_disk: Path, caller: Caller) -> None:
    (caller.folder / "train.py").write_text("print(1)")
    engine = open_local(tiny_disk / "state")
    (tiny_disk / "ballast").write_bytes(b"x" * (200 << 10))
    with contextlib.suppress(OSError):
        (tiny_disk / "more").write_bytes(b"x" * (256 << 10))
    with pytest.raises(StateUnusable, match="No space left") as refused:
        await engine.submit(read_spec({"script": "train.py"}), caller)
    assert "Free some space" in refused.value.hint
    (tiny_disk / "more").unlink()
    assert await engine.snapshot() == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
async def test_a_read_only_folder_still_shows_its_jobs(tiny_disk: Path, caller: Caller) -> None:
    (caller.folder / "train.py").write_text("print(1)")
    state = tiny_disk / "state"
    engine = open_local(state, Settings(cpus=2))
    record, _ = await engine.submit(read_spec({"script": "train.py"}), caller)
    await _settled(engine)
    sealed = tiny_disk.with_name("sealed")
    sealed.mkdir()
    subprocess.run(["mount", "--bind", tiny_disk, sealed], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", sealed], check=True)
        await _only_reading(sealed / "state", record.id, caller)
    finally:
        subprocess.run(["umount", "-l", sealed], check=True)


async def _only_reading(state: Path, job_id: str, caller: Caller) -> None:
    reader = open_local(state, Settings(cpus=3))
    assert [found.id for found in await reader.snapshot()] == [job_id]
    with pytest.raises(StateUnusable, match="[Rr]ead-only"):
        await reader.submit(read_spec({"script": "train.py"}), caller)
    with pytest.raises(StateUnusable, match="[Rr]ead-only"):
        await reader.act(job_id, Move.RERUN)


async def test_secrets_are_in_a_file_of_their_own_that_only_the_owner_reads(
    engine: LocalEngine, state_dir: Path, submit: Submit, until: Until, processes: Processes
) -> None:
    job = await submit(secret_env={"MY_TOKEN": "open sesame"})
    await until(job.id)
    await settled(engine, job.id)
    while processes("launcher"):  # its last status comes after its summary
        await asyncio.sleep(0.01)
    holding = [path for path in state_dir.rglob("*") if path.is_file() and b"open sesame" in path.read_bytes()]
    assert [path.name for path in holding] == ["secrets.json"]
    assert [path for path in state_dir.rglob("*") if path.stat().st_mode & 0o077] == []


async def test_a_job_of_another_host_is_elsewhere_and_never_lost(
    engine: LocalEngine, state_dir: Path, submit: Submit, printed: Printed, processes: Processes, until: Until
) -> None:
    job = await submit(FOREVER)
    await printed(job.id, "up")
    path = state_dir / "jobs" / job.id / "job.json"
    here = path.read_bytes()
    for pid in processes("supervisor"):
        kill(pid)
    path.write_text(json.dumps({**json.loads(here), "host": "far-away"}))
    found = await open_local(state_dir).get(job.id)
    assert (found.phase, found.cause.code) == (Phase.RUNNING, "elsewhere")
    path.write_bytes(here)


def _let_end(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            _wait_readable(handle, 5)
            os.close(handle)


def _wait_readable(handle: int, seconds: float) -> None:
    import select

    select.select([handle], [], [], seconds)
