"""The engine for one Kubernetes cluster: a picture that watches keep live, and requests for whoever wants something.

Kubernetes is the database: nothing here is remembered that the cluster does not know, but for logs, which outlive
their pods in the state folder. A cluster that is away costs nobody anything: what was known is shown with its age.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from jupyter_aiarts.engines.base import Asked, Caller, Change, Engine, Fit, JobRecord, changes
from jupyter_aiarts.engines.kubernetes import manifest, moves, names
from jupyter_aiarts.engines.kubernetes.attempts import resumed
from jupyter_aiarts.engines.kubernetes.client import Contradicted, jobs
from jupyter_aiarts.engines.kubernetes.link import Link
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.pending import Errands, Pending
from jupyter_aiarts.engines.kubernetes.phase import view
from jupyter_aiarts.engines.kubernetes.policies import policy_hint
from jupyter_aiarts.engines.kubernetes.recall import keep_next, recall
from jupyter_aiarts.engines.kubernetes.submit import create
from jupyter_aiarts.errors import (
    ClusterUnreachable,
    NotAllowed,
    RunNotFound,
    SubmissionConflict,
    Unavailable,
    WrongPhase,
)
from jupyter_aiarts.model.names import check_id, id_for_submission, new_id
from jupyter_aiarts.model.phase import Move, Phase, check_move
from jupyter_aiarts.model.placement import has_rings
from jupyter_aiarts.model.reading import Reading, fingerprint
from jupyter_aiarts.model.spec import CPU
from jupyter_aiarts.model.times import now

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.order import Order
    from jupyter_aiarts.engines.kubernetes.phase import Facts
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.engines.leftover import Leftover
    from jupyter_aiarts.engines.logs import RunLog
    from jupyter_aiarts.engines.npulog import NpuLog
    from jupyter_aiarts.model.cluster import ClusterView
    from jupyter_aiarts.model.expected import Band
    from jupyter_aiarts.model.job import Event
    from jupyter_aiarts.model.places import Place
    from jupyter_aiarts.model.queue import Queue
    from jupyter_aiarts.model.turn import Turn
    from jupyter_aiarts.model.usage import NodeUsage

CALM = 0.01  # seconds between steps while changes pour in
LAST_LINES = 10.0  # seconds that a stop waits for the archive to have what was printed so far
OTHERS = 15.0  # seconds that a second submission with the same id waits for the first


class KubernetesEngine(Engine):
    """Runs jobs as pods. Made by `open_cluster`; nothing is asked of the cluster before the first verb."""

    def __init__(self, settings: ClusterSettings, state: Path) -> None:
        self.name = settings.name
        self.settings = settings
        self._pending = Pending(state / "clusters" / settings.name / ".pending")
        self._errands = Errands(self._pending, self._carry_out)
        self._link = Link(settings, state, self._errands.run)

    @property
    def stale_since(self) -> str | None:
        return self._link.stale_since

    @property
    def owner(self) -> str | None:
        return self._link.owner

    # -- in ------------------------------------------------------------------------------------------------------

    async def submit(self, reading: Reading, caller: Caller) -> tuple[JobRecord, bool]:
        link = await self._link.up()
        place = await link.orders.place(reading.spec.queue)
        await link.rights.require("create", "jobs", place.namespace, group="batch")
        owner, own_id = link.owner or caller.owner, reading.spec.submission_id
        job_id = id_for_submission(self.name, place.namespace, owner, own_id) if own_id else new_id()
        if own_id and link.knows(job_id):
            return await self._known(job_id, reading), False
        order = await link.orders.fresh(reading, caller.folder, owner, job_id, place)
        try:
            await self._create(order)
        except Contradicted:
            return await self._known(job_id, reading), False
        return await self.get(job_id), True

    async def _create(self, order: Order) -> None:
        """Make a run and see it at once; raises what the cluster says against it, and then nothing is left."""
        link = await self._link.up()
        tried = await link.orders.try_out(order)
        if tried.refused is not None and tried.refused.code == "policy-refused":
            said = " ".join(tried.refused.evidence)
            raise NotAllowed(
                f"The namespace {order.namespace} does not accept this job: {said}",
                policy_hint(tried.refused),
            )
        link.took(await create(link.api, tried.order))

    async def _known(self, job_id: str, reading: Reading) -> JobRecord:
        """The job that a submission_id names already; raises `SubmissionConflict` when it asks for other things."""
        try:
            job = await asyncio.wait_for(self._link.seen(job_id), OTHERS)
        except asyncio.TimeoutError:
            raise Unavailable(
                f"Job {job_id} has been submitted with this submission_id, but is not complete after {OTHERS:g} s.",
                "Submit it again in a while: what a crash left is removed after ten minutes.",
            ) from None
        if job.fingerprint != fingerprint(reading):
            raise SubmissionConflict(
                f"The submission id {reading.spec.submission_id!r} belongs to job {job_id}, "
                "which asks for other things.",
                "Use another submission_id for another job.",
            )
        return await self.get(job_id)

    async def act(self, job_id: str, move: Move) -> JobRecord:
        record = await self.get(job_id)
        if move is not Move.RELEASE:
            check_move(record.phase, move, record.name)
        try:
            await self._move(job_id, move)
        except ClusterUnreachable as error:
            if move not in (Move.STOP, Move.PAUSE, Move.RESUME):
                raise
            await asyncio.to_thread(self._pending.keep, job_id, move)
            self._link.do(self._errands.run())
            raise ClusterUnreachable(
                f"{error} The {move.value} of “{record.name}” is kept and carried out as soon as the cluster answers.",
                error.hint,
            ) from error
        await asyncio.to_thread(self._pending.forget, job_id)  # an older wish must not undo this one
        return await self.get(job_id)

    async def _move(self, job_id: str, move: Move) -> None:
        link = await self._link.up()
        facts = self._facts(job_id)
        await link.rights.require("patch", "jobs", facts.job.namespace, group="batch")
        if move in (Move.STOP, Move.PAUSE):
            await link.complete(job_id, facts.job.run, LAST_LINES)
            link.took(await moves.end(link.api, facts.job, facts.workload, move.value))
        elif move is Move.RESUME:
            await self._resume(link, facts)
        elif move is Move.RERUN:
            await self._create(await link.orders.again(facts.job, facts.job.run + 1))
        elif move is Move.RELEASE:
            await self._release(link, facts)

    async def _resume(self, link: Link, facts: Facts) -> None:
        """The next attempt of the same run; one that was edited meanwhile goes on as its next run."""
        if (await recall(link.api, facts.job)).was_edited:
            return await self._create(await link.orders.again(facts.job, facts.job.run + 1))
        summary = facts.summary
        used = float(facts.job.metadata.annotations.used or 0) + (summary.running_seconds if summary else 0.0)
        moment = now()
        told = resumed(facts, view(facts, moment), moment)
        link.took(await moves.resume(link.api, facts.job, facts.workload, used, told))

    async def _release(self, link: Link, facts: Facts) -> None:
        pods = [pod for run in facts.runs for pod in link.picture.pods(facts.job.job_id, run)]
        stuck = [pod for pod in pods if pod.deleted is not None]
        if not stuck:
            raise WrongPhase(
                f"No pod of “{facts.spec.name}” waits to be released.",
                "Release is for pods that were told to go and cannot, because their node is gone.",
            )
        for pod in stuck:
            await moves.release(link.api, facts.job.namespace, pod)

    async def edit(self, job_id: str, reading: Reading) -> JobRecord:
        link = await self._link.up()
        record, facts = await self.get(job_id), self._facts(job_id)
        check_move(record.phase, Move.EDIT, record.name)
        folder = Path(record.spec.workdir or "/")
        place = await link.orders.place(reading.spec.queue)
        order = await link.orders.fresh(reading, folder, facts.job.owner, job_id, place)
        await keep_next(link.api, facts.job, order.reading)
        if record.phase is Phase.QUEUED:  # a run that still waits is the next one
            await self._create(await link.orders.again(facts.job, facts.job.run + 1))
            await moves.remove(link.api, facts.job, active=False)
        else:
            # other servers fetch the spec anew when this text changes, whatever was edited
            short = msgspec.json.encode({**manifest.short_spec(order), "edit": order.fingerprint}).decode()
            body = {"metadata": {"annotations": {names.SHORT: short}}}
            link.took(await link.api.patch(jobs(facts.job.namespace, facts.job.name), body, JobObject))
            link.picture.learn(job_id, facts.job.run, order.spec)
        return await self.get(job_id)

    async def delete(self, job_id: str) -> tuple[Leftover, ...]:
        link = await self._link.up()
        record, facts = await self.get(job_id), self._facts(job_id)
        await link.rights.require("delete", "jobs", facts.job.namespace, group="batch")
        for job in facts.runs.values():
            active = job is facts.job and record.phase.is_active
            await moves.remove(link.api, job, active=active)
            if not active:
                link.gone(job)
        return await link.forget(job_id)

    async def asked(self, job_id: str) -> Asked:
        link = await self._link.up()
        found = (await recall(link.api, self._facts(job_id).job)).next
        return Asked(given=found.given, secrets=frozenset(found.spec.secret_env))

    async def _carry_out(self, job_id: str, move: Move) -> None:
        """Do what was asked for while the cluster was away, as far as the job still allows it."""
        link = await self._link.up()
        link.rights.forget()  # what was allowed or not may come from before
        check_move((await self.get(job_id)).phase, move, job_id)
        await self._move(job_id, move)

    # -- out -----------------------------------------------------------------------------------------------------

    async def snapshot(self) -> tuple[JobRecord, ...]:
        await self._link.looked()
        return self._link.records()

    async def get(self, job_id: str) -> JobRecord:
        check_id(job_id)
        await self._link.looked()
        if self._link.silence is not None and not self._link.knows(job_id):
            raise self._link.silence
        self._link.picture.record(job_id)  # raises for one that is not there, before anybody is asked about it
        await self._link.learn(job_id)
        await self._link.hear(job_id)
        return self._link.picture.record(job_id)  # as it is by now: asking may have taken a while

    def _facts(self, job_id: str) -> Facts:
        return self._link.picture.facts(check_id(job_id))

    async def _run(self, job_id: str, run: int | None) -> tuple[Link, JobObject]:
        await self.get(job_id)
        facts = self._facts(job_id)
        number = facts.job.run if run is None else run
        if number not in facts.runs:
            have = ", ".join(str(one) for one in sorted(facts.runs))
            raise RunNotFound(f"Job {job_id} has no run {number}.", f"Its runs: {have}.")
        return await self._link.up(), facts.runs[number]

    async def log(self, job_id: str, run: int | None = None) -> RunLog:
        from jupyter_aiarts.engines.logs import open_log

        link, job = await self._run(job_id, run)
        record = link.picture.record(job_id)
        if job.run != record.run or record.phase.is_terminal or record.phase is Phase.PAUSED:
            await link.complete(job_id, job.run, LAST_LINES)  # nothing more is printed, so all of it can be had
        return open_log(await link.log_folder(job))

    async def environment(self, job_id: str, run: int | None, rank: int) -> dict[str, str | None]:
        link, job = await self._run(job_id, run)
        found = await link.environment(job, rank)
        spec = (await recall(link.api, job)).now.spec
        return {**found, **dict.fromkeys(spec.secret_env)}

    async def rank_table(self, job_id: str, run: int | None) -> bytes:
        from jupyter_aiarts.engines.tables import no_rank_table

        link, job = await self._run(job_id, run)
        if not has_rings((await recall(link.api, job)).now.spec.device):
            raise no_rank_table(job_id, job.run)
        return await link.archive.rank_table(job.namespace, job.job_id, job.run)

    async def npu_log(self, job_id: str, run: int | None) -> NpuLog:
        from jupyter_aiarts.engines.npulog import Gap, NpuLog

        link, job = await self._run(job_id, run)
        if not has_rings((await recall(link.api, job)).now.spec.device):
            return NpuLog(gaps=(Gap("no-npu"),))
        return await link.npu_log(job)

    async def usage(self, job_id: str, run: int | None, history: bool) -> tuple[NodeUsage, ...]:
        from jupyter_aiarts.engines.jobuse import usage_of

        link, job = await self._run(job_id, run)
        statuses = (await link.statuses(job)).values()
        return usage_of(statuses, await link.past(job)) if history else usage_of(statuses)

    async def events(self, job_id: str, run: int | None) -> tuple[Event, ...]:
        from jupyter_aiarts.engines.kubernetes.story import events_of

        link, job = await self._run(job_id, run)
        return await events_of(link.api, job, (await link.statuses(job)).values())

    def offers(self) -> frozenset[str] | None:
        return frozenset(self.settings.devices) - {CPU}

    async def fits(self, reading: Reading, caller: Caller) -> Fit:
        from jupyter_aiarts.engines.kubernetes.foresight import fits

        return await fits(await self._link.up(), reading, caller)

    async def manifest(self, reading: Reading, caller: Caller) -> str | None:
        from jupyter_aiarts.engines.kubernetes.foresight import manifest

        link = await self._link.up()
        return await manifest(link.orders, reading, caller.folder, link.owner or caller.owner)

    async def expected(self, job_id: str) -> Band | None:
        from jupyter_aiarts.engines.kubernetes.foresight import expected_start

        return await expected_start(self._link, self.settings, await self.get(job_id))

    async def cluster(self) -> ClusterView:
        link = await self._link.up()
        return structs.replace(await link.outlook.view(), stuck=link.stuck())

    async def queues(self) -> tuple[Queue, ...]:
        return await (await self._link.up()).queues()

    async def turns(self, job_id: str | None = None) -> tuple[Turn, ...]:
        return await asyncio.to_thread(self._link.turn_book().read, job_id and check_id(job_id))

    async def places(self, job_id: str | None = None) -> tuple[Place, ...]:
        from jupyter_aiarts.engines.kubernetes.foresight import places

        return await places(self._link, self.settings, await self.get(job_id) if job_id is not None else None)

    async def watch(self) -> AsyncIterator[Change]:
        await self._link.start()
        told = {record.id: record for record in self._link.records()}
        stale, news = self.stale_since, self._link.queue_news
        async with self._link.listening() as rung:
            while not self._link.closed:
                change = changes(told, self._link.records())
                if self.stale_since != stale:
                    stale = self.stale_since
                    change = Change(jobs=change.jobs, removed=change.removed, health=True)
                if self._link.queue_news != news:
                    news = self._link.queue_news
                    change = structs.replace(change, queues=True)
                if change.jobs or change.removed or change.health or change.queues:
                    yield change
                    await asyncio.sleep(CALM)
                await rung.wait()
                rung.clear()

    async def aclose(self) -> None:
        await self._link.aclose()
