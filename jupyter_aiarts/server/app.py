"""The extension of jupyter_server: its settings, and the one service behind all routes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.utils import url_path_join
from prometheus_client import REGISTRY
from tornado.routing import Rule
from traitlets import Bool, Dict, Enum, Float, Int, List, TraitError, Unicode, default, validate
from traitlets.config import Configurable

from jupyter_aiarts._version import __version__
from jupyter_aiarts.server.router import AiartsRouter, Below

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jupyter_server.serverapp import ServerApp
    from prometheus_client.core import Metric

    from jupyter_aiarts.audit import AuditLog
    from jupyter_aiarts.holdwatch import HoldWatch
    from jupyter_aiarts.kernelbook import Deed, KernelBook
    from jupyter_aiarts.kernelwatch import KernelWatch
    from jupyter_aiarts.server.activity import Activity
    from jupyter_aiarts.server.reporting import Report
    from jupyter_aiarts.service import JobService


class LocalEngine(Configurable):
    """Settings of the engine on this machine; the state folder keeps them for supervisor and CLI."""

    devices: Dict[str, int] = Dict(
        value_trait=Int(min=0),
        key_trait=Unicode(),
        help="Cards this machine is said to have, e.g. {'huawei_npu_arm64': 8}; shown as declared.",
    ).tag(config=True)
    log_limit_gb = Float(2.0, min=0.001, help="Disk that one rank's log may take; what is dropped is marked.").tag(
        config=True
    )
    cpus = Int(None, min=1, allow_none=True, help="CPUs that jobs may use together; all of them when not set.").tag(
        config=True
    )


class Kernels(Configurable):
    """Settings of environments as kernels."""

    directory = Unicode("", help="Where kernels for all go; a shared folder of Jupyter's by default.").tag(config=True)
    folders: List[str] = List(Unicode(), help="More folders with environments, or of one, that all may use.").tag(
        config=True
    )
    auto_register = Bool(
        False,
        help="Make kernels of new environments by itself, for everybody where that may be written; remove those whose "
        "environment is gone.",
    ).tag(config=True)


class AiartsApp(ExtensionApp):
    """Training jobs in JupyterLab. Loading it adds one rule and no more; the first request starts the rest."""

    name = "jupyter_aiarts"
    version = __version__
    extension_url = "/lab"
    load_other_extensions = True
    classes = [*ExtensionApp.classes, LocalEngine, Kernels]  # noqa: RUF012  # traitlets' own, an instance variable to mypy

    state_dir = Unicode(help="Where jobs, logs and templates are kept; AIARTS_STATE_DIR in the environment wins.").tag(
        config=True
    )
    clusters: Dict[str, Any] = Dict(key_trait=Unicode(), help="Kubernetes clusters by name, beside `local`.").tag(
        config=True
    )
    retention_days = Float(
        None, min=0, allow_none=True, help="Finished jobs older than this are removed; never when not set."
    ).tag(config=True)
    keep_server_active = Bool(True, help="Count the server as active while local jobs run.").tag(config=True)
    audit_log = Bool(True, help="Write who did what when to audit.log in the state folder.").tag(config=True)
    webhook_url = Unicode(
        "", help="Told when a job ends or waits for long: https, or this machine; only in the admin's file."
    ).tag(config=True)
    webhook_language = Enum(("en", "zh"), "en", help="The language of what the webhook is told.").tag(config=True)
    webhook_nodes = Bool(
        False, help="Tell of nodes too that are not ready, full or have unhealthy cards; on an admin's server only."
    ).tag(config=True)
    webhook_waiting_minutes = Float(60.0, min=0, help="A job that waits longer than this is told of; 0: none is.").tag(
        config=True
    )

    _service: JobService | None = None
    _kernels: KernelBook | None = None
    _kernel_watch: KernelWatch | None = None
    _collector: Collector | None = None
    _opening: asyncio.Task[JobService] | None = None
    _audit: AuditLog | None = None
    _activity: Activity | None = None
    _holding: HoldWatch | None = None
    _report: Report | None = None

    @default("state_dir")
    def _default_state_dir(self) -> str:
        return str(Path(self.data_dir) / "aiarts")

    @validate("webhook_url")
    def _check_webhook_url(self, proposal: dict[str, str]) -> str:
        if not proposal["value"]:
            return ""
        from jupyter_aiarts.server.webhook import check_url

        try:
            return check_url(proposal["value"])
        except ValueError as error:
            raise TraitError(str(error)) from error

    @property
    def local(self) -> LocalEngine:
        """The local engine's settings."""
        return LocalEngine(parent=self)

    @property
    def kernels(self) -> KernelBook:
        """All environments and their kernels; made when somebody first looks."""
        if self._kernels is None:
            from jupyter_aiarts.kernelbook import KernelBook, KernelSettings

            given = Kernels(parent=self)
            settings = KernelSettings(
                directory=given.directory, folders=tuple(given.folders), auto_register=given.auto_register
            )
            self._kernels = KernelBook(settings)
        return self._kernels

    @property
    def kernel_watch(self) -> KernelWatch:
        """What notices new environments; made when somebody first looks, or at the start with `auto_register`."""
        if self._kernel_watch is None:
            from jupyter_aiarts.kernelwatch import KernelWatch

            memory = self.state / "kernels.json" if Kernels(parent=self).auto_register else None
            self._kernel_watch = KernelWatch(self.kernels, self.note_kernels, self._note_deed, memory, self.log)
        return self._kernel_watch

    def note_kernels(self) -> None:
        """Tell open pages that kernels are others; called by whoever changed them or saw it."""
        if self._service is not None:
            self._service.note_kernels()

    def _note_deed(self, deed: Deed) -> None:
        """What `auto_register` did or could not do, in the server's log and in the audit log."""
        if deed.problem:
            self.log.warning("Kernels.auto_register: %s: %s", deed.path, deed.problem)
        elif deed.action == "register-kernel":
            whom = "everybody" if deed.scope == "global" else "this user"
            self.log.info("Kernels.auto_register: %s is now the kernel %s for %s.", deed.path, deed.spec, whom)
        else:
            self.log.info("Kernels.auto_register: removed the kernel %s, because %s is gone.", deed.spec, deed.path)
        self.note("auto_register", deed.action, deed.path[:200], 403 if deed.problem else 200)

    @property
    def state(self) -> Path:
        """The state folder that is really used."""
        return Path(os.environ.get("AIARTS_STATE_DIR") or self.state_dir).expanduser()

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        """As traitlets', for what jupyter_server's own parser left over, which is mostly nothing."""
        if argv is None or argv:  # a parser takes longer to make than all our routes
            super().parse_command_line(argv)

    def initialize_handlers(self) -> None:
        """Add the one rule for all our routes; called by jupyter_server while it starts."""
        assert self.serverapp is not None
        application = self.serverapp.web_app
        prefix = url_path_join(application.settings["base_url"], "aiarts/")
        rule = Rule(Below(prefix), AiartsRouter(application, prefix, self.name))
        application.add_handlers(".*$", [rule])  # type: ignore[no-untyped-call]  # jupyter_server has no types there

    async def _start_jupyter_server_extension(self, serverapp: ServerApp) -> None:
        """Called by jupyter_server once it runs: jobs that outlived the last server count for this one at once.

        Logs of pods are kept whether or not a page is open, so with a cluster the service does not wait for one.
        """
        if Kernels(parent=self).auto_register:
            self.kernel_watch.start()
        if self.has_clusters or await asyncio.to_thread(has_entries, self.state / "active"):
            await self.service()

    @property
    def has_clusters(self) -> bool:
        """Whether jobs may run elsewhere: on a configured cluster, or on the one this server is a pod of."""
        return bool(self.clusters) or "KUBERNETES_SERVICE_HOST" in os.environ

    async def is_untouched(self) -> bool:
        """Whether no job was ever kept here: whoever does not use the extension does not load it either."""
        if self._service is not None or self.has_clusters:
            return False
        return not await asyncio.to_thread(has_entries, self.state / "jobs")

    async def service(self) -> JobService:
        """The service, started by whoever asks first; several who ask at once wait for the same start."""
        if self._service is None:
            if self._opening is None:
                self._opening = asyncio.ensure_future(self._open())
            # Shielded: one impatient browser must not cancel the start for everybody else.
            self._service = await asyncio.shield(self._opening)
        return self._service

    async def _open(self) -> JobService:
        from jupyter_aiarts.server.activity import Activity
        from jupyter_aiarts.server.opening import open_service

        try:
            service = await open_service(self)
        finally:
            self._opening = None
        if self.keep_server_active and self.serverapp is not None:
            times = self.serverapp.web_app.settings["last_activity_times"]
            self._activity = Activity(times, service.active_here)
            self._activity.watch(service.subscribe(usage=False))
        if self.serverapp is not None:
            from jupyter_aiarts.holdwatch import HoldWatch
            from jupyter_aiarts.server.ownkernels import ServerKernels

            self._holding = HoldWatch(ServerKernels(self.serverapp), service.machine, service.note_idle)
        self._collector = Collector(service)
        if self.webhook_url or self.webhook_nodes:
            from jupyter_aiarts.server.reporting import report

            self._report = await report(self, service)
        return service

    def note(self, user: str, action: str, subject: str | None, status: int) -> None:
        """Write one line to the audit log, if there is one; called by handlers that changed or tried to."""
        if not self.audit_log:
            return
        if self._audit is None:
            from jupyter_aiarts.audit import AuditLog

            self._audit = AuditLog(self.state / "audit.log", self.log)
        self._audit.note(user, action, subject, status)

    def current_activity(self) -> dict[str, int] | None:
        """Local jobs that run, for jupyter_server's own shutdown after inactivity."""
        running = self._service.active_here() if self._service is not None and self.keep_server_active else 0
        return {"jobs": running} if running else None

    async def stop_extension(self) -> None:
        """Let go of everything; jobs go on. Called by jupyter_server when it stops."""
        if self._kernel_watch is not None:
            await self._kernel_watch.aclose()
            self._kernel_watch = None
        if self._kernels is not None:
            await self._kernels.aclose()
        if self._activity is not None:
            self._activity.close()
        if self._holding is not None:
            await self._holding.aclose()
        if self._report is not None:
            await self._report.aclose()
        if self._collector is not None:
            REGISTRY.unregister(self._collector)
            self._collector = None
        if self._opening is not None:
            await asyncio.wait({self._opening})
        if self._service is not None:
            await self._service.aclose()
            self._service = None
        if self._audit is not None:
            await asyncio.to_thread(self._audit.close)
            self._audit = None


class Collector:
    """Our part of jupyter_server's `/metrics`; what makes it is imported by the first scrape."""

    def __init__(self, service: JobService) -> None:
        self._service = service
        REGISTRY.register(self)

    def describe(self) -> Iterable[Metric]:
        """Nothing: two servers of one process may each have theirs."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Called for every scrape."""
        from jupyter_aiarts.server.metrics import collected

        return collected(self._service)


def has_entries(folder: Path) -> bool:
    """Whether a folder holds anything; one that cannot be read may."""
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except FileNotFoundError:
        return False
    except OSError:
        return True
