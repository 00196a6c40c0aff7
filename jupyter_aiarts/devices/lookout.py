"""Everything that can be looked at on this machine, once a second for as long as somebody wants to know, or just once.

A lookout has a thread of its own, in which probes are asked, waited for and put together: a server's event loop only
takes what comes out. The probes stand in theirs, so one that hangs is missing in a look and delays none for long.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from jupyter_aiarts.devices.disks import Disks
from jupyter_aiarts.devices.roll import Roll
from jupyter_aiarts.devices.sentry import Sentry
from jupyter_aiarts.model.times import now
from jupyter_aiarts.model.usage import Card, Host, Silent, Usage

if TYPE_CHECKING:
    from jupyter_aiarts.devices.sentry import Probe

S = TypeVar("S")
PERIOD = 1.0
PATIENCE = 1.0  # seconds that a look waits for probes that are slow
SLOW = 13.0  # seconds that it waits for them when nobody sees it
SILENT = 12.0  # seconds after which a probe that has not answered is told of
FORGOTTEN = 45.0  # seconds after which what it saw last is not shown any more: a slow look, its rest, another one
REMEMBERED = 3600.0  # seconds without a look after which a card that was there before is not missed
ABSENT = 10.0  # seconds until cards of a kind that this machine does not have are looked for again


class Lookout:
    """Looks for as long as it is wanted, once at least. `saw` and `ended` are called in its thread."""

    def __init__(
        self, paths: Iterable[str], saw: Callable[[Usage], None], ended: Callable[[Exception | None], None]
    ) -> None:
        self._until = self._since = 0.0  # when it is wanted, on the monotonic clock
        self._saw, self._ended = saw, ended
        self._change = threading.Condition()
        self._over = False
        self._thread: threading.Thread | None = None
        host, cards = _probes()
        self._host: Sentry[Host] = Sentry(host, self._told)
        self._cards = tuple(Sentry(one, self._told, rest=ABSENT) for one in cards)
        self._disks = Disks(paths, self._told)
        self._rolls = tuple(Roll() for _ in self._cards)
        self._looked_at = 0.0

    @property
    def is_wanted(self) -> bool:
        """Whether somebody wants to know."""
        return not self._over and time.monotonic() < self._until

    @property
    def may_have_cards(self) -> bool:
        """Whether this machine has cards, or a probe that should know has not said so yet."""
        seen = [sentry.last for sentry in self._cards]
        return any(one is None or one.error is not None or one.value for one in seen)

    def want(self, seconds: float) -> None:
        """Look for so long from now on; a single look that waits for slow probes hurries up."""
        with self._change:
            if not self.is_wanted:
                self._since = time.monotonic()
                self._change.notify()
            self._until = time.monotonic() + seconds

    def begin(self) -> None:
        """Look from now on; called where nobody looks."""
        if time.monotonic() - self._looked_at > REMEMBERED:
            self._rolls = tuple(Roll() for _ in self._cards)
        thread = threading.Thread(target=self._stand, name="aiarts-lookout", daemon=True)
        thread.start()  # raises where the machine has no thread left
        self._thread = thread

    def close(self) -> None:
        """Look no more; waits a moment for what stands idle, and for nothing that hangs."""
        with self._change:
            self._over = True
            self._change.notify()
        if self._thread is not None:
            self._thread.join(1.0)
        for sentry in self._sentries:
            sentry.close()
        self._disks.close()

    @property
    def _sentries(self) -> tuple[Sentry[Any], ...]:
        """Those that are asked for every look."""
        return (self._host, *self._cards)

    def _stand(self) -> None:
        error = None
        try:
            while True:
                self._looked_at = began = time.monotonic()
                self._saw(self._look(began))
                if not self.is_wanted:
                    break
                self._rest(max(began + PERIOD, time.monotonic() + 0.05))
        except Exception as reason:  # whoever waits for a look hears why there is none
            error = reason
        self._ended(error)

    def _look(self, began: float) -> Usage:
        """Ask every probe and take what is there when all have answered, or when the time is over."""
        self._disks.ask()
        for sentry in self._sentries:
            sentry.ask()
        with self._change:
            while not self._over and not self._is_complete():
                patience = max(began, self._since) + PATIENCE if self.is_wanted else began + SLOW
                left = patience - time.monotonic()
                if left <= 0:
                    break
                self._change.wait(left)
        return self._seen()

    def _rest(self, until: float) -> None:
        with self._change:
            self._change.wait_for(lambda: self._over, until - time.monotonic())

    def _told(self) -> None:
        """Called in a probe's thread; the lookout is woken once, by the last of them."""
        if self._is_complete():
            with self._change:
                self._change.notify()

    def _is_complete(self) -> bool:
        return not self._disks.pending and not any(sentry.pending for sentry in self._sentries)

    def _seen(self) -> Usage:
        host = _fresh(self._host) or Host()
        found = [(roll, _fresh(sentry)) for roll, sentry in zip(self._rolls, self._cards, strict=True)]
        devices = [card for roll, cards in found if cards is not None for card in roll.called(cards)]
        asked = (*self._sentries, *self._disks.sentries)
        silent = [one for sentry in asked if (one := _silence(sentry)) is not None]
        silent += [Silent(probe=sentry.name, code="probe-pending") for sentry in self._cards if _is_awaited(sentry)]
        return Usage(
            t=now(),
            host=structs.replace(host, disks=tuple(self._disks.seen(SILENT))),
            devices=tuple(devices),
            silent=tuple(silent),
        )


def _probes() -> tuple[Probe[Host], tuple[Probe[tuple[Card, ...]], ...]]:
    from jupyter_aiarts.devices.ascend import AscendProbe
    from jupyter_aiarts.devices.host import HostProbe
    from jupyter_aiarts.devices.nvidia import NvidiaProbe

    return HostProbe(), (NvidiaProbe(), AscendProbe())


def _fresh(sentry: Sentry[S]) -> S | None:
    """What a probe saw last, as long as that is not too old to be shown."""
    seen = sentry.last
    if seen is None or time.monotonic() - seen.at > FORGOTTEN:
        return None
    return seen.value


def _is_awaited(sentry: Sentry[Any]) -> bool:
    """Whether nothing is known only because it was asked just now: that is not the same as that nothing is there."""
    return sentry.pending and sentry.busy_for <= SILENT and _fresh(sentry) is None


def _silence(sentry: Sentry[Any]) -> Silent | None:
    """What is wrong with a probe, if anything."""
    if sentry.busy_for > SILENT:
        return Silent(probe=sentry.name, code="probe-silent", message=f"{sentry.busy_for:.0f} s")
    error = sentry.last.error if sentry.last is not None else None
    if error is None:
        return None
    return Silent(probe=sentry.name, code=getattr(error, "code", "probe-failed"), message=str(error)[:500])
