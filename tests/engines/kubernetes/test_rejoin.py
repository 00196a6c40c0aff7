"""Where the kubelet's log joins ours: every line once, whatever order and however much either side has."""

from __future__ import annotations

import random

import pytest

from jupyter_aiarts.engines.kubernetes.rejoin import LOOK, HeldLine, Line, New, Rejoin

MS = 1_000_000
STREAMS = ("stdout", "stderr")
Printed = list[tuple[str, int, bytes]]  # stream, time at the launcher, text


def new_lines(rejoin: Rejoin, lines: list[Line]) -> list[New]:
    """What the rejoin makes of the whole log of the kubelet."""
    return [new for line in lines for new in rejoin.feed(line)] + rejoin.flush()


def split(printed: Printed, stdout: int, stderr: int, cut: int = 0) -> Rejoin:
    """Ours: the first so many lines of each stream, of which those up to `cut` were too many to look at."""
    lines = {name: [HeldLine(t, text) for stream, t, text in printed if stream == name] for name in STREAMS}
    held = {"stdout": lines["stdout"][:stdout], "stderr": lines["stderr"][:stderr]}
    return Rejoin(*([line for line in held[name] if line.t >= cut] for name in STREAMS), cut)


def seen(printed: Printed, lag: int = 3 * MS) -> list[Line]:
    """What a runtime makes of it, a little later."""
    return [Line(t + lag, text) for _, t, text in printed]


def numbered(count: int) -> Printed:
    return [("stderr" if n % 3 == 0 else "stdout", 10 * n * MS, b"line %d\n" % n) for n in range(count)]


def test_lines_after_ours_are_new() -> None:
    printed = numbered(300)
    rejoin = split(printed, 120, 60)
    assert [new.data for new in new_lines(rejoin, seen(printed))] == [text for _, _, text in printed[180:]]
    assert rejoin.is_met and not rejoin.lost


def test_nothing_is_new_where_everything_is_held() -> None:
    printed = numbered(300)
    rejoin = split(printed, 200, 100)
    assert new_lines(rejoin, seen(printed)) == []
    assert rejoin.is_met


def test_a_kubelet_that_has_nothing_proves_nothing() -> None:
    """It rotates a file that is full, and the new one may still be empty when the container ends."""
    assert not split(numbered(300), 200, 100).is_met
    assert Rejoin([], []).is_met


def test_a_stream_that_is_held_less_far_gives_its_lines() -> None:
    """The connection broke after stdout was sent and before stderr was."""
    printed = numbered(300)
    rejoin = split(printed, 200, 70)
    assert [new.data for new in new_lines(rejoin, seen(printed))] == [
        text for stream, _, text in printed[210:] if stream == "stderr"
    ]


def test_the_beginning_that_the_kubelet_has_forgotten_is_no_loss() -> None:
    printed = numbered(3000)
    rejoin = split(printed, 1000, 500)
    found = new_lines(rejoin, seen(printed)[1200:])
    assert [new.data for new in found] == [text for _, _, text in printed[1500:]]
    assert not rejoin.lost


def test_only_the_newest_of_ours_need_to_be_looked_at() -> None:
    printed = numbered(3000)
    rejoin = split(printed, 1000, 500, cut=printed[1300][1])
    assert [new.data for new in new_lines(rejoin, seen(printed))] == [text for _, _, text in printed[1500:]]


def test_a_hole_between_ours_and_the_kubelets_is_noticed() -> None:
    printed = numbered(3000)
    rejoin = split(printed, 200, 100)
    found = new_lines(rejoin, seen(printed)[1000:])
    assert [new.data for new in found] == [text for _, _, text in printed[1000:]]
    assert rejoin.lost and not rejoin.is_met


def test_equal_lines_are_counted_where_the_beginning_is_there() -> None:
    printed: Printed = [("stdout", n // 50 * MS, b"step\n") for n in range(1000)]
    assert len(new_lines(split(printed, 700, 0), seen(printed))) == 300


def test_equal_lines_are_told_apart_by_their_times_where_it_is_not() -> None:
    printed: Printed = [("stdout", 10 * n * MS, b"step\n") for n in range(1000)]
    assert len(new_lines(split(printed, 700, 0), seen(printed)[600:])) == 300


def test_a_part_of_the_kubelets_log_is_not_taken_for_its_beginning() -> None:
    """A server that comes back asks from the last seconds on, and the pod may be no older than that."""
    printed: Printed = [("stdout", n * MS // 10, b"line %d\n" % n) for n in range(2000)]
    held = [HeldLine(t, text) for _, t, text in printed[:1800]]
    rejoin = Rejoin(held, [], is_part=True)
    assert [new.data for new in new_lines(rejoin, seen(printed)[1000:])] == [text for _, _, text in printed[1800:]]


def test_an_unfinished_line_of_ours_gets_its_rest_in_its_own_stream() -> None:
    rejoin = Rejoin([HeldLine(1, b"one\n")], [HeldLine(2, b"tw", open=True)])
    assert new_lines(rejoin, [Line(3, b"one\n"), Line(4, b"two\n"), Line(5, b"three\n")]) == [
        New("stderr", 4, b"o\n"),
        New("stdout", 5, b"three\n"),
    ]


def test_few_lines_are_enough_when_no_more_come() -> None:
    rejoin = Rejoin([HeldLine(1, b"one\n")], [])
    assert rejoin.feed(Line(2, b"one\n")) == rejoin.feed(Line(3, b"two\n")) == []
    assert rejoin.flush() == [New("stdout", 3, b"two\n")]
    assert rejoin.feed(Line(4, b"three\n")) == [New("stdout", 4, b"three\n")]


def test_lines_the_kubelet_never_got_do_not_break_the_thread() -> None:
    """A console that nobody read in time leaves lines out; ours has them."""
    printed = numbered(500)
    theirs = seen(printed[:200] + printed[230:])
    rejoin = split(printed, 230, 115)  # up to line 345
    assert [new.data for new in new_lines(rejoin, theirs)] == [text for _, _, text in printed[345:]]


@pytest.mark.parametrize("seed", range(20))
def test_every_line_comes_out_once(seed: int) -> None:
    """Lines with their own text, two streams, a runtime that is late and swaps neighbours of different streams."""
    chance = random.Random(seed)
    for count in range(LOOK, 120, 4):
        printed: Printed = [(chance.choice(STREAMS), MS * n, b"line %d\n" % n) for n in range(count)]
        theirs = [(stream, Line(t + chance.randrange(5) * MS, text)) for stream, t, text in printed]
        for n in range(count - 1):
            if theirs[n][0] != theirs[n + 1][0] and chance.random() < 0.5:
                theirs[n], theirs[n + 1] = theirs[n + 1], theirs[n]
        ours = {name: [text for stream, _, text in printed if stream == name] for name in STREAMS}
        limits = {name: chance.randrange(len(ours[name]) + 1) for name in STREAMS}
        rejoin = split(printed, limits["stdout"], limits["stderr"])
        found = [new.data for new in new_lines(rejoin, [line for _, line in theirs])]
        held = [text for name in STREAMS for text in ours[name][: limits[name]]]
        assert sorted(found + held) == sorted(text for _, _, text in printed)
