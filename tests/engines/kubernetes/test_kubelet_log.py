"""The kubelet's copy of a log: lines, times, ranks; each once over any number of connections."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from jupyter_aiarts.engines.kubernetes.kubelet_log import (
    LONGEST,
    SECOND,
    KubeletCopy,
    Line,
    LineReader,
    Unseen,
    split_rank,
)
from jupyter_aiarts.engines.kubernetes.node_archive import NodeArchive
from jupyter_aiarts.engines.logs import LogQuery, open_log

from .archiving import stamp

T = 1_800_000_000 * SECOND


@pytest.mark.parametrize(
    ("text", "t"),
    [
        (b"2027-01-15T08:00:00.000000000Z hello\n", T),
        (b"2027-01-15T08:00:00.123456789Z hello\n", T + 123_456_789),
        (b"2027-01-15T08:00:00.5Z hello\n", T + 500_000_000),
        (b"2027-01-15T08:00:00Z hello\n", T),
        (b"2027-01-15T16:00:00.000000001+08:00 hello\n", T + 1),
    ],
)
def test_times_are_read_in_every_form(text: bytes, t: int) -> None:
    assert LineReader().feed(text) == [Line(t, b"hello\n")]


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_lines_are_the_same_however_the_bytes_are_cut(size: int) -> None:
    lines = [Line(T + n, b"x" * (n % 50) + b"\n") for n in range(200)]
    text = b"".join(stamp(line.t) + b" " + line.text for line in lines)
    reader = LineReader()
    found = [line for at in range(0, len(text), size) for line in reader.feed(text[at : at + size])]
    assert found + reader.end() == lines


def test_a_last_line_without_newline_comes_at_the_end_only() -> None:
    reader = LineReader()
    assert reader.feed(stamp(T) + b" half") == []
    assert reader.end() == [Line(T, b"half")]


@pytest.mark.parametrize("size", [1000, 100_000, 10_000_000])
def test_a_very_long_line_comes_in_the_same_parts_however_it_is_cut(size: int) -> None:
    text = stamp(T) + b" " + b"y" * (3 * LONGEST + 5) + b"\n" + stamp(T + 1) + b" next\n"
    reader = LineReader()
    found = [line for at in range(0, len(text), size) for line in reader.feed(text[at : at + size])]
    assert b"".join(line.text for line in found[:-1]) == b"y" * (3 * LONGEST + 5) + b"\n"
    assert [(line.t, line.part, len(line.text)) for line in found] == [
        (T, 0, LONGEST - 31), (T, 1, LONGEST), (T, 2, LONGEST), (T, 3, 37), (T + 1, 0, 5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "said", [b"unable to retrieve container logs for containerd://abc", b"9999-99-99T99:99:99Z x", b"\xff\xfe"]
)
def test_what_has_no_time_is_the_kubelets_own_word(said: bytes) -> None:
    reader = LineReader()
    assert reader.feed(said + b"\n") == []
    assert reader.notes == [said.decode("utf-8", "replace")]


@pytest.mark.parametrize(
    ("text", "ranks", "found"),
    [
        (b"[0] x\n", (0, 1), (0, b"x\n")),
        (b"[1] [0] x\n", (0, 1), (1, b"[0] x\n")),
        (b"[12] \n", (8, 12), (12, b"\n")),
        (b"[7] x\n", (0, 1), (0, b"[7] x\n")),
        (b"[00] x\n", (0, 1), (0, b"[00] x\n")),
        (b"[99999999999999999999] x\n", (0, 1), (0, b"[99999999999999999999] x\n")),
        (b"[../x] x\n", (0, 1), (0, b"[../x] x\n")),
        (b"[1]x\n", (0, 1), (0, b"[1]x\n")),
        (b"[1] mine\n", (3,), (3, b"[1] mine\n")),
    ],
)
def test_the_rank_is_read_only_where_the_launcher_wrote_it(
    text: bytes, ranks: tuple[int, ...], found: tuple[int, bytes]
) -> None:
    assert split_rank(text, ranks) == found


def test_a_new_connection_repeats_nothing_and_leaves_nothing_out() -> None:
    """Times that go back a little, equal times, equal lines, and connections that end anywhere."""
    chance = random.Random(3)
    lines: list[Line] = []
    t = T
    for n in range(3000):
        t += chance.choice([0, 1000, 50_000_000])
        lines.append(Line(t - chance.choice([0, 0, 300_000]), b"step %d\n" % (n % 7)))
    unseen, found, place = Unseen(), list[Line](), 0
    while place < len(lines):
        unseen.reconnect()
        offered = [line for line in lines if line.t >= unseen.since * SECOND]
        place = min(len(lines), place + chance.randrange(1, 400))
        end = len(offered) - (len(lines) - place)
        found += unseen.unseen(offered[:end])
    assert found == lines


@pytest.fixture
def node(tmp_path: Path) -> NodeArchive:
    made = NodeArchive.open(tmp_path / "node-0", 0, 2**31, (0, 1), "job-1")
    assert made is not None
    return made


def lines_of(node: NodeArchive) -> list[tuple[int, str]]:
    return [(line.rank, line.text) for line in open_log(node.folder.parent).walk(LogQuery(), ended=True)]


def test_a_server_that_was_killed_goes_on_where_the_archive_ends(node: NodeArchive) -> None:
    """What was written of a batch is found again by the lines themselves; nothing else is remembered."""
    lines = [Line(T + n * 1_000_000, b"[%d] line %d\n" % (n % 2, n)) for n in range(500)]
    pod = node.pod("uid", "p")
    KubeletCopy(node, pod).take(lines[:300])
    again = KubeletCopy(node, pod)
    again.reconnect()
    again.take(lines)
    again.settle()
    assert lines_of(node) == [(n % 2, f"line {n}") for n in range(500)]


def test_what_a_pod_before_printed_is_not_taken_for_this_ones(node: NodeArchive) -> None:
    lines = [Line(T + n * 1_000_000, b"[%d] line %d\n" % (n % 2, n)) for n in range(50)]
    KubeletCopy(node, node.pod("first", "p")).take(lines)
    second = KubeletCopy(node, node.pod("second", "q"))
    second.take([Line(line.t + SECOND, line.text) for line in lines])
    second.settle()
    assert [text for _, text in lines_of(node)] == 2 * [f"line {n}" for n in range(50)]


def test_a_line_beyond_all_measure_is_kept_whole(node: NodeArchive) -> None:
    reader, copy = LineReader(), KubeletCopy(node, node.pod("uid", "p"))
    copy.take(reader.feed(stamp(T) + b" [1] " + b"z" * (2 * LONGEST)))
    copy.take(reader.feed(b"z" * LONGEST + b"\n" + stamp(T + 1) + b" [0] next\n"))
    folder = node.folder / "log"
    assert (folder / "1" / f"stdout.{0:020d}.log").read_bytes() == b"z" * (3 * LONGEST) + b"\n"
    assert (folder / "0" / f"stdout.{0:020d}.log").read_bytes() == b"next\n"
