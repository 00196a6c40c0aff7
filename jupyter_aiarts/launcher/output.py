"""One rank's output on its way from the pipes to the log: read in large chunks, no work per line."""

import fcntl
import io
import os
from functools import partial
from typing import Callable, Dict, Optional

from . import clock
from .loop import Loop
from .ranks import Pipes
from .segments import STREAMS, RankLog
from .tail import Tail

CHUNK = 1024 * 1024
_F_SETPIPE_SZ = 1031
_PIPE_BUDGET = 4 * 1024 * 1024  # of all pipes of a launcher: the kernel counts them per user
_buffer = memoryview(bytearray(CHUNK))


class Output:
    """Both pipes of one rank until they end or are closed."""

    def __init__(
        self, loop: Loop, pipes: Pipes, log: RankLog, ranks: int, tap: Optional[Callable[[str, memoryview], None]]
    ) -> None:
        self._loop = loop
        self._log = log
        self._tap = tap
        self._held = False
        self._pipes: Dict[str, io.FileIO] = {}
        self.tail = Tail()
        for name, pipe in ((STREAMS[0], pipes.stdout), (STREAMS[1], pipes.stderr)):
            _enlarge(pipe, _PIPE_BUDGET // (2 * ranks))
            os.set_blocking(pipe, False)
            self._pipes[name] = io.FileIO(pipe)
            loop.watch(pipe, partial(self._take, name))

    def hold(self, held: bool) -> None:
        """Leave what comes in the pipes for a moment, or go on reading."""
        if held != self._held:
            self._held = held
            for name, pipe in self._pipes.items():
                if held:
                    self._loop.unwatch(pipe.fileno())
                else:
                    self._loop.watch(pipe.fileno(), partial(self._take, name))

    def drain(self) -> None:
        """Read what is in the pipes now, at most one pipe's worth: others may still be writing."""
        for name in list(self._pipes):
            left = CHUNK
            while left > 0 and name in self._pipes:
                count = self._read(name)
                left -= count if count else CHUNK

    def close(self) -> None:
        """Take what is there and look no further, even if somebody still holds the other end."""
        self.drain()
        for name in list(self._pipes):
            self._end(name)
        self._log.close()

    def _take(self, name: str) -> None:
        self._loop.took(self._read(name))

    def _read(self, name: str) -> int:
        count = self._pipes[name].readinto(_buffer)
        if count is None:
            return 0  # nothing there now
        if count == 0:
            self._end(name)
            return 0
        chunk = _buffer[:count]
        self._log.append(name, chunk, clock.rising_ns())
        self.tail.add(name, chunk)
        if self._tap is not None:
            self._tap(name, chunk)
        return count

    def _end(self, name: str) -> None:
        pipe = self._pipes.pop(name)
        if not self._held:
            self._loop.unwatch(pipe.fileno())
        pipe.close()
        if self._tap is not None:
            self._tap(name, _buffer[:0])


def _enlarge(pipe: int, wanted: int) -> None:
    """A larger pipe lets a rank that prints fast go on while we write; the default is 64 KiB."""
    size = min(wanted, CHUNK)
    if size <= 64 * 1024:
        return
    try:
        fcntl.fcntl(pipe, _F_SETPIPE_SZ, size)
    except OSError:
        pass  # not Linux, or this user has many large pipes: the default works too
