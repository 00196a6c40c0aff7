"""Beside the ranks the cards are looked at; a tool that is slow, hangs or lies has nothing to do with the job."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.launcher.usage import watching

from ..conftest import LAUNCHER, Run, lives, wait_until

NPU = "huawei_npu_arm64"
QUICK = f"""
import sys
sys.path.insert(0, {str(LAUNCHER.parent)!r})
from launcher.usage import watching
watching.FIRST_SECONDS = watching.PERIOD_SECONDS = 0.05
watching.DEADLINE_SECONDS, watching.ENOUGH_LOOKS = 0.5, 3
from launcher.runner import main
sys.exit(main(sys.argv[1:]))
"""
HEAD = """
| npu-smi 24.1.0                   Version: 24.1.0                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
"""

Tool = Callable[[str], Path]


def table(*busy: object) -> str:
    """What `npu-smi info` prints of cards that are as busy as this."""
    rows = [
        f"| {card}     910B1               | OK            | 89.1        32                0    / 0             |\n"
        f"| 0                         | 0000:C1:00.0  | {one}           0    / 0          3437 / 65536         |\n"
        for card, one in enumerate(busy)
    ]
    return HEAD + "".join(rows)


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """An `npu-smi` on PATH that runs a shell script; each run is noted in `runs`."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def make(script: str) -> Path:
        path = folder / "npu-smi"
        fresh = folder / "fresh"
        fresh.write_text(f'#!/bin/sh\necho $$ >> "{folder}/runs"\n{script}\n')
        fresh.chmod(0o755)
        fresh.replace(path)
        return folder

    return make


@pytest.fixture
def quick(run: Run) -> Run:
    """A launcher that looks twenty times a second, at two cards of a board of four."""
    run.command = [sys.executable, "-c", QUICK]
    return run.shell("exec sleep 60", device=NPU, nodes=1, cards=2, devices=[[1, 3]])


def says(folder: Path, *busy: object) -> str:
    (folder / "said").write_text(table(*busy))
    return f'cat "{folder}/said"'


def looks(folder: Path) -> list[int]:
    """The pids of all runs of the tool."""
    try:
        return [int(pid) for pid in (folder / "runs").read_text().split()]
    except FileNotFoundError:
        return []


def usage(run: Run) -> Any:
    status = run.status()
    return status and status["usage"] and {**status["usage"], "idle_since": status["idle_since"]}


def ended(run: Run) -> None:
    run.launchers[0].send_signal(signal.SIGTERM)
    run.wait()


def test_the_status_tells_of_this_nodes_cards_alone_and_since_when_they_do_nothing(quick: Run, tool: Tool) -> None:
    folder = tool("true")
    tool(says(folder, 90, 0, 90, 4))
    quick.start()
    seen = wait_until(lambda: usage(quick), "a look at the cards")
    assert [card["id"] for card in seen["cards"]] == [1, 3]
    assert seen["idle_since"] is not None and seen["cards"][0]["memory_total_mb"] == 65536.0
    tool(says(folder, 0, 0, 0, 60))
    seen = wait_until(lambda: usage(quick) if not usage(quick)["idle_since"] else None, "a card at work")
    assert seen["cards"][1]["most"] == 60.0 and seen["cards"][0]["most"] == 0.0
    ended(quick)
    assert usage(quick)["cards"][1]["most"] == 60.0, "what was seen stays when the job has ended"


def test_a_card_that_does_not_tell_is_not_called_idle(quick: Run, tool: Tool) -> None:
    tool(says(tool("true"), 0, 0, 0, "NA"))
    quick.start()
    seen = wait_until(lambda: usage(quick), "a look at the cards")
    assert seen["idle_since"] is None and seen["cards"][1]["mean"] is None
    ended(quick)


def test_cards_that_were_never_used_are_noted_at_the_end(quick: Run, tool: Tool) -> None:
    tool(says(tool("true"), 0, 80, 0, 0))
    quick.start()
    wait_until(lambda: len(looks(quick.folder / "tools")) > 5, "some looks", 30)
    ended(quick)
    assert quick.status()["notes"][-1] == "1 of its 2 cards were never used (3): ask for fewer next time"


@pytest.mark.parametrize(
    "script", ["exit 1", "echo garbage", "head -c 3000000 /dev/zero", "echo 命令未找到 >&2; exit 127"]
)
def test_a_tool_that_fails_or_prints_anything_is_unknown_and_the_job_goes_on(
    quick: Run, tool: Tool, script: str
) -> None:
    folder = tool(script)
    quick.shell("sleep 0.7", device=NPU)
    assert quick.go() == 0
    assert usage(quick) is None and len(looks(folder)) >= 2


def test_a_tool_that_hangs_is_killed_and_does_not_hold_the_end_up(quick: Run, tool: Tool) -> None:
    folder = tool("exec sleep 1000")
    quick.start()
    first = wait_until(lambda: looks(folder), "a look")[0]
    wait_until(lambda: not lives(first), "its end", 30)
    ended(quick)
    wait_until(lambda: not any(map(lives, looks(folder))), "no tool to be left")


def test_one_that_cannot_be_killed_is_not_joined_by_a_second(quick: Run, tool: Tool) -> None:
    """Stopped in the driver a process ignores even SIGKILL; a child of its own session that lives on is like that."""
    folder = tool("true")
    loop, apart = watching.Loop(), {os.getpid()}  # one that surely lives
    plan = type("P", (), {"devices": [[0]], "inside": None, "cards": 1, "device": NPU})()
    watch = watching.CardWatch(loop, plan, 0, apart, lambda: None)
    watch._look()
    assert not (folder / "runs").exists() and watch._child is None
    watch.stop()


def test_without_cards_or_without_their_tool_nothing_is_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.command = [sys.executable, "-c", QUICK]
    run.shell("sleep 0.3")
    assert run.go() == 0 and usage(run) is None
    monkeypatch.setenv("PATH", "/nowhere")
    assert watching.command(NPU) == [] and watching.command("cpu") == []


def test_gpus_are_asked_by_their_own_tool(quick: Run, tool: Tool) -> None:
    folder = tool("true")
    row = "{}, NVIDIA A100-SXM4-80GB, GPU-{}, 535.1, 34, 61.2, {}, 400, 81920, Disabled"
    rows = "\n".join(row.format(card, card, busy) for card, busy in enumerate(("[N/A]", "2", "50", "0")))
    (folder / "rows").write_text(rows)
    nvidia = folder / "nvidia-smi"
    nvidia.write_text(f'#!/bin/sh\ncat "{folder}/rows"\n')
    nvidia.chmod(0o755)
    quick.plan(device="nvidia_gpu_amd64")
    quick.start()
    seen = wait_until(lambda: usage(quick), "a look at the cards")
    assert [(card["id"], card["utilization"]) for card in seen["cards"]] == [(1, 2.0), (3, 0.0)]
    assert seen["idle_since"] is not None
    ended(quick)
