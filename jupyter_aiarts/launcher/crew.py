"""The ranks of one node while they live: started together, watched, ended together."""

import os
import signal
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Set

from . import clock, ranks
from .audience import Tap
from .ending import STEP_SECONDS, Ending
from .loop import Loop
from .output import Output
from .prepare import Prepared
from .problem import Refused, from_oserror
from .segments import Drop, RankLog
from .startfile import refusal
from .tree import Tree, look


class Rank:
    """One started process: when it began, how it ended, and what is still to be cleared away after it."""

    def __init__(self, prepared: Prepared, pid: int, output: Output) -> None:
        self.prepared = prepared
        self.pid = pid
        self.output = output
        process = look(pid)
        self.start = process.start if process else ""
        self.started = clock.now()
        self.ended: Optional[str] = None
        self.exit_code: Optional[int] = None
        self.signal: Optional[str] = None
        self.ending: Optional[Ending] = None
        self.over = False

    def exited(self, status: int) -> None:
        """The process ended; whatever it wrote is in the pipes by now and read at once."""
        self.exit_code = ranks.exit_code(status)
        self.signal = ranks.signal_name(self.exit_code) if os.WIFSIGNALED(status) else None
        self.ended = clock.now()
        self.output.drain()

    def close(self) -> None:
        """Nothing of it lives any more."""
        self.over = True
        self.ending = None
        self.output.close()

    def outcome(self) -> Dict[str, Any]:
        """What the summary says of every rank."""
        seat = self.prepared.seat
        return {"rank": seat.rank, "node": seat.node, "exit_code": self.exit_code, "devices": seat.devices}

    def failure(self) -> Dict[str, Any]:
        """What the summary says of a rank that failed by itself."""
        seat = self.prepared.seat
        return {
            "node": seat.node, "rank": seat.rank, "exit_code": self.exit_code, "signal": self.signal,
            "last_lines": self.output.tail.lines(),
        }  # fmt: skip


class Crew:
    """Starts the prepared ranks, any number of times one after the other.

    `changed` is called when a rank's state changed, `failed` for every rank that fails before we asked any to end,
    `finished` when all have ended and nothing that they started is left, `dropped` when output could not be kept.
    """

    def __init__(
        self, loop: Loop, tree: Tree, grace: float, log_limit: int,
        changed: Callable[[], None], failed: Callable[[Rank], None], finished: Callable[[], None],
        dropped: Callable[[int, Drop], None], tap: Optional[Tap] = None,
    ) -> None:  # fmt: skip
        self._loop = loop
        self._tree = tree
        self._grace = grace
        self._log_limit = log_limit
        self._changed = changed
        self._failed = failed
        self._finished = finished
        self._dropped = dropped
        self._tap = tap
        self._ending: Optional[Ending] = None
        self._tidying = False
        self._over = True
        self.ranks: List[Rank] = []
        loop.on_signal(signal.SIGCHLD, self.reap)

    def start(self, prepared: List[Prepared]) -> None:
        """Start all ranks; raises `Refused` when one cannot be, with those before it running."""
        self.ranks = []
        self._ending = None
        self._over = False
        for one in prepared:
            self.ranks.append(self._start(one, len(prepared)))
            self._changed()

    def stop(self) -> None:
        """Ask every process of every rank to end; after the grace time, force them. Once is enough."""
        if self._ending is None:
            markers = {rank.prepared.marker for rank in self.ranks}
            self._ending = Ending(lambda seen: self._tree.everything(seen, markers), self._grace, self._loop.clock)
            self._tidy_soon(0.0)

    def stop_soon(self, seconds: float) -> None:
        """The same, but whoever is about to end by itself may do so: it has its own reason to tell."""
        if seconds <= 0 or all(rank.ended is not None for rank in self.ranks):
            return self.stop()
        started = self.ranks
        self._loop.after(seconds, lambda: self.stop() if self.ranks is started else None)

    def hurry(self) -> None:
        """Kill now what would have been given its grace time."""
        self.stop()
        if self._ending is not None:
            self._ending.hurry()

    def hold(self, held: bool) -> None:
        """Stop reading the ranks' output for a moment, or go on: for who cannot take it that fast."""
        for rank in self.ranks:
            rank.output.hold(held)

    @property
    def over(self) -> bool:
        """Whether there is nothing to end: not started, or everything has ended."""
        return self._over

    def reap(self) -> None:
        """Take note of every process that ended, adopted ones included, so that no zombie stays."""
        by_pid = {rank.pid: rank for rank in self.ranks if rank.ended is None}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in by_pid:
                self._exited(by_pid[pid], status)

    def _start(self, one: Prepared, total: int) -> Rank:
        try:
            log = RankLog(one.log_folder, self._log_limit, self._loop.clock, lambda d: self._dropped(one.seat.rank, d))
            pid, pipes = ranks.spawn(one.argv, one.environ, one.workdir)
        except ranks.NotStarted as error:
            raise Refused(refusal(one.argv, one.environ, one.workdir, error.step, error.number)) from error
        except OSError as error:
            raise Refused(from_oserror(error, "start a process")) from error
        tap = None if self._tap is None else partial(self._tap, one.seat.rank)
        return Rank(one, pid, Output(self._loop, pipes, log, total, tap))

    def _exited(self, rank: Rank, status: int) -> None:
        rank.exited(status)
        self._changed()
        if rank.exit_code != 0 and self._ending is None:
            self._failed(rank)
        living = self._living()
        session, marker = rank.pid, rank.prepared.marker
        rank.ending = Ending(
            lambda seen: self._tree.leftovers(seen, living(), session, marker), self._grace, self._loop.clock
        )
        self._tidy_soon(0.0)

    def _living(self) -> Callable[[], Set[int]]:
        return lambda: {rank.pid for rank in self.ranks if rank.ended is None}

    def _tidy_soon(self, seconds: float) -> None:
        if not self._tidying:
            self._tidying = True
            self._loop.after(seconds, self._tidy)

    def _tidy(self) -> None:
        """Clear away what ended ranks left, then, when all have ended, whatever else is there."""
        self._tidying = False
        if self._over:
            return
        self.reap()
        seen = self._tree.look_around()  # once for all, for often all ranks end together; after `reap` has told of them
        if self._ending is not None:
            if not self._ending.step(seen):
                return self._tidy_soon(STEP_SECONDS)
            return self._close()
        for rank in self.ranks:
            if rank.ending is not None and rank.ending.step(seen):
                rank.close()
        if all(rank.over for rank in self.ranks):
            return self.stop()
        if any(rank.ending is not None for rank in self.ranks):
            self._tidy_soon(STEP_SECONDS)

    def _close(self) -> None:
        self._over = True
        self.reap()
        for rank in self.ranks:
            rank.close()
        self._finished()
