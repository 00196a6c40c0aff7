"""What the picture holds of one job: its runs, each with its Job, pods, workload and warnings, and the record of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from functools import lru_cache

import msgspec
from msgspec import Struct, field, structs

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.kubernetes.attempts import attempts_of
from jupyter_aiarts.engines.kubernetes.causes import BY_SCHEDULER, PULLING, disruption_of
from jupyter_aiarts.engines.kubernetes.clocks import span
from jupyter_aiarts.engines.kubernetes.meta import in_full
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.phase import Facts, is_stuck, read_summary, view
from jupyter_aiarts.engines.kubernetes.said import Said
from jupyter_aiarts.engines.kubernetes.seen import Notice, Pod, Workload
from jupyter_aiarts.engines.local.phase import idle_since
from jupyter_aiarts.engines.notes import notes_of
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import MOST_EARLIER, Progress, Span
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec, Kind, Processes

MOST_NOTICES = 20
UNREADABLE = "(unreadable)"
NameOf = Callable[[str], "tuple[str, str] | None"]

# Ten thousand specs without arguments need not have ten thousand empty lists.
_REPEATED = ("kind", "device", "image", "queue", "processes")
_NOTHING: dict[str, object] = {"args": [], "params": {}, "env": {}, "secret_env": {}, "mounts": []}


class Short(Struct, kw_only=True):
    """The part of a spec that a Job carries in an annotation."""

    name: str
    kind: Kind = "regular"
    device: str = "cpu"
    devices: int = 0
    nodes: int = 1
    image: str | None = None
    queue: str | None = None
    priority: int = 5
    script: str | None = None
    processes: Processes = "node"
    grace_seconds: int = 30
    max_hours: float | None = None
    max_restarts: int = 0
    preemptible: bool = False


class Run(Struct, gc=False):
    """One run: its Job, once that was seen, and what belongs to it."""

    number: int = 0
    job: JobObject | None = None
    spec: JobSpec | None = None  # from the annotation; the full one once somebody fetched it
    read: int = 0  # tells the annotation's text from another, which an edit leaves
    pods: dict[str, Pod] = field(default_factory=dict)
    workload: Workload | None = None
    notices: dict[str, Notice] | None = None
    had_pods: bool = False
    started: str | None = None
    disruption: Cause | None = None
    displaced: tuple[str, ...] = ()  # pods whose place the scheduler gave to others since it last ran as a whole
    taker: tuple[str, str] | None = None  # to whom: the uid of its Job, where that is seen, and the scheduler's words
    said: dict[int, Said] | None = None  # by node; None as long as nobody has asked or heard

    @property
    def is_empty(self) -> bool:
        return self.job is None and not self.pods and self.workload is None and not self.notices

    def take_job(self, job: JobObject, cluster: str) -> None:
        """The Job as it is now; of its annotation the spec is kept and not the text."""
        self.job = job
        text = job.metadata.annotations.short
        read = hash((text, job.fingerprint))
        if text and (self.spec is None or read != self.read):  # it has none where it was taken before
            self.spec, self.read = read_short(text, cluster), read
        _slim(job)

    def take_pod(self, pod: Pod) -> None:
        """A pod as it is now; when it started and what was done to it is remembered after it is gone."""
        self.pods[pod.name] = pod
        self.had_pods = True
        if pod.started is not None and (self.started is None or pod.started < self.started):
            self.started = pod.started
        self.disruption = disruption_of(pod) or self.disruption
        if pod.trouble is not None and pod.trouble.disrupted == BY_SCHEDULER and pod.name not in self.displaced:
            self.displaced = (*self.displaced, pod.name)

    def take_said(self, node: int, said: Said) -> None:
        """What a node's launcher says now, in the place of what it or the one before it said."""
        known = self.said = self.said or {}
        if said.notes or said.code or said.idle_since or said.progress:
            known[node] = said
        else:
            known.pop(node, None)

    def take_notice(self, notice: Notice) -> None:
        """A warning; the newest are enough."""
        known = self.notices = self.notices or {}
        known[notice.name] = notice
        if len(known) > MOST_NOTICES:
            del known[min(known.values(), key=lambda one: (one.reason != PULLING, one.at)).name]


class Runs(MutableMapping[int, Run]):
    """The runs of one job by their numbers. Nearly every job has one, and a dict for it would be larger than it is."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: tuple[Run, ...] = ()

    def __getitem__(self, number: int) -> Run:
        for run in self._runs:
            if run.number == number:
                return run
        raise KeyError(number)

    def __setitem__(self, number: int, run: Run) -> None:
        run.number = number
        self._runs = (*self._without(number), run)

    def __delitem__(self, number: int) -> None:
        self._runs = self._without(self[number].number)  # a KeyError where it is not there

    def __iter__(self) -> Iterator[int]:
        return iter([run.number for run in self._runs])

    def __len__(self) -> int:
        return len(self._runs)

    def _without(self, number: int) -> tuple[Run, ...]:
        return tuple(run for run in self._runs if run.number != number)


class Held(Struct, gc=False):
    """One job in one namespace."""

    runs: Runs = field(default_factory=Runs)
    record: JobRecord | None = None  # as last settled; None while it is not to be shown

    @property
    def current(self) -> int | None:
        """The number of the newest run that is wholly made."""
        made = [number for number, run in self.runs.items() if run.job is not None and not run.job.is_creating]
        return max(made, default=None)

    def run(self, number: int) -> Run:
        """This run, to put something into."""
        found = self.runs.get(number)
        if found is None:
            found = self.runs[number] = Run()
        return found

    def facts(self) -> Facts | None:
        """What is known of the current run; None where there is none to show."""
        number = self.current
        run = self.runs[number] if number is not None else None
        if run is None or run.job is None or run.spec is None:
            return None
        return Facts(
            job=run.job,
            spec=run.spec,
            runs={key: one.job for key, one in self.runs.items() if one.job is not None and not one.job.is_creating},
            pods=in_order(run.pods.values()),
            workload=run.workload,
            notices=tuple(run.notices.values()) if run.notices else (),
            had_pods=run.had_pods,
            started=run.started,
            disruption=run.disruption,
            said=run.said or {},
        )

    def settle(self, cluster: str, now: str, name_of: NameOf = lambda uid: None) -> bool:
        """Make the record anew; whether it is another than before. Equal ones stay the same object.

        `name_of` is the id and name of the job that has a Job with this uid, where it may be seen.
        """
        facts = self.facts()
        record = record_of(facts, cluster, now) if facts is not None else None
        if record is not None and any(is_stuck(pod, now) for run in self.runs.values() for pod in run.pods.values()):
            record = structs.replace(record, is_stuck=True)
        taker = self.runs[facts.job.run].taker if facts is not None else None
        if record is not None and record.cause.code == "preempted" and taker is not None:
            record = structs.replace(record, cause=_taken_by(record.cause, *taker))
        if record is not None and "by_job" in record.cause.values:
            record = structs.replace(record, cause=self._with_taker(record.cause, name_of))
        if facts is not None and record is not None and not _goes_on(record.phase):
            run = self.runs[facts.job.run]
            run.disruption, run.displaced, run.taker = None, (), None
        if record == self.record:
            return False
        self.record = record
        return True

    def _with_taker(self, cause: Cause, name_of: NameOf) -> Cause:
        """Say who took its place; a name that was once known stays, for the other one may end and be deleted."""
        uid = cause.values["by_job"]
        before = self.record.cause.values if self.record is not None else {}
        known = (before["by_id"], before["by"]) if before.get("by_job") == uid and "by" in before else name_of(uid)
        if known is None:
            return cause
        return structs.replace(cause, values={**cause.values, "by_id": known[0], "by": known[1]})


def _taken_by(cause: Cause, uid: str, said: str) -> Cause:
    """With what the scheduler says about who took its place."""
    values = {**cause.values, "by_job": uid} if uid else cause.values
    return structs.replace(cause, values=values, evidence=(*cause.evidence, *((said,) if said else ())))


def _goes_on(phase: Phase) -> bool:
    """Whether what was done to a job still explains where it is."""
    return phase in (Phase.QUEUED, Phase.STARTING)


def in_order(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Pods as they were made."""
    return tuple(sorted(pods, key=lambda pod: (pod.created, pod.name)))


def record_of(facts: Facts, cluster: str, now: str) -> JobRecord:
    """One job in the engine's own words."""
    seen, job = view(facts, now), facts.job
    cause = seen.cause
    if facts.spec.name == UNREADABLE:
        cause = Cause(code="job-unreadable", values={"message": f"The annotations of its Job {job.name} are damaged."})
    return JobRecord(
        id=job.job_id,
        cluster=cluster,
        owner=job.owner,
        phase=seen.phase,
        run=job.run,
        created=sys.intern(in_full(min(one.created for one in facts.runs.values())) or ""),
        spec=facts.spec,
        cause=cause,
        started=sys.intern(seen.started) if seen.started else None,  # many start in the same second
        ended=seen.ended,
        ranks=seen.ranks,
        notes=(*_notes(job.metadata.annotations.notes), *_said(facts)),
        machines=_shared(tuple(sorted({pod.node for pod in facts.pods if pod.node}))),
        earlier=earlier_runs(facts) if len(facts.runs) > 1 else (),
        attempts=attempts_of(facts, seen) if job.attempt > 1 else (),
        idle_since=_idle_since(facts) if seen.phase is Phase.RUNNING and facts.said else None,
        progress=_progress(facts) if seen.phase is Phase.RUNNING and facts.said else None,
    )


def _idle_since(facts: Facts) -> str | None:
    """Since when no card of the job does anything, by all of its launchers; of others' jobs they are not heard."""
    said = [facts.said.get(node) for node in range(facts.job.nodes)]
    return idle_since(
        [one.idle_since if one is not None and one.attempt == facts.job.attempt else None for one in said]
    )


def _progress(facts: Facts) -> Progress | None:
    """How far the job says it is, by its first launcher."""
    said = facts.said.get(0)
    return said.progress if said is not None and said.attempt == facts.job.attempt else None


def earlier_runs(facts: Facts) -> tuple[Span, ...]:
    """When the runs before the current one ran, by the Jobs that are still there."""
    numbers = sorted(number for number in facts.runs if number < facts.job.run)[-MOST_EARLIER:]
    found = [_ran(facts.runs[number]) for number in numbers]
    return tuple(one for one in found if one is not None)


def _ran(job: JobObject) -> Span | None:
    """By its launcher's account, else by the Job's controller; None for one that never started, or never ended."""
    kept = read_summary(job.metadata.annotations.summary)
    if kept is not None and kept.started and span(kept.started, kept.ended) is not None:
        return Span(kept.started, max(kept.ended, kept.started))
    ends = [job.condition(kind) for kind in ("Complete", "Failed", "Suspended")]
    ended = job.status.completion_time or max((one.last_transition_time or "" for one in ends if one), default="")
    if not job.status.start_time or not ended:
        return None
    return Span(in_full(job.status.start_time) or "", in_full(max(ended, job.status.start_time)) or "")


@lru_cache(maxsize=10_000)
def _shared(machines: tuple[str, ...]) -> tuple[str, ...]:
    """Equal ones as one object: thousands of jobs run on the same few machines."""
    return machines


def read_short(text: str, cluster: str) -> JobSpec:
    """The short spec as a spec; where somebody damaged it, one that says so by its name."""
    try:
        short = msgspec.json.decode(text, type=Short)
    except msgspec.DecodeError:
        return JobSpec(name=UNREADABLE, cluster=cluster)
    for key in _REPEATED:
        value = getattr(short, key)
        setattr(short, key, sys.intern(value) if value else value)
    return JobSpec(cluster=cluster, **_NOTHING, **structs.asdict(short))  # type: ignore[arg-type]  # types of a spec


def _notes(text: str) -> tuple[str, ...]:
    try:
        return msgspec.json.decode(text, type=tuple[str, ...]) if text != "[]" else ()
    except msgspec.DecodeError:
        return ()  # notes are a courtesy


def _said(facts: Facts) -> tuple[str, ...]:
    return notes_of([(node, one.notes) for node, one in facts.said.items()], facts.job.nodes) if facts.said else ()


def _slim(job: JobObject) -> None:
    """Thousands of Jobs repeat each other: equal text is one object, and what was read is not kept as text."""
    meta = job.metadata
    meta.namespace, meta.labels.run = sys.intern(meta.namespace), sys.intern(meta.labels.run)
    if meta.creation_timestamp is not None:
        meta.creation_timestamp = sys.intern(meta.creation_timestamp)  # to the second, as those of its pods
    if job.status.start_time == meta.creation_timestamp:  # to the second, as for all that did not wait
        job.status.start_time = meta.creation_timestamp
    notes = meta.annotations
    notes.owner, notes.intent = sys.intern(notes.owner), sys.intern(notes.intent)
    notes.attempt, notes.used = sys.intern(notes.attempt), sys.intern(notes.used)
    notes.notes, notes.short = sys.intern(notes.notes), ""
