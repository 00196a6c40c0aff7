"""What the launcher writes, the reader reads."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.launcher.segments import Drop, RankLog

MEGABYTE = 1024 * 1024


def rank_log(run: Path, rank: int, limit: int, drops: list[Drop]) -> RankLog:
    folder = run / "node-0" / "log" / str(rank)
    return RankLog(str(folder), limit, time.monotonic, drops.append)


def test_a_log_within_its_limit_is_read_byte_by_byte(tmp_path: Path) -> None:
    """Many segments, chunks that end anywhere, and the raw bytes are the ones written."""
    drops: list[Drop] = []
    log = rank_log(tmp_path, 0, 64 * MEGABYTE, drops)
    whole = b"".join(b"line %d\n" % number for number in range(700_000))
    for start in range(0, len(whole), 65_521):
        log.append("stdout", memoryview(whole[start : start + 65_521]), time.time_ns())
    log.close()
    assert not drops
    assert len(list((tmp_path / "node-0" / "log" / "0").glob("*.log"))) > 1
    assert b"".join(open_log(tmp_path).raw(0, "stdout")) == whole
    lines = open_log(tmp_path).lines(LogQuery(tail=3))
    assert [line.text for line in lines] == ["line 699997", "line 699998", "line 699999"]


def test_a_log_over_its_limit_shows_its_beginning_the_mark_and_its_end(tmp_path: Path) -> None:
    """The first segment and the newest ones are there, and the gap says how much is not."""
    drops: list[Drop] = []
    log = rank_log(tmp_path, 0, MEGABYTE, drops)
    for number in range(40_000):
        log.append("stdout", memoryview(b"%99d\n" % number), time.time_ns())
    log.close()
    lines = open_log(tmp_path).walk(LogQuery(), ended=True)
    shown = list(lines)
    gaps = [line for line in shown if line.stream == "aiarts"]
    lost = sum(drop.end - drop.start for drop in drops)
    assert [gap.text for gap in gaps] == [f"… {lost:,} bytes dropped here …"]
    assert int(shown[0].text) == 0
    assert int(shown[-1].text) == 39_999


def test_readers_of_a_log_that_is_being_written_see_every_line_once(tmp_path: Path) -> None:
    """Real clock, four ranks written by one thread, a pager and a follower reading beside it."""
    total = 4000
    ended = threading.Event()

    def write() -> None:
        logs = [rank_log(tmp_path, rank, 2 * MEGABYTE, []) for rank in range(4)]
        for number in range(total):
            stream = "stderr" if number % 7 == 0 else "stdout"
            logs[number % 4].append(stream, memoryview(b"%d\n" % number), time.time_ns())
            if number % 50 == 0:
                os.sched_yield()
        for log in logs:
            log.close()
        ended.set()

    log, other = open_log(tmp_path), open_log(tmp_path)
    follower = other.follow(LogQuery(after="0.0.0.0.0"))
    paged: list[str] = []
    followed: list[str] = []
    cursor = "0.0.0.0.0"
    writer = threading.Thread(target=write)
    writer.start()
    while True:
        over = ended.is_set()
        followed += [line.text for line in follower.step(over)]
        page = log.lines(LogQuery(after=cursor, limit=300), ended=over)
        cursor = page[-1].seq if page else cursor
        paged += [line.text for line in page]
        if follower.done and over and not page:
            break
    writer.join()
    assert [int(text) for text in paged] == list(range(total))
    assert [int(text) for text in followed] == list(range(total))
