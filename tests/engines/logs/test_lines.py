"""What one stream's bytes look like as lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.engines.logs.cut import GRID, PIECE, cut
from jupyter_aiarts.model.times import from_ns

ALL = LogQuery(tail=100_000)


def texts(run: Path, ended: bool = True) -> list[tuple[str, bool]]:
    return [(line.text, line.more) for line in open_log(run).lines(ALL, ended=ended)]


def test_an_empty_or_missing_folder_has_no_lines(tmp_path: Path) -> None:
    """No log is an empty page, never an error."""
    assert open_log(tmp_path).lines(LogQuery()) == []
    assert open_log(tmp_path / "nowhere").lines(LogQuery(rank=3)) == []


def test_a_line_carries_the_time_of_the_chunk_its_first_byte_came_in(log_folder) -> None:
    """Two lines of one chunk share its time; one that spans two chunks has the first one's."""
    first = log_folder.write(b"one\ntwo\nthr")
    second = log_folder.write(b"ee\nfour\n", after=5_000_000)
    lines = open_log(log_folder.run).lines(ALL)
    assert [(line.text, line.t) for line in lines] == [
        ("one", from_ns(first)),
        ("two", from_ns(first)),
        ("three", from_ns(first)),
        ("four", from_ns(second)),
    ]
    assert {(line.node, line.rank, line.stream) for line in lines} == {(0, 0, "stdout")}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"dos\r\n", "dos"),
        (b"10%\r20%\r\n", "10%\r20%"),
        (b"\r\r\n", "\r"),
        (b"\n", ""),
        (b"bad \xff\xfe bytes\n", "bad \ufffd\ufffd bytes"),
        ("中文 🎉\n".encode(), "中文 🎉"),
        (b"\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m"),
        (b"nul \x00 byte\n", "nul \x00 byte"),
    ],
)
def test_text_is_the_line_without_its_end(log_folder, data: bytes, text: str) -> None:
    """CRLF goes, a lone CR stays, what is no UTF-8 becomes U+FFFD, everything else is kept."""
    log_folder.write(data)
    assert texts(log_folder.run) == [(text, False)]


def test_a_last_line_without_newline_goes_on_until_the_run_has_ended(log_folder) -> None:
    """While the run lives it is marked `more`; half a character of it waits."""
    log_folder.write(b"a\nhalf " + "中".encode()[:2])
    assert texts(log_folder.run, ended=False) == [("a", False), ("half ", True)]
    assert texts(log_folder.run, ended=True) == [("a", False), ("half \ufffd", False)]


@pytest.mark.parametrize("lead", [0, 1, 777, PIECE - 1, PIECE])
@pytest.mark.parametrize("size", [PIECE, PIECE + 1, 2 * PIECE, 5 * PIECE + 17])
def test_a_long_line_comes_in_pieces_that_join_to_it(log_folder, lead: int, size: int) -> None:
    """Pieces have at most 64 KiB, all but the last say `more`, and both directions see the same ones."""
    whole = "€" * (size // 3) + "x" * (size % 3)
    log_folder.write(b"a" * lead + b"\n" + whole.encode() + b"\nnext\n")
    log = open_log(log_folder.run)
    lines = log.lines(ALL, ended=True)
    pieces = lines[1:-1]
    assert "".join(piece.text for piece in pieces) == whole
    assert [piece.more for piece in pieces] == [True] * (len(pieces) - 1) + [False]
    assert all(len(piece.text.encode()) <= PIECE for piece in pieces)
    assert (len(pieces) == 1) == (size <= PIECE)
    assert list(log.walk(LogQuery(), ended=True)) == lines


def test_going_on_inside_a_long_line_gives_the_same_pieces(log_folder) -> None:
    """A cursor on a piece: what comes before and after it are the pieces the whole page has."""
    log_folder.write(b"y" * (3 * GRID + 2) + b"\nnext\n")
    log = open_log(log_folder.run)
    lines = log.lines(ALL)
    assert len(lines) == 5
    for place, line in enumerate(lines):
        assert log.lines(LogQuery(after=line.seq)) == lines[place + 1 :]
        assert log.lines(LogQuery(before=line.seq)) == lines[:place]


def test_a_line_without_any_newline_is_read_in_pieces_from_both_ends(log_folder) -> None:
    """A megabyte of one line over several segments, from the end and from the beginning."""
    for _ in range(8):
        log_folder.write(b"z" * 130_001)
        log_folder.cut()
    log = open_log(log_folder.run)
    lines = log.lines(ALL, ended=True)
    assert "".join(line.text for line in lines) == "z" * 8 * 130_001
    assert list(log.walk(LogQuery(), ended=True)) == lines
    assert log.lines(LogQuery(tail=2), ended=True) == lines[-2:]


def test_invalid_bytes_at_a_cut_move_it_nowhere() -> None:
    """Continuation bytes without a leading one are cut like anything else."""
    pieces = cut(b"\x80" * (PIECE + 5), 0)
    assert [(start, end) for start, end, _, _ in pieces] == [(0, GRID), (GRID, PIECE + 5)]


def test_a_gap_is_told_with_its_size_and_reason(log_folder) -> None:
    """The mark stands between the line that was cut off and the next segment's first bytes."""
    log_folder.write(b"before\ncut o")
    log_folder.cut(dropped=1_234_567)
    log_folder.write(b"rest\nafter\n")
    log_folder.status(0, [{"rank": 0, "stream": "stdout", "from": 12, "to": 1_234_579, "reason": "limit"}])
    lines = open_log(log_folder.run).lines(ALL)
    mark = "… 1,234,567 bytes dropped here: log limit reached …"
    assert [(line.stream, line.text) for line in lines] == [
        ("stdout", "before"),
        ("stdout", "cut o"),
        ("aiarts", mark),
        ("stdout", "rest"),
        ("stdout", "after"),
    ]
    assert not any(line.more for line in lines)
    raw = b"".join(open_log(log_folder.run).raw(0, "stdout"))
    assert raw == b"before\ncut o\n" + mark.encode() + b"\nrest\nafter\n"


def test_bytes_lost_at_the_end_are_told_though_nothing_came_after(log_folder) -> None:
    """A disk that stays full: the log doesn't just stop, and cursors pass the mark once."""
    log_folder.write(b"a\nhalf")
    log_folder.write(b"other\n", rank=1)
    log_folder.status(0, [{"rank": 0, "stream": "stdout", "from": 6, "to": 1006, "reason": "disk-full"}])
    log = open_log(log_folder.run)
    lines = log.lines(ALL)
    assert [line.text for line in lines] == ["a", "half", "… 1,000 bytes dropped here: disk full …", "other"]
    for place, line in enumerate(lines):
        assert log.lines(LogQuery(after=line.seq)) == lines[place + 1 :]
        assert log.lines(LogQuery(before=line.seq)) == lines[:place]
    assert b"".join(log.raw(0, "stdout")).endswith("half\n… 1,000 bytes dropped here: disk full …\n".encode())
    follower = log.follow(LogQuery(tail=1))
    assert [line.text for line in follower.step(False)] == ["other"]
    assert [line.text for line in follower.step(True)] == ["… 1,000 bytes dropped here: disk full …"]


@pytest.mark.parametrize("status", ["", "[]", '{"drops": 3}', '{"drops": [{"rank": "x"}]}'])
def test_a_gap_without_a_readable_reason_is_still_told(log_folder, status: str) -> None:
    """A broken status file costs the reason, not the mark."""
    log_folder.write(b"a\n")
    log_folder.cut(dropped=10)
    log_folder.write(b"b\n")
    (log_folder.run / "node-0" / "status.json").write_text(status)
    lines = open_log(log_folder.run).lines(ALL)
    assert [line.text for line in lines] == ["a", "… 10 bytes dropped here …", "b"]


def test_plain_text_joins_pieces_and_tags_ranks_only_when_merged(log_folder) -> None:
    """One rank reads like the program's own output; a merged log says whose line it is."""
    log_folder.write(b"x" * 70_000 + b"\n", rank=0)
    log_folder.write(b"hello\n", rank=1)
    log = open_log(log_folder.run)
    assert "".join(log.text(LogQuery(rank=0))) == "x" * 70_000 + "\n"
    assert "".join(log.text(LogQuery(), whole=True)) == "[0] " + "x" * 70_000 + "\n[1] hello\n"
