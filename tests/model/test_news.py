"""What is told of a job in one sentence: enough to know, nothing secret, markup nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.model.job import Explanation, ListedJob, ListedSpec
from jupyter_aiarts.model.news import ended, plain, tell
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
