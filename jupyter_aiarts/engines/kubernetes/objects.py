"""Jobs, pods, workloads and events as they are watched: the few fields that phases and pictures are made from.

msgspec decodes the API server's JSON straight into these and passes over everything else, so a 6 KB pod costs a few
hundred bytes. `JobObject` is what requests answer and what the picture keeps; a pod, a workload and an event are
boiled down further (`seen.py`), because there are many of them.
"""

from __future__ import annotations

import sys

from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.meta import Meta, in_full, number
from jupyter_aiarts.engines.kubernetes.seen import Condition, Notice, Pod, Trouble, Workload, holding

JOBS, PODS, EVENTS, WORKLOADS = "jobs", "pods", "events", "workloads"
PULLS = "pulls"
"""The events of nodes that begin to fetch an image: the one good piece of news that explains a wait."""

NEVER = "1970-01-01T00:00:00Z"
"""When a container that could not be started says that it was."""

LONGEST_MESSAGE = 1000
"""Characters kept of what a platform says about an object; the beginning holds the reason."""

_INTENTS = ("run", "stop", "pause", "delete")


class JobSpecPart(Struct, gc=False):
    """What a Job asks of its controller."""

    suspend: bool | None = None
    parallelism: int | None = None


class JobStatusPart(Struct, gc=False, rename="camel"):
    """What the Job controller has counted."""

    active: int = 0
    ready: int = 0
    terminating: int = 0
    failed_indexes: str = ""  # "0,3-5"
    start_time: str | None = None
    completion_time: str | None = None
    conditions: tuple[Condition, ...] = ()


class JobObject(Struct, gc=False):
    """A `batch/v1` Job of ours: one run of one job."""

    metadata: Meta
    spec: JobSpecPart = field(default_factory=JobSpecPart)
    status: JobStatusPart = field(default_factory=JobStatusPart)

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def created(self) -> str:
        return self.metadata.creation_timestamp or ""

    @property
    def job_id(self) -> str:
        return self.metadata.labels.job

    @property
    def run(self) -> int:
        return number(self.metadata.labels.run)

    @property
    def is_creating(self) -> bool:
        return self.metadata.labels.creating is not None

    @property
    def is_deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def owner(self) -> str:
        return self.metadata.annotations.owner

    @property
    def intent(self) -> str:
        """run, stop, pause or delete; what nobody of ours wrote counts as run."""
        said = self.metadata.annotations.intent
        return said if said in _INTENTS else "run"

    @property
    def queue(self) -> str | None:
        """The Kueue queue it was put into."""
        return self.metadata.labels.queue

    @property
    def fingerprint(self) -> str:
        return self.metadata.annotations.hash

    @property
    def attempt(self) -> int:
        return number(self.metadata.annotations.attempt) or 1

    @property
    def gives_way(self) -> str:
        """The job for which it was suspended without its owner wanting that; empty nearly always."""
        return self.metadata.annotations.gives_way

    @property
    def suspended(self) -> bool:
        return bool(self.spec.suspend)

    @property
    def nodes(self) -> int:
        return 1 if self.spec.parallelism is None else self.spec.parallelism

    def condition(self, kind: str) -> Condition | None:
        """The condition of this type, if it holds."""
        return holding(self.status.conditions, kind)


class _Waiting(Struct, gc=False):
    reason: str | None = None
    message: str | None = None


class _Running(Struct, gc=False, rename="camel"):
    started_at: str | None = None


class _Terminated(Struct, gc=False, rename="camel"):
    exit_code: int = 0
    reason: str | None = None
    message: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


class _State(Struct, gc=False):
    waiting: _Waiting | None = None
    running: _Running | None = None
    terminated: _Terminated | None = None


class _Container(Struct, gc=False):
    name: str
    ready: bool = False
    state: _State = field(default_factory=_State)


class _PodSpec(Struct, gc=False, rename="camel"):
    node_name: str | None = None


class _PodStatus(Struct, gc=False, rename="camel"):
    phase: str = "Pending"
    reason: str | None = None
    message: str | None = None
    conditions: tuple[Condition, ...] = ()
    init_container_statuses: tuple[_Container, ...] = ()
    container_statuses: tuple[_Container, ...] = ()


class PodObject(Struct, gc=False):
    """A pod of ours, as decoded; `kept` makes what the picture holds of it."""

    metadata: Meta
    spec: _PodSpec = field(default_factory=_PodSpec)
    status: _PodStatus = field(default_factory=_PodStatus)

    def kept(self) -> Pod:
        """The few facts about it; equal text is one object, for thousands of pods repeat each other."""
        main = _state(self.status.container_statuses, names.MAIN)
        ran, ended = main.running, main.terminated
        start = ran.started_at if ran else ended.started_at if ended else None
        start = None if start == NEVER else start
        return Pod(
            name=self.metadata.name,
            index=number(self.metadata.labels.index or ""),
            node=_shared(self.spec.node_name),
            phase=sys.intern(self.status.phase),
            created=_shared(self.metadata.creation_timestamp) or "",
            deleted=_shared(self.metadata.deletion_timestamp),
            started=_shared(start),
            ended=_shared(ended.finished_at) if ended else None,
            exit_code=ended.exit_code if ended else None,
            message=ended.message if ended else None,
            trouble=_trouble(self.status, main),
        )


class _Involved(Struct, gc=False):
    kind: str = ""
    name: str = ""


class _Series(Struct, gc=False, rename="camel"):
    last_observed_time: str | None = None


class EventObject(Struct, gc=False, rename="camel"):
    """An event, as decoded; `kept` makes what the picture holds of it."""

    metadata: Meta
    involved_object: _Involved = field(default_factory=_Involved)
    reason: str | None = None
    message: str | None = None
    type: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: _Series | None = None

    def kept(self) -> Notice:
        """The event in the few words that causes are found from."""
        last = self.series.last_observed_time if self.series else None
        at = last or self.last_timestamp or self.event_time or self.metadata.creation_timestamp
        return Notice(
            name=self.metadata.name,
            about=self.involved_object.name,
            kind=sys.intern(self.involved_object.kind),
            reason=sys.intern(self.reason or ""),
            message=(self.message or "")[:LONGEST_MESSAGE],
            at=in_full(at) or "",
        )


class _WorkloadSpec(Struct, gc=False, rename="camel"):
    active: bool | None = None
    queue_name: str | None = None
    priority: int | None = None


class _WorkloadStatus(Struct, gc=False):
    conditions: tuple[Condition, ...] = ()


class WorkloadObject(Struct, gc=False):
    """Kueue's own record of a Job, as decoded."""

    metadata: Meta
    spec: _WorkloadSpec = field(default_factory=_WorkloadSpec)
    status: _WorkloadStatus = field(default_factory=_WorkloadStatus)

    @property
    def job_name(self) -> str | None:
        """The Job that it stands for."""
        return next((owner.name for owner in self.metadata.owner_references if owner.kind == "Job"), None)

    def kept(self) -> Workload:
        """What Kueue says about the Job."""
        return Workload(
            name=self.metadata.name,
            queue=_shared(self.spec.queue_name),
            active=self.spec.active is not False,
            conditions=self.status.conditions,
            priority=self.spec.priority,
        )


def _shared(text: str | None) -> str | None:
    return None if text is None else sys.intern(text)


def _state(containers: tuple[_Container, ...], name: str) -> _State:
    return next((one.state for one in containers if one.name == name), _State())


def _trouble(status: _PodStatus, main: _State) -> Trouble | None:
    """What is unusual about a pod; None, most often."""
    prepare = _state(status.init_container_statuses, names.PREPARE)
    waits = prepare.waiting or main.waiting
    ended = prepare.terminated if prepare.terminated and prepare.terminated.exit_code else main.terminated
    hit = holding(status.conditions, "DisruptionTarget")
    found = Trouble(
        reason=_shared(status.reason),
        message=status.message,
        unscheduled=_unscheduled(status.conditions),
        disrupted=_shared(hit.reason or "") if hit is not None else None,
        disruption=hit.message if hit is not None else None,
        unreachable=_unreachable(status),
        waiting=_shared(waits.reason) if waits else None,
        waiting_message=waits.message if waits else None,
        container=_shared(ended.reason) if ended and ended.exit_code else None,
        container_message=ended.message if ended and ended is prepare.terminated else None,
        unstarted=_is_unstarted(status),
    )
    return None if found == _NO_TROUBLE else found


_NO_TROUBLE = Trouble()


_UNPLACED = ("Unschedulable", "Undetermined")  # the second is Volcano's, of a group that it has not tried


def _unscheduled(conditions: tuple[Condition, ...]) -> str | None:
    for one in conditions:
        if one.type == "PodScheduled" and one.status == "False" and one.reason in _UNPLACED:
            return (one.message or "")[:LONGEST_MESSAGE]
    return None


def _is_unstarted(status: _PodStatus) -> bool:
    """Whether no container was ever started, and none says what is in the way."""
    containers = (*status.init_container_statuses, *status.container_statuses)
    reasons = [one.state.waiting.reason if one.state.waiting else None for one in containers]
    return bool(reasons) and all(one in ("ContainerCreating", "PodInitializing") for one in reasons)


def _unreachable(status: _PodStatus) -> bool:
    """The node controller alone takes readiness from a pod whose containers are all ready."""
    ready = [one for one in status.conditions if one.type == "Ready" and one.status == "False"]
    return bool(ready) and bool(status.container_statuses) and all(one.ready for one in status.container_statuses)
