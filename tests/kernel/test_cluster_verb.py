"""`aiarts cluster`: the same table from the command, the magic and Python, with other people's names as text."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel import api
from jupyter_aiarts.kernel.cluster import HOLDERS, KINDS, Machines, machines_text, stuck_text
from jupyter_aiarts.kernel.terminal import Style
from jupyter_aiarts.model.cluster import Stuck

NASTY = "<script>alert(1)</script>\x1b]0;title\x07\u202egnp"
NPU = "huawei_npu_arm64"


def a_node(**more: Any) -> dict[str, Any]:
    return {
        "cluster": "lab", "name": "node-a", "ready": True, "device": NPU, "cards": 8, "free": 5, "held_by": [],
        "problems": [], "unhealthy": 0, "missing": 0, "cpu": 64.0, "free_cpu": 60.25, "memory_gb": 512.0,
        "free_memory_gb": 500.0, **more,
    }  # fmt: skip


def a_page(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    fits = {NPU: {"1": 5, "2": 2, "4": 1, "8": 0, "nodes_of_8": 0}}
    return {"nodes": list(nodes), "fits": fits, "clusters": [], **more}


def held(**more: Any) -> dict[str, Any]:
    return {"owner": None, "job": None, "namespace": "team-b", "pod": "p", "cards": 1, "ids": None, "cpu": 1.0, **more}


def test_a_row_says_how_many_cards_are_free_and_whose_the_others_are() -> None:
    node = a_node(held_by=[held(owner="alice", job="a123456789", cards=2), held()])
    text = machines_text(a_page(node), Style())
    assert text.split("\n") == [
        "NODE    DEVICE            CARDS  FREE  FREE CPU  HELD BY",
        "node-a  huawei_npu_arm64  8      5     60.25     2 alice (a123456789), 1 team-b",
        "Fits now, by cards: huawei_npu_arm64: 5 x 1, 2 x 2, 1 x 4, 0 x 8; 0 nodes with 8 free",
    ]


def test_what_nodes_really_use_is_a_column_where_a_cluster_tells_it() -> None:
    page = a_page(a_node(used_cpu=3.1, used_memory_gb=12.0), a_node(name="node-b"), a_node(name="node-c", used_cpu=0.0))
    head, *rows = machines_text(page, Style()).split("\n")[:4]
    assert head.split() == ["NODE", "DEVICE", "CARDS", "FREE", "FREE", "CPU", "IN", "USE", "HELD", "BY"]
    assert [row.split("60.25")[1].strip() for row in rows] == ["3.1/64 CPU, 12/512 GB", "?", "0/64 CPU, ?/512 GB"]
    assert "实际使用" in machines_text(page, Style("zh"))


def test_what_is_wrong_with_a_node_is_said_in_both_languages() -> None:
    node = a_node(cards=2, free=0, missing=1, unhealthy=6, problems=["cordoned", "unhealthy-cards", "cards-missing"])
    english, chinese = (machines_text(a_page(node), Style(lang)) for lang in ("en", "zh"))
    assert "cordoned, unhealthy-cards, cards-missing (1 held that the node does not offer)" in english
    assert "已停止调度, 有故障卡, 被占用的卡已不可用 (1 张被占用但节点不再提供)" in chinese


STUCK = {
    "cluster": "lab", "kind": "pod-stuck", "job": "a123456789", "name": NASTY, "owner": "alice", "namespace": "team-a",
    "pod": "train-a123456789-1-0-x", "node": "node-b", "device": NPU, "cards": 8, "since": "2026-11-16T01:02:03Z",
}  # fmt: skip


def test_what_is_stuck_is_a_row_each_with_what_a_release_means() -> None:
    english, chinese = (stuck_text([STUCK], Style(lang)) for lang in ("en", "zh"))
    assert "a123456789" in english and "node-b  8" in english and "\x1b" not in english and "\u202e" not in english
    assert english.endswith("what they ran may still run on a node that is only cut off.")
    assert "可能仍在运行" in chinese
    assert "Stuck: 1. See: aiarts cluster --stuck" in machines_text(a_page(a_node(), stuck=[STUCK]), Style())


def test_what_goes_by_itself_needs_no_release() -> None:
    left = {**STUCK, "kind": "unfinished", "pod": None, "node": None, "cards": 0}
    assert "aiarts release" not in stuck_text([left], Style())


def test_on_this_machine_nothing_is_stuck(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "--stuck"]) == 0
    assert capsys.readouterr().out == "Nothing is stuck.\n"


@pytest.mark.parametrize("kind", get_args(Stuck.__annotations__["kind"]))
def test_every_kind_has_words_in_both_languages(kind: str) -> None:
    assert all(KINDS[kind])


def test_what_is_unknown_is_not_shown_as_a_number() -> None:
    why = {"code": "cards-not-visible", "title": "Free cards of lab are unknown", "why": "…", "evidence": [],
           "actions": [{"id": "x", "label": "Ask the admin for the role aiarts-viewer"}]}  # fmt: skip
    one = {"name": "lab", "at": "", "fits": None, "unknown": [why], "stale_since": "2026-11-16T01:02:03Z"}
    node = a_node(ready=None, cards=None, free=None, free_cpu=None)
    text = machines_text(a_page(node, fits=None, clusters=[one]), Style())
    assert "node-a  huawei_npu_arm64  ?      ?     ?" in text and "Fits now: unknown." in text
    assert "aiarts-viewer" in text and "the cluster is away" in text


def test_a_long_list_of_holders_is_cut_and_counted() -> None:
    text = machines_text(a_page(a_node(held_by=[held()] * (HOLDERS + 3))), Style())
    assert text.count("1 team-b") == HOLDERS and "and 3 more" in text


def test_names_from_outside_are_text_in_a_terminal_and_in_a_cell() -> None:
    page = a_page(a_node(name=NASTY, held_by=[held(owner=NASTY, job="a123456789")]))
    text, html = machines_text(page, Style(colour=True)), Machines(page).html("en")
    assert "\x1b]0" not in text and "\u202e" not in text
    assert "<script>" not in html


def test_the_command_and_the_magic_show_this_machine(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["cluster"] for one in told["nodes"]] == ["local"] and told["nodes"][0]["ready"] is True
    found = shell.run_line_magic("aiarts", "cluster --cluster local")
    assert isinstance(found, Machines) and found.nodes[0]["name"] == told["nodes"][0]["name"]
    assert api.connect().cluster("local")["clusters"][0]["name"] == "local"


def test_a_cluster_that_is_not_there_is_exit_code_3(nothing_around: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "--cluster", "no-such"]) == 3
    assert "No cluster is called 'no-such' here." in capsys.readouterr().err
