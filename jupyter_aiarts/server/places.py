"""Route for the path map: where storage is, and where one path is visible."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.server.base import AiartsHandler

LONGEST = 4096  # characters of a path, as the kernel


class PlacesHandler(AiartsHandler):
    """`places`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Storage places as this server, pods and nodes name them; with a path, where it is visible and why not."""
        job, folder = self.word("job"), self.word("folder", LONGEST)
        # as it was written: what is wrong with a path may be the spaces around it
        path = self.get_query_argument("path", "", strip=False)
        if len(path) > LONGEST:
            self.word("path", LONGEST)
        service = await self.service()
        found = await service.places(
            path or None,
            folder if folder and folder.startswith("/") else str(self.root),
            self.word("cluster"),
            self.checked(job) if job else None,
            self.language,
        )
        self.answer(found)
