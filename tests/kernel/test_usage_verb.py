"""`aiarts usage`: the same text from the command and the magic; unknown is `?`; names from outside stay text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel.terminal import Style
from jupyter_aiarts.kernel.usage import UNKNOWN, Usage, bar, job_usage_text, size, usage_text

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


def a_node(**more: Any) -> dict[str, Any]:
    card = {
        "id": 3, "name": "910B4", "utilization": None, "memory_used_mb": 1.0, "memory_total_mb": 32768.0,
        "health": "ok", "mean": 40.2, "most": 99.0, "most_memory_mb": 2048.0,
    }  # fmt: skip
    return {"node": 1, "t": "", "idle_since": None, "cards": [card], **more}


def test_a_jobs_cards_are_told_as_they_are_and_over_the_whole_run() -> None:
    rows = job_usage_text({"nodes": [a_node(), a_node(idle_since="2026-11-16T08:00:00.000000Z")]}, Style()).split("\n")
    assert rows[1].split() == ["1", "3", "910B4", "?", "40", "%", "99", "%", "2.0", "/", "32", "GB", "-"]
    assert "2026-11-1" in rows[2]
    assert "没有该任务的卡的信息" in job_usage_text({"nodes": []}, Style("zh"))


def test_the_command_works_without_a_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIARTS_SERVER", raising=False)
    assert main(["usage", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["host"]["memory_total"] > 0 and found["devices"] == []
    assert main(["usage"]) == 0
    assert "CPU" in capsys.readouterr().out
