"""`aiarts queues`: the same from the command, the magic and Python; unknown is no number, and names are text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel.queues import Queues, amount, queues_text, turns_text
from jupyter_aiarts.kernel.terminal import Style

NASTY = "<script>alert(1)</script>\x1b]0;title\x07\u202egnp"


def a_queue(**more: Any) -> dict[str, Any]:
    return {
        "name": "own", "cluster": "lab", "kind": "kueue", "namespace": "team-a", "lends_from": "cards",
        "quota": {"cpu": 8.0, "memory": 64.0 * 2**30}, "used": {"cpu": 9.5, "memory": 2.0**29}, "own": {},
        "borrowed": {"cpu": 1.5}, "pending": 3, "active": True, "places": [], "source": "workloads", "why": None,
        **more,
    }  # fmt: skip


def a_place(**more: Any) -> dict[str, Any]:
    return {"job": "a123456789", "name": "mine", "owner": "al", "position": 2, "ahead": 1, "before": [], **more}


def test_a_row_says_what_is_used_of_each_resource() -> None:
    assert queues_text([a_queue()], Style()).split("\n") == [
        "CLUSTER  QUEUE  NAMESPACE  WAITING  STATE   USED OF QUOTA",
        "lab      own    team-a     3        active  cpu 9.5/8 (borrowed 1.5), memory 0.5GB/64GB",
    ]


def test_what_is_unknown_is_not_shown_as_a_number() -> None:
    queue = a_queue(quota={"cpu": None}, used={"cpu": None}, borrowed={"cpu": None}, own={"cpu": 2.0}, pending=None)
    text = queues_text([{**queue, "active": None, "places": [a_place(ahead=None)]}], Style())
    assert "?        unknown  cpu ?/? (2 by this queue)" in text
    assert "own    2      a123456789  mine  ?" in text
    assert "others may be ahead" in text


def test_places_name_who_is_right_before_as_far_as_that_is_known() -> None:
    before = [{"job": None, "name": None, "owner": None}, {"job": "b", "name": NASTY, "owner": "bo"}]
    text = queues_text([a_queue(places=[a_place(before=before)])], Style())
    assert "somebody, <script>" in text
    assert "\x1b" not in text and "\u202e" not in text


@pytest.mark.parametrize(("lang", "title"), [("en", "The queue own is gone"), ("zh", "队列 own 已不存在")])
def test_why_a_queue_takes_no_jobs_stands_below_it(lang: str, title: str) -> None:
    why = {"code": "queue-gone", "title": title, "why": "…", "evidence": ["seen"], "actions": []}
    assert title in queues_text([a_queue(active=False, why=why)], Style(lang))


@pytest.mark.parametrize(
    ("resource", "value", "shown"),
    [("cpu", 0.25, "0.25"), ("memory", 2.0**30, "1GB"), ("requests.memory", 0.0, "0GB"), ("x", None, "?")],
)
def test_amounts_are_for_people(resource: str, value: float | None, shown: str) -> None:
    assert amount(resource, value) == shown


def test_who_passed_whom_and_why() -> None:
    passed = {"job": "b123456789", "name": None, "reason": "quota", "about": "cpu", "why": NASTY}
    turn = {"at": "2026-11-16T10:00:00Z", "cluster": "lab", "job": "a123456789", "name": NASTY, "queue": "own",
            "passed": [passed], "more": 7}  # fmt: skip
    text = turns_text([turn], Style())
    assert "started before 8 that had come earlier" in text and "and 7 more" in text
    assert "b123456789 (b123456789): <script>" in text
    assert "\x1b" not in text and "\u202e" not in text
    assert turns_text([], Style("zh")).startswith("没有作业")


def test_the_command_shows_this_machines_queue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["queues", "--json"]) == 0
    [queue] = json.loads(capsys.readouterr().out)
    assert (queue["name"], queue["pending"], queue["source"]) == ("local", 0, "local")
    assert main(["queues", "--order", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["queues", "--cluster", "nowhere"]) == 3
    assert main(["queues", "somejob"]) == 2
    assert main(["queues", "--order", "nosuchjob"]) == 3


def test_the_magic_answers_with_the_queues(shell: InteractiveShell) -> None:
    found = shell.run_line_magic("aiarts", "queues")
    assert isinstance(found, Queues)
    assert [one["name"] for one in found] == ["local"]
    assert "local" in repr(found)
    assert "<script>" not in Queues([a_queue(name=NASTY)]).html("en")
