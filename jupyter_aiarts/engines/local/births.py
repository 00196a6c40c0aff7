"""Bringing launchers into the world: the plan, the lock each one holds for life, the detached process."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import jupyter_aiarts.launcher
from jupyter_aiarts.engines.local.folder import JobFolder, read_file, write_file
from jupyter_aiarts.engines.local.plan import Site, plan_of
from jupyter_aiarts.engines.local.process import Identity, identify, take_lock
from jupyter_aiarts.engines.local.reader import launcher_lock
from jupyter_aiarts.engines.local.records import JobFile, Placed, RunFile, Settings, Summary
from jupyter_aiarts.launcher.freeports import free_ports

LAUNCHER = Path(jupyter_aiarts.launcher.__file__).with_name("__main__.py")


def next_attempt(run: Path) -> int:
    """One more than the attempts this run has had: a pause keeps each one's placed.json under its number."""
    return 1 + len(list(run.glob("placed.*.json")))


def used_seconds(run: Path) -> float:
    """Running time of earlier attempts: `max_hours` counts what ran, whatever lies between."""
    summaries = (read_file(path, Summary) for path in run.glob("summary.*.json"))
    return sum(summary.running_seconds for summary in summaries if summary)


def write_plan(job: JobFile, folder: JobFolder, placed: Placed, settings: Settings, runtime: Path) -> None:
    """Put the decision and the plan into the run's folder; launchers may be born from then on."""
    path = folder.run(job.run)
    run = read_file(path / "run.json", RunFile)
    assert run is not None, "a job is never without its run.json: both are made in one draft"
    site = Site(
        folder=path,
        runtime=runtime,
        secrets=folder.secrets_file if folder.secrets_file.exists() else None,
        # TensorFlow's workers share this machine's address, so each has a port of its own.
        port=free_ports(job.spec.nodes * max(job.spec.devices, 1) if job.spec.framework == "tensorflow" else 1),
        token=secrets.token_hex(16),
        log_limit=int(settings.log_limit_gb * (1 << 30)),
        used_seconds=used_seconds(path),
    )
    (path / "output").mkdir(mode=0o700, exist_ok=True)
    write_file(path / "plan.json", plan_of(job, run, placed, site))
    write_file(path / "placed.json", placed)


def give_birth(run: Path, node: int, attempt: int) -> Identity | None:
    """Start one node's launcher, detached, holding its lock before it exists; None when it has one already."""
    folder = run / f"node-{node}"
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = take_lock(launcher_lock(run, node, attempt))
    if lock is None:
        return None
    # Held back until the launcher can hear it: a stop in its first milliseconds must not be its silent end.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
    words = os.open(folder / "launcher.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        born = subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER), str(run / "plan.json"), str(node), str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            pass_fds=(lock,),
            start_new_session=True,
            cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath)},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGINT])
        os.close(words)
        os.close(lock)
    born.returncode = 0  # the supervisor reaps all its children in one place
    return identify(born.pid)
