"""`aiarts usage`: the same text from the command and the magic; unknown is `?`; names from outside stay text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_aiarts.cli import main
from jupyter_aiarts.devices import lookout
from jupyter_aiarts.explain import explain
from jupyter_aiarts.kernel.terminal import Style
from jupyter_aiarts.kernel.usage import (
    UNKNOWN,
    Usage,
    bar,
    disk_level,
    filling_text,
    job_usage_text,
    size,
    usage_text,
)
from jupyter_aiarts.model.cause import Cause
from tests.launcher.conftest import lives

NASTY = "<script>alert(1)</script>\x1b]0;title\x07"


def a_card(**more: Any) -> dict[str, Any]:
    return {
        "kind": "npu", "id": 0, "name": "910B4", "part": None, "utilization": 71.0, "memory_used_mb": 30011.0,
        "memory_total_mb": 32768.0, "power_w": 211.4, "temperature_c": 49.0, "health": "ok",
        "programs": [{"pid": 412, "name": "python", "memory_mb": 27140.0}], **more,
    }  # fmt: skip


def a_page(*cards: dict[str, Any], **host: Any) -> dict[str, Any]:
    whole = {
        "cpu": 1.5, "cpus": 4.0, "memory_used": 3 << 30, "memory_total": 8 << 30, "disks": [],
        "received": 2048.0, "sent": None, "own": ["memory"], **host,
    }  # fmt: skip
    return {"t": "", "host": whole, "devices": list(cards), "problems": []}


def test_a_card_is_one_row() -> None:
    rows = usage_text(a_page(a_card()), Style()).split("\n")
    assert rows[-1].split() == [
        "npu", "0", "910B4", "███████···", "71", "%", "█████████·", "29.3", "/", "32", "GB", "211", "W", "49", "°C",
        "ok", "412", "python",
    ]  # fmt: skip


def test_unknown_is_a_question_mark_and_never_zero() -> None:
    gone = dict.fromkeys(("utilization", "memory_used_mb", "memory_total_mb", "power_w", "temperature_c", "health"))
    text = usage_text(a_page(a_card(**gone, programs=None), cpu=None, memory_used=None), Style())
    last = text.split("\n")[-1]
    assert last.count(UNKNOWN) == 7 and " 0 " not in last.replace("npu 0", "")
    assert "? / 4" in text and "? / 8.0 GB" in text


def test_a_card_that_is_gone_says_so_in_both_languages() -> None:
    page = a_page(a_card(health="gone", utilization=None))
    assert " gone " in usage_text(page, Style()) and "已不在" in usage_text(page, Style("zh"))


def test_whose_numbers_they_are_is_said_in_both_languages() -> None:
    english, chinese = (usage_text(a_page(), Style(lang)) for lang in ("en", "zh"))
    assert "this container's" in english and "本容器" in chinese
    assert "No GPU or NPU" in english and "没有可见的" in chinese


def test_names_from_outside_are_text() -> None:
    page = a_page(a_card(name=NASTY, programs=[{"pid": 1, "name": NASTY, "memory_mb": None}]))
    assert "\x1b" not in usage_text(page, Style())
    assert "<script>" not in Usage(page).html("en")


@pytest.mark.parametrize(
    ("part", "whole", "shown"), [(0, 10, 0), (10, 10, 10), (20, 10, 10), (None, 10, 0), (5, None, 0)]
)
def test_a_bar_is_always_as_long(part: float | None, whole: float | None, shown: int) -> None:
    assert (bar(part, whole).count("█"), len(bar(part, whole))) == (shown, 10)


def test_sizes_are_read_by_people() -> None:
    assert [size(count) for count in (None, 0, 2048, 3 << 30, 5 << 40)] == ["?", "0 B", "2.0 KB", "3.0 GB", "5.0 TB"]


@pytest.mark.parametrize(
    ("used", "level"), [(0, None), (89, None), (90, "nearly-full"), (97, "full"), (100, "full"), (None, None)]
)
def test_a_disk_that_fills_up_is_pointed_out(used: float | None, level: str | None) -> None:
    assert disk_level(used, 100) == level
    assert disk_level(used, None) is None
    disks = [{"path": NASTY, "used": used, "total": 100}]
    english, chinese = (usage_text(a_page(disks=disks), Style(lang)) for lang in ("en", "zh"))
    assert ("full" in english) is (level is not None) and ("满" in chinese) is (level is not None)
    assert "\x1b" not in english


def a_filling(**more: Any) -> dict[str, Any]:
    return {
        "path": "/data", "bytes": 3 << 30, "files": 12, "others": 0, "unread": 0, "elsewhere": 0, "complete": True,
        "seconds": 0.4, "disk": None,
        "takers": [{"name": NASTY, "bytes": 3 << 30, "files": 12, "folder": True}], **more,
    }  # fmt: skip


def test_what_takes_the_room_is_a_table_and_says_what_is_not_in_it() -> None:
    text = filling_text(a_filling(), Style())
    assert text.startswith("3.0 GB in 12 files below /data") and "\x1b" not in text and "</script>" in text
    disk = {"path": "/data", "used": 95, "total": 100}
    cut = filling_text(a_filling(complete=False, unread=2, elsewhere=1, others=5, disk=disk), Style())
    assert "At least" in cut and "--seconds" in cut and "2 folders or files" in cut and "1 other disks" in cut
    assert "5 B of 100 B left" in cut and "all others" in cut
    assert "至少" in filling_text(a_filling(complete=False), Style("zh"))


def test_a_folder_is_counted_by_the_command(capsys: pytest.CaptureFixture[str], nothing_around: Path) -> None:
    (nothing_around / "sets").mkdir()
    (nothing_around / "sets/a.bin").write_bytes(b"x" * 100_000)
    assert main(["usage", "--disk", ".", "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["path"] == str(nothing_around) and page["takers"][0]["name"] == "sets"
    assert main(["usage", "--disk", "missing"]) == 3


def a_node(**more: Any) -> dict[str, Any]:
    card = {
        "id": 3, "name": "910B4", "utilization": None, "memory_used_mb": 1.0, "memory_total_mb": 32768.0,
        "health": "ok", "mean": 40.2, "most": 99.0, "most_memory_mb": 2048.0, "power_w": 92.6, "temperature_c": None,
    }  # fmt: skip
    return {"node": 1, "t": "", "idle_since": None, "cards": [card], "ranks": [], **more}


def test_a_jobs_cards_are_told_as_they_are_and_over_the_whole_run() -> None:
    rows = job_usage_text({"nodes": [a_node(), a_node(idle_since="2026-11-16T08:00:00.000000Z")]}, Style()).split("\n")
    assert " ".join(rows[1].split()) == "1 3 910B4 ? 40 % 99 % 2.0 / 32 GB 93 W ? -"
    assert "2026-11-1" in rows[2]
    assert "尚未启动" in job_usage_text({"nodes": []}, Style("zh"))
    assert "was over within seconds" in job_usage_text({"nodes": []}, Style())  # before the first look: no lie either


def test_ranks_are_told_with_their_cpus_memory_and_disks_also_of_a_job_without_cards() -> None:
    rank = {
        "rank": 4, "cpu": 1.52, "memory_mb": None, "mean_cpu": 0.5, "most_cpu": None,
        "mean_memory_mb": 1.0, "most_memory_mb": 2048.0, "read": 3 * 1024.0**2, "written": None,
    }  # fmt: skip
    heads, row, *rest = job_usage_text({"nodes": [a_node(cards=[], ranks=[rank])]}, Style()).split("\n")
    assert row.split() == ["1", "4", "1.52", "0.50", "?", "?", "(2.0", "GB)", "3.0", "MB/s", "?"]
    assert heads.startswith("NODE")
    assert rest == ["Nothing is known of its cards: it has none, or the driver's tool is not there."]
    both = job_usage_text({"nodes": [a_node(ranks=[rank])]}, Style("zh"))
    assert "进程号" in both and "910B4" in both


def test_the_network_of_a_pod_is_told_and_that_of_a_shared_machine_is_not() -> None:
    pod = a_node(node=2, received=2048.0, sent=0.0, mean_received=1024.0, mean_sent=None)
    said = "Node 2 receives 2.0 KB/s (mean 1.0 KB/s) and sends 0 B/s (mean ?)."
    assert said in job_usage_text({"nodes": [a_node(), pod]}, Style()).split("\n")
    assert "节点 2 网络接收 2.0 KB/s" in job_usage_text({"nodes": [pod]}, Style("zh"))
    assert "receives" not in job_usage_text({"nodes": [a_node(received=None)]}, Style())


def test_cards_that_were_asked_for_and_not_used_are_counted() -> None:
    [card] = a_node()["cards"]
    eight = [{**card, "id": number, "most": 90.0 if number < 2 else 1.0} for number in range(8)]
    assert job_usage_text({"nodes": [a_node(cards=eight)]}, Style()).endswith("2 of its 8 cards have been used: 0, 1.")
    both = job_usage_text({"nodes": [a_node(cards=eight), a_node(node=2, cards=eight)]}, Style("zh"))
    assert both.endswith("16 张卡中用到了 4 张：1:0, 1:1, 2:0, 2:1。")
    assert job_usage_text({"nodes": [a_node(cards=eight[2:])]}, Style()).endswith("None of its 6 cards has been used.")
    for known in (eight[:2], [*eight, {**card, "most": None}]):  # all were, or it is not known of one
        assert "have been used" not in job_usage_text({"nodes": [a_node(cards=known)]}, Style())
    silent = a_node(node=2, cards=[])
    assert "have been used" not in job_usage_text({"nodes": [a_node(cards=eight), silent]}, Style()), "nor of a node"


def test_the_command_works_without_a_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIARTS_SERVER", raising=False)
    monkeypatch.setattr(lookout, "PATIENCE", 30.0)  # of a look, on a machine that is busy
    assert main(["usage", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["host"]["memory_total"] > 0 and found["devices"] == []
    assert main(["usage"]) == 0
    assert "CPU" in capsys.readouterr().out


def a_tool(folder: Path, script: str) -> str:
    """A stand-in for `npu-smi`; the search path with it."""
    tool = folder / "npu-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_a_tool_that_takes_seconds_is_waited_for_by_somebody_who_asks_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Path(__file__).parents[1] / "launcher/usage/npu_smi/01_910A_23.0_narrow_warning.txt"
    monkeypatch.delenv("AIARTS_SERVER", raising=False)
    monkeypatch.setenv("PATH", a_tool(tmp_path, f'sleep 2\nexec cat "{table}"'))
    assert main(["usage"]) == 0
    said = capsys.readouterr().out
    assert "910A" in said and "No GPU or NPU" not in said


@pytest.mark.parametrize("code", ["probe-pending", "npu-smi-failed"])
def test_cards_of_which_nobody_knows_are_not_denied(code: str) -> None:
    problem = msgspec.to_builtins(explain(Cause(code=code, values={"probe": "npu-smi", "message": ""}), "en"))
    page = {**a_page(), "problems": [problem]}
    assert "No GPU or NPU" not in usage_text(page, Style()) + Usage(page).html("en")
    assert "npu-smi" in usage_text(page, Style())
    assert "No GPU or NPU" in usage_text(a_page(), Style()) and "No GPU or NPU" in Usage(a_page()).html("en")


def test_a_tool_that_hangs_is_not_left_behind_by_the_command(tmp_path: Path) -> None:
    script = f'echo $$ > "{tmp_path}/pid.new"; mv "{tmp_path}/pid.new" "{tmp_path}/pid"; exec sleep 1000'
    environ = {**os.environ, "PATH": a_tool(tmp_path, script), "AIARTS_STATE_DIR": str(tmp_path / "state")}
    environ.pop("AIARTS_SERVER", None)
    command = (
        "import os, sys, time, jupyter_aiarts.kernel.usage as u; u.SLOW_TOOL_SECONDS = 0\n"
        "from jupyter_aiarts.cli import main; main(['usage'])\n"
        "while not os.path.exists(sys.argv[1]): time.sleep(0.02)  # it has begun, and is ended with the command\n"
    )
    words = [sys.executable, "-c", command, str(tmp_path / "pid")]
    said = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60)
    assert "npu-smi" in said.stdout, said.stderr
    assert not lives(int((tmp_path / "pid").read_text()))
