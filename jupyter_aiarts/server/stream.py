"""The websocket that pushes every change to whoever looks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from jupyter_aiarts.server.asking import Asking
from jupyter_aiarts.server.base import AUTH_RESOURCE, ErrorAnswers
from jupyter_aiarts.server.heartbeat import never_silent

if TYPE_CHECKING:
    from jupyter_aiarts.server.app import AiartsApp
    from jupyter_aiarts.service import JobService

MAX_INCOMING = 4096
# A page hears no ping: without a word now and then it cannot tell a quiet stream from one whose connection died.
ALIVE = b'{"type":"alive"}'
ALIVE_EVERY = 60.0


class StreamHandler(ErrorAnswers, Asking, ExtensionHandlerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """`stream`: a snapshot, then changes. It only tells; what a client sends is bounded and not read.

    It is no `APIHandler`, so an open panel does not count as activity and an idle server can be culled.
    """

    auth_resource = AUTH_RESOURCE
    _telling: asyncio.Task[None] | None = None

    @ws_authenticated
    @authorized
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Check who asks and from where, start the service, and only then upgrade."""
        if not self.check_origin():
            raise HTTPError(403, "This page's origin may not open the stream")
        self.job_service: JobService = await cast("AiartsApp", self.extensionapp).service()
        await super().get(*args, **kwargs)

    @property
    def max_message_size(self) -> int:
        """Clients have nothing to say here; a longer message closes the connection."""
        return MAX_INCOMING

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Begin to tell; called by tornado after the upgrade."""
        super().open(*args, **kwargs)
        self._telling = asyncio.ensure_future(self._tell())

    def on_message(self, message: str | bytes) -> None:
        """Nothing: the stream goes one way."""

    def on_close(self) -> None:
        """Stop telling, so that the service forgets this subscriber."""
        if self._telling is not None:
            self._telling.cancel()

    async def _tell(self) -> None:
        """Pass on what the service says, at the client's pace; it joins changes for a slow one.

        However that ends, the connection does: a page that is told nothing more would wait for ever, one that was left
        comes again.
        """
        try:
            words = cast("AsyncGenerator[bytes, None]", self.job_service.subscribe(self.language))
            async with aclosing(never_silent(words, ALIVE, ALIVE_EVERY)) as messages:
                async for message in messages:
                    await self.write_message(message)
        except WebSocketClosedError:
            return
        except Exception as error:  # a mistake of ours
            self.log_exception(type(error), error, error.__traceback__)
        self.close()
