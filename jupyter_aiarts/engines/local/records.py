"""What the files of the state folder hold. Read with `forgive`: a key of a newer version is passed over."""

# Annotations are values: see model/spec.py.

from enum import Enum
from typing import Any

from msgspec import Struct, field

from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Attempt, Progress, Rank
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec

SCHEMA = 1


class Intent(str, Enum):
    """What its owner wants of a job; the supervisor makes it so."""

    RUN = "run"
    PAUSE = "pause"
    STOP = "stop"
    DELETE = "delete"  # stop first, then remove


class Settled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the current run ended, folded into job.json so that a list reads one file per finished job."""

    phase: Phase
    cause: Cause
    started: str | None = None
    again: str | None = None  # when this attempt started, if a pause came before it
    ended: str | None = None
    ranks: tuple[Rank, ...] = ()
    notes: tuple[str, ...] = ()  # the launchers'
    idle_since: str | None = None  # while it runs: since when none of its cards does anything
    progress: Progress | None = None  # while it runs: how far its own output says it is


class JobFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """job.json: changed only by a holder of the job's lock."""

    id: str
    owner: str
    host: str
    created: str
    spec: JobSpec
    queued: str  # when it last joined the queue
    schema: int = SCHEMA
    given: dict[str, Any] = field(default_factory=dict)  # what its owner named; `spec` has the defaults too
    notes: tuple[str, ...] = ()
    submission: str | None = None  # fingerprint of what was submitted under the submission_id
    intent: Intent = Intent.RUN
    run: int = 1
    started: str | None = None  # when this run first started, if it was paused and goes on
    attempts: tuple[Attempt, ...] = ()  # those of this run that a pause ended, when something came after it
    settled: Settled | None = None


class CallerFile(Struct, frozen=True, kw_only=True):
    """What the ranks inherit from the person who submitted."""

    python: str
    environ: dict[str, str] = field(default_factory=dict)


class RunFile(Struct, frozen=True, kw_only=True):
    """run.json: the spec of this run, as it was when the run was made or edited while it waited."""

    run: int
    created: str
    spec: JobSpec
    caller: CallerFile


class Placed(Struct, frozen=True, kw_only=True):
    """placed.json: the supervisor's decision, written before the first launcher is born."""

    attempt: int
    placed: str
    cpus: float
    devices: tuple[tuple[int, ...], ...]


class RankStatus(Struct, frozen=True, kw_only=True):
    """One process of ours, as its launcher reports it."""

    rank: int
    pid: int | None = None
    start: str | None = None
    started: str | None = None
    ended: str | None = None
    exit_code: int | None = None
    devices: tuple[int, ...] = ()


class NodeStatus(Struct, frozen=True, kw_only=True):
    """node-<k>/status.json: what one launcher says of itself."""

    node: int
    attempt: int
    phase: str
    since: str
    pid: int | None = None
    start: str | None = None
    boot: str | None = None
    pidns: str | None = None
    ranks: tuple[RankStatus, ...] = ()
    message: str | None = None
    code: str | None = None  # what it waits for, where there is a word for it
    notes: tuple[str, ...] = ()  # what whoever looks at the job should know, though it goes on
    idle_since: str | None = None  # since when all of its cards do nothing; None where one works or does not tell
    progress: Progress | None = None  # how far its first rank says it is; only node 0 looks
    usage: Any = None  # what its cards and ranks do, read more closely by those who ask for it: `engines/jobuse.py`


class Failure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rank that failed by itself, its last words, and what its machine knew at that moment."""

    node: int
    rank: int
    exit_code: int | None = None
    signal: str | None = None
    last_lines: tuple[str, ...] = ()
    oom_kills: int = 0  # processes the kernel ended for want of memory since the ranks were started
    oom_scope: str | None = None  # where those were counted: the job's "container", or anywhere on the "machine"
    full: tuple[str, ...] = ()  # places it may write to that had no room left


class Problem(Struct, frozen=True, kw_only=True):
    """Why nothing could be started."""

    code: str
    message: str
    hint: str = ""


class SummaryRank(Struct, frozen=True, kw_only=True):
    """One rank at the end of a run."""

    rank: int
    node: int
    exit_code: int | None = None
    devices: tuple[int, ...] = ()


class Summary(Struct, frozen=True, kw_only=True):
    """summary.json: the end of a run, by node 0's launcher, or by the supervisor when that one died."""

    attempt: int
    result: str
    ended: str
    restarts: int = 0
    started: str | None = None
    running_seconds: float = 0.0
    first_failure: Failure | None = None
    others: tuple[Failure, ...] = ()  # ranks that failed by themselves after it, the earliest first
    problem: Problem | None = None
    ranks: tuple[SummaryRank, ...] = ()


class Settings(Struct, frozen=True, kw_only=True):
    """settings.json: the server's `LocalEngine.*`, so that supervisor and command line see the same machine."""

    devices: dict[str, int] = field(default_factory=dict)
    cpus: float | None = None
    log_limit_gb: float = 2.0
    retention_days: float | None = None
