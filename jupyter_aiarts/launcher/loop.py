"""The launcher's event loop: descriptors, timers and signals, one thread, nothing else."""

import os
import select
import selectors
import signal
import time
from typing import Callable, Dict, List, Optional, Tuple

Callback = Callable[[], None]
_GATHER_SECONDS = 0.01
_PLENTY = 32 * 1024
_EVENTS = (selectors.EVENT_READ, selectors.EVENT_WRITE)


class Timer:
    """A call that is still to come, unless cancelled."""

    def __init__(self, callback: Callback) -> None:
        self.callback: Optional[Callback] = callback

    def cancel(self) -> None:
        """It will not be called."""
        self.callback = None


class Loop:
    """Runs until `stop`; callbacks never run inside one another."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._readers: Dict[int, Callback] = {}
        self._writers: Dict[int, Callback] = {}
        self._timers: List[Tuple[float, int, Timer]] = []
        self._count = 0
        self._signals: Dict[int, Callback] = {}
        self._result: Optional[int] = None
        self._busy = False
        self._plenty = False
        self._wakeup, self._waker = os.pipe()
        for end in (self._wakeup, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker)
        self.watch(self._wakeup, self._take_signals)

    @staticmethod
    def clock() -> float:
        """Seconds that only ever go forward."""
        return time.monotonic()

    def watch(self, descriptor: int, callback: Callback) -> None:
        """Call `callback` whenever `descriptor` can be read."""
        self._readers[descriptor] = callback
        self._register(descriptor)

    def unwatch(self, descriptor: int) -> None:
        """The opposite of `watch`, before the descriptor is closed."""
        del self._readers[descriptor]
        self._register(descriptor)

    def watch_room(self, descriptor: int, callback: Callback) -> None:
        """Call `callback` whenever `descriptor` can be written to; raises `PermissionError` for a plain file."""
        self._writers[descriptor] = callback
        try:
            self._register(descriptor)
        except PermissionError:
            del self._writers[descriptor]
            raise

    def unwatch_room(self, descriptor: int) -> None:
        """The opposite of `watch_room`; once too often does no harm."""
        if self._writers.pop(descriptor, None) is not None:
            self._register(descriptor)

    def after(self, seconds: float, callback: Callback) -> Timer:
        """Call `callback` once, `seconds` from now."""
        timer = Timer(callback)
        self._count += 1
        self._timers.append((self.clock() + seconds, self._count, timer))
        self._timers.sort()  # there are never more than a handful
        return timer

    def soon(self, callback: Callback) -> Timer:
        """Call `callback` as soon as what runs now has returned."""
        return self.after(0.0, callback)

    def on_signal(self, number: int, callback: Callback) -> None:
        """Call `callback` from the loop, never in the middle of something, after signal `number`."""
        self._signals[number] = callback
        signal.signal(number, lambda *_: None)

    def took(self, count: int) -> None:
        """A callback read `count` bytes of output; while all reads are small, the pipes may gather some."""
        self._busy = True
        self._plenty = self._plenty or count >= _PLENTY

    def stop(self, result: int) -> None:
        """Make `run` return `result`."""
        self._result = result

    def run(self) -> int:
        """Serve until `stop` was called."""
        while self._result is None:
            for key, events in self._selector.select(self._patience()):
                for event, callbacks, callback in zip(_EVENTS, (self._readers, self._writers), key.data):
                    present = callbacks.get(key.fd)
                    if events & event and present is not None and present is callback:
                        present()  # else an earlier callback has closed it, or watches it for another
            self._run_timers()
            if self._busy:
                self._gather()
        return self._result

    def _register(self, descriptor: int) -> None:
        reader, writer = self._readers.get(descriptor), self._writers.get(descriptor)
        events = (selectors.EVENT_READ if reader else 0) | (selectors.EVENT_WRITE if writer else 0)
        known = descriptor in self._selector.get_map()
        if not events:
            self._selector.unregister(descriptor)
        elif known:
            self._selector.modify(descriptor, events, (reader, writer))
        else:
            self._selector.register(descriptor, events, (reader, writer))

    def _gather(self) -> None:
        """A rank that flushes every line would cost one wake-up per line; signals still cut this short."""
        if not self._plenty:
            patience = self._patience()
            pause = _GATHER_SECONDS if patience is None else min(patience, _GATHER_SECONDS)
            select.select([self._wakeup], [], [], pause)
        self._busy = self._plenty = False

    def _patience(self) -> Optional[float]:
        if not self._timers:
            return None
        return max(self._timers[0][0] - self.clock(), 0.0)

    def _run_timers(self) -> None:
        now = self.clock()
        while self._timers and self._timers[0][0] <= now:
            timer = self._timers.pop(0)[2]
            if timer.callback is not None:
                timer.callback()

    def _take_signals(self) -> None:
        for number in sorted(set(os.read(self._wakeup, 4096))):
            if number in self._signals:
                self._signals[number]()
