"""The local engine: a picture of the state folder for whoever looks, a writer for whoever wants something.

Importing this imports what a list needs and no more; what only a submission or a log needs comes with the first one.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from jupyter_aiarts.engines.base import Asked, Caller, Change, Engine, Fit, JobRecord, changes
from jupyter_aiarts.engines.local.folder import StateFolder
from jupyter_aiarts.engines.local.picture import Picture
from jupyter_aiarts.engines.local.records import JobFile, Settings
from jupyter_aiarts.engines.local.runtime import Bell, runtime_folder
from jupyter_aiarts.engines.patience import came
from jupyter_aiarts.errors import RunNotFound, StateUnusable
from jupyter_aiarts.model.names import check_id
from jupyter_aiarts.model.phase import Move

if TYPE_CHECKING:
    from jupyter_aiarts.engines.leftover import Leftover
    from jupyter_aiarts.engines.local.writer import Writer
    from jupyter_aiarts.engines.logs import RunLog
    from jupyter_aiarts.engines.npulog import NpuLog
    from jupyter_aiarts.model.cluster import ClusterView
    from jupyter_aiarts.model.expected import Band
    from jupyter_aiarts.model.job import Event
    from jupyter_aiarts.model.places import Place
    from jupyter_aiarts.model.queue import Queue
    from jupyter_aiarts.model.reading import Reading
    from jupyter_aiarts.model.turn import Turn
    from jupyter_aiarts.model.usage import NodeUsage

T = TypeVar("T")
CALM = 0.05  # seconds between looks while changes pour in
GLANCE = 30.0  # seconds between looks while jobs live, in case a bell was lost
SOON = 1.0  # the same while a job waits for the supervisor, which may have been killed just when it was needed
HOUR = 3600.0  # between looks for jobs whose time is over


class LocalEngine(Engine):
    """Runs jobs on this machine. All file work happens in a thread; the folder is the only memory that counts."""

    name = "local"

    def __init__(self, state: StateFolder, settings: Settings | None = None) -> None:
        self.state = state
        self.runtime = runtime_folder(state.root)
        if settings is not None:
            with contextlib.suppress(StateUnusable):  # a folder that can only be read still shows its jobs
                state.record_settings(settings)
        self._devices = frozenset(state.settings().devices)
        self.picture = Picture(state)
        self._clean_next = 0.0  # on the monotonic clock
        self._closed = asyncio.Event()

    # -- in ------------------------------------------------------------------------------------------------------

    @cached_property
    def writer(self) -> Writer:
        from jupyter_aiarts.engines.local.writer import Writer

        return Writer(self.state, self.runtime)

    async def submit(self, reading: Reading, caller: Caller) -> tuple[JobRecord, bool]:
        job_id, created = await asyncio.to_thread(lambda: self.writer.submit(reading, caller))
        return await self.get(job_id), created

    async def act(self, job_id: str, move: Move) -> JobRecord:
        return await self._changed(check_id(job_id), lambda: self.writer.move(job_id, move))

    async def edit(self, job_id: str, reading: Reading) -> JobRecord:
        return await self._changed(check_id(job_id), lambda: self.writer.edit(job_id, reading))

    async def _changed(self, job_id: str, change: Callable[[], None]) -> JobRecord:
        await asyncio.to_thread(change)
        return await self.get(job_id)

    async def delete(self, job_id: str) -> tuple[Leftover, ...]:
        check_id(job_id)
        await asyncio.to_thread(lambda: self.writer.delete(job_id))
        return ()

    async def asked(self, job_id: str) -> Asked:
        job = await asyncio.to_thread(self.state.job(check_id(job_id)).read)
        return Asked(given=job.given, secrets=frozenset(job.spec.secret_env))

    # -- out -----------------------------------------------------------------------------------------------------

    async def snapshot(self) -> tuple[JobRecord, ...]:
        await asyncio.to_thread(self._look)
        return self.picture.records()

    async def get(self, job_id: str) -> JobRecord:
        """As it is now. A look of the watch may have been quicker than our thread: who had what it told would go back
        to something older, and nobody would correct it before the job changes again."""
        read = await asyncio.to_thread(self.picture.read, check_id(job_id))
        return self.picture.newest(read)

    def _look(self, hints: Collection[str] = ()) -> None:
        """Bring the picture up to date; a supervisor that is not there and is seen to be needed is started."""
        self.picture.look(hints)
        if self.picture.needs_supervisor() or self._keeps_too_long():
            from jupyter_aiarts.engines.local.supervisor import ensure_supervisor

            ensure_supervisor(self.state.root)

    def _keeps_too_long(self) -> bool:
        """Whether a job's time is over. Asked once an hour: a supervisor that lives looks as often by itself."""
        if not self.picture.retention_days or time.monotonic() < self._clean_next:
            return False
        from jupyter_aiarts.engines.local.retention import due
        from jupyter_aiarts.model.times import now

        self._clean_next = time.monotonic() + HOUR
        return bool(due(self.picture.records(), self.picture.retention_days, now()))

    async def log(self, job_id: str, run: int | None = None) -> RunLog:
        from jupyter_aiarts.engines.logs import open_log

        return await asyncio.to_thread(lambda: open_log(self._run(job_id, run)[1]))

    def _run(self, job_id: str, run: int | None) -> tuple[JobFile, Path]:
        """The job and the folder of one of its runs."""
        folder = self.state.job(check_id(job_id))
        job = folder.read()
        number = job.run if run is None else run
        if number not in folder.runs():
            have = ", ".join(str(one) for one in folder.runs())
            raise RunNotFound(f"Job {job_id} has no run {number}.", f"Its runs: {have}.")
        return job, folder.run(number)

    async def environment(self, job_id: str, run: int | None, rank: int) -> dict[str, str | None]:
        from jupyter_aiarts.engines.local.story import environment_of

        return await asyncio.to_thread(lambda: environment_of(*self._run(job_id, run), rank))

    async def rank_table(self, job_id: str, run: int | None) -> bytes:
        from jupyter_aiarts.engines.local.story import rank_table_of

        return await asyncio.to_thread(lambda: rank_table_of(*self._run(job_id, run)))

    async def npu_log(self, job_id: str, run: int | None) -> NpuLog:
        from jupyter_aiarts.engines.local.story import npu_log_of

        return await asyncio.to_thread(lambda: npu_log_of(*self._run(job_id, run)))

    async def usage(self, job_id: str, run: int | None, history: bool) -> tuple[NodeUsage, ...]:
        from jupyter_aiarts.engines.local.story import usage_in

        return await asyncio.to_thread(lambda: usage_in(self._run(job_id, run)[1], history))

    async def events(self, job_id: str, run: int | None) -> tuple[Event, ...]:
        from jupyter_aiarts.engines.local.story import events_of

        return await asyncio.to_thread(lambda: events_of(*self._run(job_id, run)))

    def offers(self) -> frozenset[str] | None:
        return self._devices or None  # none declared: nothing can be said about cards, and a job that wants some waits

    async def fits(self, reading: Reading, caller: Caller) -> Fit:
        return await asyncio.to_thread(self._fits, reading, caller)

    def _fits(self, reading: Reading, caller: Caller) -> Fit:
        from jupyter_aiarts.engines.local.rehearsal import rehearse

        self.picture.look()
        return rehearse(reading, caller, self.state.settings(), *self.picture.load())

    async def cluster(self) -> ClusterView:
        return await asyncio.to_thread(self._glance)

    def _glance(self) -> ClusterView:
        from jupyter_aiarts.engines.local.glance import view_of
        from jupyter_aiarts.engines.local.machine import machine_of

        self.picture.look()
        running, _ = self.picture.load()
        return view_of(machine_of(self.state.settings()), running, self.picture.records())

    async def queues(self) -> tuple[Queue, ...]:
        return await asyncio.to_thread(self._queues)

    def _queues(self) -> tuple[Queue, ...]:
        from jupyter_aiarts.engines.local.machine import machine_of
        from jupyter_aiarts.engines.local.queue import queue_of

        self.picture.look()
        owners = {record.id: record.owner for record in self.picture.records()}
        return (queue_of(machine_of(self.state.settings()), *self.picture.load(), owners),)

    async def turns(self, job_id: str | None = None) -> tuple[Turn, ...]:
        from jupyter_aiarts.engines.local.queue import book_of

        return await asyncio.to_thread(book_of(self.state).read, job_id and check_id(job_id))

    async def places(self, job_id: str | None = None) -> tuple[Place, ...]:
        from jupyter_aiarts.model.places import Place

        machine = Place(name="machine", cluster=self.name, kind="machine", pod="/", here="/", node="/")
        if job_id is None:
            return (machine,)
        folder = str(self.state.job(check_id(job_id)).root)
        return (machine, Place(name="job-folder", cluster=self.name, kind="machine", pod=folder, here=folder))

    async def expected(self, job_id: str) -> Band | None:
        return await asyncio.to_thread(self._expected, check_id(job_id))

    def _expected(self, job_id: str) -> Band | None:
        from jupyter_aiarts.engines.local.expected import band_of
        from jupyter_aiarts.engines.local.machine import machine_of

        self.picture.look()
        running, waiting = self.picture.load()
        machine, placed = machine_of(self.state.settings()), self.picture.placed()
        return band_of(job_id, machine, running, waiting, self.picture.records(), placed)

    async def watch(self) -> AsyncIterator[Change]:
        rung = asyncio.Event()
        bell = Bell(self.runtime)
        loop = asyncio.get_running_loop()
        heard: set[str] = set()
        told = {record.id: record for record in self.picture.records()}

        def listen() -> None:
            heard.update(bell.drain())
            rung.set()

        loop.add_reader(bell.fileno(), listen)
        try:
            while not self._closed.is_set():
                rung.clear()
                hints, heard = heard, set()
                await asyncio.to_thread(self._look, hints)
                change = changes(told, self.picture.records())
                if change.jobs or change.removed:
                    yield change
                    await asyncio.sleep(CALM)
                await came(rung, self._patience())
        finally:
            loop.remove_reader(bell.fileno())
            bell.close()

    def _patience(self) -> float | None:
        """How long to wait for the bell before looking anyway."""
        if self.picture.awaits_supervisor():
            return SOON
        return GLANCE if self.picture.is_busy() else None

    async def aclose(self) -> None:
        self._closed.set()
