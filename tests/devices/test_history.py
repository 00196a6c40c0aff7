"""History is bounded, thinned honestly, and never turns unknown into a number."""

from __future__ import annotations

import sys

from jupyter_aiarts.devices.history import MINUTES, SECONDS, SLACK, History, values_of
from jupyter_aiarts.model.usage import Card, Host, Usage

NOON = 1_800_000_000.0


def test_ten_minutes_of_seconds_and_a_day_of_minutes_are_kept_and_no_more() -> None:
    history = History()
    for second in range(MINUTES * 60 + 5000):
        history.add(NOON + second, {"cpu": float(second % 60)})
    shown = [len(ring.copy(0).lines().series["cpu"]) for ring in (history.seconds, history.minutes)]
    assert shown == [SECONDS, MINUTES]
    assert set(history.minutes.copy(0).lines().series["cpu"]) == {29.5}
    kept = [ring._series["cpu"] for ring in (history.seconds, history.minutes)]
    assert sum(map(sys.getsizeof, kept)) < 40_000


def test_unknown_is_neither_zero_nor_part_of_a_mean() -> None:
    history = History()
    history.add(NOON, {"a": 10.0})
    history.add(NOON + 1, {})
    history.add(NOON + 2, {"a": 30.0, "b": 1.0})
    assert history.seconds.copy(0).lines().series == {"a": [10.0, None, 30.0], "b": [None, None, 1.0]}
    history.add(NOON + 60, {})
    assert history.minutes.copy(0).lines().series == {"a": [20.0], "b": [1.0]}


def test_a_card_that_is_gone_is_forgotten_when_its_last_value_is() -> None:
    history = History()
    history.add(NOON, {"npu 0 utilization": 5.0, "cpu": 1.0})
    for second in range(1, SECONDS + SLACK + 1):
        history.add(NOON + second, {"cpu": 1.0})
    assert list(history.seconds.copy(0).lines().series) == ["cpu"]


def test_a_clock_that_jumps_back_begins_anew_and_one_that_jumps_ahead_leaves_a_gap() -> None:
    history = History()
    history.add(NOON, {"cpu": 1.0})
    history.add(NOON + 86_400, {"cpu": 2.0})
    assert history.seconds.copy(0).lines().series["cpu"] == [1.0, 2.0]
    history.add(NOON - 3600, {"cpu": 3.0})
    assert history.seconds.copy(0).lines().series["cpu"] == [3.0]
    assert list(history.seconds.times) == sorted(history.seconds.times)


def test_a_clock_that_is_put_right_does_not_forget_the_day() -> None:
    history = History()
    for second in range(130):
        history.add(NOON + second, {"cpu": 1.0})
    history.add(NOON + 125, {"cpu": 9.0})
    history.add(NOON + 131, {"cpu": 2.0})
    assert history.seconds.copy(0).lines().series["cpu"] == [1.0] * 130 + [2.0]
    assert len(history.minutes.times) == 2


def test_names_that_change_with_every_look_do_not_fill_the_memory() -> None:
    history = History()
    for look in range(2000):
        history.add(NOON + look, {f"gpu {look} memory": 1.0})
    assert len(history.seconds._series) <= 512


def test_only_what_is_known_becomes_a_line() -> None:
    seen = Usage(t="", host=Host(cpu=0.0), devices=(Card(kind="npu", id=3, utilization=None, memory_used_mb=7.0),))
    assert values_of(seen) == {"cpu": 0.0, "npu 3 memory": 7.0}


def test_a_copy_is_not_changed_by_what_is_seen_later() -> None:
    """It is made on the event loop, and read beside it."""
    history = History()
    history.add(1.0, {"cpu": 1.0})
    copy = history.copy(600)
    history.add(2.0, {"cpu": 2.0, "memory": 3.0})
    assert (copy.lines().times, copy.lines().series) == ([1.0], {"cpu": [1.0]})
