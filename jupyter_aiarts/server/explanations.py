"""Route for all that an explanation can say."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.server.base import AiartsHandler


class ExplanationsHandler(AiartsHandler):
    """`explanations`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Every code with its title, reason and actions, by family."""
        from jupyter_aiarts.explain.codes import meanings

        self.answer(meanings(self.language))
