"""Beside the ranks the cards are looked at; a tool that is slow, hangs or lies has nothing to do with the job."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.launcher.clock import stamp
from jupyter_aiarts.launcher.crew import Rank
from jupyter_aiarts.launcher.loop import Loop
from jupyter_aiarts.launcher.plan import from_json
from jupyter_aiarts.launcher.tree import Tree
from jupyter_aiarts.launcher.usage import watching
from jupyter_aiarts.launcher.usage.carduse import CardUse, Reading
from jupyter_aiarts.launcher.usage.npus import Npus
from jupyter_aiarts.launcher.usage.tool import Tool as DriversTool
from tests.at_once import write_at_once

from ..conftest import Run, lives, wait_until
from .conftest import GPU, NPU, QUICK, Tool, ended, looks, usage

HEAD = """
| npu-smi 24.1.0                   Version: 24.1.0                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
"""
RULE = "+===========================+===============+====================================================+\n"


def table(*busy: object) -> str:
    """What `npu-smi info` prints of cards that are as busy as this."""
    rows = [
        f"| {card}     910B1               | OK            | 89.1        32                0    / 0             |\n"
        f"| 0                         | 0000:C1:00.0  | {one}           0    / 0          3437 / 65536         |\n"
        for card, one in enumerate(busy)
    ]
    return HEAD + "".join(rows) + RULE


def says(folder: Path, *busy: object) -> str:
    write_at_once(folder / "said", table(*busy))
    return f'cat "{folder}/said"'


def most(seen: Any, name: str) -> Any:
    """The most that a number was; beside it are the last and the mean."""
    return seen[name][2]


def test_the_status_tells_of_this_nodes_cards_alone_and_since_when_they_do_nothing(quick: Run, tool: Tool) -> None:
    folder = tool("true")
    tool(says(folder, 90, 0, 90, 4))
    quick.start()
    seen = wait_until(lambda: usage(quick), "a look at the cards")
    assert [card["id"] for card in seen["cards"]] == [1, 3]
    assert seen["idle_since"] is not None and seen["cards"][0]["total"] == 65536.0
    tool(says(folder, 0, 0, 0, 60))
    seen = wait_until(lambda: usage(quick) if not usage(quick)["idle_since"] else None, "a card at work")
    assert most(seen["cards"][1], "utilization") == 60.0 and most(seen["cards"][0], "utilization") == 0.0
    ended(quick)
    assert most(usage(quick)["cards"][1], "utilization") == 60.0, "what was seen stays when the job has ended"


def test_a_card_that_does_not_tell_is_not_called_idle(quick: Run, tool: Tool) -> None:
    tool(says(tool("true"), 0, 0, 0, "NA"))
    quick.start()
    seen = wait_until(lambda: usage(quick), "a look at the cards")
    assert seen["idle_since"] is None and seen["cards"][1]["utilization"] == [None, None, None]
    ended(quick)


def test_a_card_that_falls_off_the_bus_is_told_as_gone_and_hides_no_other(quick: Run, tool: Tool) -> None:
    folder = tool("true")
    tool(says(folder, 0, 80, 0, 60))
    quick.start()
    wait_until(lambda: usage(quick), "a look at the cards")
    tool(says(folder, 0, 30))
    wait_until(lambda: usage(quick)["cards"][0]["utilization"][0] == 30.0, "news")
    told = [(card["id"], card["health"], card["utilization"][0]) for card in usage(quick)["cards"]]
    assert told == [(1, "ok", 30.0), (3, "gone", None)]
    tool("echo garbage")
    ended(quick)
    assert [most(card, "utilization") for card in usage(quick)["cards"]] == [80.0, 60.0]


@pytest.mark.parametrize("script", ["echo garbage", "exit 1", 'head -n 8 "$0.said"'])
def test_what_a_tool_does_not_tell_any_more_is_unknown_and_what_was_seen_stays(
    quick: Run, tool: Tool, script: str
) -> None:
    """Garbage, nothing at all, and a table that is cut off in the middle."""
    folder = tool("true")
    tool(says(folder, 0, 80, 0, 60))
    quick.start()
    wait_until(lambda: usage(quick), "a look at the cards")
    tool(script.replace("$0.said", f"{folder}/said"))
    wait_until(lambda: usage(quick)["cards"][0]["utilization"][0] is None, "a look that tells nothing")
    told = [(card["id"], card["health"], card["power"], card["utilization"][2]) for card in usage(quick)["cards"]]
    assert told == [(1, None, None, 80.0), (3, None, None, 60.0)]
    ended(quick)


def reading(busy: float) -> Reading:
    return Reading(0, "910B", busy, 1.0, 2.0, "ok")


def test_cards_of_which_nothing_is_told_for_five_minutes_are_not_called_idle_any_more() -> None:
    cards = CardUse([0], 1)
    cards.take([reading(0.0)], 1000.0)
    since = cards.idle_since
    cards.take([], 1002.0)
    cards.take([reading(0.0)], 1003.0)
    assert since is not None and cards.idle_since == since, "a tool that fails once counts nothing anew"
    cards.take([], 1304.0)
    assert cards.idle_since is None


def test_a_clock_that_is_put_right_makes_no_card_idle_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = CardUse([0], 1)
    cards.take([reading(0.0)], 1000.0)
    before, later = cards.idle_since, time.time() + 24 * 3600
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: later)
        cards.take([reading(0.0)], 1030.0)
    assert before is not None and cards.idle_since is not None and cards.idle_since > before
    assert cards.idle_since == stamp(later - 30)


def test_cards_that_nobody_ever_saw_are_not_called_gone(quick: Run, tool: Tool) -> None:
    folder = tool("true")
    tool(says(folder, 0, 30))  # a board with two, and the job was given 1 and 3
    quick.start()
    wait_until(lambda: len(looks(folder)) > 3, "some looks", 30)
    assert usage(quick)["cards"] == []
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
    looked = f'until [ "$(cat "{folder}/runs" | wc -l)" -ge 3 ]; do sleep 0.02; done'
    quick.shell(looked, device=NPU)
    assert quick.go() == 0
    assert usage(quick)["cards"] == [] and len(looks(folder)) >= 3


def test_a_tool_that_hangs_is_killed_and_does_not_hold_the_end_up(
    quick: Run, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEADLINE", "0.5")
    folder = tool("exec sleep 1000")
    quick.start()
    first = wait_until(lambda: looks(folder), "a look")[0]
    wait_until(lambda: not lives(first), "its end", 30)
    ended(quick)
    wait_until(lambda: not any(map(lives, looks(folder))), "no tool to be left")


def test_one_that_cannot_be_killed_is_not_joined_by_a_second(quick: Run, tool: Tool) -> None:
    """Stopped in the driver a process ignores even SIGKILL; a child of its own session that lives on is like that."""
    folder = tool("true")
    heard: list[Any] = []
    DriversTool(Loop(), Npus([], 1), {os.getpid()}).ask(heard.append)  # one that surely lives
    assert heard == [[]] and not (folder / "runs").exists()


def test_one_that_cannot_be_killed_is_remembered_when_the_ranks_are_started_again(
    quick: Run, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each restart adds another beside it, and the job's end waits for what no signal ends."""
    folder = tool("true")
    monkeypatch.setattr(watching, "FIRST_SECONDS", 0.0)
    loop, tree = Loop(), Tree(os.getpid(), adopting=True)
    watch = watching.UsageWatch(loop, from_json(quick.document), 0, str(quick.folder), tree, lambda: loop.stop(0))
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as hung, subprocess.Popen(["true"]) as over:
        try:
            over.wait()
            tree.apart.update((hung.pid, over.pid))
            watch.start([])
            assert tree.apart == {hung.pid}
            assert hung.pid not in [one.pid for one in tree.everything(tree.look_around(), ())]
            loop.run()  # until it has looked
        finally:
            watch.stop()
            hung.kill()
    assert looks(folder) == []


def test_a_rank_with_the_number_of_a_tool_that_is_gone_is_a_rank(quick: Run, tool: Tool) -> None:
    tool("true")
    unused: Any = None
    tree = Tree(os.getpid(), adopting=True)
    watch = watching.UsageWatch(Loop(), from_json(quick.document), 0, str(quick.folder), tree, lambda: None)
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            tree.apart.add(process.pid)
            watch.start([Rank(unused, process.pid, unused)])
            assert process.pid in [one.pid for one in tree.everything(tree.look_around(), ())]
        finally:
            watch.stop()
            process.kill()


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM])
def test_a_machine_that_had_no_room_for_the_tool_once_is_asked_for_it_again(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    tool(f"cat <<EOF\n{table(90, 10)}EOF")
    loop = Loop()
    asked = DriversTool(loop, Npus([], 2), set())
    told: list[Any] = []

    def full() -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as crowded:
        crowded.setattr(os, "fork", full)
        asked.ask(told.append)
    assert told == [[]]

    def heard(readings: Any) -> None:
        told.append(readings)
        loop.stop(0)

    asked.ask(heard)
    loop.run()
    assert [one.utilization for one in told[1]] == [90.0, 10.0]


def test_a_tool_that_was_taken_away_is_not_searched_for_at_each_look(tool: Tool) -> None:
    folder = tool("true")
    told: list[Any] = []
    asked = DriversTool(Loop(), Npus([], 2), set())
    (folder / "npu-smi").rename(folder / "away")
    asked.ask(told.append)
    (folder / "away").rename(folder / "npu-smi")
    asked.ask(told.append)
    assert told == [[], []] and looks(folder) == []


def test_without_cards_or_without_their_tool_nothing_is_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.command = [sys.executable, "-c", QUICK]
    run.shell("sleep 0.3")
    assert run.go() == 0 and usage(run)["cards"] == []
    monkeypatch.setenv("PATH", "/nowhere")
    heard: list[Any] = []
    DriversTool(Loop(), Npus([], 1), set()).ask(heard.append)
    assert heard == [[]]


def test_gpus_are_asked_by_their_own_tool(quick: Run, tool: Tool) -> None:
    folder = tool("true")
    row = "{}, NVIDIA A100-SXM4-80GB, GPU-{}, 535.1, 34, 61.2, {}, 400, 81920, Disabled"
    rows = "\n".join(row.format(card, card, busy) for card, busy in enumerate(("[N/A]", "2", "50", "0")))
    (folder / "rows").write_text(rows)
    tool(f'cat "{folder}/rows"', "nvidia-smi")
    quick.plan(device=GPU)
    quick.start()
    seen = wait_until(lambda: usage(quick), "a look at the cards")
    assert [(card["id"], card["utilization"][0]) for card in seen["cards"]] == [(1, 2.0), (3, 0.0)]
    assert seen["idle_since"] is not None
    ended(quick)


WORKING = """
import os, subprocess, sys, time
if os.environ["RANK"] == "0":
    held = bytearray(64 << 20)
    held[::4096] = b"x" * len(held[::4096])
    subprocess.Popen([sys.executable, "-c", "import time\\nwhile time.process_time() < 20: pass"])
time.sleep(60)
"""


def test_each_rank_is_told_with_what_its_children_take(run: Run) -> None:
    """One rank computes in a child and holds 64 MB, the other sleeps: nobody's share is anybody else's."""
    run.command = [sys.executable, "-c", QUICK]
    run.script(WORKING, cards=2, processes="card")
    run.start()

    def apart() -> Any:
        """One computes, the other has nothing to do any more: starting up takes both some time."""
        seen = usage(run)
        busy, idle = [rank["cpu"][0] for rank in seen["ranks"]] if seen and len(seen["ranks"]) == 2 else (0, 1)
        return seen["ranks"] if (busy or 0) > 0.2 and idle == 0 else None

    busy, idle = wait_until(apart, "one rank at work", 30)
    assert (busy["id"], idle["id"]) == (0, 1)
    wait_until(lambda: most(usage(run)["ranks"][0], "memory") > 64, "its memory", 30)
    ended(run)
    last = usage(run)["ranks"]
    assert most(last[0], "cpu") >= most(busy, "cpu"), "what was seen stays when the job has ended"
    assert most(last[1], "memory") < 64 < most(last[0], "memory")
    past = json.loads((run.folder / "node-0" / "usage.json").read_text())["ranks"]
    numbers = ("cpu", "memory", "read", "written")
    assert set(past["series"]) == {f"{rank} {number}" for rank in (0, 1) for number in numbers}
    assert past["times"] == sorted(past["times"]) and len(past["times"]) == len(past["series"]["0 cpu"])


def test_a_disk_that_takes_no_past_is_no_reason_to_end(quick: Run, tool: Tool) -> None:
    tool(says(tool("true"), 0, 80, 0, 0))
    (quick.folder / "node-0" / "usage.json").mkdir(parents=True)  # it cannot be replaced by a file
    quick.start()
    wait_until(lambda: usage(quick) and usage(quick)["cards"], "a look")
    ended(quick)
    assert most(usage(quick)["cards"][0], "utilization") == 80.0
