"""Everything else below `aiarts/`: a 404 that says which routes there are."""

from __future__ import annotations

from typing import NoReturn

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.errors import NoSuchRoute
from jupyter_aiarts.server.base import AiartsHandler


class NowhereHandler(AiartsHandler):
    """The catch-all; last in the table."""

    @web.authenticated
    @authorized
    async def get(self, path: str) -> None:
        """Say what there is instead."""
        self.refuse(path)

    @web.authenticated
    @authorized
    async def post(self, path: str) -> None:
        """Say what there is instead."""
        self.refuse(path)

    @web.authenticated
    @authorized
    async def put(self, path: str) -> None:
        """Say what there is instead."""
        self.refuse(path)

    @web.authenticated
    @authorized
    async def patch(self, path: str) -> None:
        """Say what there is instead."""
        self.refuse(path)

    @web.authenticated
    @authorized
    async def delete(self, path: str) -> None:
        """Say what there is instead."""
        self.refuse(path)

    def refuse(self, path: str) -> NoReturn:
        """Raise the 404; the table is imported here because it names this handler."""
        from jupyter_aiarts.server.routes import ROUTES

        there = ", ".join(route.path for route in ROUTES if route.operations)
        raise NoSuchRoute(f"There is no aiarts/{path[:200]}", hint=f"Below aiarts/ there are: {there}")
