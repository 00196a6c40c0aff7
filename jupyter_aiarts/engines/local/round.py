"""One round of the supervisor: look at every job that is not settled, and do the next thing for each.

A round may be cut off anywhere by a kill: each step leaves the folder in a state the next round understands.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from msgspec import structs

from jupyter_aiarts.engines.local.births import give_birth, next_attempt, write_plan
from jupyter_aiarts.engines.local.ending import last_words, sweep_leftovers
from jupyter_aiarts.engines.local.folder import JobFolder, StateFolder, this_host
from jupyter_aiarts.engines.local.machine import machine_of
from jupyter_aiarts.engines.local.phase import Life, RunFacts, view
from jupyter_aiarts.engines.local.picture import Picture
from jupyter_aiarts.engines.local.process import Identity, is_held, open_pidfd, send
from jupyter_aiarts.engines.local.reader import facts_of, launcher_lock
from jupyter_aiarts.engines.local.records import Intent, JobFile, NodeStatus, Placed
from jupyter_aiarts.engines.local.retention import due
from jupyter_aiarts.engines.local.runtime import ring
from jupyter_aiarts.engines.local.slots import Decision, Taken, Waiting, decide, never_fits
from jupyter_aiarts.errors import AiartsError, JobNotFound
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.times import now

PATIENCE = 15.0  # seconds after the grace in which a launcher must have ended by itself
SOON = 0.2
LATER = 3600.0


class Watcher(Protocol):
    """What a round needs of the loop around it."""

    def watch(self, pid: int, handle: int | None) -> None: ...


class Round:
    """The supervisor's work, and the little it remembers between rounds."""

    def __init__(self, state: StateFolder, runtime: Path) -> None:
        self.state = state
        self.runtime = runtime
        self.busy = False
        self.born: dict[tuple[str, int, int, int], Identity | None] = {}  # (job, run, attempt, node)
        self.asked: dict[tuple[str, int, int], float] = {}  # (job, run, attempt) → when it was told to end
        self.wake = LATER

    def clean(self) -> None:
        """Remove finished jobs whose time is over; called now and then, does nothing unless the admin set a time."""
        days = self.state.settings().retention_days
        if not days:
            return
        picture = Picture(self.state)
        picture.look()
        for job_id in due(picture.records(), days, now()):
            with self._reporting(job_id):
                self.state.remove(job_id)
                ring(self.runtime, job_id)

    def has_work(self) -> bool:
        """Whether a job of this host runs, or waits for what may come; cards that the machine lacks never do."""
        machine = machine_of(self.state.settings())
        return any(
            job.settled is None and (never_fits(machine, job.spec) is None or facts_of(job, folder).placed is not None)
            for job, folder in self._jobs()
        )

    def go(self, watcher: Watcher) -> float:
        """Do what is to be done now; seconds until something may have to be done even if nothing happens."""
        self._reap()
        self.wake, self.busy = LATER, False
        waiting: list[Waiting] = []
        running: list[Taken] = []
        for job, folder in self._jobs():
            with self._reporting(job.id):
                facts = facts_of(job, folder)
                seen = view(job, facts, settling=True)
                if seen.phase is Phase.QUEUED:
                    waiting.append(Waiting(id=job.id, spec=job.spec, queued=job.queued))
                elif seen.phase.is_active and not self._stillborn(job, facts):
                    running.append(self._attend(job, folder, facts, watcher))
                else:
                    self._settle(folder)
        machine = machine_of(self.state.settings())
        self.busy = bool(running) or any(never_fits(machine, job.spec) is None for job in waiting)
        decision = decide(machine, running, waiting)
        if decision.starts and decision.waits:
            self._note_turns(waiting, decision)  # first: whoever sees a job run is told whom it passed
        for start in decision.starts:
            with self._reporting(start.id):
                self._start(start, watcher)
        return self.wake

    def _note_turns(self, waiting: list[Waiting], decision: Decision) -> None:
        """Write down who started before somebody who had come earlier, and why."""
        from jupyter_aiarts.engines.local.queue import book_of, turns_of

        with self._reporting("turns"):
            book_of(self.state).add(turns_of(waiting, decision, now()))

    def _jobs(self) -> list[tuple[JobFile, JobFolder]]:
        """Every job that may need us. A mark without a job is one being submitted, or being deleted."""
        found: list[tuple[JobFile, JobFolder]] = []
        for job_id in sorted(self.state.active_ids()):
            folder = self.state.job(job_id)
            with contextlib.suppress(AiartsError):
                job = folder.read()
                if job.host == this_host():
                    found.append((job, folder))
        return found

    @contextlib.contextmanager
    def _reporting(self, job_id: str) -> Iterator[None]:
        """One job's trouble is written down and never stops the others."""
        try:
            yield
        except JobNotFound:
            pass  # deleted while we looked
        except (AiartsError, OSError) as error:
            sys.stderr.write(f"{now()} {job_id}: {error}\n")
            self.wake = min(self.wake, 5.0)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    # -- jobs that run -------------------------------------------------------------------------------------------

    def _attend(self, job: JobFile, folder: JobFolder, facts: RunFacts, watcher: Watcher) -> Taken:
        placed = facts.placed
        assert placed is not None, "an active job has a place"
        spoken = {status.node: status for status in facts.statuses if status.attempt == placed.attempt}
        for node in range(len(placed.devices)):
            if node not in spoken and not is_held(launcher_lock(folder.run(job.run), node, placed.attempt)):
                self._bear(job, folder, placed, node)
            who = self._launcher(job, placed, node, spoken.get(node))
            if who is not None:
                watcher.watch(who.pid, open_pidfd(who))
        if job.intent is not Intent.RUN:
            self._ask_to_end(job, placed, spoken)
        return Taken(id=job.id, device=job.spec.device, cpus=placed.cpus, devices=placed.devices)

    def _bear(self, job: JobFile, folder: JobFolder, placed: Placed, node: int) -> None:
        key = (job.id, job.run, placed.attempt, node)
        if key not in self.born:
            self.born[key] = give_birth(folder.run(job.run), node, placed.attempt)

    def _stillborn(self, job: JobFile, facts: RunFacts) -> bool:
        """A launcher we started that neither lives nor ever spoke: starting it again would go the same way."""
        if facts.placed is None or facts.life is not Life.UNBORN:
            return False
        attempt, nodes = facts.placed.attempt, range(len(facts.placed.devices))
        return any((job.id, job.run, attempt, node) in self.born for node in nodes)

    def _launcher(self, job: JobFile, placed: Placed, node: int, status: NodeStatus | None) -> Identity | None:
        born = self.born.get((job.id, job.run, placed.attempt, node))
        if born is not None or status is None or status.pid is None:
            return born
        return Identity(boot=status.boot or "", pidns=status.pidns or "", pid=status.pid, start=status.start or "")

    def _ask_to_end(self, job: JobFile, placed: Placed, spoken: dict[int, NodeStatus]) -> None:
        """SIGTERM once to every launcher; one that outlives its grace by far is killed with all it started."""
        key = (job.id, job.run, placed.attempt)
        launchers = [self._launcher(job, placed, node, spoken.get(node)) for node in range(len(placed.devices))]
        known = [who for who in launchers if who is not None]
        if key not in self.asked:
            told = [send(who, signal.SIGTERM) for who in known]
            if len(known) == len(launchers) and told:
                self.asked[key] = time.monotonic()
            self.wake = min(self.wake, SOON)
            return
        left = self.asked[key] + job.spec.grace_seconds + PATIENCE - time.monotonic()
        if left <= 0:
            for who in known:
                send(who, signal.SIGKILL)
        self.wake = min(self.wake, max(left, SOON))

    # -- jobs that end, jobs that start --------------------------------------------------------------------------

    def _settle(self, folder: JobFolder) -> None:
        """Write down how a run ended, so that everybody may forget about it."""
        with folder.locked() as job:
            facts = facts_of(job, folder)
            if self._stillborn(job, facts):
                facts = structs.replace(facts, life=Life.DEAD)
            seen = view(job, facts, settling=True)
            if seen.phase.is_active or seen.phase is Phase.QUEUED:
                return
            if seen.ended is None:
                sweep_leftovers(job.id)
                seen = last_words(seen, folder.run(job.run))
            folder.write(structs.replace(job, settled=seen))
            self.state.unmark_active(job.id)
        if job.intent is Intent.DELETE:
            self.state.remove(job.id)
        ring(self.runtime, job.id)

    def _start(self, start: Taken, watcher: Watcher) -> None:
        folder = self.state.job(start.id)
        with folder.locked() as job:
            facts = facts_of(job, folder)
            if job.settled is not None or job.intent is not Intent.RUN or facts.placed is not None:
                return  # its owner was quicker
            run = folder.run(job.run)
            placed = Placed(attempt=next_attempt(run), placed=now(), cpus=start.cpus, devices=start.devices)
            write_plan(job, folder, placed, self.state.settings(), self.runtime)
            for node in range(len(placed.devices)):
                self._bear(job, folder, placed, node)
                who = self.born.get((job.id, job.run, placed.attempt, node))
                if who is not None:
                    watcher.watch(who.pid, open_pidfd(who))
        ring(self.runtime, job.id)
