"""Making the service out of the server's settings; imported by the first request, with all that it brings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import Engine
    from jupyter_aiarts.server.app import AiartsApp


async def open_service(app: AiartsApp) -> JobService:
    """A started service over the engines that are configured; called by `AiartsApp.service`."""
    engines = await asyncio.to_thread(open_engines, app, settings_of(app))
    service = JobService(engines, TemplateStore(app.state / "templates"), lambda name: app.kernels.folder_of(name))
    await service.start()
    return service


def open_engines(app: AiartsApp, settings: Settings) -> dict[str, Engine]:
    """This machine, then the clusters."""
    return {"local": open_local(app.state, settings), **open_clusters(app)}


def open_clusters(app: AiartsApp) -> dict[str, Engine]:
    """The clusters that are configured, and the one this server is a pod of; nothing is asked of them yet.

    One with a wrong configuration is left out, with all that is wrong in the server's log: the others still work.
    """
    if not app.has_clusters:
        return {}  # without a cluster nothing of that engine is imported
    from jupyter_aiarts.engines.kubernetes import open_cluster, open_own_cluster

    found: dict[str, Engine] = {}
    own = open_own_cluster(app.state)
    if own is not None:
        found[own.name] = own
    for name, raw in app.clusters.items():
        try:
            found[name] = open_cluster(name, raw, app.state)
        except AiartsError as error:
            app.log.error("The cluster %r is left out. %s %s", name, error, error.hint)
    return found


def settings_of(app: AiartsApp) -> Settings:
    """What the state folder is to remember of the admin's configuration."""
    local = app.local
    return Settings(
        devices=dict(local.devices),
        cpus=local.cpus,
        log_limit_gb=local.log_limit_gb,
        retention_days=app.retention_days,
    )
