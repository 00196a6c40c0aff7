"""Being connected to a cluster: made by the first verb, kept by the watches, shared by everything the engine does.

While the cluster cannot be reached nobody waits for it twice: the first look waits a moment, then what is known is
shown with its age, and in the background the connection is tried again and again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.jobuse import PAST
from jupyter_aiarts.engines.kubernetes.archive import Archive
from jupyter_aiarts.engines.kubernetes.causes import is_taker_unknown
from jupyter_aiarts.engines.kubernetes.client import Api, Refused
from jupyter_aiarts.engines.kubernetes.clocks import moved
from jupyter_aiarts.engines.kubernetes.door import PodFacts, pod_facts
from jupyter_aiarts.engines.kubernetes.keeper import Keeper
from jupyter_aiarts.engines.kubernetes.objects import JOBS, JobObject
from jupyter_aiarts.engines.kubernetes.orders import Orders
from jupyter_aiarts.engines.kubernetes.phase import Facts
from jupyter_aiarts.engines.kubernetes.picture import DELETED, Picture
from jupyter_aiarts.engines.kubernetes.recall import recall, token
from jupyter_aiarts.engines.kubernetes.rights import Rights, hub_user
from jupyter_aiarts.engines.kubernetes.said import said_of
from jupyter_aiarts.engines.kubernetes.starts import Starts
from jupyter_aiarts.engines.kubernetes.submit import ABANDONED
from jupyter_aiarts.engines.kubernetes.visits import Visits
from jupyter_aiarts.engines.kubernetes.watch import Watcher
from jupyter_aiarts.engines.local.records import NodeStatus
from jupyter_aiarts.errors import AiartsError, ClusterUnreachable, JobNotFound, JobUnreadable, NotAllowed
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.times import now
from jupyter_aiarts.model.usage import RunHistory

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import Change, JobRecord
    from jupyter_aiarts.engines.kubernetes.outlook import Outlook
    from jupyter_aiarts.engines.kubernetes.queue_look import QueueLook
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.engines.kubernetes.takers import TakenEvent, Takers
    from jupyter_aiarts.engines.leftover import Leftover
    from jupyter_aiarts.engines.npulog import NpuLog
    from jupyter_aiarts.engines.turns import TurnBook
    from jupyter_aiarts.model.cluster import Stuck
    from jupyter_aiarts.model.queue import Queue

log = logging.getLogger(__name__)

FIRST_LOOK = 3.0  # seconds that the first answer waits for the cluster
PATIENCE = 15.0  # seconds that somebody waits who wants something done there
PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between tries to reach it
GIGABYTE = 1 << 30


class Link:
    """One engine's connection. `recovered` is called whenever the cluster can be reached again."""

    api: Api
    rights: Rights
    orders: Orders
    archive: Archive
    keeper: Keeper

    def __init__(self, settings: ClusterSettings, state: Path, recovered: Callable[[], Awaitable[None]]) -> None:
        self.picture = Picture(settings.name, self._clock)
        self.owner: str | None = None
        self.namespaces: tuple[str, ...] = ()
        self.problem: AiartsError | None = None
        self.closed = False
        self._settings = settings
        self._state = state
        self._recovered = recovered
        self._opening: asyncio.Task[None] | None = None
        self._chores: set[asyncio.Task[None]] = set()
        self._tried = asyncio.Event()
        self._patient_until = 0.0  # on the monotonic clock: until when whoever looks waits for the first answer
        self._listeners: set[asyncio.Event] = set()
        self._watcher: Watcher | None = None
        self._outlook: Outlook | None = None
        self._queue_look: QueueLook | None = None
        self._takers: Takers | None = None
        self.queue_news = 0  # how often queues changed while somebody looked at them
        self._starts = Starts(settings, self._facts)
        self._away_since: str | None = None
        self._own: set[str] = set()  # our own jobs, as far as the archive was told of them
        self._unlearned: dict[str, str] = {}  # by job: the uid of the Job whose spec could not be fetched

    # -- being up ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to connect, once."""
        if self._opening is None and not self.closed:
            self._opening = asyncio.create_task(self._open())
            self._patient_until = time.monotonic() + FIRST_LOOK

    async def looked(self) -> None:
        """Wait for the first look at the cluster to end, in one way or the other, but not long, and once for all; one
        that has not answered by then is away, so that nobody takes an empty list for all there is."""
        await self.start()
        await self._tried_within(self._patient_until - time.monotonic())
        if not self._tried.is_set() and self._watcher is None and self._away_since is None:
            self._away_since = now()
            self._ring()

    async def up(self) -> Link:
        """This link, connected; raises `ClusterUnreachable` or what else stands against it."""
        await self.start()
        await self._tried_within(PATIENCE)
        if self._watcher is None:
            raise self.problem or self._unanswered()
        return self

    async def _tried_within(self, seconds: float) -> None:
        if not self._tried.is_set() and seconds > 0:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._tried.wait(), seconds)

    @property
    def silence(self) -> AiartsError | None:
        """Why nobody can say yet that a job is not there; None as soon as all of them are known."""
        return self.problem or (None if self._is_settled else self._unanswered())

    def _unanswered(self) -> ClusterUnreachable:
        name = self._settings.name
        return ClusterUnreachable(f"The cluster “{name}” has not answered yet.", "Try again in a moment.")

    @property
    def _is_settled(self) -> bool:
        return self._watcher is not None and self._watcher.is_settled

    @property
    def stale_since(self) -> str | None:
        return self._watcher.stale_since if self._watcher is not None else self._away_since

    async def _open(self) -> None:
        self.api = await Api.open(self._settings)
        self.rights = Rights(self.api)
        pause = PAUSE
        while not await self._reach():
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        self.namespaces = self._settings.namespaces or (self.api.namespace,)
        self.orders = Orders(self.api, self._settings, self.namespaces)
        self.archive = Archive(
            self.api,
            self._state,
            self._settings.name,
            self._token,
            limit=int(self._settings.log_limit_gb * GIGABYTE),
            log_path=self.orders.log_path(self.owner or ""),
            heard=self._heard,
        )
        self._visits = Visits(self.archive, self._pods_of, self.do)
        self.keeper = Keeper(self.api, self._facts, self._starting, self.took, self.picture.creating)
        self._watcher = Watcher(self.api, self.picture, self.namespaces, self._changed)
        self._watcher.start()
        await self._watcher.settled()
        self._tried.set()
        self.keeper.sweep()
        self.do(self._recovered())  # what a server before this one could not do

    async def _reach(self) -> bool:
        """Find out who we are there; False, with the problem, when the cluster does not say."""
        try:
            await self.api.ready()
            name, _ = await asyncio.gather(self._whoami(), self.api.find_kueue())
            self.owner = name
        except (ClusterUnreachable, Refused, NotAllowed) as error:
            self.problem = error
            self._away_since = self._away_since or now()
            self._tried.set()
            self._ring()
            return False
        self.problem = self._away_since = None
        return True

    @property
    def outlook(self) -> Outlook:
        """The nodes of the cluster and who holds their cards; made by the first who wants to see them."""
        if self._outlook is None:
            from jupyter_aiarts.engines.kubernetes.outlook import Outlook

            self._outlook = Outlook(self.api, self.rights, self._settings, self.namespaces, self.owner)
        return self._outlook

    async def _whoami(self) -> str:
        return hub_user(self._settings) or await self.rights.whoami()

    async def aclose(self) -> None:
        """Let go; jobs go on."""
        self.closed = True
        self._ring()
        if self._opening is None:
            return
        if self._outlook is not None:
            await self._outlook.aclose()
        if self._queue_look is not None:
            await self._queue_look.aclose()
        if self._takers is not None:
            await self._takers.aclose()
        tasks = [self._opening, *self._chores]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._watcher is not None:
            self._visits.end()
            await self._watcher.aclose()
            await self.keeper.aclose()
            await self.archive.aclose()
        if hasattr(self, "api"):
            await self.api.aclose()

    # -- changes -------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[asyncio.Event]:
        """An event that is set whenever something may have changed."""
        rung = asyncio.Event()
        self._listeners.add(rung)
        try:
            yield rung
        finally:
            self._listeners.discard(rung)

    def took(self, job: JobObject) -> None:
        """An answer to a request of ours: the picture need not wait for the watch to say the same."""
        self.picture.apply(JOBS, "MODIFIED", job)
        self._touch()

    def gone(self, job: JobObject) -> None:
        """A Job that we deleted."""
        self.picture.apply(JOBS, DELETED, job)
        self._touch()

    def _touch(self) -> None:
        if self._watcher is not None:
            self._watcher.touch()
        self._ring()

    def _changed(self, change: Change) -> None:
        """The picture changed, or how live it is: look after our own, and tell who listens."""
        own = [record.id for record in change.jobs if record.owner == self.owner]
        # Whoever gave way is called back by any server that may: its owner's may have gone meanwhile.
        aside = [record.id for record in change.jobs if record.cause.code == "gives-way"]
        for job_id in [*own, *self._own.intersection(change.removed)]:
            self._mind(job_id)
        self.keeper.look([*own, *aside])
        if any(is_taker_unknown(record.cause) for record in change.jobs):
            self._look_for_takers()
        turns = self._starts.turns(change)
        if turns:
            self.do(asyncio.to_thread(self.turn_book().add, turns))
        if change.health and self.stale_since is None:
            self.keeper.look(self._own)  # what could not be done meanwhile
            self.do(self._recovered())
        self._ring()

    def _look_for_takers(self) -> None:
        """Somebody lost their place to a more important job: find out to whose."""
        if self._takers is None:
            from jupyter_aiarts.engines.kubernetes.takers import Takers

            self._takers = Takers(self.api, self.namespaces, self._displaced)
        self.do(self._takers.look())

    def _displaced(self, event: TakenEvent) -> None:
        by = (event.related.namespace, event.related.name) if event.related is not None else ("", "")
        self.picture.displace(event.metadata.namespace, event.involved_object.name, by, event.message or "")
        self._touch()

    def turn_book(self) -> TurnBook:
        """Where starts out of turn are kept."""
        from jupyter_aiarts.engines.turns import TurnBook

        return TurnBook(self._state / "clusters" / self._settings.name / ".order")

    async def queues(self) -> tuple[Queue, ...]:
        """The queues that may be seen; the first look at them begins to watch them."""
        if self._queue_look is None:
            from jupyter_aiarts.engines.kubernetes.queue_look import QueueLook

            self._queue_look = QueueLook(self, self._settings.name, self._queues_changed)
        return await self._queue_look.queues()

    def _queues_changed(self) -> None:
        self.queue_news += 1
        self._ring()

    def _mind(self, job_id: str) -> None:
        """Tell the archive about the pods of one of our own jobs, those of its earlier runs too."""
        facts = self._facts(job_id)
        if facts is None:
            self._own.discard(job_id)
            self.archive.keep_job(job_id, [])
            return
        self._own.add(job_id)
        self.archive.keep_job(job_id, [pod for run in facts.runs for pod in self._pods_of(job_id, run)])

    def _ring(self) -> None:
        for listener in self._listeners:
            listener.set()

    def do(self, work: Awaitable[None]) -> None:
        """Let this go on beside, for as long as the engine is open."""
        if self.closed:
            return _drop(work)  # nobody would end it any more
        task = asyncio.ensure_future(self._chore(work))
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)
        task.add_done_callback(lambda _: _drop(work))  # it may have been ended before its first step

    async def _chore(self, work: Awaitable[None]) -> None:
        try:
            await work
        except AiartsError as error:
            log.warning("On %s: %s", self._settings.name, error)

    async def seen(self, job_id: str) -> JobObject:
        """Wait until a job that somebody is making is there."""
        async with self.listening() as rung:
            while (facts := self._facts(job_id)) is None:
                await rung.wait()
                rung.clear()
        return facts.job

    def records(self) -> tuple[JobRecord, ...]:
        """Every job; none as long as the first list is not complete, for half of them would look like all."""
        return self.picture.records() if self._is_settled else ()

    def stuck(self) -> tuple[Stuck, ...]:
        """What should be gone and is not."""
        from jupyter_aiarts.engines.kubernetes.stuck import stuck_of, unfinished

        name, at = self._settings.name, self._clock()
        left = unfinished(name, self.picture.creating(), ABANDONED, at)
        return (*stuck_of(name, self.picture.leaving(), at), *left)

    def _clock(self) -> str:
        """This moment by the cluster's clock, which says when things there should have happened."""
        return moved(now(), self.api.lead) if hasattr(self, "api") else now()

    def knows(self, job_id: str) -> bool:
        """Whether a job is in the picture."""
        return self._facts(job_id) is not None

    def _facts(self, job_id: str) -> Facts | None:
        try:
            return self.picture.facts(job_id)
        except JobNotFound:
            return None

    def _starting(self) -> list[Facts]:
        """Jobs of several nodes that are on their way up."""
        found = [one.id for one in self.picture.records() if one.phase is Phase.STARTING and one.spec.nodes > 1]
        return [facts for facts in map(self._facts, found) if facts is not None]

    # -- specs and logs ------------------------------------------------------------------------------------------

    async def learn(self, job_id: str) -> None:
        """Fetch the whole spec of a job for the picture, once."""
        facts = self._facts(job_id) if self.stale_since is None else None
        if facts is None or facts.spec.workdir is not None or self._unlearned.get(job_id) == facts.job.uid:
            return
        try:
            found = await recall(self.api, facts.job)
        except ClusterUnreachable:
            return  # the short one is shown for now
        except (JobUnreadable, Refused):
            self._unlearned[job_id] = facts.job.uid  # and for good: nobody asks for it again
            return
        self.picture.learn(job_id, facts.job.run, found.next.spec)
        self._touch()

    async def hear(self, job_id: str) -> None:
        """Read what a job's launchers said of themselves, where no stream brings it: before this server's time, or on
        a log mount whenever somebody looks."""
        facts = self._facts(job_id) if self._watcher is not None else None
        if facts is None:
            return
        run = facts.job.run
        is_mounted = self.archive.is_mounted(job_id, run)
        if self.picture.has_heard(job_id, run) and not is_mounted:
            return
        found = await self.statuses(facts.job)
        if self._facts(job_id) is None or (self.picture.has_heard(job_id, run) and not is_mounted):
            return  # gone, or the stream was quicker
        self.picture.hear(job_id, run, {node: said_of(status) for node, status in found.items()})
        self._touch()

    async def statuses(self, job: JobObject) -> dict[int, NodeStatus]:
        """What the launchers of a run said of themselves last, by node."""
        return await self.archive.beside(job.namespace, job.job_id, job.run, "status.json", NodeStatus)

    async def past(self, job: JobObject) -> dict[int, RunHistory]:
        """What the launchers of a run have seen of it since it began, by node."""
        return await self.archive.beside(job.namespace, job.job_id, job.run, PAST, RunHistory)

    def _heard(self, pod: PodFacts, status: NodeStatus) -> None:
        self.picture.hear(pod.job, pod.run, {pod.node: said_of(status, pod.name)})
        self._touch()

    async def _token(self, namespace: str, secret: str) -> str:
        return await token(self.api, namespace, secret)

    async def complete(self, job_id: str, run: int, seconds: float) -> bool:
        """Have everything in the archive that was printed up to now, if it is ours to keep."""
        facts = self._facts(job_id)
        if facts is not None and facts.job.owner == self.owner:
            self._mind(job_id)  # the picture may be ahead of what the archive was told
        return await self.archive.complete(job_id, run, seconds)

    async def log_folder(self, job: JobObject) -> Path:
        """Where the log of a run is read; somebody else's is fetched for as long as it is looked at."""
        if job.owner != self.owner:
            await self._visits.pay(job.job_id, job.run)
        return self.archive.log_folder(job.namespace, job.job_id, job.run)

    def _pods_of(self, job_id: str, run: int) -> list[PodFacts]:
        facts = self._facts(job_id)
        if facts is None or run not in facts.runs:
            return []
        return pod_facts(facts.runs[run], facts.spec, self.picture.pods(job_id, run), self._settings)

    async def environment(self, job: JobObject, rank: int) -> dict[str, str]:
        return await self.archive.environment(job.namespace, job.job_id, job.run, rank)

    async def npu_log(self, job: JobObject) -> NpuLog:
        from jupyter_aiarts.engines.kubernetes.npulog import npu_log
        from jupyter_aiarts.engines.npulog import NpuPage
        from jupyter_aiarts.launcher.ascend.lastlog import NAME

        ranks = self.picture.record(job.job_id).ranks
        kept = await self.archive.beside(job.namespace, job.job_id, job.run, NAME, NpuPage)
        return await npu_log(self.archive, self._pods_of(job.job_id, job.run), ranks, kept)

    async def forget(self, job_id: str) -> tuple[Leftover, ...]:
        """Nothing is kept of a deleted job, but for what this server may not remove."""
        self._unlearned.pop(job_id, None)
        return await self.archive.forget(job_id)


def _drop(work: Awaitable[None]) -> None:
    if asyncio.iscoroutine(work):
        work.close()
