"""A run of any length is told from its beginning to now, in a bounded number of looks."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.launcher.usage.ledger import MOST, Gauge, Ledger, Past

Look = dict[str, float | None]


def seen(looks: list[Look]) -> tuple[list[float], dict[str, list[float | None]]]:
    past = Past()
    for at, values in enumerate(looks):
        past.add(float(at), values)
    told = past.as_json()
    return told["times"], told["series"]


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.none() | st.floats(0, 100)), max_size=9 * MOST))
def test_it_is_bounded_evenly_spaced_begins_where_the_run_did_and_invents_nothing(looks: list[Look]) -> None:
    times, series = seen(looks)
    assert len(times) <= MOST and times[:1] == ([0.0] if looks else [])
    assert len({later - earlier for earlier, later in itertools.pairwise(times)}) <= 1
    assert len(looks) - (times[-1] if times else 0) <= max(2 * len(looks) / MOST, 1) + 1, "up to now"
    for name, values in series.items():
        assert values == [looks[int(at)].get(name) for at in times]


def test_a_series_that_comes_later_was_unknown_before() -> None:
    assert seen([{"a": 1.0}, {"a": 1.0, "b": 2.0}])[1] == {"a": [1.0, 1.0], "b": [None, 2.0]}


def test_a_gauge_knows_last_mean_and_most_of_what_was_told() -> None:
    gauge = Gauge()
    assert gauge.as_json() == [None, None, None]
    for value in (2.0, None, 4.0, None):
        gauge.add(value)
    assert gauge.as_json() == [None, 3.0, 4.0] and gauge.looks == 2


def test_a_ledger_tells_thing_by_thing() -> None:
    ledger = Ledger()
    ledger.add(1.0, {7: {"cpu": 0.5, "memory": None}, 3: {"cpu": 1.0, "memory": 8.0}})
    ledger.add(2.0, {})
    assert ledger.as_json() == [
        {"id": 3, "cpu": [1.0, 1.0, 1.0], "memory": [8.0, 8.0, 8.0]},
        {"id": 7, "cpu": [0.5, 0.5, 0.5], "memory": [None, None, None]},
    ]
    assert ledger.past.as_json()["times"] == [1.0], "where nothing was seen there was no look"
