"""A job as every door shows it, and the smaller shapes around it."""

# Annotations are values: see spec.py.

from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.model.spec import JobSpec, Kind


class Action(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something the user can do about a situation: a change of the spec, or a command to run."""

    id: str
    label: str
    patch: dict[str, Any] | None = None
    command: str | None = None


class ExpectedStart(Struct, frozen=True, kw_only=True):
    """Between which moments a job is expected to start, and a sentence about what that is based on."""

    earliest: str
    latest: str
    basis: str


class Explanation(Struct, frozen=True, kw_only=True):
    """Why a job is where it is: the cause, what shows it, what can be done.

    `expected` is there for one that waits, where its start can be bounded.
    """

    code: str
    title: str
    why: str
    evidence: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    expected: ExpectedStart | UnsetType = UNSET


class Rank(Struct, frozen=True, kw_only=True):
    """One process of a job. `node` is the index of its node; `devices` is null where nobody reported ids."""

    rank: int
    node: int
    phase: Phase
    exit_code: int | None = None
    devices: list[int] | None = None


class Span(Struct, frozen=True):
    """From when until when an earlier run ran."""

    started: str
    ended: str


class Attempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stretch of a run between two pauses: when it joined the queue, when it ran and until when.

    What is not there did not happen, or nobody knows of it.
    """

    queued: str | None = None
    started: str | None = None
    ended: str | None = None


class Progress(Struct, frozen=True):
    """How far a job says it is, in the words of its own output, and as a share from 0 to 1."""

    text: str
    share: float


MOST_EARLIER = 50
"""Of a job's earlier runs, and of a run's attempts, so many are told of: the last."""


class JobHead(Struct, frozen=True, kw_only=True):
    """What `Job` and `ListedJob` have in common: everything but the spec."""

    id: str
    name: str
    cluster: str
    phase: Phase
    run: int
    created: str
    started: str | None = None
    ended: str | None = None
    owner: str
    explanation: Explanation | None = None
    ranks: list[Rank] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    machines: list[str] = field(default_factory=list)  # where its processes are, or were as long as that is known
    moves: list[Move] = field(default_factory=list)  # what the phase offers now
    earlier: list[Span] | UnsetType = UNSET  # runs before this one, as far as they are still known; not there for none
    attempts: list[Attempt] | UnsetType = UNSET  # of this run, once something came after a pause
    idle_since: str | UnsetType = (
        UNSET  # while it runs: since when none of its cards does anything, where that is known
    )
    progress: Progress | UnsetType = UNSET  # while it runs: how far it says it is, where its output says so


class Job(JobHead, frozen=True, kw_only=True):
    """A job with its whole spec; the values of `secret_env` are always null here."""

    spec: JobSpec


class ListedSpec(Struct, frozen=True, kw_only=True):
    """The part of a spec that lists and stream messages carry."""

    kind: Kind
    device: str
    devices: int
    nodes: int
    image: str | None = None
    queue: str | None = None
    priority: int
    script: str | None = None


class ListedJob(JobHead, frozen=True, kw_only=True):
    """A job in a list: the same shape as `Job`, with the short spec."""

    spec: ListedSpec


def listed(job: Job) -> ListedJob:
    """The job as lists and stream messages show it."""
    spec = ListedSpec(**{name: getattr(job.spec, name) for name in ListedSpec.__struct_fields__})
    head = {name: getattr(job, name) for name in JobHead.__struct_fields__}
    return ListedJob(spec=spec, **head)


class LogLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a rank's output. `seq` is an opaque cursor for `before=` and `after=`."""

    seq: str
    t: str
    node: int
    rank: int
    stream: str
    text: str
    more: bool = False  # a piece of a longer line; the next piece follows
    folded: int = 0  # how many lines like it, before it, are not shown
    harmless: str = ""  # in a folded view: why it and those like it mean nothing, if they are a known flood


class Event(Struct, frozen=True, kw_only=True):
    """Something the platform did for a job."""

    t: str
    type: str
    reason: str
    message: str
    object: str


class DryRun(Struct, frozen=True, kw_only=True):
    """What would happen to a spec; `fits` is null where free devices cannot be seen.

    `manifest` is there when it was asked for: what `kubectl apply` makes the same job from, without secret values.
    """

    spec: JobSpec
    explanation: Explanation | None = None
    fits: bool | None = None
    notes: list[str] = field(default_factory=list)
    manifest: str | UnsetType = UNSET
