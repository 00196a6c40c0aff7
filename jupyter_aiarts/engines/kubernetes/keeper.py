"""What a server does for its owner's jobs without being asked.

It carries out intents that a crash left half done, keeps the launchers' last words and counts before their pods go, has
jobs that block each other give way, ends what can never be whole, and removes what crashed submissions left. All of it
follows from the picture: nothing is decided by what is remembered here, so a second server that does the same does no
harm, and one that starts later does what is still to be done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.kubernetes import gang, moves, spent
from jupyter_aiarts.engines.kubernetes.client import Refused
from jupyter_aiarts.engines.kubernetes.phase import Facts, read_summary
from jupyter_aiarts.engines.kubernetes.submit import ABANDONED, sweep
from jupyter_aiarts.errors import ClusterUnreachable

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.objects import JobObject

log = logging.getLogger(__name__)

AGAIN, LONGEST = 5.0, 600.0
"""Seconds after which something that the cluster refused is tried again, twice as long each time."""


class Keeper:
    """Looks after jobs as they change.

    `facts` tells what is known of a job, `starting` of all that have a place for a part of their nodes, `took` hears of
    objects we changed.
    """

    def __init__(
        self,
        api: Api,
        facts: Callable[[str], Facts | None],
        starting: Callable[[], list[Facts]],
        took: Callable[[JobObject], None],
        creating: Callable[[], list[JobObject]],
    ) -> None:
        self._api = api
        self._facts = facts
        self._starting = starting
        self._took = took
        self._creating = creating
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._partial: set[str] = set()  # jobs for which matters what becomes of others
        self._failures: dict[str, int] = {}
        self._sweeping: asyncio.TimerHandle | None = None

    def look(self, job_ids: Iterable[str]) -> None:
        """These jobs changed: see what is to be done for each, and for those that depend on others.

        One thing at a time per job.
        """
        for job_id in {*job_ids, *self._partial}:
            if job_id in self._tasks:
                self._again.add(job_id)
            elif self._work(job_id):
                self._start(job_id)

    def _start(self, key: str, work: Callable[[], Awaitable[None]] | None = None) -> None:
        self._tasks[key] = asyncio.create_task(self._run(key, work or (lambda: self._tend(key))))

    async def _run(self, key: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
            self._failures.pop(key, None)
        except (Refused, ClusterUnreachable) as error:
            log.warning("Something for job %s could not be done: %s", key, error)
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            self._again.add(key)
            await asyncio.sleep(min(AGAIN * 2.0 ** min(failures - 1, 10), LONGEST))
        finally:
            self._tasks.pop(key, None)
        if key in self._again:
            self._again.discard(key)
            self.look([key])

    def _work(self, job_id: str) -> list[Callable[[Facts], Awaitable[JobObject]]]:
        """What a job needs now, most urgent first; empty nearly always."""
        facts = self._facts(job_id)
        if facts is None or facts.job.is_deleting:
            self._partial.discard(job_id)
            return []
        found: list[Callable[[Facts], Awaitable[JobObject]]] = []
        if last_words(facts) is not None:
            found.append(self._keep_words)
        if spent.news(facts) is not None:
            found.append(self._keep_time)
        if not moves.is_held(facts.job, facts.workload):
            found.append(self._hold)
        if gang.is_forsaken(facts):
            found.append(self._hold)
        if self._is_to_move(job_id, facts):
            found.append(self._give_way)
        return found

    def _is_to_move(self, job_id: str, facts: Facts) -> bool:
        """Whether a job is to give way to another, or to come back."""
        away = gang.gives_way(facts)
        if not away and (facts.job.queue is not None or not gang.is_half_placed(facts)):
            self._partial.discard(job_id)
            return False  # Kueue lets whole jobs go, and would unsuspend this one at once
        self._partial.add(job_id)
        return (gang.ahead(facts, self._starting()) is None) is away

    async def _tend(self, job_id: str) -> None:
        for step in self._work(job_id):
            facts = self._facts(job_id)
            if facts is not None:
                self._took(await step(facts))

    async def _hold(self, facts: Facts) -> JobObject:
        return await moves.end(self._api, facts.job, facts.workload, facts.job.intent)

    async def _give_way(self, facts: Facts) -> JobObject:
        first = None if gang.gives_way(facts) else gang.ahead(facts, self._starting())
        return await moves.give_way(self._api, facts.job, first.job.job_id if first is not None else None)

    async def _keep_time(self, facts: Facts) -> JobObject:
        return await spent.keep(self._api, facts)

    async def _keep_words(self, facts: Facts) -> JobObject:
        return await moves.keep_summary(self._api, facts.job, last_words(facts) or "")

    def sweep(self) -> None:
        """Remove what crashes left, now and as long as something is being created for too long."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        if self._creating():
            self._start("sweep", self._sweep)

    async def _sweep(self) -> None:
        await sweep(self._api, self._creating())
        loop = asyncio.get_running_loop()
        self._sweeping = loop.call_later(ABANDONED.total_seconds(), self.sweep) if self._creating() else None

    async def aclose(self) -> None:
        """Stop looking; what is under way is cut off, and done by whoever looks next."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def last_words(facts: Facts) -> str | None:
    """Node 0's newest account of this attempt, when its pod has it and the Job does not yet."""
    attempt = facts.job.attempt
    read = [(read_summary(pod.message), pod.message) for pod in facts.pods if pod.index == 0]
    said = [(one.ended, text) for one, text in read if one is not None and one.attempt == attempt]
    kept = read_summary(facts.job.metadata.annotations.summary)
    if not said or (kept is not None and kept.attempt == attempt and kept.ended >= max(said)[0]):
        return None
    return max(said)[1]
