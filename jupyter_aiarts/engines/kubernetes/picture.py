"""Everything that was seen of one cluster's jobs, and the records made from it.

`Watcher` puts in what it lists and watches, the engine puts in what its own requests answered, and both take out
records, facts and changes. No request is made here. Used from one event loop.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from jupyter_aiarts.engines.base import Change, JobRecord
from jupyter_aiarts.engines.kubernetes.causes import PULLING, TELLING
from jupyter_aiarts.engines.kubernetes.meta import Meta, number, run_named
from jupyter_aiarts.engines.kubernetes.objects import (
    EVENTS,
    JOBS,
    PODS,
    PULLS,
    WORKLOADS,
    EventObject,
    JobObject,
    PodObject,
    WorkloadObject,
)
from jupyter_aiarts.engines.kubernetes.phase import Facts, next_look
from jupyter_aiarts.engines.kubernetes.runs import Held, Run, in_order
from jupyter_aiarts.engines.kubernetes.said import Said
from jupyter_aiarts.engines.kubernetes.seen import Pod
from jupyter_aiarts.errors import JobNotFound
from jupyter_aiarts.model import times
from jupyter_aiarts.model.names import ID_PATTERN
from jupyter_aiarts.model.spec import JobSpec

Watched = JobObject | PodObject | WorkloadObject | EventObject
DELETED = "DELETED"
_ID = re.compile(ID_PATTERN)


class Picture:
    """All jobs of one cluster, in the namespaces that are watched.

    A job is all Jobs with the same id in one namespace. Somebody may have copied one into another namespace: then the
    namespace that was seen first counts.
    """

    def __init__(self, cluster: str, clock: Callable[[], str] = times.now) -> None:
        self.cluster = cluster
        self._clock = clock
        self._spaces: dict[str, dict[str, Held]] = {}
        self._dirty: set[tuple[str, str]] = set()
        self._ending: set[tuple[str, str]] = set()  # jobs with pods on their way out, which may get stuck
        self._records: tuple[JobRecord, ...] | None = ()
        self._news: set[str] = set()

    # -- in ------------------------------------------------------------------------------------------------------

    def apply(self, kind: str, type: str, found: Watched) -> None:
        """One object as it is now, or was when it was DELETED."""
        gone = type == DELETED
        if kind == JOBS and isinstance(found, JobObject):
            self._take_job(found, gone)
        elif kind == PODS and isinstance(found, PodObject):
            self._take_pod(found, gone)
        elif kind in (EVENTS, PULLS) and isinstance(found, EventObject):
            self._take_event(found, gone)
        elif kind == WORKLOADS and isinstance(found, WorkloadObject):
            self._take_workload(found, gone)

    def replace(self, kind: str, namespace: str, objects: Iterable[Watched]) -> None:
        """All objects of a kind in a namespace, as they are now: what is not among them is gone."""
        there = set()
        for one in objects:
            there.add(one.metadata.name)
            self.apply(kind, "ADDED", one)
        self.keep_only(kind, namespace, there)

    def keep_only(self, kind: str, namespace: str, names: Collection[str]) -> None:
        """Forget the objects of a kind that a complete list did not have."""
        for job_id, held in list(self._spaces.get(namespace, {}).items()):
            for number_, run in list(held.runs.items()):
                if _forget(kind, run, names):
                    self._changed(namespace, job_id)
                    self._tidy(namespace, job_id, number_)

    def learn(self, job_id: str, run: int, spec: JobSpec) -> None:
        """The full spec of a run, once it was fetched; it stands until the Job says that it is another."""
        namespace = self.namespace_of(job_id)
        found = self._spaces[namespace][job_id].runs.get(run)
        if found is not None and found.job is not None:
            found.spec = spec
            self._changed(namespace, job_id)

    def hear(self, job_id: str, run: int, said: Mapping[int, Said]) -> None:
        """What launchers of a run say of themselves, by node; of a job that is gone nobody wants to know."""
        for namespace, space in self._spaces.items():
            found = space[job_id].runs.get(run) if job_id in space else None
            if found is not None and found.job is not None:
                found.said = found.said or {}
                for node, one in said.items():
                    found.take_said(node, one)
                self._changed(namespace, job_id)

    def has_heard(self, job_id: str, run: int) -> bool:
        """Whether anything is known of what a run's launchers say, if only that it is nothing."""
        self.settle()
        found = self._get(job_id).runs.get(run)
        return found is not None and found.said is not None

    def displace(self, namespace: str, pod: str, by: tuple[str, str], said: str) -> None:
        """Who took a pod's place, by namespace and name, in the scheduler's words; old news of others is dropped."""
        key = run_named(pod)
        run = self._run_at(namespace, key) if key is not None else None
        if key is None or run is None or pod not in run.displaced:
            return
        other = run_named(by[1])
        taker = self._run_at(by[0], other) if other is not None else None
        run.taker = (taker.job.uid if taker is not None and taker.job is not None else "", said)
        self._changed(namespace, key[0])

    def _run_at(self, namespace: str, key: tuple[str, int]) -> Run | None:
        held = self._spaces.get(namespace, {}).get(key[0])
        return held.runs.get(key[1]) if held is not None else None

    def tick(self) -> None:
        """Time has passed: look again at what time alone may change."""
        self._dirty |= self._ending

    def _take_job(self, job: JobObject, gone: bool) -> None:
        if not _is_ours(job.metadata):
            return
        held = self._held(job.namespace, job.job_id)
        run = held.run(job.run)
        if gone:
            if run.job is not None and run.job.uid == job.uid:
                del held.runs[job.run]  # its pods and events go with it
        elif not _is_older(job, run.job):
            if run.job is not None and run.job.uid != job.uid:  # the same name again: nothing is left of the other
                run = held.runs[job.run] = Run()
            run.take_job(job, self.cluster)
        self._changed(job.namespace, job.job_id)
        self._tidy(job.namespace, job.job_id, job.run)

    def _take_pod(self, found: PodObject, gone: bool) -> None:
        meta = found.metadata
        if not _is_ours(meta):
            return
        job_id, run_number = meta.labels.job, number(meta.labels.run)
        run = self._held(meta.namespace, job_id).run(run_number)
        run.take_pod(found.kept())
        if gone:
            del run.pods[meta.name]
        self._changed(meta.namespace, job_id)
        self._tidy(meta.namespace, job_id, run_number)

    def _take_event(self, found: EventObject, gone: bool) -> None:
        key = run_named(found.involved_object.name)
        if key is None or found.reason not in TELLING:
            return
        namespace = found.metadata.namespace
        run = self._held(namespace, key[0]).run(key[1])
        if not gone:
            run.take_notice(found.kept())
        elif run.notices:
            run.notices.pop(found.metadata.name, None)
        self._changed(namespace, key[0])
        self._tidy(namespace, *key)

    def _take_workload(self, found: WorkloadObject, gone: bool) -> None:
        key = run_named(found.job_name or "")
        if key is None:
            return
        namespace = found.metadata.namespace
        run = self._held(namespace, key[0]).run(key[1])
        if not gone:
            run.workload = found.kept()
        elif run.workload is not None and run.workload.name == found.metadata.name:
            run.workload = None
        self._changed(namespace, key[0])
        self._tidy(namespace, *key)

    def _held(self, namespace: str, job_id: str) -> Held:
        space = self._spaces.setdefault(namespace, {})
        found = space.get(job_id)
        if found is None:
            found = space[job_id] = Held()
        return found

    def _changed(self, namespace: str, job_id: str) -> None:
        self._dirty.add((namespace, job_id))

    def _tidy(self, namespace: str, job_id: str, run_number: int) -> None:
        """Nothing is kept of what is gone."""
        held = self._spaces[namespace][job_id]
        run = held.runs.get(run_number)
        if run is not None and run.is_empty:
            del held.runs[run_number]

    # -- out -----------------------------------------------------------------------------------------------------

    def records(self) -> tuple[JobRecord, ...]:
        """Every job; what did not change, a record or all of them, is the same object as before."""
        self.settle()
        if self._records is None:
            found: dict[str, JobRecord] = {}
            for record in self._shown():
                found.setdefault(record.id, record)
            self._records = tuple(found.values())
        return self._records

    def drain(self) -> Change:
        """What is new, different or gone since this was last asked."""
        self.settle()
        news, self._news = self._news, set()
        found = {job_id: self._find(job_id) for job_id in news}
        jobs = tuple(held.record for held in found.values() if held is not None and held.record is not None)
        return Change(jobs=jobs, removed=tuple(job_id for job_id, held in found.items() if held is None))

    def record(self, job_id: str) -> JobRecord:
        """One job; raises `JobNotFound`."""
        self.settle()
        record = self._get(job_id).record
        assert record is not None  # only those with a record are found
        return record

    def facts(self, job_id: str) -> Facts:
        """Everything known about the current run of a job; raises `JobNotFound`."""
        self.settle()
        facts = self._get(job_id).facts()
        assert facts is not None  # a job with a record has facts
        return facts

    def runs(self, job_id: str) -> dict[int, JobObject]:
        """The Jobs of all runs of a job; raises `JobNotFound`."""
        return dict(self.facts(job_id).runs)

    def pods(self, job_id: str, run: int | None = None) -> tuple[Pod, ...]:
        """The pods of one run, the current one by default, as they were made; raises `JobNotFound`."""
        self.settle()
        held = self._get(job_id)
        found = held.runs.get(held.current or 0 if run is None else run)
        return in_order(found.pods.values()) if found is not None else ()

    def namespace_of(self, job_id: str) -> str:
        """Where a job lives; raises `JobNotFound`."""
        self.settle()
        for namespace, space in self._spaces.items():
            held = space.get(job_id)
            if held is not None and held.record is not None:
                return namespace
        raise _not_found(job_id)

    def creating(self) -> list[JobObject]:
        """The Jobs that are being made, or were never finished: what a sweep looks at."""
        return [
            run.job
            for space in self._spaces.values()
            for held in space.values()
            for run in held.runs.values()
            if run.job is not None and run.job.is_creating
        ]

    def leaving(self) -> list[Run]:
        """The runs of jobs with pods on their way out."""
        return [run for namespace, job_id in self._ending for run in self._spaces[namespace][job_id].runs.values()]

    def next_look(self) -> float | None:
        """Seconds until `tick` may change something; None when only the cluster can."""
        now = self._clock()
        found = [self._spaces[namespace][job_id].facts() for namespace, job_id in self._ending]
        waits = [next_look(facts, now) for facts in found if facts is not None]
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def _shown(self) -> Iterator[JobRecord]:
        for space in self._spaces.values():
            for held in space.values():
                if held.record is not None:
                    yield held.record

    def _find(self, job_id: str) -> Held | None:
        for space in self._spaces.values():
            held = space.get(job_id)
            if held is not None and held.record is not None:
                return held
        return None

    def _get(self, job_id: str) -> Held:
        held = self._find(job_id)
        if held is None:
            raise _not_found(job_id)
        return held

    def settle(self, seconds: float = float("inf")) -> bool:
        """Make the records of what changed anew, for so long at most; whether that is done.

        Everything that is asked for is settled first; the watcher does it in small pieces after a long list.
        """
        end, now = time.monotonic() + seconds, self._clock()
        while self._dirty:
            namespace, job_id = self._dirty.pop()
            held = self._spaces[namespace].get(job_id)
            if held is not None:
                self._settle_one(namespace, job_id, held, now)
            if time.monotonic() > end:
                break
        return not self._dirty

    def _settle_one(self, namespace: str, job_id: str, held: Held, now: str) -> None:
        if held.settle(self.cluster, now, self._name_of):
            self._records = None
            self._news.add(job_id)
        self._mind(namespace, job_id, held)

    def _name_of(self, uid: str) -> tuple[str, str] | None:
        """The id and name of the job whose run has this uid; asked only for one that took another's place."""
        for space in self._spaces.values():
            for job_id, held in space.items():
                for run in held.runs.values():
                    if run.job is not None and run.job.uid == uid and run.spec is not None:
                        return job_id, run.spec.name
        return None

    def _mind(self, namespace: str, job_id: str, held: Held) -> None:
        """Remember who may get stuck; forget who is gone."""
        key = (namespace, job_id)
        if any(pod.deleted for run in held.runs.values() for pod in run.pods.values()):
            self._ending.add(key)
        else:
            self._ending.discard(key)
        if not held.runs:
            del self._spaces[namespace][job_id]


def _not_found(job_id: str) -> JobNotFound:
    return JobNotFound(f"There is no job {job_id} here.", "List the jobs with `aiarts jobs`.")


def _is_ours(meta: Meta) -> bool:
    return _ID.fullmatch(meta.labels.job) is not None and number(meta.labels.run) > 0


def _is_older(job: JobObject, known: JobObject | None) -> bool:
    """Whether this was the state before what is known: an answer to our own request may overtake the watch."""
    if known is None or known.uid != job.uid:
        return False
    ours, theirs = job.metadata.resource_version, known.metadata.resource_version
    return ours.isdigit() and theirs.isdigit() and int(ours) < int(theirs)


def _forget(kind: str, run: Run, names: Collection[str]) -> bool:
    """Take what is not among `names` out of a run; whether there was something."""
    if kind == JOBS and run.job is not None and run.job.name not in names:
        run.job, run.pods, run.workload, run.notices = None, {}, None, None
        return True
    if kind == PODS and any(name not in names for name in run.pods):
        run.pods = {name: pod for name, pod in run.pods.items() if name in names}
        return True
    if kind == WORKLOADS and run.workload is not None and run.workload.name not in names:
        run.workload = None
        return True
    if kind in (EVENTS, PULLS) and run.notices:
        listed = {name for name, one in run.notices.items() if (one.reason == PULLING) is (kind == PULLS)}
        gone = listed.difference(names)
        run.notices = {name: one for name, one in run.notices.items() if name not in gone}
        return bool(gone)
    return False
