"""The contract between the service and whatever runs jobs.

An engine puts launchers somewhere and tells what became of them. The service calls these verbs and nothing else;
`tests/engines/test_contract.py` says the same sentences about every engine. An engine is language-neutral: it
answers with a `Cause` (a code and the values that go with it), and `explain` turns that into words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Attempt, Event, Progress, Rank, Span
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.model.spec import JobSpec

if TYPE_CHECKING:
    from jupyter_aiarts.engines.leftover import Leftover
    from jupyter_aiarts.engines.logs import RunLog
    from jupyter_aiarts.engines.npulog import NpuLog
    from jupyter_aiarts.model.cluster import ClusterView
    from jupyter_aiarts.model.expected import Band
    from jupyter_aiarts.model.places import Place
    from jupyter_aiarts.model.queue import Queue
    from jupyter_aiarts.model.reading import Reading
    from jupyter_aiarts.model.turn import Turn
    from jupyter_aiarts.model.usage import NodeUsage


class Caller(Struct, frozen=True, kw_only=True):
    """Who asks, and from where: what a local job inherits from the person who submits it."""

    owner: str
    python: str
    environ: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path("/")


class JobRecord(Struct, frozen=True, kw_only=True):
    """One job as its engine knows it, before anybody's language or list shape."""

    id: str
    cluster: str
    owner: str
    phase: Phase
    run: int
    created: str
    spec: JobSpec
    cause: Cause
    started: str | None = None
    ended: str | None = None
    ranks: tuple[Rank, ...] = ()
    notes: tuple[str, ...] = ()
    is_stuck: bool = False  # whether something of it should be gone and is not, which a release gives up on
    machines: tuple[str, ...] = ()  # where its processes are, or were as long as that is known
    earlier: tuple[Span, ...] = ()  # the runs before this one that did run, as far as they are still known
    attempts: tuple[Attempt, ...] = ()  # of this run, once something came after a pause
    idle_since: str | None = None  # while it runs: since when none of its cards does anything, where that is known
    progress: Progress | None = None  # while it runs: how far its own output says it is

    @property
    def name(self) -> str:
        return self.spec.name


class Asked(Struct, frozen=True, kw_only=True):
    """The keys of a spec that its owner named, and the names (never the values) of the secrets that are kept."""

    given: Mapping[str, Any]
    secrets: frozenset[str] = frozenset()


class Change(Struct, frozen=True, kw_only=True):
    """One step of an engine's story: jobs that are new or different, ids that are gone, news about itself."""

    jobs: tuple[JobRecord, ...] = ()
    removed: tuple[str, ...] = ()
    health: bool = False  # `stale_since` is another one now
    queues: bool = False  # queues may be other ones; only told while somebody looks at them


class Fit(Struct, frozen=True, kw_only=True):
    """Whether a spec, with all this engine fills in, would start now, and if not, why: the answer to a dry run.

    `now` is None where nobody here may see what is free; `notes` are about how this engine would run it.
    """

    spec: JobSpec
    now: bool | None
    notes: tuple[str, ...] = ()
    cause: Cause | None = None


class Engine(ABC):
    """Runs jobs somewhere. Every verb raises an `AiartsError` or keeps its promise; none blocks the event loop."""

    name: str

    @property
    def stale_since(self) -> str | None:
        """Since when what this engine tells may be out of date; None while it is not."""
        return None

    @property
    def owner(self) -> str | None:
        """Whose jobs are submitted here, where several people's can be seen; None where all jobs are this user's."""
        return None

    @abstractmethod
    async def submit(self, reading: Reading, caller: Caller) -> tuple[JobRecord, bool]:
        """Accept a job; the flag is False when its `submission_id` was known and this is that job."""

    @abstractmethod
    async def snapshot(self) -> tuple[JobRecord, ...]:
        """Every job there is, an unreadable one included as such; the same tuple as long as nothing changed."""

    @abstractmethod
    async def get(self, job_id: str) -> JobRecord:
        """One job as it is at this moment."""

    @abstractmethod
    async def act(self, job_id: str, move: Move) -> JobRecord:
        """Stop, pause, resume, rerun or release; raises `WrongPhase` when the phase does not offer it."""

    @abstractmethod
    async def edit(self, job_id: str, reading: Reading) -> JobRecord:
        """Replace the spec that the next run will use."""

    @abstractmethod
    async def delete(self, job_id: str) -> tuple[Leftover, ...]:
        """Remove a job and all it kept; one that runs is stopped first and goes when it has ended.

        Answers with what could not be removed: others may have written it.
        """

    @abstractmethod
    async def asked(self, job_id: str) -> Asked:
        """What the job's owner named when submitting or editing it: what the next edit is applied to."""

    @abstractmethod
    async def log(self, job_id: str, run: int | None = None) -> RunLog:
        """The log of one run, the current one by default."""

    @abstractmethod
    async def environment(self, job_id: str, run: int | None, rank: int) -> dict[str, str | None]:
        """The variables a rank was started with; secrets as None."""

    @abstractmethod
    async def rank_table(self, job_id: str, run: int | None) -> bytes:
        """The file that RANK_TABLE_FILE names in the run; raises `RunNotFound` where there is none."""

    @abstractmethod
    async def npu_log(self, job_id: str, run: int | None) -> NpuLog:
        """What the driver of the job's NPUs has logged as errors while the run ran, and what of it cannot be had."""

    @abstractmethod
    async def usage(self, job_id: str, run: int | None, history: bool) -> tuple[NodeUsage, ...]:
        """What the cards and ranks of a run do, or did, node by node, as its launchers last saw it."""

    @abstractmethod
    async def events(self, job_id: str, run: int | None) -> tuple[Event, ...]:
        """What the platform did for this run, oldest first."""

    @abstractmethod
    def offers(self) -> frozenset[str] | None:
        """The devices with cards that jobs can ask for here; None when that cannot be known."""

    @abstractmethod
    async def fits(self, reading: Reading, caller: Caller) -> Fit:
        """Would it start now; raises `InvalidSpec` for what this engine can refuse beforehand."""

    async def manifest(self, reading: Reading, caller: Caller) -> str | None:
        """What `kubectl apply` would make the same job from, without the values of secrets; None: nothing could."""
        return None

    @abstractmethod
    async def cluster(self) -> ClusterView:
        """The machines that jobs run on here, their cards, who holds them and what fits now, all of one moment."""

    @abstractmethod
    async def queues(self) -> tuple[Queue, ...]:
        """The queues that jobs can be submitted to here, what is taken of them and where one's own jobs stand."""

    @abstractmethod
    async def turns(self, job_id: str | None = None) -> tuple[Turn, ...]:
        """Starts before jobs that had come earlier, newest first, and why; with an id those that are about it."""

    async def places(self, job_id: str | None = None) -> tuple[Place, ...]:
        """Where storage is, as this server, the job's processes and a node know it; without a job, any job's."""
        return ()

    async def expected(self, job_id: str) -> Band | None:
        """Between which moments a job that waits is expected to start, and what that is based on; None: unknown."""
        return None

    @abstractmethod
    def watch(self) -> AsyncIterator[Change]:
        """Changes from now on, until closed; nothing happens while nothing changes."""

    @abstractmethod
    async def aclose(self) -> None:
        """Let go of files and sockets; jobs go on."""


def changes(told: dict[str, JobRecord], records: tuple[JobRecord, ...]) -> Change:
    """What is different from what a listener was told, which is brought up to date with it."""
    jobs = tuple(record for record in records if told.get(record.id) is not record)
    told.update((record.id, record) for record in jobs)
    there = {record.id for record in records} if len(told) != len(records) else told.keys()
    removed = tuple(job_id for job_id in told if job_id not in there)
    for job_id in removed:
        del told[job_id]
    return Change(jobs=jobs, removed=removed)
