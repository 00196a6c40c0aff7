"""Route for what this machine is doing: its cards, CPUs, memory, disks and network."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.server.base import AiartsHandler

MAX_SECONDS = 86_400


class UsageHandler(AiartsHandler):
    """`usage`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The newest look at this machine, and what was seen before, if asked for."""
        service = await self.service()
        self.answer(await service.usage(self.number("history", 1, MAX_SECONDS) or 0, self.language))
