"""Moves that were asked for while the cluster did not answer: kept in the state folder, carried out when it does.

An API server that has just come back refuses everybody for some seconds, until it has read its own roles; and one
request may fail while the watches go on. So a wish is tried again and again, not just once when the cluster is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from jupyter_aiarts.engines.kubernetes.watch import Delays
from jupyter_aiarts.engines.local.folder import read_file, write_file
from jupyter_aiarts.errors import AiartsError, ClusterUnreachable, JobNotFound, JobUnreadable, WrongPhase
from jupyter_aiarts.model.names import check_id
from jupyter_aiarts.model.phase import Move
from jupyter_aiarts.model.times import now
from jupyter_aiarts.waiting import within

log = logging.getLogger(__name__)

CAP = 15.0  # seconds between tries, at most
REFUSED = 120.0  # seconds after which a no of a cluster that answers is believed


class Wish(Struct, frozen=True, kw_only=True):
    """One move somebody asked for, and when."""

    move: Move
    asked: str


class Pending:
    """One file per job; the last wish for a job is the one that counts. File work: call it from a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, job_id: str, move: Move) -> None:
        """Remember a move for later."""
        self._folder.mkdir(0o700, parents=True, exist_ok=True)
        write_file(self._folder / f"{check_id(job_id)}.json", Wish(move=move, asked=now()))

    def all(self) -> dict[str, Wish]:
        """Every wish, by job."""
        found = {path.stem: self._read(path) for path in self._folder.glob("*.json")}
        return {job_id: wish for job_id, wish in found.items() if wish is not None}

    def forget(self, job_id: str) -> None:
        """It was carried out, or can never be."""
        (self._folder / f"{check_id(job_id)}.json").unlink(missing_ok=True)

    def _read(self, path: Path) -> Wish | None:
        try:
            return read_file(path, Wish)
        except JobUnreadable:
            return None  # damaged: nobody can say what was wanted


class Errands:
    """Carries the wishes out, until none is left."""

    def __init__(self, pending: Pending, carry_out: Callable[[str, Move], Awaitable[None]]) -> None:
        self._pending = pending
        self._carry_out = carry_out
        self._refused: dict[str, float] = {}  # by job: since when the cluster says no
        self._again = asyncio.Event()
        self._is_running = False

    async def run(self) -> None:
        """Try, and try again ever later; a second call only wakes the first."""
        self._again.set()
        if self._is_running:
            return
        self._is_running, delays = True, Delays(CAP)
        try:
            while self._again.is_set():
                self._again.clear()
                while await self._left():
                    with contextlib.suppress(asyncio.TimeoutError):
                        await within(delays.next(), self._again.wait())
        finally:
            self._is_running = False

    async def _left(self) -> bool:
        """Try every wish once; whether one is left for later."""
        wishes = await asyncio.to_thread(self._pending.all)
        done = [job_id for job_id, wish in wishes.items() if await self._is_done(job_id, wish.move)]
        for job_id in done:
            self._refused.pop(job_id, None)
            await asyncio.to_thread(self._pending.forget, job_id)
        return len(done) < len(wishes)

    async def _is_done(self, job_id: str, move: Move) -> bool:
        try:
            await self._carry_out(job_id, move)
        except (WrongPhase, JobNotFound):
            return True  # it has ended by itself, or somebody was quicker
        except ClusterUnreachable:
            return False
        except AiartsError as error:
            since = self._refused.setdefault(job_id, time.monotonic())
            if time.monotonic() - since < REFUSED:
                return False
            log.warning("The %s of job %s, asked for while its cluster was away, is given up: %s", move, job_id, error)
        return True
