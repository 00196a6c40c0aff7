"""What owners want, written into the state folder: submissions, moves, edits, deletions.

Everything here blocks on files and runs in a thread. Each verb leaves the folder whole if it is cut off anywhere, and
ends by waking the supervisor; nothing waits for what the supervisor then does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local.births import next_attempt
from jupyter_aiarts.engines.local.checks import check_here, settle_spec
from jupyter_aiarts.engines.local.folder import (
    JobFolder,
    StateFolder,
    make_folder,
    read_file,
    this_host,
    write_file,
)
from jupyter_aiarts.engines.local.machine import lifetime, machine_of, surroundings
from jupyter_aiarts.engines.local.plan import inherited
from jupyter_aiarts.engines.local.reader import current_view
from jupyter_aiarts.engines.local.records import CallerFile, Intent, JobFile, RunFile, Settled
from jupyter_aiarts.engines.local.runtime import ring
from jupyter_aiarts.engines.local.slots import Machine
from jupyter_aiarts.engines.local.supervisor import ensure_supervisor
from jupyter_aiarts.engines.local.told import attempts_of, latest_attempt
from jupyter_aiarts.errors import JobUnreadable, SubmissionConflict
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import MOST_EARLIER, Attempt
from jupyter_aiarts.model.names import id_for_submission, new_id
from jupyter_aiarts.model.phase import Move, Phase, check_move
from jupyter_aiarts.model.reading import Reading, fingerprint
from jupyter_aiarts.model.times import now


class Writer:
    """The verbs that change jobs of one state folder; ids are checked by the engine before they come here."""

    def __init__(self, state: StateFolder, runtime: Path) -> None:
        self.state = state
        self.runtime = runtime

    def submit(self, reading: Reading, caller: Caller) -> tuple[str, bool]:
        """Queue a job; its id, and False when its submission_id was known and this is that job."""
        asked = fingerprint(reading)
        job_id = new_id()
        if reading.spec.submission_id:
            job_id = id_for_submission("local", str(self.state.root), caller.owner, reading.spec.submission_id)
            if (self.state.jobs / job_id).exists():
                return self._known(job_id, asked), False
        settled = structs.replace(reading, spec=settle_spec(reading.spec, caller, self._machine()))
        check_here(settled, caller)
        if not self.state.adopt(self._draft(job_id, settled, caller, asked), job_id):
            return self._known(job_id, asked), False
        self._changed(job_id)
        return job_id, True

    def _draft(self, job_id: str, reading: Reading, caller: Caller, asked: str) -> Path:
        """A whole job under a temporary name: whoever sees it under its own sees all of it."""
        moment = now()
        draft = self.state.draft()
        job = JobFile(
            id=job_id,
            owner=caller.owner,
            host=this_host(),
            created=moment,
            queued=moment,
            spec=reading.spec,
            given=reading.given,
            notes=(*reading.notes, *surroundings(reading.spec, self.state.settings()), *lifetime()),
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

    def _known(self, job_id: str, asked: str) -> str:
        job = self.state.job(job_id).read()
        if job.submission != asked:
            raise SubmissionConflict(
                f"The submission id {job.spec.submission_id!r} belongs to job {job_id}, which asks for other things.",
                "Use another submission_id for another job.",
            )
        return job_id

    def move(self, job_id: str, move: Move) -> None:
        """Stop, pause, resume or rerun, if the phase offers it."""
        folder = self.state.job(job_id)
        with folder.locked() as job:
            phase = current_view(job, folder).phase
            check_move(phase, move, job.spec.name)
            changed = STEPS[move](folder, job, phase)
            if changed.settled is None:
                self.state.mark_active(job_id)
            folder.write(changed)
        self._changed(job_id)

    def edit(self, job_id: str, reading: Reading) -> None:
        """Replace the spec that the next run uses; a run that still waits is the next one."""
        folder = self.state.job(job_id)
        with folder.locked() as job:
            phase = current_view(job, folder).phase
            check_move(phase, Move.EDIT, job.spec.name)
            run = read_run(folder, job)
            origin = Caller(
                owner=job.owner,
                python=run.caller.python,
                environ=run.caller.environ,
                folder=Path(job.spec.workdir or "/"),
            )
            settled = structs.replace(reading, spec=settle_spec(reading.spec, origin, self._machine()))
            check_here(settled, origin)
            keep_secrets(folder, settled)
            if not phase.is_terminal:
                write_file(folder.run(job.run) / "run.json", structs.replace(run, spec=settled.spec))
            notes = (*settled.notes, *surroundings(settled.spec, self.state.settings()))
            folder.write(structs.replace(job, spec=settled.spec, given=settled.given, notes=notes))
        self._changed(job_id)

    def delete(self, job_id: str) -> None:
        """Remove a job, or have it stopped and removed; one that cannot be read can still be removed."""
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

    def _machine(self) -> Machine:
        return machine_of(self.state.settings())

    def _changed(self, job_id: str) -> None:
        """Wake who listens; start a supervisor when jobs wait for one."""
        ring(self.runtime, job_id)
        if self.state.is_active(job_id):
            ensure_supervisor(self.state.root)


# -- from a job in a phase to what its job.json becomes -----------------------------------------------------------


def _stop(folder: JobFolder, job: JobFile, phase: Phase) -> JobFile:
    if phase.is_active:
        return structs.replace(job, intent=Intent.STOP)
    cause = Cause(code="stopped-by-user")
    seen = current_view(job, folder)
    ended = structs.replace(seen, phase=Phase.STOPPED, cause=cause, ended=now())
    attempts = _rested(job, seen) if phase is Phase.PAUSED else job.attempts
    return structs.replace(job, intent=Intent.STOP, settled=ended, attempts=attempts)


def _pause(folder: JobFolder, job: JobFile, phase: Phase) -> JobFile:
    return structs.replace(job, intent=Intent.PAUSE)


def _resume(folder: JobFolder, job: JobFile, phase: Phase) -> JobFile:
    """The same run goes on with its next attempt; what the last one left is kept under its number."""
    run = folder.run(job.run)
    attempt, seen = next_attempt(run), current_view(job, folder)
    for name in ("summary", "placed"):
        with contextlib.suppress(FileNotFoundError):
            (run / f"{name}.json").rename(run / f"{name}.{attempt}.json")
    attempts = _rested(job, seen)
    return structs.replace(job, intent=Intent.RUN, settled=None, queued=now(), started=seen.started, attempts=attempts)


def _rested(job: JobFile, seen: Settled) -> tuple[Attempt, ...]:
    """The attempts with the one that this pause ended: whatever comes next, it ran until then and no longer."""
    before = attempts_of(job, seen)[:-1] or job.attempts
    return (*before, latest_attempt(job, seen))[-MOST_EARLIER:]


def _rerun(folder: JobFolder, job: JobFile, phase: Phase) -> JobFile:
    """A new run beside the earlier ones, with the spec as it is now."""
    number = job.run + 1
    fresh = structs.replace(read_run(folder, job), run=number, created=now(), spec=job.spec)
    make_folder(folder.run(number))
    write_file(folder.run(number) / "run.json", fresh)
    return structs.replace(job, run=number, intent=Intent.RUN, settled=None, queued=now(), started=None, attempts=())


#: Every move that a phase offers and that changes job.json.
STEPS: dict[Move, Callable[[JobFolder, JobFile, Phase], JobFile]] = {
    Move.STOP: _stop,
    Move.PAUSE: _pause,
    Move.RESUME: _resume,
    Move.RERUN: _rerun,
}


def read_run(folder: JobFolder, job: JobFile) -> RunFile:
    """The record of the current run."""
    run = read_file(folder.run(job.run) / "run.json", RunFile)
    if run is None:
        raise JobUnreadable(f"Run {job.run} of job {job.id} has no record.", "Submit the job anew.")
    return run


def keep_secrets(folder: JobFolder, reading: Reading) -> None:
    """Values that an edit did not name stay; names that it dropped go."""
    known = read_file(folder.secrets_file, dict[str, str]) or {}
    given = {**known, **reading.secrets}
    values = {name: given[name] for name in reading.spec.secret_env if name in given}
    if values != known:
        write_file(folder.secrets_file, values)
