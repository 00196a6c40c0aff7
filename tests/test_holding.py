"""Which kernel holds which cards, and since when they do nothing: facts in, verdict out."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from jupyter_aiarts.holding import UNTOLD, Holding, Kernel, Rest, held, resting, since_text, telling
from jupyter_aiarts.model.times import text_of
from jupyter_aiarts.model.usage import Card, Program

KERNEL = Kernel(id="k", pid=100, cells=1)
OTHER = Kernel(id="other", pid=200)
PARENTS = {100: 7, 101: 100, 102: 101, 200: 7, 7: 1, 900: 1}
NOW = datetime(2026, 11, 16, 14, 5, tzinfo=timezone.utc)


def card(number: int, utilization: float | None = 0.0, **memory: float | None) -> Card:
    """With programs by pid, as in `p101=5.0`."""
    programs = tuple(Program(pid=int(pid[1:]), memory_mb=used) for pid, used in memory.items())
    return Card(kind="gpu", id=number, utilization=utilization, programs=programs)


def holding(*cards: Card) -> dict[str, Holding]:
    return held(cards, [KERNEL, OTHER], PARENTS.get)


def after(before: dict[str, Rest], now: float, *cards: Card, kernel: Kernel = KERNEL) -> dict[str, Rest]:
    return resting(before, [kernel], held(cards, [kernel], PARENTS.get), telling(cards), now)


# -- who holds what ----------------------------------------------------------------------------------------------------


def test_a_kernel_holds_the_cards_that_its_process_and_those_below_it_are_on() -> None:
    found = holding(card(0, p100=10.0), card(1, p101=5.0), card(2, p102=1.0), card(3, p200=2.0))
    assert {key: ([one.id for one in what.cards], what.memory_mb) for key, what in found.items()} == {
        "k": ([0, 1, 2], 16.0),
        "other": ([3], 2.0),
    }


def test_a_card_with_several_programs_of_a_kernel_is_held_once() -> None:
    assert (holding(card(0, p100=10.0, p101=5.0))["k"].cards, holding(card(0, p100=1.0, p102=2.0))["k"].memory_mb) == (
        (card(0, p100=10.0, p101=5.0),),
        3.0,
    )


def test_programs_of_jobs_of_others_and_of_another_pid_namespace_are_nobodys() -> None:
    assert holding(card(0, p900=10.0), card(1, p4711=10.0), card(2, p1=1.0)) == {}


def test_a_driver_that_does_not_tell_of_programs_or_of_their_memory_leaves_it_unknown() -> None:
    assert holding(Card(kind="gpu", id=0, utilization=0.0)) == {}
    assert holding(card(0, p100=None), card(1, p101=5.0))["k"].memory_mb is None


def test_processes_that_seem_to_be_above_each_other_are_nobodys() -> None:
    """As where the table of processes changed while it was read."""
    assert held([card(0, p5=1.0)], [KERNEL], {5: 6, 6: 5}.get) == {}


# -- since when --------------------------------------------------------------------------------------------------------


def test_since_the_first_look_at_which_all_of_its_cards_did_nothing() -> None:
    first = after({}, 50.0, card(0, 4.9, p100=1.0), card(1, p101=1.0))
    later = after(first, 110.0, card(0, p100=1.0), card(1, p101=1.0))
    assert later["k"].since == 50.0


def test_one_card_that_works_is_enough_and_then_it_begins_anew() -> None:
    first = after({}, 50.0, card(0, p100=1.0), card(1, p101=1.0))
    worked = after(first, 60.0, card(0, p100=1.0), card(1, 5.0, p101=1.0))
    assert worked == {}
    assert after(worked, 70.0, card(0, p100=1.0), card(1, p101=1.0))["k"].since == 70.0


def test_what_is_unknown_is_never_idle() -> None:
    """As with a part of a card, which has no utilisation of its own."""
    first = after({}, 50.0, card(0, p100=1.0))
    assert after({}, 50.0, card(0, None, p100=1.0)) == after(first, 60.0, card(0, None, p100=1.0)) == {}


def test_a_card_that_is_gone_is_held_no_more_and_the_others_begin_anew() -> None:
    first = after({}, 50.0, card(0, p100=1.0), card(1, p100=1.0))
    gone = Card(kind="gpu", id=1, health="gone")
    [rest] = after(first, 60.0, card(0, p100=1.0), gone).values()
    assert (rest.cards, rest.since) == ((("gpu", 0, None),), 60.0)
    assert after(first, 60.0, gone) == {}


def test_a_kernel_that_ran_something_between_two_looks_was_not_idle() -> None:
    """A cell of a few seconds is between two looks, which are a minute apart."""
    first = after({}, 50.0, card(0, p100=1.0))
    ran: Any = {"kernel": Kernel(id="k", pid=100, cells=2)}
    assert after(first, 60.0, card(0, p100=1.0), **ran)["k"].since == 60.0


def test_a_look_at_which_no_card_answered_changes_nothing_for_a_while() -> None:
    """As where the driver's tool fails once an hour: idle since then would never be long."""
    first = after({}, 50.0, card(0, p100=1.0))
    failed = after(first, 110.0)
    assert failed == first and after(failed, 170.0, card(0, p100=1.0))["k"].since == 50.0
    assert after(first, 50.0 + UNTOLD) == {}  # nobody has known for too long
    assert after(first, 110.0, Card(kind="gpu", id=0, programs=())) == {}  # it answered: nothing is held
    assert after(first, 110.0, kernel=Kernel(id="k", pid=100, cells=2)) == {}  # a cell ran meanwhile


def test_a_driver_that_once_does_not_tell_of_programs_sets_no_idle_time_back() -> None:
    """As after one table that could not be read: the cards answer, and who is on all or one of them is not known."""
    first = after({}, 50.0, card(0, p100=1.0), card(1, p101=1.0))
    silent, other, busy = (Card(kind="gpu", id=id_, utilization=used) for id_, used in ((0, 0.0), (1, 0.0), (1, 90.0)))
    for untold in ([silent, other], [silent, card(1, p101=1.0)]):
        once = after(first, 110.0, *untold)
        assert once == first
        assert after(once, 170.0, card(0, p100=1.0), card(1, p101=1.0))["k"].since == 50.0
    assert after(first, 110.0, silent, card(1, 90.0, p101=1.0)) == {}  # what is told works
    assert after(first, 110.0, card(0), card(1, p101=1.0))["k"].since == 110.0  # it told: one was given back
    assert after(first, 110.0, silent, card(1)) == {}  # nothing is known to be held any more
    assert after(first, 110.0, silent, busy) == {}  # somebody works on it, who is not told
    assert after(first, 50.0 + UNTOLD, silent, other) == {}


def test_a_pid_that_another_process_has_now_is_not_the_kernel_that_had_it() -> None:
    first = after({}, 50.0, card(0, p100=1.0))
    restarted = Kernel(id="k", pid=101, cells=1)
    assert after(first, 60.0, card(0, p100=1.0), kernel=restarted) == {}  # the old pid is somebody else's
    assert after(first, 60.0, card(0, p101=1.0), kernel=restarted)["k"].since == 60.0


def test_the_time_that_is_told_stays_the_same_and_follows_a_clock_that_was_set() -> None:
    told = since_text(600.0, NOW, None)
    assert told == "2026-11-16T13:55:00.000000Z"
    assert since_text(660.0, NOW + timedelta(seconds=61), told) == told
    jumped = NOW + timedelta(hours=3, seconds=60)
    assert since_text(660.0, jumped, told) == text_of(jumped - timedelta(seconds=660))
