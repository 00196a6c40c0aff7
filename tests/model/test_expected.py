"""When a job may start: a band with its basis, honest about what is not known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from jupyter_aiarts.model.expected import Band, Before, Holder, Line, expected
from jupyter_aiarts.model.times import seconds_between

NOW = "2026-05-01T12:00:00.000000Z"
HOUR = 3600.0
CARDS = "gpu"


def line(**more: Any) -> Line:
    return Line(**{"wants": {CARDS: 4}, "total": {CARDS: 8}, **more})


def holder(cards: float = 8, elapsed: float = 0.0, limit: float | None = None) -> Holder:
    return Holder(holds={CARDS: cards}, elapsed=elapsed, limit=limit)


def before(cards: float = 8, limit: float | None = None) -> Before:
    return Before(wants={CARDS: cards}, limit=limit)


def band(one: Line) -> tuple[float, float] | None:
    found = expected(one, NOW)
    return None if found is None else bounds(found)


def bounds(found: Band) -> tuple[float, float]:
    return seconds_between(NOW, found.earliest), seconds_between(NOW, found.latest)


def test_a_declared_limit_gives_the_latest_moment_and_no_earliest_but_now() -> None:
    found = expected(line(running=[holder(elapsed=HOUR, limit=3 * HOUR)]), NOW)
    assert found is not None and bounds(found) == (0, 2 * HOUR + 60)
    assert (found.basis, found.values) == ("limits", {"ahead": 0, "running": 1})


def test_those_ahead_are_waited_for_one_after_the_other() -> None:
    one = line(running=[holder(limit=HOUR)], ahead=[before(8, HOUR), before(8, 2 * HOUR)])
    assert band(one) == (0, 4 * HOUR + 180)


def test_those_who_fit_beside_each_other_run_at_once() -> None:
    one = line(running=[holder(limit=HOUR)], ahead=[before(4, HOUR)])
    assert band(one) == (0, HOUR + 60)


def test_what_was_seen_gives_a_range_of_its_quartiles() -> None:
    found = expected(line(running=[holder()], durations=[600, 600, 1200, 1800, 1800]), NOW)
    assert found is not None and bounds(found) == (600, 1800)
    assert (found.basis, found.values["seen"], found.values["low"], found.values["high"]) == ("observed", 5, 10, 30)


def test_without_limits_and_with_too_little_seen_there_is_no_band() -> None:
    assert band(line(running=[holder()])) is None
    assert band(line(running=[holder()], durations=[600] * 4)) is None
    assert band(line(running=[holder(4, limit=HOUR), holder(4)], wants={CARDS: 8})) is None


def test_one_who_runs_for_ever_does_not_matter_where_others_make_room() -> None:
    assert band(line(running=[holder(4), holder(4, limit=HOUR)])) == (0, HOUR + 60)


def test_what_has_outlived_the_usual_is_not_about_to_end() -> None:
    found = band(line(running=[holder(elapsed=10 * HOUR)], durations=[600] * 9))
    assert found == (0, 10 * HOUR)


def test_who_can_never_start_has_no_band_and_who_is_not_held_up_neither() -> None:
    assert band(line(wants={CARDS: 16}, running=[holder(limit=1)])) is None
    assert band(line(running=[holder(4, limit=HOUR)])) is None


def test_those_who_can_never_start_hold_nobody_up() -> None:
    assert band(line(running=[holder(limit=HOUR)], ahead=[before(64)])) == (0, HOUR + 60)


def test_what_nobody_here_holds_and_is_not_free_bounds_nothing() -> None:
    assert band(line(wants={"cpu": 2, CARDS: 1}, total={"cpu": 2, CARDS: 8}, running=[holder(8, limit=9)])) == (0, 69)
    assert band(line(running=[Holder(holds={CARDS: 9})])) is None


def test_where_machines_matter_room_in_sum_is_not_taken_for_room() -> None:
    running = [holder(4, limit=HOUR), holder(2, limit=5 * HOUR)]
    assert band(line(running=running, wants={CARDS: 4})) == (0, HOUR + 60)
    assert band(line(running=running, wants={CARDS: 4}, pooled=False)) == (0, 5 * HOUR + 60)


def test_strangers_ahead_are_judged_by_how_often_somebody_starts() -> None:
    one = line(running=[holder(limit=HOUR)], strangers=3, admissions=[60, 60, 120, 180, 180], since_start=30)
    found = expected(one, NOW)
    assert found is not None and found.basis == "rate" and bounds(found) == (4 * 60 - 30, HOUR + 60)
    assert band(structs.replace(one, admissions=[60] * 4)) is None


def test_where_jobs_may_pass_the_earliest_does_not_wait_for_those_ahead() -> None:
    one = line(running=[holder(limit=HOUR)], ahead=[before(8, HOUR)], durations=[600] * 5)
    assert band(one) == (1200, 2 * HOUR + 120)
    assert band(structs.replace(one, strict=False)) == (600, 2 * HOUR + 120)


def test_absurd_limits_and_times_give_no_band_instead_of_an_error() -> None:
    assert band(line(running=[holder(limit=1e300)])) is None
    assert expected(line(running=[holder(limit=1)]), "yesterday") is None


# -- always --------------------------------------------------------------------------------------------------------

seconds = st.floats(0, 1e6)
limits = st.none() | st.floats(1, 1e6)
cards = st.integers(1, 8).map(float)
holders = st.builds(lambda c, e, m: holder(c, e, m), cards, seconds, limits)
waiters = st.builds(before, cards, limits)
lines = st.builds(
    Line,
    wants=cards.map(lambda n: {CARDS: n}),
    total=st.integers(8, 32).map(lambda n: {CARDS: float(n)}),
    running=st.lists(holders, max_size=5),
    ahead=st.lists(waiters, max_size=4),
    strangers=st.integers(0, 2),
    durations=st.lists(seconds, max_size=8),
    admissions=st.lists(seconds, max_size=8),
    since_start=seconds,
    pooled=st.booleans(),
    strict=st.booleans(),
)
SLACK = 1e-3


@given(lines)
def test_it_is_never_before_now_never_one_moment_and_never_without_a_basis(one: Line) -> None:
    found = expected(one, NOW)
    if found is not None:
        first, last = bounds(found)
        assert 0 <= first <= last - 59 and found.basis and "ahead" in found.values


@given(lines, waiters, st.integers(0, 4))
def test_one_more_ahead_never_makes_it_earlier(one: Line, more: Before, at: int) -> None:
    longer = [*one.ahead[:at], more, *one.ahead[at:]]
    less, now = band(one), band(structs.replace(one, ahead=longer))
    if less is not None and now is not None:
        assert now[0] >= less[0] - SLACK and now[1] >= less[1] - SLACK


@given(lines, st.integers(1, 16))
def test_more_room_never_makes_it_later(one: Line, more: int) -> None:
    roomy = structs.replace(one, total={CARDS: one.total[CARDS] + more})
    before_, now = band(one), band(roomy)
    if before_ is not None and now is not None and expected(one, NOW).basis == expected(roomy, NOW).basis:  # type: ignore[union-attr]
        assert now[0] <= before_[0] + SLACK and now[1] <= before_[1] + SLACK


@given(lines)
def test_without_what_was_seen_there_is_a_wider_band_or_none(one: Line) -> None:
    blind = band(structs.replace(one, durations=(), admissions=()))
    seen = band(one)
    if blind is not None and seen is not None:
        assert blind[0] <= seen[0] + SLACK and blind[1] >= seen[1] - 60


@given(lines)
def test_with_less_than_five_seen_and_no_limit_there_is_none(one: Line) -> None:
    nobody = [structs.replace(other, limit=None) for other in one.running]
    waits = [structs.replace(other, limit=None) for other in one.ahead]
    blind = structs.replace(one, running=nobody, ahead=waits, durations=one.durations[:4], admissions=())
    assert band(blind) is None


@pytest.mark.parametrize("size", [2000])
def test_a_long_line_is_quick(size: int) -> None:
    import time

    one = line(running=[holder(1, limit=HOUR)] * 8, ahead=[before(4, HOUR)] * size)
    began = time.process_time()
    assert expected(one, NOW) is not None
    assert time.process_time() - began < 0.5
