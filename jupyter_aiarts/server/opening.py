"""Making the service out of the server's settings; imported by the first request, with all that it brings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore

if TYPE_CHECKING:
    from jupyter_aiarts.server.app import AiartsApp


async def open_service(app: AiartsApp) -> JobService:
    """A started service over the engines that are configured; called by `AiartsApp.service`."""
    if app.clusters:
        app.log.warning("AiartsApp.clusters is set, but this version runs jobs on `local` alone.")
    engine = await asyncio.to_thread(open_local, app.state, settings_of(app))
    service = JobService({"local": engine}, TemplateStore(app.state / "templates"))
    await service.start()
    return service


def settings_of(app: AiartsApp) -> Settings:
    """What the state folder is to remember of the admin's configuration."""
    local = app.local
    return Settings(
        devices=dict(local.devices),
        cpus=local.cpus,
        log_limit_gb=local.log_limit_gb,
        retention_days=app.retention_days,
    )
