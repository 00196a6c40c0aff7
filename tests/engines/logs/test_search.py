"""Searching: a user's pattern finds lines and can't stall anybody."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from jupyter_aiarts.engines.logs import Abandoned, LogQuery, open_log
from jupyter_aiarts.errors import BadRequest

LINES = [
    "Epoch 1",
    "loss 0.5",
    "ERROR: boom",
    "",
    "tab\there",
    "error again",
    "中文 error",
    "ends with x",
    "$5",
]


def found(run: Path, pattern: str) -> list[str]:
    return [line.text for line in open_log(run).lines(LogQuery(grep=pattern), ended=True)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\xff\n"])
@pytest.mark.parametrize(
    "pattern",
    [
        "error",
        "(?i)error",
        "^E",
        "x$",
        "^$",
        r"\d",
        "文",
        "a|o",
        ".",
        "",
        r"\s",
        "[^a-z]$",
        r"\Aloss",
        r"0.5\z",
        r"\$5",
        "(?:E|e)rr",
        r"\berror\b",
        "^.*o.*$",
    ],
)
def test_a_pattern_finds_the_lines_that_match_by_themselves(log_folder, pattern: str, end: bytes) -> None:
    """Searching whole blocks gives what searching line by line gives."""
    tail = end.rstrip(b"\r\n").decode("utf-8", "replace")
    log_folder.write(b"".join(line.encode() + end for line in LINES))
    expected = [line + tail for line in LINES if re.search(pattern.replace(r"\z", r"\Z"), line + tail)]
    assert found(log_folder.run, pattern) == expected


def test_the_last_matching_lines_and_the_ones_before_them(log_folder) -> None:
    """`tail` and `limit` count matches; cursors go on between them, over ranks."""
    for number in range(3000):
        log_folder.write(b"step %d\n" % number, rank=number % 3)
    log = open_log(log_folder.run)
    last = log.lines(LogQuery(grep="[05]00$", tail=2))
    whole = [line.text for line in log.lines(LogQuery(grep="[05]00$"))]
    assert whole == [f"step {number}" for number in range(3000) if re.search("[05]00$", str(number))]
    assert [line.text for line in last] == whole[-2:]
    earlier = log.lines(LogQuery(grep="[05]00$", before=last[0].seq, limit=3))
    assert [line.text for line in earlier] == whole[-5:-2]
    later = log.lines(LogQuery(grep="[05]00$", after=earlier[0].seq, limit=2))
    assert [line.text for line in later] == whole[-4:-2]


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", "(?<!x)y", "[", "a{1001}", "((a{100}){100}){100}", "x" * 1001])
def test_a_pattern_that_is_not_linear_or_not_valid_is_refused_with_the_reason(log_folder, pattern: str) -> None:
    """Look-around, back-references, broken and huge patterns are the caller's mistake."""
    with pytest.raises(BadRequest) as caught:
        found(log_folder.run, pattern)
    assert len(str(caught.value)) > 20
    assert caught.value.hint


def test_following_shows_only_matches(log_folder) -> None:
    """A follower with a pattern does not read old lines again."""
    log_folder.write(b"no\nyes 1\n")
    follower = open_log(log_folder.run).follow(LogQuery(grep="yes"))
    assert [line.text for line in follower.step(False)] == ["yes 1"]
    log_folder.write(b"no\n")
    assert follower.step(False) == []
    log_folder.write(b"yes 2\n")
    assert [line.text for line in follower.step(True)] == ["yes 2"]


@pytest.fixture
def big(log_folder) -> Path:
    """Sixteen megabytes of lines."""
    line = b"2026-11-16 some module: step 123456 loss 0.123 and words aaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
    for _ in range(16):
        log_folder.write(line * (1024 * 1024 // len(line)))
    return log_folder.run


def test_an_evil_pattern_takes_linear_time(big: Path) -> None:
    """What takes a backtracking engine for ever on one line is done with sixteen megabytes at once."""
    began = time.monotonic()
    assert found(big, "(a+a+)+b$") == []
    assert time.monotonic() - began < 10


def test_an_abandoned_search_stops(big: Path) -> None:
    """The caller's `stop` is asked between blocks."""
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 3

    with pytest.raises(Abandoned):
        open_log(big).lines(LogQuery(grep="not there"), stop=stop)
    assert len(asked) == 4


def test_other_threads_run_while_a_search_does(big: Path) -> None:
    """The server's thread is never kept waiting for long by a search in another one."""
    done = threading.Event()

    def search() -> None:
        found(big, r"(\w+ ){3}nothing|(x+x+)+y")
        done.set()

    worker = threading.Thread(target=search)
    worker.start()
    waits = []
    while not done.is_set():
        began = time.perf_counter()
        time.sleep(0.001)
        waits.append(time.perf_counter() - began)
    worker.join()
    # The machine that runs the tests is busy: the rule is about the usual wait, not about the worst.
    assert sorted(waits)[len(waits) * 9 // 10] < 0.05
