"""Card hours: what each user or queue held between two moments, whatever lies outside of them left out."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.kernel.totals import counted, hours_between

START = datetime(2026, 1, 10, tzinfo=timezone.utc)
END = datetime(2026, 1, 17, tzinfo=timezone.utc)


def at(hours: float) -> str:
    return (START + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")


def job(owner: str = "alice", cards: int = 1, nodes: int = 1, phase: str = "running", **times: Any) -> dict[str, Any]:
    spec = {"devices": cards, "nodes": nodes, "queue": times.pop("queue", None)}
    return {"owner": owner, "phase": phase, "spec": spec, "created": at(-100), **times}


def test_what_a_run_was_paused_is_not_counted() -> None:
    attempts = [{"queued": at(0), "started": at(1), "ended": at(2)}, {"queued": at(5), "started": at(6)}]
    assert hours_between(job(started=at(1), ended=None, attempts=attempts), START, START + timedelta(hours=8)) == 1 + 2


def test_a_run_counts_only_inside_the_days_asked_for() -> None:
    assert hours_between(job(started=at(-5), ended=at(3)), START, END) == 3
    assert hours_between(job(started=at(2), ended=None), START, END) == 7 * 24 - 2
    assert hours_between(job(started=at(-9), ended=at(-1)), START, END) == 0
    assert hours_between(job(started=None), START, END) == 0


def test_every_run_that_is_still_known_counts() -> None:
    earlier = [{"started": at(-3), "ended": at(1)}, {"started": at(2), "ended": at(4)}]
    assert hours_between(job(started=at(5), ended=at(6), earlier=earlier), START, END) == 1 + 2 + 1
    assert hours_between(job(phase="queued", started=None, earlier=earlier), START, END) == 3
    assert hours_between(job(started=at(5), ended=at(4), earlier=[{"started": at(9), "ended": at(8)}]), START, END) == 0


def test_cards_are_counted_over_all_nodes_and_only_while_they_are_held() -> None:
    jobs = [
        job(cards=8, nodes=2, started=at(0), ended=None),
        job(cards=4, phase="succeeded", started=at(0), ended=at(1)),
        job(cards=4, phase="queued"),
        job("bob", cards=1, started=at(0), ended=None),
    ]
    alice, bob = counted(jobs, "user", START, START + timedelta(hours=2))
    assert (alice["user"], alice["jobs"], alice["running"], alice["waiting"]) == ("alice", 3, 1, 1)
    assert (alice["cards"], alice["card_hours"], alice["hours"]) == (16, 16 * 2 + 4, 3)
    assert (bob["user"], bob["cards"], bob["card_hours"]) == ("bob", 1, 2)


def test_jobs_without_a_queue_stand_in_a_row_of_their_own() -> None:
    rows = counted([job(queue="a", started=at(0), ended=at(2)), job(cards=0)], "queue", START, END)
    assert [row["queue"] for row in rows] == ["a", "-"]


runs = st.tuples(st.floats(-50, 200), st.floats(0, 100), st.integers(0, 8), st.sampled_from(["alice", "bob", "eve"]))


@given(st.lists(runs, max_size=20), st.floats(1, 167))
def test_the_days_may_be_cut_anywhere_and_the_parts_make_the_whole(found: list[Any], cut: float) -> None:
    jobs = [job(owner, cards, started=at(begin), ended=at(begin + length)) for begin, length, cards, owner in found]
    middle = START + timedelta(hours=cut)

    def hours(since: datetime, until: datetime) -> float:
        return float(sum(row["card_hours"] for row in counted(jobs, "user", since, until)))

    assert abs(hours(START, middle) + hours(middle, END) - hours(START, END)) < 1e-3
