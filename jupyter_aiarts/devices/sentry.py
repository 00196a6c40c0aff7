"""A probe in a thread of its own: it may hang for ever, and nobody waits for it longer than they want to.

The thread looks when it is asked, lingers a while for the next one who asks, and ends. One that hangs is told of and
left alone; a second is never started beside it. After a look that took long it rests as long: a tool that needs five
seconds does not run all the time because somebody looks once a second. After one that saw nothing it rests too, where
it is told how long: a machine without cards of a kind is not searched for them every second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T", covariant=True)
S = TypeVar("S")
LINGER = 30.0
"""Seconds that a thread waits for another question."""
LONG = 1.0
"""Seconds after which a look was a long one."""


class Probe(Protocol[T]):
    """Something that can be looked at; `look` blocks."""

    @property
    def name(self) -> str: ...

    def look(self) -> T: ...


class Seen(Generic[S]):
    """One look: what was seen, or what came instead, and when it began, on the monotonic clock."""

    __slots__ = ("at", "error", "value")

    def __init__(self, at: float, value: S | None, error: Exception | None) -> None:
        self.at, self.value, self.error = at, value, error


class Sentry(Generic[S]):
    """The last look of one probe. `ask` never waits; `told` is called, in the thread, after each look."""

    def __init__(
        self, probe: Probe[S], told: Callable[[], None] = lambda: None, linger: float = LINGER, rest: float = 0.0
    ) -> None:
        self.name = probe.name
        self._probe, self._told, self._linger, self._rest = probe, told, linger, rest
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wanted = False
        self._over = False
        self._busy_since: float | None = None
        self._rests_until = 0.0
        self._last: Seen[S] | None = None

    @property
    def last(self) -> Seen[S] | None:
        return self._last

    @property
    def pending(self) -> bool:
        """Whether it was asked and has not looked since."""
        return self._wanted or self._busy_since is not None

    @property
    def busy_for(self) -> float:
        """Seconds since the look began that has not ended."""
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    def ask(self) -> None:
        """Have it look, as soon as it has done with what it does; one that rests has looked lately enough."""
        with self._change:
            if self._over or time.monotonic() < self._rests_until:
                return
            if self._thread is None:
                thread = threading.Thread(target=self._stand, name=f"aiarts-{self.name}", daemon=True)
                thread.start()  # raises where the machine has no thread left; who asks next may have one
                self._thread = thread
            self._wanted = True
            self._change.notify()

    def close(self) -> None:
        """Ask no more; a thread that hangs is left behind, it holds nothing."""
        with self._change:
            self._over = True
            self._change.notify()
        thread = self._thread
        if thread is not None and self._busy_since is None:
            thread.join(1.0)

    def _stand(self) -> None:
        try:
            while self._is_asked():
                self._look()
                self._told()
        finally:  # whatever ended it: who asks next gets another thread
            with self._change:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _is_asked(self) -> bool:
        """Wait for a question; False where none came and this thread is not needed any more."""
        with self._change:
            if not self._wanted and not self._over:
                self._change.wait(self._linger)
            if self._over or not self._wanted:
                self._thread = None  # in one step with the look at the question: the next one starts another
                return False
            self._busy_since = time.monotonic()  # first: at no moment is it neither wanted nor busy
            self._wanted = False
            return True

    def _look(self) -> None:
        seen = self._looked()
        with self._change:
            rest = self._due(seen)
            if rest:
                self._wanted, self._rests_until = False, time.monotonic() + rest
            self._last, self._busy_since = seen, None

    def _due(self, seen: Seen[Any]) -> float:
        """Seconds of rest after a look."""
        took = time.monotonic() - seen.at
        nothing = seen.error is None and not seen.value
        return max(took if took > LONG else 0.0, self._rest if nothing else 0.0)

    def _looked(self) -> Seen[Any]:
        began = time.monotonic()
        try:
            return Seen(began, self._probe.look(), None)
        except Exception as error:  # whatever a driver's library raises is news about it, not a reason to end
            return Seen(began, None, error)
