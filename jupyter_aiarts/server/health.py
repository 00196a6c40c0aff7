"""Route for the state of this installation: versions on both sides, clusters, what is stale."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from jupyter_server._version import __version__ as jupyter_server_version
from jupyter_server.auth.decorator import authorized
from tornado import web

import jupyter_aiarts
from jupyter_aiarts.server.base import AiartsHandler


class HealthHandler(AiartsHandler):
    """`health`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Versions, clusters, and how many jobs there are."""
        service = await self.service()
        health = await service.health()
        versions = {
            "server": jupyter_aiarts.__version__,
            "labextension": await asyncio.to_thread(labextension_version),
            "jupyter_server": jupyter_server_version,
        }
        self.answer({**health, "versions": versions})


def labextension_version() -> str | None:
    """The version of the sidebar that this package ships, or None where it was not built."""
    package = Path(jupyter_aiarts.__file__).parent / "labextension" / "package.json"
    try:
        version = json.loads(package.read_bytes())["version"]
    except (FileNotFoundError, KeyError, ValueError):
        return None
    return str(version)
