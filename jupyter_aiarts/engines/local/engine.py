"""The local engine: reads the state folder, writes what owners want into it, and wakes the supervisor."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import msgspec
from msgspec import structs

from jupyter_aiarts.engines.base import Caller, Change, Engine, Fit, JobRecord
from jupyter_aiarts.engines.local.checks import check_here, settle_spec
from jupyter_aiarts.engines.local.folder import (
    JobFolder,
    StateFolder,
    make_folder,
    read_file,
    this_host,
    write_file,
)
from jupyter_aiarts.engines.local.machine import ends_with_us, machine_of
from jupyter_aiarts.engines.local.picture import Picture
from jupyter_aiarts.engines.local.plan import inherited
from jupyter_aiarts.engines.local.reader import current_view
from jupyter_aiarts.engines.local.records import CallerFile, Intent, JobFile, RunFile, Settings, Settled
from jupyter_aiarts.engines.local.runtime import Bell, ring, runtime_folder
from jupyter_aiarts.engines.local.slots import Waiting, decide
from jupyter_aiarts.engines.local.story import environment_of, events_of
from jupyter_aiarts.engines.local.supervisor import ensure_supervisor
from jupyter_aiarts.engines.logs import RunLog, open_log
from jupyter_aiarts.errors import JobUnreadable, RunNotFound, SubmissionConflict
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Event
from jupyter_aiarts.model.names import check_id, id_for_submission, new_id
from jupyter_aiarts.model.phase import Move, Phase, check_move
from jupyter_aiarts.model.reading import Reading
from jupyter_aiarts.model.times import now

Step = Callable[[JobFolder, JobFile, Phase], JobFile]  # from a job in a phase to what its job.json becomes
CALM = 0.05  # seconds between looks while changes pour in
GLANCE = 30.0  # seconds between looks while jobs live, in case a bell was lost


class LocalEngine(Engine):
    """Runs jobs on this machine. All file work happens in a thread; the folder is the only memory that counts."""

    name = "local"

    def __init__(self, state: StateFolder, settings: Settings | None = None) -> None:
        self.state = state
        self.runtime = runtime_folder(state.root)
        if settings is not None:
            state.record_settings(settings)
        self._devices = frozenset(state.settings().devices)
        self.picture = Picture(state)
        self._closed = asyncio.Event()

    # -- in ------------------------------------------------------------------------------------------------------

    async def submit(self, reading: Reading, caller: Caller) -> tuple[JobRecord, bool]:
        return await asyncio.to_thread(self._submit, reading, caller)

    def _submit(self, reading: Reading, caller: Caller) -> tuple[JobRecord, bool]:
        asked = fingerprint(reading)
        job_id = new_id()
        if reading.spec.submission_id:
            job_id = id_for_submission(self.name, str(self.state.root), caller.owner, reading.spec.submission_id)
            if (self.state.jobs / job_id).exists():
                return self._known(job_id, asked), False
        settled = structs.replace(reading, spec=settle_spec(reading.spec, caller))
        check_here(settled, caller)
        draft = self._draft(job_id, settled, caller, asked)
        if not self.state.adopt(draft, job_id):
            return self._known(job_id, asked), False
        self._changed(job_id)
        return self.picture.read(job_id), True

    def _draft(self, job_id: str, reading: Reading, caller: Caller, asked: str) -> Path:
        moment = now()
        draft = self.state.draft()
        job = JobFile(
            id=job_id,
            owner=caller.owner,
            host=this_host(),
            created=moment,
            queued=moment,
            spec=reading.spec,
            notes=(*reading.notes, *surroundings()),
            submission=asked,
        )
        origin = CallerFile(python=caller.python, environ=inherited(dict(caller.environ)))
        folder = JobFolder(draft)
        folder.write(job)
        make_folder(draft / "runs")
        make_folder(folder.run(1))
        write_file(folder.run(1) / "run.json", RunFile(run=1, created=moment, spec=reading.spec, caller=origin))
        if reading.secrets:
            write_file(folder.secrets_file, reading.secrets)
        return draft

    def _known(self, job_id: str, asked: str) -> JobRecord:
        job = self.state.job(job_id).read()
        if job.submission != asked:
            raise SubmissionConflict(
                f"The submission id {job.spec.submission_id!r} belongs to job {job_id}, which asks for other things.",
                "Use another submission_id for another job.",
            )
        return self.picture.read(job_id)

    async def act(self, job_id: str, move: Move) -> JobRecord:
        steps: dict[Move, Step] = {
            Move.STOP: self._stop,
            Move.PAUSE: self._pause,
            Move.RESUME: self._resume,
            Move.RERUN: self._rerun,
        }
        return await asyncio.to_thread(self._move, check_id(job_id), move, steps)

    def _move(self, job_id: str, move: Move, steps: Mapping[Move, Step]) -> JobRecord:
        folder = self.state.job(job_id)
        with folder.locked() as job:
            phase = current_view(job, folder).phase
            check_move(phase, move, job.spec.name)
            changed = steps[move](folder, job, phase)  # no phase offers a move that is not here
            if changed.settled is None:
                self.state.mark_active(job_id)
            folder.write(changed)
        self._changed(job_id)
        return self.picture.read(job_id)

    def _stop(self, folder: JobFolder, job: JobFile, phase: Phase) -> JobFile:
        if phase.is_active:
            return structs.replace(job, intent=Intent.STOP)
        before = job.settled or Settled(phase=Phase.STOPPED, cause=Cause(code="stopped-by-user"))
        ended = structs.replace(before, phase=Phase.STOPPED, cause=Cause(code="stopped-by-user"), ended=now())
        return structs.replace(job, intent=Intent.STOP, settled=ended)

    def _pause(self, folder: JobFolder, job: JobFile, phase: Phase) -> JobFile:
        return structs.replace(job, intent=Intent.PAUSE)

    def _resume(self, folder: JobFolder, job: JobFile, phase: Phase) -> JobFile:
        """The same run goes on with its next attempt; what the last one left is kept under its number."""
        run = folder.run(job.run)
        attempt = 1 + len(list(run.glob("placed.*.json")))
        for name in ("summary", "placed"):
            with contextlib.suppress(FileNotFoundError):
                (run / f"{name}.json").rename(run / f"{name}.{attempt}.json")
        return structs.replace(job, intent=Intent.RUN, settled=None, queued=now())

    def _rerun(self, folder: JobFolder, job: JobFile, phase: Phase) -> JobFile:
        """A new run beside the earlier ones, with the spec as it is now."""
        number = job.run + 1
        last = read_file(folder.run(job.run) / "run.json", RunFile)
        if last is None:
            raise JobUnreadable(f"Run {job.run} of job {job.id} has no record.", "Submit the job anew.")
        make_folder(folder.run(number))
        fresh = structs.replace(last, run=number, created=now(), spec=job.spec)
        write_file(folder.run(number) / "run.json", fresh)
        return structs.replace(job, run=number, intent=Intent.RUN, settled=None, queued=now())

    async def edit(self, job_id: str, reading: Reading) -> JobRecord:
        return await asyncio.to_thread(self._edit, check_id(job_id), reading)

    def _edit(self, job_id: str, reading: Reading) -> JobRecord:
        folder = self.state.job(job_id)
        with folder.locked() as job:
            phase = current_view(job, folder).phase
            check_move(phase, Move.EDIT, job.spec.name)
            run = read_file(folder.run(job.run) / "run.json", RunFile)
            if run is None:
                raise JobUnreadable(f"Run {job.run} of job {job.id} has no record.", "Submit the job anew.")
            origin = Caller(
                owner=job.owner,
                python=run.caller.python,
                environ=run.caller.environ,
                folder=Path(job.spec.workdir or "/"),
            )
            settled = structs.replace(reading, spec=settle_spec(reading.spec, origin))
            check_here(settled, origin)
            self._keep_secrets(folder, settled)
            if not phase.is_terminal:  # the run that waits is the next one
                write_file(folder.run(job.run) / "run.json", structs.replace(run, spec=settled.spec))
            folder.write(structs.replace(job, spec=settled.spec, notes=tuple(settled.notes)))
        self._changed(job_id)
        return self.picture.read(job_id)

    def _keep_secrets(self, folder: JobFolder, reading: Reading) -> None:
        """Values that the edit did not name stay; names that it dropped go."""
        known = read_file(folder.secrets_file, dict[str, str]) or {}
        given = {**known, **reading.secrets}
        values = {name: given[name] for name in reading.spec.secret_env if name in given}
        if values != known:
            write_file(folder.secrets_file, values)

    async def delete(self, job_id: str) -> None:
        await asyncio.to_thread(self._delete, check_id(job_id))

    def _delete(self, job_id: str) -> None:
        folder = self.state.job(job_id)
        try:
            with folder.locked() as job:
                if current_view(job, folder).phase.is_active:
                    folder.write(structs.replace(job, intent=Intent.DELETE))
                else:
                    self.state.remove(job_id)
        except JobUnreadable:
            self.state.remove(job_id)
        self._changed(job_id)

    async def secrets(self, job_id: str) -> frozenset[str]:
        return await asyncio.to_thread(lambda: frozenset(self.state.job(check_id(job_id)).read().spec.secret_env))

    def _changed(self, job_id: str) -> None:
        """Wake who listens; start a supervisor when jobs wait for one."""
        ring(self.runtime, job_id)
        if self.state.is_active(job_id):
            ensure_supervisor(self.state.root)

    # -- out -----------------------------------------------------------------------------------------------------

    async def snapshot(self) -> tuple[JobRecord, ...]:
        await asyncio.to_thread(self.picture.look)
        await self._revive()
        return self.picture.records()

    async def get(self, job_id: str) -> JobRecord:
        return await asyncio.to_thread(self.picture.read, check_id(job_id))

    async def _revive(self) -> None:
        """A supervisor that was killed is replaced by whoever sees that jobs need one."""
        if self.picture.needs_supervisor():
            await asyncio.to_thread(ensure_supervisor, self.state.root)

    async def log(self, job_id: str, run: int | None = None) -> RunLog:
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
        return await asyncio.to_thread(lambda: environment_of(*self._run(job_id, run), rank))

    async def events(self, job_id: str, run: int | None) -> tuple[Event, ...]:
        return await asyncio.to_thread(lambda: events_of(*self._run(job_id, run)))

    def offers(self) -> frozenset[str] | None:
        return self._devices or None  # none declared: nothing can be said about cards, and a job that wants some waits

    async def fits(self, reading: Reading, caller: Caller) -> Fit:
        return await asyncio.to_thread(self._fits, reading, caller)

    def _fits(self, reading: Reading, caller: Caller) -> Fit:
        settled = structs.replace(reading, spec=settle_spec(reading.spec, caller))
        check_here(settled, caller)
        self.picture.look()
        mine = Waiting(id="", spec=settled.spec, queued="9")
        running, waiting = self.picture.load()
        cause = decide(machine_of(self.state.settings()), running, [*waiting, mine]).waits.get("")
        return Fit(now=cause is None, cause=cause, spec=settled.spec)

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
                await asyncio.to_thread(self.picture.look, hints)
                await self._revive()
                change = changes(told, self.picture.records())
                if change.jobs or change.removed:
                    yield change
                    await asyncio.sleep(CALM)
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(rung.wait(), GLANCE if self.picture.is_busy() else None)
        finally:
            loop.remove_reader(bell.fileno())
            bell.close()

    async def aclose(self) -> None:
        self._closed.set()


def surroundings() -> list[str]:
    """What a user should know about how long a job can live here."""
    holder = ends_with_us()
    return [f"This job ends when the {holder} that runs the Jupyter server ends."] if holder else []


def changes(told: dict[str, JobRecord], records: tuple[JobRecord, ...]) -> Change:
    """What is different from what a listener was told, which is brought up to date with it."""
    jobs = tuple(record for record in records if told.get(record.id) is not record)
    told.update((record.id, record) for record in jobs)
    there = {record.id for record in records} if len(told) != len(records) else told.keys()
    removed = tuple(job_id for job_id in told if job_id not in there)
    for job_id in removed:
        del told[job_id]
    return Change(jobs=jobs, removed=removed)


def fingerprint(reading: Reading) -> str:
    """What tells one submission from another under the same submission_id; secrets count, unreadably."""
    content = msgspec.json.encode([reading.spec, sorted(reading.secrets.items())])
    return hashlib.sha256(content).hexdigest()
