"""Route for the machines behind the jobs: their cards, who holds them, what fits now."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.server.base import AiartsHandler


class ClusterHandler(AiartsHandler):
    """`cluster`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Nodes, their cards, who holds them and what fits now, of one cluster or of all."""
        service = await self.service()
        self.answer(await service.cluster(self.word("cluster"), self.language))
