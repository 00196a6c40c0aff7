"""Launchers that look twenty times a second, and tools of a driver that say what a test has them say."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..conftest import LAUNCHER, Run

if TYPE_CHECKING:
    from jupyter_aiarts.launcher.usage.carduse import Reading
    from jupyter_aiarts.launcher.usage.gpus import Gpus
    from jupyter_aiarts.launcher.usage.npus import Npus

NPU, GPU = "huawei_npu_arm64", "nvidia_gpu_amd64"
QUICK = f"""
import os, sys
sys.path.insert(0, {str(LAUNCHER.parent)!r})
from launcher.usage import carduse, tool, watching
watching.FIRST_SECONDS = watching.PERIOD_SECONDS = 0.05
tool.DEADLINE_SECONDS, carduse.ENOUGH_LOOKS = float(os.environ.get("DEADLINE", "20")), 3
from launcher import init, pod, runner
main = {{"pod": pod.main, "prepare": init.main}}.get(sys.argv[1], runner.main)
sys.exit(main(sys.argv[1:]))
"""

Tool = Callable[..., Path]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """A tool on PATH that runs a shell script; each run is noted in `runs`, and its words in `words`."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def make(script: str, name: str = "npu-smi") -> Path:
        fresh = folder / "fresh"
        fresh.write_text(f'#!/bin/sh\necho $$ >> "{folder}/runs"\necho "$@" >> "{folder}/words"\n{script}\n')
        fresh.chmod(0o755)
        fresh.replace(folder / name)
        return folder

    return make


@pytest.fixture
def quick(run: Run) -> Run:
    """A launcher that looks twenty times a second, at two cards of a board of four."""
    run.command = [sys.executable, "-c", QUICK]
    return run.shell("exec sleep 60", device=NPU, nodes=1, cards=2, devices=[[1, 3]])


def looks(folder: Path) -> list[int]:
    """The pids of all runs of the tool."""
    try:
        return [int(pid) for pid in (folder / "runs").read_text().split()]
    except FileNotFoundError:
        return []


def usage(run: Any) -> Any:
    status = run.status()
    return status and status["usage"] and {**status["usage"], "idle_since": status["idle_since"]}


def ended(run: Any) -> None:
    run.launchers[0].send_signal(signal.SIGTERM)
    run.wait()


def heard(cards: Gpus | Npus, said: Callable[[Sequence[str]], str]) -> tuple[list[Reading], list[str]]:
    """One look with a tool that says this, and all that it was asked."""
    talk, asked = cards.look(), []
    try:
        words = next(talk)
        while True:
            asked.append(" ".join(words))
            words = talk.send(said(words))
    except StopIteration as end:
        return end.value, asked
