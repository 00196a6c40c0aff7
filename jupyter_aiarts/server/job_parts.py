"""Routes for what belongs to one job beside its log: variables, rank table, explanation, events."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.server.base import AiartsHandler

MAX_RUN = 1_000_000
MAX_RANK = 1_000_000


class EnvHandler(AiartsHandler):
    """`jobs/{id}/env`"""

    @web.authenticated
    @authorized
    async def get(self, job_id: str) -> None:
        """The variables one rank was started with; secrets are null."""
        self.checked(job_id)
        run, rank = self.number("run", 1, MAX_RUN), self.number("rank", 0, MAX_RANK)
        service = await self.service()
        self.answer(await service.env(job_id, run, rank or 0))


class RankTableHandler(AiartsHandler):
    """`jobs/{id}/ranktable`"""

    @web.authenticated
    @authorized
    async def get(self, job_id: str) -> None:
        """The rank table of one run, and whether HCCL would take it."""
        self.checked(job_id)
        run = self.number("run", 1, MAX_RUN)
        service = await self.service()
        self.answer(await service.rank_table(job_id, run, self.language))


class ExplainHandler(AiartsHandler):
    """`jobs/{id}/explain`"""

    @web.authenticated
    @authorized
    async def get(self, job_id: str) -> None:
        """Why the job is in its phase, and what to do."""
        self.checked(job_id)
        service = await self.service()
        self.answer(await service.explain(job_id, self.language))

    @web.authenticated
    @authorized
    async def post(self, job_id: str) -> None:
        """Carry out one of its actions, or with `dry_run` only say what would change."""
        from jupyter_aiarts.fixing import read_request

        self.deed = "fix"
        self.checked(job_id)
        request = read_request(self.json_object())
        self.deed = None if request.dry_run else "fix"
        service = await self.service()
        self.answer(await service.fix(job_id, request, self.language))


class JobUsageHandler(AiartsHandler):
    """`jobs/{id}/usage`"""

    @web.authenticated
    @authorized
    async def get(self, job_id: str) -> None:
        """What the cards and ranks of one run do, or did, node by node."""
        self.checked(job_id)
        run = self.number("run", 1, MAX_RUN)
        history = self.flag("history")
        service = await self.service()
        self.answer(await service.job_usage(job_id, run, history))


class EventsHandler(AiartsHandler):
    """`jobs/{id}/events`"""

    @web.authenticated
    @authorized
    async def get(self, job_id: str) -> None:
        """What the platform did for one run, oldest first."""
        self.checked(job_id)
        run = self.number("run", 1, MAX_RUN)
        service = await self.service()
        self.answer(await service.events(job_id, run, self.language))
