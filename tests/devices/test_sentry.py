"""A probe that is slow, hangs or breaks is told of, and holds nobody up."""

from __future__ import annotations

import threading

import pytest

from jupyter_aiarts.devices import sentry as sentry_room
from jupyter_aiarts.devices.sentry import Sentry

SECONDS = 10.0


class Slow:
    """A probe whose looks last until somebody lets them end."""

    name = "slow"

    def __init__(self, fails: bool = False) -> None:
        self.looks, self._fails = 0, fails
        self.began, self.go_on = threading.Event(), threading.Event()

    def look(self) -> int:
        self.looks += 1
        self.began.set()
        assert self.go_on.wait(SECONDS)
        if self._fails:
            raise TimeoutError("the tool was ended")
        return self.looks


class Still:
    """A probe that sees the same each time."""

    name = "still"

    def __init__(self, seen: tuple[str, ...]) -> None:
        self.looks, self._seen = 0, seen

    def look(self) -> tuple[str, ...]:
        self.looks += 1
        return self._seen


class Broken:
    name = "broken"

    def look(self) -> int:
        raise OSError("the driver is gone")


def test_asking_does_not_wait_and_a_look_that_hangs_is_not_doubled() -> None:
    told = threading.Event()
    probe = Slow()
    sentry = Sentry(probe, told.set)
    sentry.ask()
    assert probe.began.wait(SECONDS)
    for _ in range(100):
        sentry.ask()
    assert (probe.looks, sentry.last) == (1, None)
    assert sentry.busy_for > 0
    probe.go_on.set()
    assert told.wait(SECONDS)
    assert sentry.last is not None and sentry.last.value in (1, 2)
    sentry.close()


@pytest.mark.parametrize("fails", [False, True])
def test_after_a_long_look_it_rests_as_long(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks meanwhile has the look that there is; a tool that hangs until it is ended is no exception."""
    monkeypatch.setattr(sentry_room, "LONG", 0.0)
    told = threading.Event()
    probe = Slow(fails)
    sentry = Sentry(probe, told.set)
    sentry.ask()
    assert probe.began.wait(SECONDS)
    monkeypatch.setattr(sentry_room.time, "monotonic", lambda now=sentry_room.time.monotonic: now() + 1000)
    sentry.ask()  # while it looks
    probe.go_on.set()
    assert told.wait(SECONDS)
    sentry.ask()  # while it rests
    assert (probe.looks, sentry.pending) == (1, False)
    monkeypatch.undo()
    sentry._rests_until = 0.0
    told.clear()
    sentry.ask()
    assert told.wait(SECONDS) and probe.looks == 2
    sentry.close()


@pytest.mark.parametrize(("seen", "looks"), [((), 1), (("a card",), 2)])
def test_one_that_saw_nothing_rests_as_long_as_it_was_told(seen: tuple[str, ...], looks: int) -> None:
    told = threading.Semaphore(0)
    probe = Still(seen)
    sentry = Sentry(probe, told.release, rest=SECONDS)
    sentry.ask()
    assert told.acquire(timeout=SECONDS)
    sentry.ask()
    while sentry.pending:
        assert told.acquire(timeout=SECONDS)
    assert probe.looks == looks
    sentry._rests_until = 0.0
    sentry.ask()
    while probe.looks == looks:
        assert told.acquire(timeout=SECONDS)
    sentry.close()


def test_a_probe_that_breaks_is_told_of_and_can_be_asked_again() -> None:
    told = threading.Semaphore(0)
    sentry = Sentry(Broken(), told.release)
    for _ in range(2):
        sentry.ask()
        assert told.acquire(timeout=SECONDS)
        assert sentry.last is not None and str(sentry.last.error) == "the driver is gone"
    sentry.close()


def test_no_thread_is_left_when_nobody_asks_any_more() -> None:
    told = threading.Event()
    probe = Slow()
    probe.go_on.set()
    sentry = Sentry(probe, told.set, linger=0.01)
    sentry.ask()
    assert told.wait(SECONDS)
    for thread in threading.enumerate():
        if thread.name == "aiarts-slow":
            thread.join(SECONDS)
            assert not thread.is_alive()
    sentry.ask()  # and one is there again for whoever asks later
    assert sentry._thread is not None
    sentry.close()


def test_closing_does_not_wait_for_a_look_that_hangs() -> None:
    probe = Slow()
    sentry = Sentry(probe)
    sentry.ask()
    assert probe.began.wait(SECONDS)
    sentry.close()
    sentry.ask()
    assert probe.looks == 1
    probe.go_on.set()


@pytest.mark.parametrize("count", [1, 50])
def test_what_was_seen_last_stays_while_the_next_look_lasts(count: int) -> None:
    told = threading.Semaphore(0)
    probe = Slow()
    probe.go_on.set()
    sentry = Sentry(probe, told.release)
    sentry.ask()
    assert told.acquire(timeout=SECONDS)
    probe.go_on.clear()
    probe.began.clear()
    sentry.ask()
    assert probe.began.wait(SECONDS)
    for _ in range(count):
        assert sentry.last is not None and sentry.last.value == 1
    probe.go_on.set()
    sentry.close()


def test_whoever_is_told_and_breaks_ends_no_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    told, ended = threading.Event(), threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: ended.set())
    trouble = iter([ValueError("told badly")])

    def tell() -> None:
        told.set()
        for error in trouble:
            raise error

    probe = Still(("card",))
    sentry = Sentry(probe, tell)
    sentry.ask()
    assert told.wait(SECONDS) and ended.wait(SECONDS)
    told.clear()
    sentry.ask()
    assert told.wait(SECONDS) and probe.looks == 2
    sentry.close()
