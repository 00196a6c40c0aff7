"""The verbs of all doors, over one live picture of all jobs, whoever runs them, and the fan-out of its changes.

Doors call these verbs and subscribe; engines are asked and watched. No HTTP here, no configuration: what a verb answers
is the same over REST, in the command line without a server, and in a test.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from jupyter_aiarts.engines.base import Caller, Engine, JobRecord
from jupyter_aiarts.errors import BadRequest, JobNotFound, Unavailable
from jupyter_aiarts.explain import explain
from jupyter_aiarts.fanout import Fanout, array
from jupyter_aiarts.model.job import DryRun, Event, Explanation, Job, LogLine
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.picture import ListQuery, Picture, in_words, offered, shown

if TYPE_CHECKING:
    from jupyter_aiarts.engines.logs import LogQuery, RunLog
    from jupyter_aiarts.filling import Filler
    from jupyter_aiarts.intake import FolderOf
    from jupyter_aiarts.model.cluster import ClusterPage
    from jupyter_aiarts.model.fix import Fix, FixRequest
    from jupyter_aiarts.model.places import PathMap
    from jupyter_aiarts.model.queue import ShownQueue
    from jupyter_aiarts.model.ranktable import RankTable
    from jupyter_aiarts.model.templates import Template
    from jupyter_aiarts.model.turn import ShownTurn
    from jupyter_aiarts.model.usage import Filling, IdleKernel, JobUsage, UsagePage
    from jupyter_aiarts.templates import TemplateStore
    from jupyter_aiarts.twins import Twins
    from jupyter_aiarts.usage import UsageWatch

QUEUES_TOLD = 60.0  # seconds after somebody looked at queues in which changes of them are told


class Submitted(Struct, frozen=True):
    """A job, and whether it is new or the one its submission_id already named."""

    job: Job
    created: bool


class JobService:
    """All jobs of all engines. Made by the server (one per process) and by the command line (one per call)."""

    def __init__(
        self, engines: Mapping[str, Engine], templates: TemplateStore, folder_of: FolderOf | None = None
    ) -> None:
        self._engines = dict(engines)
        self._templates = templates
        self._folder_of = folder_of  # of the environment with a name; without it only folders can be named
        self._picture = Picture()
        self._snapshots: dict[str, tuple[JobRecord, ...]] = {}  # what each engine said when last asked for everything
        self._usage: UsageWatch | None = None
        self._filler: Filler | None = None
        self._fanout = Fanout(self._picture.encoded, self._health_message, self._usage_message)
        self._tasks: list[asyncio.Task[None]] = []
        self._first_look: asyncio.Future[None] | None = None
        self._unwell: dict[str, list[dict[str, Any]]] = {}  # by cluster, where the server guards its nodes
        self._queues_until = 0.0  # on the monotonic clock: until when somebody looks at queues

    async def start(self) -> None:
        """Read what there is and watch for changes; whoever looks first causes it, and everybody waits for it."""
        if self._first_look is None:
            self._first_look = asyncio.ensure_future(self._refresh())
            self._tasks = [asyncio.create_task(self._watch(engine)) for engine in self._engines.values()]
        await asyncio.shield(self._first_look)

    async def aclose(self) -> None:
        """Stop watching and end every subscription; jobs go on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for engine in self._engines.values():
            await engine.aclose()
        if self._usage is not None:
            await self._usage.aclose()
        self._fanout.close()

    # -- in ------------------------------------------------------------------------------------------------------

    async def submit(self, raw: Mapping[str, Any] | str, caller: Caller, lang: str = "en") -> Submitted:
        """Accept a job; everything wrong with its spec is said at once. Text is a DLC params file."""
        from jupyter_aiarts.intake import read_submission, with_environment

        engine, reading = read_submission(raw, self._engines, self._templates)
        reading = await with_environment(reading, self._folder_of)
        record, created = await engine.submit(reading, caller)
        self._take([record])
        return Submitted(shown(record, lang), created)

    async def try_out(
        self, raw: Mapping[str, Any] | str, caller: Caller, lang: str = "en", manifest: bool = False
    ) -> DryRun:
        """What submitting would do, without doing it; with `manifest` also what kubectl would make it from."""
        from jupyter_aiarts.explain.problems import said
        from jupyter_aiarts.intake import read_submission, with_environment

        engine, reading = read_submission(raw, self._engines, self._templates)
        reading = await with_environment(reading, self._folder_of)
        fit = await engine.fits(reading, caller)
        why = explain(fit.cause, lang, spec=fit.spec) if fit.cause else None
        notes = [said(note, lang) for note in (*reading.notes, *fit.notes)]
        if not manifest:
            return DryRun(spec=fit.spec, explanation=why, fits=fit.now, notes=notes)
        text = await engine.manifest(reading, caller)
        if text is None:
            raise BadRequest(
                f"Jobs on {engine.name} are no objects of Kubernetes, so there is nothing for kubectl to apply.",
                "Name a cluster of Kubernetes with the key cluster.",
            )
        return DryRun(spec=fit.spec, explanation=why, fits=fit.now, notes=notes, manifest=text)

    async def act(self, job_id: str, move: Move, lang: str = "en") -> Job:
        """Stop, pause, resume, rerun or release a job."""
        record = await (await self._owner(job_id)).act(job_id, move)
        self._take([record])
        return shown(record, lang)

    async def edit(self, job_id: str, patch: Mapping[str, Any], lang: str = "en") -> Job:
        """Change the spec that the next run uses, by a JSON merge patch."""
        from jupyter_aiarts.intake import read_edit, with_environment

        engine = await self._owner(job_id)
        reading = read_edit(await engine.asked(job_id), patch, engine)
        reading = await with_environment(reading, self._folder_of)
        record = await engine.edit(job_id, reading)
        self._take([record])
        return shown(record, lang)

    async def fix(self, job_id: str, request: FixRequest, lang: str = "en") -> Fix:
        """Carry out an action of a job's explanation, or with `dry_run` only say what it would change."""
        from jupyter_aiarts.fixing import answer, carry_out, look_ahead

        engine = await self._owner(job_id)
        record = await engine.get(job_id)
        planned, changes = await look_ahead(engine, record, offered(record), request, lang)
        if request.dry_run or planned.kind not in ("edit", "move"):
            return answer(planned, changes, shown(record, lang), done=False)
        return answer(planned, changes, await carry_out(self, job_id, planned, lang), done=True)

    async def delete(self, job_id: str, lang: str = "en") -> list[str]:
        """Remove a job; one that runs is stopped first and goes when it has ended. A sentence for all that stayed."""
        engine = await self._owner(job_id)
        stayed = [one.said(lang) for one in await engine.delete(job_id)]
        with contextlib.suppress(JobNotFound):
            self._take([await engine.get(job_id)])
            return stayed
        self._drop([job_id])
        return stayed

    # -- out -----------------------------------------------------------------------------------------------------

    async def get(self, job_id: str, lang: str = "en") -> Job:
        """One job as it is now."""
        record = await (await self._owner(job_id)).get(job_id)
        self._take([record])
        return shown(record, lang)

    async def explain(self, job_id: str, lang: str = "en") -> Explanation:
        """Why a job is as it is; of one that waits also who started before it, and why."""
        engine = await self._owner(job_id)
        record = await engine.get(job_id)
        found = explain(record.cause, lang, job_id, record.spec)
        if record.phase is not Phase.QUEUED:
            return found
        from jupyter_aiarts.queuing import with_expected, with_turns

        return await with_turns(engine, job_id, await with_expected(engine, job_id, found, lang), lang)

    async def jobs(self, query: ListQuery, lang: str = "en") -> bytes:
        """A JSON array of the jobs asked for, newest first, each encoded once per change."""
        await self.start()
        await self._refresh()
        mine = {name: engine.owner for name, engine in self._engines.items()}
        return array(self._picture.encoded(self._picture.chosen(query, mine), lang))

    async def resolve(self, text: str) -> str:
        """The id of the one job that has this id, begins with it, or bears this name."""
        await self.start()
        await self._refresh()
        return self._picture.named(text)

    async def logs(self, job_id: str, query: LogQuery, run: int | None = None, lang: str = "en") -> list[LogLine]:
        """One page of a run's log; a search that takes too long is ended, with what to do about it."""
        from jupyter_aiarts.reading import page, with_unread

        return with_unread(*await page(await self._owner(job_id), job_id, query, run, lang), query)

    async def run_log(self, job_id: str, run: int | None = None) -> RunLog:
        return await (await self._owner(job_id)).log(job_id, run)

    async def no_log(self, job_id: str, query: LogQuery, run: int | None = None, lang: str = "en") -> str | None:
        """Why there is nothing to read yet, or no more, or not all; None when only the query leaves lines out."""
        from jupyter_aiarts.reading import why_nothing

        return await why_nothing(await self._owner(job_id), job_id, query, run, lang)

    async def follow(
        self, job_id: str, query: LogQuery, run: int | None = None, lang: str = "en"
    ) -> AsyncIterator[list[LogLine]]:
        """Lines as they come, until the run has ended and everything was told."""
        from jupyter_aiarts.reading import follow

        async with contextlib.aclosing(follow(await self._owner(job_id), job_id, query, run, lang)) as batches:
            async for lines in batches:
                yield lines

    async def env(self, job_id: str, run: int | None = None, rank: int = 0) -> dict[str, str | None]:
        return await (await self._owner(job_id)).environment(job_id, run, rank)

    async def rank_table(self, job_id: str, run: int | None = None, lang: str = "en") -> RankTable:
        """The table the ranks of a run find each other by, with the doctor's verdict."""
        from jupyter_aiarts.ranktables import told

        return told(await (await self._owner(job_id)).rank_table(job_id, run), lang)

    async def npu_log(
        self, job_id: str, run: int | None = None, rank: int | None = None, tail: int | None = None, lang: str = "en"
    ) -> tuple[list[LogLine], str]:
        """Errors that the NPU driver logged about a run's cards, and a sentence about what is missing, if anything."""
        from jupyter_aiarts.reading import npu_page

        return await npu_page(await self._owner(job_id), job_id, run, rank, tail, lang)

    async def job_usage(self, job_id: str, run: int | None = None, history: bool = False) -> JobUsage:
        """What the cards and ranks of a run do, or did, as its launchers saw it."""
        from jupyter_aiarts.model.usage import JobUsage

        return JobUsage(nodes=await (await self._owner(job_id)).usage(job_id, run, history))

    async def events(self, job_id: str, run: int | None = None, lang: str = "en") -> list[Event]:
        return in_words(await (await self._owner(job_id)).events(job_id, run), lang)

    async def health(self) -> dict[str, Any]:
        """What a page needs to know about this service itself."""
        from jupyter_aiarts._version import __version__

        return {
            "version": __version__,
            "clusters": self._clusters(),
            "jobs": len(self._picture.jobs),
            "active": self.active_here(),
        }

    async def cluster(self, name: str | None = None, lang: str = "en") -> ClusterPage:
        """The machines of one cluster, or of all of them: one that is away is told of, not waited for."""
        from jupyter_aiarts.glancing import look_at

        return await look_at(self._engines, name, lang)

    def note_nodes(self, unwell: Mapping[str, list[dict[str, Any]]]) -> None:
        """What is wrong with which nodes, by cluster: told with the health, to those who listen at once."""
        self._unwell = dict(unwell)
        self._fanout.send(health=True)

    def note_kernels(self) -> None:
        """Environments or the kernels made of them are others: told to those who listen at once."""
        self._fanout.send_kernels()

    def note_idle(self, kernels: Sequence[IdleKernel]) -> None:
        """Which kernels of this server hold cards that do nothing: told to those who listen, and who come later."""
        self._fanout.send_idle(msgspec.json.encode(kernels))

    def _clusters(self) -> list[dict[str, Any]]:
        """Every engine by name, since when what it tells may be out of date, who this user is where others' jobs are
        seen too, what is wrong with its entry, and with its nodes where they are guarded."""
        said = {name: {"problem": problem} for name in self._engines if (problem := self._twins.problem(name))}
        ill = {name: {"unwell": nodes} for name, nodes in self._unwell.items()}
        mine = {name: {"owner": engine.owner} for name, engine in self._engines.items() if engine.owner is not None}
        return [
            {"name": name, "stale_since": engine.stale_since}
            | mine.get(name, {})
            | said.get(name, {})
            | ill.get(name, {})
            for name, engine in self._engines.items()
        ]

    async def queues(self, name: str | None = None, lang: str = "en") -> list[ShownQueue]:
        """The queues of one cluster, or of all of them; for a while subscribers are told when they change."""
        from jupyter_aiarts.queuing import look_at_queues

        self._queues_until = time.monotonic() + QUEUES_TOLD
        return await look_at_queues(self._engines, name, lang)

    async def turns(self, job_id: str | None = None, lang: str = "en") -> list[ShownTurn]:
        """Who started before somebody who had come earlier, and why; with an id only what is about that job."""
        from jupyter_aiarts.queuing import look_at_turns

        await self.start()
        return await look_at_turns(self._engines, self._picture.jobs, job_id, lang)

    async def usage(self, seconds: int = 0, lang: str = "en") -> UsagePage:
        """What this machine is doing, and did in the last `seconds`; for a while subscribers are told of every look."""
        from jupyter_aiarts.usage import look_at

        return await look_at(self.machine(), seconds, lang)

    def machine(self) -> UsageWatch:
        """What looks at this machine, for all who want to know; made for the first of them."""
        if self._usage is None:
            from jupyter_aiarts.usage import UsageWatch, usual_paths

            self._usage = UsageWatch(usual_paths(), self._fanout.send_usage)
        return self._usage

    async def filling(self, folder: str, seconds: int | None = None) -> Filling:
        """What takes the room below a folder of this machine, as far as it can be counted in so many seconds."""
        from jupyter_aiarts.filling import SECONDS, Filler

        self._filler = self._filler or Filler()
        return await self._filler.count(folder, seconds or SECONDS)

    async def places(
        self, path: str | None, folder: str, cluster: str | None = None, job_id: str | None = None, lang: str = "en"
    ) -> PathMap:
        """The path map, and where one path is in it: of one cluster, of the one that has this job, or of all."""
        from jupyter_aiarts.pathfinding import map_of

        if job_id is not None:
            record = await (await self._owner(job_id)).get(job_id)
            cluster, folder = record.cluster, record.spec.workdir or folder
        return await map_of(self._engines, path, folder, cluster, job_id, lang)

    def known(self) -> Collection[JobRecord]:
        """Every job of the picture as it is now; nobody is asked."""
        return self._picture.jobs.values()

    def is_mine(self, cluster: str, owner: str) -> bool:
        """Whether a job with this owner is one of the user whom this service works for."""
        return self._engines[cluster].owner in (None, owner)

    def active_here(self) -> int:
        """How many jobs hold this machine at this moment, as far as is known."""
        return sum(1 for job in self._picture.jobs.values() if job.cluster == "local" and job.phase.is_active)

    async def subscribe(self, lang: str = "en", usage: bool = True) -> AsyncIterator[bytes]:
        """Encoded messages: a snapshot, then changes, with `usage` looks too; a slow reader gets them merged."""
        await self.start()
        async with contextlib.aclosing(self._fanout.subscribe(lang, usage)) as messages:
            async for message in messages:
                yield message

    # -- templates -----------------------------------------------------------------------------------------------

    async def templates(self) -> list[Template]:
        return await asyncio.to_thread(self._templates.all)

    async def template(self, name: str) -> Template:
        return await asyncio.to_thread(self._templates.get, name)

    async def save_template(self, name: str, spec: dict[str, Any], description: str = "") -> Template:
        """Keep a part of a spec for later, without its secrets; a wrong key or value is refused."""
        from jupyter_aiarts.model.templates import new_template

        return await asyncio.to_thread(self._templates.save, new_template(name, spec, description))

    async def delete_template(self, name: str) -> None:
        await asyncio.to_thread(self._templates.delete, name)

    # -- the picture ---------------------------------------------------------------------------------------------

    async def _owner(self, job_id: str) -> Engine:
        """The engine that has this job; one we have not heard of yet is asked for."""
        known = self._picture.jobs.get(job_id)
        if known is not None:
            return self._engines[known.cluster]
        away: Unavailable | None = None
        for engine in self._engines.values():
            try:
                self._take([await engine.get(job_id)])
                return engine
            except JobNotFound:
                continue
            except Unavailable as error:
                away = error
        if away is not None:
            raise away  # it may be there
        raise JobNotFound(f"There is no job {job_id[:80]!r}.", "List the jobs with `aiarts jobs`.")

    async def _watch(self, engine: Engine) -> None:
        owner = engine.owner
        async for change in engine.watch():
            if change.health or engine.owner != owner:  # a cluster says whom it takes us for when it first answers
                owner = engine.owner
                self._fanout.send(health=True)
            self._take(change.jobs)
            self._drop(job_id for job_id in change.removed if self._picture.is_of(job_id, engine.name))
            if change.queues and self._tells_queues:
                self._fanout.send(queues=True)

    async def _refresh(self) -> None:
        """Bring the picture up to what the engines say now, all of them asked at once."""
        await asyncio.gather(*map(self._ask, self._engines))

    async def _ask(self, name: str) -> None:
        """Taken as soon as it is said: the watch may tell something newer in the next moment."""
        records = await self._engines[name].snapshot()
        if records is self._snapshots.get(name):
            return
        self._snapshots[name] = records
        self._take(records)
        there = {record.id for record in records}
        self._drop([key for key in self._picture.jobs if self._picture.is_of(key, name) and key not in there])

    def _take(self, records: Iterable[JobRecord]) -> None:
        changed = self._picture.take(record for record in records if self._differs(record))
        if changed:
            self._fanout.send(changed=changed, queues=self._tells_queues)

    @property
    def _tells_queues(self) -> bool:
        """Whether somebody looks at queues, and so wants to hear of what may change them."""
        return time.monotonic() < self._queues_until

    def _differs(self, record: JobRecord) -> bool:
        known = self._picture.jobs.get(record.id)
        if known is None or known is record:
            return known is None
        return known != record and not self._twins.gives_way(record.cluster, known.cluster)

    @cached_property
    def _twins(self) -> Twins:
        from jupyter_aiarts.twins import Twins  # a list of jobs that did not change does without

        return Twins(self._engines)

    def _drop(self, ids: Iterable[str]) -> None:
        gone = self._picture.drop(ids)
        if gone:
            self._fanout.send(removed=gone, queues=self._tells_queues)

    def _health_message(self) -> list[bytes]:
        return [msgspec.json.encode(one) for one in self._clusters()]

    def _usage_message(self, lang: str) -> bytes | None:
        """The newest look at this machine, for whoever reads the stream."""
        return None if self._usage is None else self._usage.said(lang)
