"""What is told of a job in one sentence: enough to know, nothing secret, markup nowhere."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.model import cluster
from jupyter_aiarts.model.cluster import Node
from jupyter_aiarts.model.job import Explanation, ListedJob, ListedSpec
from jupyter_aiarts.model.news import PROBLEMS, alerts, ended, plain, tell, unwell
from jupyter_aiarts.model.phase import Phase


def job(phase: Phase, name: str = "resnet", title: str = "", evidence: str = "") -> ListedJob:
    why = Explanation(code="x", title=title, why="", evidence=[evidence]) if title else None
    spec = ListedSpec(kind="regular", device="cpu", devices=0, nodes=1, priority=5)
    return ListedJob(
        id="abcdefghij", name=name, cluster="local", phase=phase, run=1, created="2026-01-01T00:00:00.000000Z",
        owner="alice", explanation=why, spec=spec,
    )  # fmt: skip


@pytest.mark.parametrize("before", [None, *Phase])
@pytest.mark.parametrize("after", list(Phase))
def test_only_an_end_that_nobody_asked_for_is_news_and_only_once(before: Phase | None, after: Phase) -> None:
    news = ended(before, job(after))
    told = {Phase.SUCCEEDED: "done", Phase.FAILED: "failed", Phase.LOST: "failed"}.get(after)
    assert (news.happened if news else None) == (None if before is after else told)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "alice's job “resnet” (abcdefghij, local) failed: Out of memory"),
        ("zh", "alice 的任务“resnet”（abcdefghij，local）失败：Out of memory"),
    ],
)
def test_a_failure_says_who_what_where_and_why_but_never_its_evidence(lang: str, text: str) -> None:
    news = ended(Phase.RUNNING, job(Phase.FAILED, title="Out of memory", evidence="password=hunter2"), lang)
    assert news is not None
    assert news.text == text


def test_a_job_that_waits_says_for_how_long() -> None:
    said = tell("waiting", job(Phase.QUEUED, title="Waits for cards"), minutes=61).text
    assert said == "alice's job “resnet” (abcdefghij, local) has been waiting for 61 minutes: Waits for cards"


@given(st.text(max_size=300))
def test_no_name_is_markup_or_a_second_line_in_any_chat_program(name: str) -> None:
    said = plain(name)
    assert len(said) <= 80
    assert not set("<>@*_`[]&\n\r\t\x00\x1b") & set(said)


def a_node(name: str, *problems: str, cluster: str = "lab", device: str = "nvidia_gpu_amd64") -> Node:
    return Node(cluster=cluster, name=name, ready=True, device=device, cards=8, free=8, problems=problems)


def test_a_node_is_told_of_when_something_more_is_wrong_and_when_nothing_is_any_more() -> None:
    steps = [
        [a_node("a"), a_node("b", "not-ready")],  # what is so from the start is no news
        [a_node("a", "disk-pressure"), a_node("b", "not-ready")],
        [a_node("a", "disk-pressure", "unhealthy-cards"), a_node("b")],
        [a_node("a", "unhealthy-cards"), a_node("b"), a_node("new", "not-ready")],
        [a_node("a"), a_node("b", "cordoned", "tainted"), a_node("new", "not-ready")],
    ]
    told = [[one.text for one in alerts(unwell(x), unwell(y))] for x, y in pairwise(steps)]
    assert told == [
        ["Node a of lab: its disk is nearly full."],
        ["Node a of lab: its disk is nearly full, it has unhealthy cards.", "Node b of lab is well again."],
        [],
        ["Node a of lab is well again."],
    ]


def test_a_node_with_two_kinds_of_cards_is_one_node() -> None:
    both = [a_node("a", "unhealthy-cards"), a_node("a", device="huawei_npu_arm64")]
    (news,) = alerts({("lab", "a"): frozenset()}, unwell(both), "zh")
    assert (news.happened, news.node, news.text) == ("node-unwell", "a", "lab 的节点 a：有故障卡。")


def test_every_problem_of_a_node_is_an_alert_or_what_an_admin_did() -> None:
    known = {value for name, value in vars(cluster).items() if name.isupper() and isinstance(value, str)}
    assert known - {cluster.WHOLE, cluster.CORDONED, cluster.TAINTED} == PROBLEMS.keys()
