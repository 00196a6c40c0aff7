"""Pages over many ranks: every line exactly once, in time order, whatever the page size."""

from __future__ import annotations

import random

import pytest

from jupyter_aiarts.engines.logs import LogLine, LogQuery, RunLog, open_log
from jupyter_aiarts.engines.logs.query import read_seq
from jupyter_aiarts.errors import BadRequest

ALL = LogQuery(tail=100_000)


def fill(log_folder, seed: int, chunks: int, ranks: int = 5) -> None:
    """Random chunks, equal times, lines over chunk and segment borders, some gaps."""
    dice = random.Random(seed)
    for number in range(chunks):
        rank, stream = dice.randrange(ranks), dice.choice(["stdout", "stderr"])
        size = dice.choice([1, 3, 20, 60, 900])
        data = bytes(dice.choices(b"abcdefghijklmno \r\n\n\xe4", k=size)) + b"%d\n" % number
        log_folder.write(data, rank, stream, node=rank % 2, after=dice.choice([0, 0, 1, 1000]))
        if dice.random() < 0.2:
            log_folder.cut(rank, stream, dropped=dice.choice([0, 0, 0, 7]))
    for rank in range(ranks):
        log_folder.write(b"end\n", rank, node=rank % 2)


def all_forwards(log: RunLog, limit: int, first: LogLine) -> list[LogLine]:
    found = [first]
    while page := log.lines(LogQuery(after=found[-1].seq, limit=limit), ended=True):
        assert len(page) <= limit
        found += page
    return found


def all_backwards(log: RunLog, limit: int) -> list[LogLine]:
    found = log.lines(LogQuery(tail=limit), ended=True)
    while page := log.lines(LogQuery(before=found[0].seq, limit=limit), ended=True):
        assert len(page) <= limit
        found = page + found
    return found


@pytest.mark.parametrize(("seed", "limit"), [(1, 1), (2, 2), (3, 7), (4, 64), (5, 1000)])
def test_pages_in_both_directions_give_the_whole_log_once(log_folder, seed: int, limit: int) -> None:
    """Cursors lose nothing and repeat nothing, also among equal times, segments and gaps."""
    fill(log_folder, seed, {1: 8, 2: 12, 7: 30}.get(limit, 150))
    log = open_log(log_folder.run)
    whole = list(log.walk(LogQuery(), ended=True))
    assert [read_seq(line.seq).begin for line in whole] == sorted(read_seq(line.seq).begin for line in whole)
    assert len({line.seq for line in whole}) == len(whole)
    assert log.lines(ALL, ended=True) == whole[-100_000:]
    assert all_backwards(log, limit) == whole
    assert all_forwards(log, limit, whole[0]) == whole


def test_each_stream_of_the_merged_log_is_that_stream_alone(log_folder) -> None:
    """Merging changes the order among streams, never a stream."""
    fill(log_folder, 6, 300)
    log = open_log(log_folder.run)
    whole = list(log.walk(LogQuery(), ended=True))
    for rank in range(5):
        alone = list(log.walk(LogQuery(rank=rank), ended=True))
        assert alone == [line for line in whole if line.rank == rank]


def test_the_lines_between_two_cursors(log_folder) -> None:
    """`after` and `before` together bound the page on both sides."""
    fill(log_folder, 7, 60)
    log = open_log(log_folder.run)
    whole = log.lines(ALL, ended=True)
    query = LogQuery(after=whole[10].seq, before=whole[30].seq, limit=100)
    assert log.lines(query, ended=True) == whole[11:30]


def test_a_cursor_into_removed_bytes_goes_on_after_the_gap(log_folder) -> None:
    """The limit removed the segment that a reader stood in: it sees the mark, then the rest."""
    log_folder.write(b"first\n")
    log_folder.cut()
    log_folder.write(b"gone 1\ngone 2\n")
    log_folder.cut()
    log_folder.write(b"kept\n")
    log = open_log(log_folder.run)
    cursor = log.lines(ALL)[1].seq
    for path in log_folder.rank(0).glob("stdout.*6.*"):
        path.unlink()
    page = log.lines(LogQuery(after=cursor))
    assert [line.text for line in page] == ["… 7 bytes dropped here …", "kept"]
    assert [line.text for line in log.lines(LogQuery(after=page[0].seq))] == ["kept"]
    assert [line.text for line in log.lines(ALL)] == ["first", "… 14 bytes dropped here …", "kept"]


@pytest.mark.parametrize("seq", ["", "x", "1.2.3.4", "1.2.3.4.5;", "1.2.3.4.5_", "é", "f" * 40_000, "-1.0.0.0.0"])
def test_what_is_no_cursor_is_refused(log_folder, seq: str) -> None:
    """A made-up cursor is the caller's mistake."""
    with pytest.raises(BadRequest):
        open_log(log_folder.run).lines(LogQuery(after=seq))


def test_a_cursor_of_another_log_does_no_harm(log_folder) -> None:
    """Numbers that fit no stream give an empty or a full page, never an error."""
    fill(log_folder, 8, 20)
    log = open_log(log_folder.run)
    huge = "f" * 16
    for seq in (f"{huge}.{huge}.{huge}.{huge}.{huge}", "0.0.0.0.0", f"0.0.0.{huge}.0_0.0.{huge}_1.2.3"):
        log.lines(LogQuery(after=seq))
        log.lines(LogQuery(before=seq))


@pytest.mark.parametrize("asked", [{"rank": -1}, {"stream": "../x"}, {"tail": -1}, {"tail": 100_001}, {"limit": 0}])
def test_a_query_out_of_range_is_refused(asked: dict[str, object]) -> None:
    """Bad numbers never reach a file."""
    with pytest.raises(BadRequest):
        LogQuery(**asked)
