"""Routes for queues: what each may give and who waits in it, and why a later job started first."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.server.base import AiartsHandler


class QueuesHandler(AiartsHandler):
    """`queues`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Queues: quota, what is used, who waits and where one's own jobs stand, of one cluster or of all."""
        service = await self.service()
        self.answer(await service.queues(self.word("cluster"), self.language))


class OrderHandler(AiartsHandler):
    """`queues/order`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Starts before jobs that had come earlier, newest first, each with its reason."""
        service = await self.service()
        job = self.word("job")
        self.answer(await service.turns(self.checked(job) if job else None, self.language))
