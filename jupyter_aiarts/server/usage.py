"""Route for what this machine is doing: its cards, CPUs, memory, disks and network."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.server.base import AiartsHandler
from jupyter_aiarts.server.places import LONGEST

if TYPE_CHECKING:
    from jupyter_aiarts.model.usage import Filling

MAX_SECONDS = 86_400
MOST_SECONDS = 45  # of counting a folder: whoever asked waits a minute for an answer


class UsageHandler(AiartsHandler):
    """`usage`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The newest look at this machine, and what was seen before, if asked for."""
        service = await self.service()
        self.answer(await service.usage(self.number("history", 1, MAX_SECONDS) or 0, self.language))


class DiskHandler(AiartsHandler):
    """`usage/disk`"""

    _counting: asyncio.Task[Filling] | None = None

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What takes the room below a folder, the largest first; ends when nobody waits for it any more."""
        path = self.get_query_argument("path", "", strip=False)
        if len(path) > LONGEST:
            self.word("path", LONGEST)
        service = await self.service()
        seconds = self.number("seconds", 1, MOST_SECONDS)
        self._counting = asyncio.ensure_future(
            service.filling(str(self.root / path) if path else str(self.root), seconds)
        )
        await asyncio.wait({self._counting})
        if not self._counting.cancelled():
            self.answer(self._counting.result())

    def on_connection_close(self) -> None:
        """The client went: stop counting for it."""
        if self._counting is not None:
            self._counting.cancel()
        super().on_connection_close()
