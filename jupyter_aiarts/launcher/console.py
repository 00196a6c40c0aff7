"""The container's own stdout and stderr: what the ranks write appears there too, for `kubectl logs`.

The log segments are the truth; this is a copy for who looks there. It must not cost the ranks anything: who reads
it slowly is waited for a moment, then left behind, and told so where the copy goes on.
"""

import os
from collections import deque
from typing import Callable, Deque, Dict, List, Optional, Tuple

from .loop import Loop, Timer

HIGH, LOW = 1024 * 1024, 256 * 1024
"""Bytes that wait to be written: above the first the ranks are held, below the second they go on."""
PATIENCE_SECONDS = 1.0
"""How long the ranks are held at most; after that lines are left out."""
RESPITE_SECONDS = 60.0
"""How long they are not held again after that."""
LONGEST_LINE = 16 * 1024


class Console:
    """Both descriptors. `hold` stops and resumes the reading of the ranks' output."""

    def __init__(self, loop: Loop, hold: Callable[[bool], None], descriptors: Tuple[int, int] = (1, 2)) -> None:
        self._loop = loop
        self._hold = hold
        self._held = False
        self._patience: Optional[Timer] = None
        self._respite = 0.0
        self._ends = {name: End(loop, fd, self._eased) for name, fd in zip(("stdout", "stderr"), descriptors)}
        self._partial: Dict[Tuple[int, str], bytes] = {}
        self._waiting: List[Callable[[], None]] = []

    def show(self, rank: int, stream: str, chunk: memoryview, prefixed: bool) -> None:
        """Copy a chunk of a rank's output; with several ranks line by line, each with its rank before it.

        An empty chunk says that no more comes, so an unfinished line is shown as it is.
        """
        data = self._lines(rank, stream, bytes(chunk)) if prefixed else bytes(chunk)
        end = self._ends[stream]
        if data:
            end.write(data)
            self._weigh()

    def say(self, sentence: str) -> None:
        """A sentence of the launcher's own, for who looks here why nothing ran."""
        self._ends["stderr"].write(f"[aiarts] {sentence}\n".encode("utf-8", "replace"))

    def finish(self, seconds: float, then: Callable[[], None]) -> None:
        """Call `then` when everything has been written, or after `seconds`."""
        self._waiting = [then]
        self._loop.after(seconds, self._finished)
        self._eased()

    def _lines(self, rank: int, stream: str, data: bytes) -> bytes:
        """The whole lines there are now; an unfinished one is kept, unless it is very long or the last."""
        before = self._partial.pop((rank, stream), b"")
        whole, newline, rest = (before + data).rpartition(b"\n")
        if rest and data and len(rest) <= LONGEST_LINE:
            self._partial[(rank, stream)] = rest
        elif rest:
            whole, newline = whole + newline + rest, b"\n"
        if not newline:
            return b""
        mark = b"[%d] " % rank
        return mark + whole.replace(b"\n", b"\n" + mark) + newline

    def _weigh(self) -> None:
        """Hold the ranks for a moment when too much waits; leave lines out when that did not help."""
        full = [end for end in self._ends.values() if end.waiting > HIGH]
        if not full or self._held:
            return
        if self._loop.clock() < self._respite:
            for end in full:
                end.skip()
            return
        self._held = True
        self._hold(True)
        self._patience = self._loop.after(PATIENCE_SECONDS, self._lose_patience)

    def _lose_patience(self) -> None:
        if self._held:
            self._respite = self._loop.clock() + RESPITE_SECONDS
            self._release()

    def _release(self) -> None:
        self._held = False
        if self._patience is not None:
            self._patience.cancel()  # or it would end the next hold, which may have just begun
            self._patience = None
        self._hold(False)

    def _eased(self) -> None:
        """Something has been written."""
        if self._held and all(end.waiting <= LOW for end in self._ends.values()):
            self._release()
        if self._waiting and not any(end.waiting for end in self._ends.values()):
            self._finished()

    def _finished(self) -> None:
        for then in self._waiting:
            self._loop.soon(then)
        self._waiting = []


class End:
    """One descriptor: takes everything at once, writes when there is room, forgets when nobody reads."""

    def __init__(self, loop: Loop, descriptor: int, eased: Callable[[], None]) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self._eased = eased
        self._queue: Deque[memoryview] = deque()
        self._watched = False
        self._broken = False
        self._skipped = 0
        self._skipping = False
        self.waiting = 0
        os.set_blocking(descriptor, False)

    def write(self, data: bytes) -> None:
        """Write it now or later; while lines are left out, only count it."""
        if self._broken:
            return
        if self._skipping:
            self._skipped += len(data)
            return
        self._queue.append(memoryview(data))
        self.waiting += len(data)
        if not self._watched:
            self._flush()

    def skip(self) -> None:
        """Leave out what comes, until all that waits has been written."""
        self._skipping = True

    def _flush(self) -> None:
        try:
            while self._queue:
                written = os.write(self._descriptor, self._queue[0])
                self.waiting -= written
                if written == len(self._queue[0]):
                    self._queue.popleft()
                else:
                    self._queue[0] = self._queue[0][written:]
        except BlockingIOError:
            pass  # later
        except OSError:
            return self._give_up()
        if not self._queue and self._skipping:
            self._mark()
        self._watch(bool(self._queue))
        self._eased()

    def _mark(self) -> None:
        """Lines come again: say how much is missing before them."""
        count, self._skipped, self._skipping = self._skipped, 0, False
        if count:
            sentence = f"\n[aiarts] {count} bytes are left out here, not read in time; the job's log has them\n"
            self._queue.append(memoryview(sentence.encode("ascii")))
            self.waiting += len(sentence)

    def _watch(self, wanted: bool) -> None:
        if wanted == self._watched:
            return
        self._watched = wanted
        if not wanted:
            return self._loop.unwatch_room(self._descriptor)
        try:
            self._loop.watch_room(self._descriptor, self._flush)
        except PermissionError:  # a plain file always has room
            self._watched = False
            self._loop.soon(self._flush)

    def _give_up(self) -> None:
        """Nobody will ever read this."""
        self._broken = True
        self._watch(False)
        self._queue.clear()
        self.waiting = 0
        self._eased()
