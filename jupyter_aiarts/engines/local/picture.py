"""The picture of all local jobs that one process keeps, and how it learns what changed.

A look costs what is active, not what exists: finished jobs are read once. New and removed jobs show in the modification
time of the jobs folder, running ones are read again, and the bell names the rest.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Set
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.folder import JobFolder, StateFolder, this_host
from jupyter_aiarts.engines.local.records import JobFile, Placed, Settled
from jupyter_aiarts.engines.local.told import record_of, unreadable
from jupyter_aiarts.errors import JobNotFound, JobUnreadable
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.phase import Phase

if TYPE_CHECKING:
    from jupyter_aiarts.engines.local.slots import Taken, Waiting

TICK = 50_000_000  # ns: a folder changed more recently than this may change again within one step of its clock


class Seen(Struct, frozen=True, kw_only=True):
    """One job as last read, with what the queue needs to know of it."""

    record: JobRecord
    host: str = ""
    queued: str = ""
    placed: Placed | None = None

    @property
    def waits_here(self) -> bool:
        return self.record.phase is Phase.QUEUED and self.host == this_host()

    @property
    def runs_here(self) -> bool:
        return self.record.phase.is_active and self.host == this_host()

    @property
    def needs_supervisor(self) -> bool:
        return self.host == this_host() and self.record.cause.code != "never-fits"


class Picture:
    """All jobs of one state folder; safe to use from several threads."""

    def __init__(self, state: StateFolder) -> None:
        self.state = state
        self.retention_days = state.settings().retention_days
        self._seen: dict[str, Seen] = {}
        self._active: set[str] = set()
        self._live: dict[str, Seen] = {}  # the jobs that wait or run on this machine
        self._records: tuple[JobRecord, ...] | None = None  # None when it has to be made again
        self._folder_time = -1
        self._lock = threading.Lock()

    def records(self) -> tuple[JobRecord, ...]:
        """Every job as last read; what did not change, a record or all of them, is the same object as before."""
        with self._lock:
            if self._records is None:
                self._records = tuple(seen.record for seen in self._seen.values())
            return self._records

    def look(self, hints: Collection[str] = ()) -> None:
        """Bring the picture up to date."""
        with self._lock:
            ids, fresh = self._ids()
            active = {job_id for job_id in self.state.active_ids() if job_id in ids}
            if len(self._seen) != len(ids) or fresh:
                for job_id in self._seen.keys() - ids:
                    self._forget(job_id)
            for job_id in fresh | active | (self._active - active) | {hint for hint in hints if hint in ids}:
                self._read(job_id)
            self._active = active
            self._explain_queue()

    def read(self, job_id: str) -> JobRecord:
        """One job as it is now, its place in the queue included; raises `JobNotFound`."""
        with self._lock:
            if not self._read(job_id):
                raise JobNotFound(f"There is no job {job_id} here.", "List the jobs with `aiarts jobs`.")
            if not self._seen[job_id].record.phase.is_terminal:
                self._active.add(job_id)  # it may end before the first look at it
            if self._seen[job_id].waits_here:
                self._explain_queue()
            return self._seen[job_id].record

    def newest(self, record: JobRecord) -> JobRecord:
        """What is known of this job by now; itself where that is all, or the job is gone. Waits for nobody."""
        seen = self._seen.get(record.id)
        return record if seen is None else seen.record

    def load(self) -> tuple[list[Taken], list[Waiting]]:
        """What runs and what waits on this machine."""
        with self._lock:
            return self._load()

    def placed(self) -> dict[str, str]:
        """Since when each job of this machine has had its place."""
        with self._lock:
            return {key: one.placed.placed for key, one in self._live.items() if one.placed is not None}

    def is_busy(self) -> bool:
        with self._lock:
            return any(job_id in self._active for job_id in self._seen)

    def awaits_supervisor(self) -> bool:
        """Whether the next step of a job is the supervisor's, and it should not take long."""
        with self._lock:
            return any(_is_next(seen.record.cause) for seen in self._live.values())

    def needs_supervisor(self) -> bool:
        """Whether a job of this host waits for something that can be done."""
        with self._lock:
            return any(self._seen[job_id].needs_supervisor for job_id in self._active if job_id in self._seen)

    def _ids(self) -> tuple[Set[str], Set[str]]:
        """Every id there is, and those not read yet; the folder is listed only when it changed."""
        changed = os.stat(self.state.jobs).st_mtime_ns
        if changed == self._folder_time:
            return self._seen.keys(), set()
        ids = self.state.job_ids()
        self._folder_time = changed if time.time_ns() - changed > TICK else -1
        return ids, ids - set(self._seen)

    def _read(self, job_id: str) -> bool:
        """Read one job into the picture; False when it is gone."""
        folder = self.state.job(job_id)
        try:
            job = folder.read()
            seen, placed = (job.settled, None) if job.settled else _unsettled(job, folder)
            record = self._with_note(record_of(job, seen, folder))
            self._keep(job_id, Seen(record=record, host=job.host, queued=job.queued, placed=placed))
        except JobNotFound:
            self._forget(job_id)
            return False
        except JobUnreadable as error:
            self._keep(job_id, Seen(record=unreadable(job_id, folder, error)))
        return True

    def _with_note(self, record: JobRecord) -> JobRecord:
        if not self.retention_days:
            return record
        from jupyter_aiarts.engines.local.retention import note_of

        note = note_of(record, self.retention_days)
        return structs.replace(record, notes=(*record.notes, note)) if note else record

    def _keep(self, job_id: str, seen: Seen) -> None:
        """What is equal stays the same object, so that others compare by identity."""
        before = self._seen.get(job_id)
        if before is None or before != seen:
            self._records = None
            self._seen[job_id] = seen
            self._live.pop(job_id, None)
            if seen.waits_here or seen.runs_here:
                self._live[job_id] = seen

    def _forget(self, job_id: str) -> None:
        self._records = None
        self._seen.pop(job_id, None)
        self._live.pop(job_id, None)

    def _load(self) -> tuple[list[Taken], list[Waiting]]:
        from jupyter_aiarts.engines.local.slots import Taken, Waiting

        running: list[Taken] = []
        waiting: list[Waiting] = []
        for key, one in self._live.items():
            if one.placed is not None:
                device, placed = one.record.spec.device, one.placed
                running.append(Taken(id=key, device=device, cpus=placed.cpus, devices=placed.devices))
            elif one.waits_here:
                waiting.append(Waiting(id=key, spec=one.record.spec, queued=one.queued))
        return running, waiting

    def _explain_queue(self) -> None:
        """Give every waiting job the reason that the queue itself goes by."""
        if not any(seen.waits_here for seen in self._live.values()):
            return
        from jupyter_aiarts.engines.local.machine import machine_of
        from jupyter_aiarts.engines.local.slots import decide

        running, waiting = self._load()
        waits = decide(machine_of(self.state.settings()), running, waiting).waits
        for job in waiting:
            seen = self._seen[job.id]
            cause = waits.get(job.id, Cause(code="queue-position", values={"ahead": 0}))
            if seen.record.cause != cause:
                self._keep(job.id, structs.replace(seen, record=structs.replace(seen.record, cause=cause)))


def _unsettled(job: JobFile, folder: JobFolder) -> tuple[Settled, Placed | None]:
    """Where a job stands that has not ended, and where it runs; a list of finished ones does without all of this."""
    from jupyter_aiarts.engines.local.phase import view
    from jupyter_aiarts.engines.local.reader import facts_of

    facts = facts_of(job, folder)
    return view(job, facts), facts.placed


def _is_next(cause: Cause) -> bool:
    return cause.code in ("starting", "stopping", "ending") or cause.values.get("ahead") == 0
