"""How jobs look: aligned by what is seen, colours only where wanted, and other people's text never obeyed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from jupyter_aiarts.kernel import display, pages, terminal
from jupyter_aiarts.kernel.api import Job, Jobs
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.shown import Explanation, Log, Said, Variables
from jupyter_aiarts.kernel.terminal import Style, width
from jupyter_aiarts.kernel.transport import Transport
from jupyter_aiarts.kernel.words import TEXTS, local_time, running_time, say

NASTY = "<script>alert(1)</script>\"'&\x1b]0;title\x07\u202egnp"


def a_job(**more: Any) -> dict[str, Any]:
    return {
        "id": "a123456789",
        "name": "resnet",
        "cluster": "local",
        "phase": "running",
        "run": 1,
        "created": "2026-11-16T01:02:03.456789Z",
        "started": "2026-11-16T01:02:04.000000Z",
        "ended": "2026-11-16T02:03:05.000000Z",
        "owner": "ann",
        "spec": {"device": "cpu", "devices": 0, "nodes": 1},
        "explanation": None,
        "ranks": [],
        **more,
    }


def test_columns_line_up_when_names_are_chinese() -> None:
    """A wide character takes two columns of a terminal."""
    jobs = [
        a_job(name="训练任务一号"),
        a_job(name="resnet", id="b123456789"),
        a_job(name="e\u0301a", id="c123456789"),
    ]
    lines = display.jobs_text(jobs, Style()).split("\n")
    starts = {width(line[: re.search("running|PHASE", line).start()]) for line in lines}  # type: ignore[union-attr]
    assert len(starts) == 1


def test_how_far_a_job_says_it_is_is_shown_as_text_and_only_where_it_says_so() -> None:
    told = display.job_text(a_job(progress={"text": "Epoch 3/10 \x1b]0;x\x07", "share": 0.3}), Style())
    assert "SAYS IT IS AT  Epoch 3/10" in told and "\x1b" not in told
    assert "进度" in display.job_text(a_job(progress={"text": "45%", "share": 0.45}), Style("zh"))
    assert "SAYS IT IS AT" not in display.job_text(a_job(), Style())


def test_owners_are_shown_only_where_there_are_several() -> None:
    assert "OWNER" not in display.jobs_text([a_job()], Style())
    assert "OWNER" in display.jobs_text([a_job(), a_job(owner="bob")], Style())


def test_times_are_local_and_say_their_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert local_time("2026-11-16T01:02:03.456789Z") == "2026-11-16 09:02:03 CST"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert local_time(None) == ""
    assert running_time("2026-11-16T01:02:04.000000Z", "2026-11-16T02:03:05.000000Z") == "1:01:01"
    assert running_time(None, None) == ""


class Stream:
    def __init__(self, tty: bool) -> None:
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.mark.parametrize(
    ("tty", "environ", "wanted"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_colours_only_for_a_terminal_that_wants_them(tty: bool, environ: dict[str, str], wanted: bool) -> None:
    assert terminal.wants_colour(Stream(tty), environ) is wanted


def test_a_log_line_keeps_its_colours_and_loses_every_other_command_to_the_terminal() -> None:
    hostile = "\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2J\x1b[10;10Hmoved\x1bc\x07 \x1bPq\x1b\\end"
    assert (
        terminal.log_text(hostile, colour=True).replace("\x1b[0m", "").replace("\x1b[31m", "") == "red moved\ufffd end"
    )
    assert "\x1b[31m" in terminal.log_text(hostile, colour=True)
    assert "\x1b" not in terminal.log_text(hostile, colour=False)


def test_a_redrawn_progress_bar_shows_its_last_state() -> None:
    assert terminal.log_text("10%\r50%\r100%", colour=False) == "100%"
    assert terminal.log_text("50%\r", colour=False) == "50%"


def a_line(text: str, rank: int = 0, stream: str = "stdout") -> dict[str, Any]:
    return {"seq": "1", "t": "", "node": 0, "rank": rank, "stream": stream, "text": text}


def test_without_colours_a_log_line_is_exactly_its_text() -> None:
    """What goes into a file or a pipe is what the job wrote."""
    odd = "a\x1b[31m\tb\r中"
    assert display.line_text(a_line(odd), Style(), tagged=False) == odd
    assert display.line_text(a_line("x", rank=3), Style(), tagged=True) == "[3] x"


def test_folding_shows_a_run_of_equal_lines_once_with_its_count() -> None:
    lines = [a_line("a"), a_line("a"), a_line("a"), a_line("a", rank=1), a_line("b")]
    assert [one.get("folded", 0) for one in display.folded(lines)] == [2, 0, 0]
    assert list(display.folded_live(lines, Style(), False)) == ["a", "… 2 more like it", "a", "b"]
    assert list(display.folded_live([a_line("a")] * 3, Style(), False))[-1] == "… 2 more like it"
    assert "2 more like it" in Log(display.folded(lines)).text(Style())


def explanation(text: str) -> dict[str, Any]:
    action = {"id": "a", "label": text, "command": text}
    return {"code": "exit-code", "title": text, "why": text, "evidence": [text], "actions": [action]}


def shown_things() -> list[Any]:
    client = Client(Transport())
    job = a_job(
        name=NASTY,
        owner=NASTY,
        notes=[NASTY],
        explanation=explanation(NASTY),
        spec={"script": NASTY, "device": NASTY},
    )
    return [
        Job(client, job),
        Jobs([Job(client, job)]),
        Explanation(explanation(NASTY)),
        Log([a_line(NASTY)]),
        Log([], NASTY),
        Variables({NASTY: NASTY}),
        Said(NASTY),
    ]


@pytest.mark.parametrize("thing", shown_things(), ids=lambda thing: type(thing).__name__)
def test_nothing_from_outside_becomes_markup_in_a_cell(thing: Any) -> None:
    """Names, logs and explanations are other people's text; a saved notebook shows them to anybody."""
    bundle = thing._repr_mimebundle_()
    html = bundle["text/html"]
    assert "<script" not in html and "&lt;script&gt;" in html
    assert "\x1b" not in html and "\u202e" not in html
    assert set(re.findall(r"<\s*/?([a-zA-Z]+)", html)) <= {
        "div",
        "b",
        "code",
        "span",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "pre",
        "ol",
        "li",
    }


def test_a_name_cannot_command_the_terminal() -> None:
    for text in (
        display.jobs_text([a_job(name=NASTY)], Style()),
        display.job_text(a_job(name=NASTY), Style()),
    ):
        assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text


def test_every_sentence_is_there_in_both_languages_with_the_same_values() -> None:
    for english, chinese in TEXTS.values():
        assert set(re.findall(r"\{(\w+)\}", english)) == set(re.findall(r"\{(\w+)\}", chinese))
    assert say("zh", "stop", name="训练", id="a1") == "已停止 训练（a1）"


def test_a_move_says_what_happened() -> None:
    assert display.moved_text(a_job(phase="stopped"), "stop", Style()) == "Stopped resnet (a123456789)"
    assert display.moved_text(a_job(phase="running"), "stop", Style()) == "Stopping resnet (a123456789)"
    assert display.moved_text(a_job(phase="paused"), "pause", Style()) == "Paused resnet (a123456789)"
    assert display.moved_text(a_job(phase="queued", run=2), "rerun", Style()) == "Run 2 of resnet (a123456789): queued"


def test_submitting_says_where_to_go_from_here() -> None:
    text = display.submitted_text(a_job(phase="queued", notes=["The image is ignored here."]), True, Style())
    assert text.startswith("Submitted resnet (a123456789): queued\nThe image is ignored here.")
    assert "aiarts logs -f a123456789" in text


def test_secrets_say_that_they_are_and_differences_are_shown_both_ways() -> None:
    assert display.env_text({"B": None, "A": "it's"}, Style()) == "A='it'\"'\"'s'\nB=(secret)"
    a, b = {"X": "1", "S": None, "A": "1"}, {"X": "2", "S": None, "N": ""}
    assert display.env_diff(a, b) == {"A": ["1", None], "N": [None, ""], "X": ["1", "2"]}
    assert display.env_diff_text(a, b, Style()) == "- A=1\n+ N=''\n- X=1\n+ X=2"
    assert display.env_diff_text(a, a, Style()) == "No variable differs."


def test_phases_in_html_are_words_first() -> None:
    assert ">失败<" in pages.phase_html("failed", "zh")
