"""Reading while the log is written: nothing twice, nothing lost."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable

import pytest

from jupyter_aiarts.engines.logs import LogLine, LogQuery, RunLog, open_log
from jupyter_aiarts.engines.logs.follow import HOLD, STEP_LINES

SECOND = 1_000_000_000


def written(dice: random.Random, log_folder, size: int) -> tuple[tuple[int, str], bytes]:
    """A random chunk that often ends inside a line, a character or a CRLF."""
    source = (dice.randrange(3), dice.choice(["stdout", "stderr"]))
    data = ("".join(dice.choices("abé🎉 ", k=min(size, 50))) * max(1, size // 50)).encode()
    data = dice.choice([data, data + b"\n", data + b"\r\n", data + b"\r", b"\n" + data, data[:-1], b"\n"])
    if data:
        log_folder.write(data, *source, after=dice.choice([0, 1000, SECOND // 3]))
    return source, data


def seen(lines: Iterable[LogLine]) -> dict[tuple[int, str], str]:
    """Each stream's text put together again."""
    found: dict[tuple[int, str], str] = defaultdict(str)
    for line in lines:
        found[line.rank, line.stream] += line.text if line.more else line.text + "\n"
    return found


def same(text: str, data: bytes) -> bool:
    """Is this what the bytes say? A last line without newline may have come in whole or as pieces."""
    wanted = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if not wanted.endswith("\n"):
        text = text.removesuffix("\n")
    return loose(text) == loose(wanted)


def play(log_folder, seed: int, read: Callable[[RunLog, list[LogLine], bool], list[LogLine]]) -> None:
    """Write and read in turns; at the end the reader must have every stream exactly."""
    dice = random.Random(seed)
    log = RunLog(log_folder.run, clock=log_folder.tick, settle=0)
    sources: dict[tuple[int, str], bytes] = defaultdict(bytes)
    lines: list[LogLine] = []
    for _ in range(60):
        for _ in range(dice.randrange(4)):
            source, data = written(dice, log_folder, dice.choice([0, 1, 2, 9, 9, 9, 70_000]))
            if data:
                sources[source] += data
            if dice.random() < 0.1:
                log_folder.cut(*source)
        lines += read(log, lines, False)
    while page := read(log, lines, True):
        lines += page
    got = seen(lines)
    assert got.keys() == sources.keys()
    assert [source for source in sources if not same(got[source], sources[source])] == []


def loose(text: str) -> str:
    """A character whose halves lay on both sides of invalid bytes may give one U+FFFD or several."""
    while "\ufffd\ufffd" in text:
        text = text.replace("\ufffd\ufffd", "\ufffd")
    return text


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_pages_after_the_last_line_lose_and_repeat_nothing(log_folder, seed: int, limit: int) -> None:
    """A reader without memory, who knows only the last line's `seq`."""

    def read(log: RunLog, lines: list[LogLine], ended: bool) -> list[LogLine]:
        after = lines[-1].seq if lines else "0.0.0.0.0"
        return log.lines(LogQuery(after=after, limit=limit), ended=ended)

    play(log_folder, seed, read)


@pytest.mark.parametrize("seed", range(4))
def test_a_follower_loses_and_repeats_nothing(log_folder, seed: int) -> None:
    """One connection that holds."""
    followers = []

    def read(log: RunLog, lines: list[LogLine], ended: bool) -> list[LogLine]:
        if not followers:
            followers.append(log.follow(LogQuery(after="0.0.0.0.0")))
        return followers[0].step(ended)

    play(log_folder, seed, read)
    assert followers[0].done


@pytest.mark.parametrize("seed", range(12))
def test_a_follower_that_reconnects_loses_and_repeats_nothing(log_folder, seed: int) -> None:
    """Connections that break in the middle of an answer and come again with `after=`."""
    dice = random.Random(seed)
    followers = []

    def read(log: RunLog, lines: list[LogLine], ended: bool) -> list[LogLine]:
        if not followers or dice.random() < 0.3:
            followers[:] = [log.follow(LogQuery(after=lines[-1].seq if lines else "0.0.0.0.0"))]
        page = followers[0].step(ended)
        if page and dice.random() < 0.3:
            followers.clear()
            return page[: dice.randrange(len(page)) + 1]
        return page

    play(log_folder, seed, read)


def test_following_begins_with_the_last_lines(log_folder) -> None:
    """`tail` lines first, then what comes; `tail=0` only what comes."""
    log_folder.write(b"1\n2\n3\n")
    log = RunLog(log_folder.run, clock=log_folder.tick, settle=0)
    two, none = log.follow(LogQuery(tail=2)), log.follow(LogQuery(tail=0))
    assert [line.text for line in two.step(False)] == ["2", "3"]
    assert none.step(False) == []
    log_folder.write(b"4\n")
    assert [line.text for line in two.step(False)] == ["4"]
    assert [line.text for line in none.step(False)] == ["4"]
    assert two.step(True) == []
    assert two.done
    assert not none.done


def test_an_unfinished_line_waits_a_second_then_is_shown(log_folder) -> None:
    """A prompt or a progress bar is seen, marked `more`, and its rest follows."""
    log = RunLog(log_folder.run, clock=log_folder.tick, settle=0)
    follower = log.follow(LogQuery())
    log_folder.write(b"loading ... ")
    assert follower.step(False) == []
    log_folder.write(b"meanwhile\n", rank=1)
    assert [line.text for line in follower.step(False)] == ["meanwhile"]
    log_folder.now += HOLD
    assert [(line.text, line.more) for line in follower.step(False)] == [("loading ... ", True)]
    assert follower.step(False) == []
    log_folder.write(b"done\n")
    assert [(line.text, line.more) for line in follower.step(False)] == [("done", False)]


def test_a_step_is_bounded_and_says_when_there_is_more(log_folder) -> None:
    """A follower from far back gives some thousand lines at a time, without waiting between."""
    log_folder.write(b"x\n" * (STEP_LINES + 10))
    follower = open_log(log_folder.run).follow(LogQuery(after="0.0.0.0.0"))
    assert len(follower.step(True)) == STEP_LINES
    assert not follower.done
    assert follower.pause == 0.0
    assert len(follower.step(True)) == 10
    assert follower.done


def test_lines_of_this_very_moment_wait_for_older_ones_of_other_streams(log_folder) -> None:
    """What is newer than the look is left to the next, so no older line can turn up behind it."""
    log_folder.write(b"old\n")
    now = log_folder.now
    log_folder.write(b"of the next moment\n", rank=1)
    log = RunLog(log_folder.run, clock=lambda: now)
    assert [line.text for line in log.lines(LogQuery())] == ["old"]


def test_a_clock_that_is_far_ahead_hides_nothing(log_folder) -> None:
    """A time an hour ahead is a wrong clock: its lines are shown."""
    log_folder.write(b"old\n")
    now = log_folder.now
    log_folder.write(b"from the future\n", after=3600 * SECOND)
    log = RunLog(log_folder.run, clock=lambda: now)
    assert [line.text for line in log.lines(LogQuery())] == ["old", "from the future"]


def deliver(log_folder, data: bytes, rank: int, at: int) -> None:
    """What a node printed at this moment and delivered only now: a slow mirror, or storage that shows it late."""
    now, log_folder.now = log_folder.now, at
    log_folder.write(data, rank, node=rank, after=0)
    log_folder.now = max(now, at)


@pytest.mark.parametrize("follow", [False, True], ids=["pages", "reconnecting"])
def test_what_a_slower_node_delivers_late_comes_with_the_next_page(log_folder, follow: bool) -> None:
    """Also of a node of which nothing was there before, and also when that goes on for some pages."""
    start = log_folder.now
    log = RunLog(log_folder.run, clock=lambda: start + 60 * SECOND, settle=0)
    got: list[LogLine] = []

    def page() -> list[str]:
        if follow:
            found = log.follow(LogQuery(after=got[-1].seq) if got else LogQuery()).step(False)
        else:
            found = log.lines(LogQuery(after=got[-1].seq) if got else LogQuery())
        got.extend(found)
        return [line.text for line in found]

    deliver(log_folder, b"0 at 1\n", 0, start + SECOND)
    deliver(log_folder, b"1 at 2\n", 1, start + 2 * SECOND)
    deliver(log_folder, b"0 at 9\n", 0, start + 9 * SECOND)
    assert page() == ["0 at 1", "1 at 2", "0 at 9"]
    deliver(log_folder, b"1 at 3\n1 at 3 too\n", 1, start + 3 * SECOND)
    deliver(log_folder, b"2 at 1\n", 2, start + SECOND)
    assert page() == ["2 at 1", "1 at 3", "1 at 3 too"]
    assert page() == []
    deliver(log_folder, b"2 at 4\n", 2, start + 4 * SECOND)
    deliver(log_folder, b"0 at 10\n", 0, start + 10 * SECOND)
    assert page() == ["2 at 4", "0 at 10"]
    assert page() == []


def test_a_page_that_ends_early_goes_on_with_late_lines_too(log_folder) -> None:
    start = log_folder.now
    log = RunLog(log_folder.run, clock=lambda: start + 60 * SECOND, settle=0)
    for second in range(1, 5):
        deliver(log_folder, b"0 at %d\n" % second, 0, start + second * SECOND)
    first = log.lines(LogQuery(after="0.0.0.0.0", limit=2))
    deliver(log_folder, b"1 at 1\n", 1, start + SECOND)
    rest = log.lines(LogQuery(after=first[-1].seq))
    assert [line.text for line in [*first, *rest]] == ["0 at 1", "0 at 2", "1 at 1", "0 at 3", "0 at 4"]


def test_a_cursor_of_one_rank_brings_no_old_lines_of_others(log_folder) -> None:
    log_folder.write(b"old\n", 1, node=1)
    log_folder.write(b"mine\n", 0)
    log = RunLog(log_folder.run, clock=log_folder.tick, settle=0)
    mine = log.lines(LogQuery(rank=0))
    log_folder.write(b"new\n", 1, node=1)
    assert [line.text for line in log.lines(LogQuery(after=mine[-1].seq))] == ["new"]
