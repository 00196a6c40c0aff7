"""The kernels of this server as jupyter_server knows them: their processes, their notebooks, when they come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from posixpath import basename
from typing import TYPE_CHECKING, Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from jupyter_aiarts.holding import Kernel

if TYPE_CHECKING:
    from jupyter_client.session import Session
    from jupyter_server.serverapp import ServerApp
    from zmq.eventloop.zmqstream import ZMQStream

COMING_AND_GOING = "https://events.jupyter.org/jupyter_server/kernel_actions/v1"


class ServerKernels:
    """Made by `AiartsApp` with the service. A kernel that runs elsewhere, as behind a gateway, has no process here."""

    def __init__(self, server: ServerApp) -> None:
        self._server = server
        self._cells: dict[str, int] = {}
        self._heard: dict[str, ZMQStream] = {}

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call this whenever a kernel was started, restarted or ended; what it returns puts an end to that."""

        async def heard(logger: object, schema_id: str, data: object) -> None:
            changed()

        events = self._server.event_logger
        assert events is not None  # jupyter_server makes it before it loads extensions
        events.add_listener(schema_id=COMING_AND_GOING, listener=heard)
        return lambda: events.remove_listener(schema_id=COMING_AND_GOING, listener=heard)

    async def living(self) -> list[Kernel]:
        """Those whose process runs on this machine; a process that was not waited for keeps its pid for itself."""
        manager = self._server.kernel_manager
        found = []
        for key in manager.list_kernel_ids():
            process = getattr(manager.get_kernel(key), "provisioner", None)
            if isinstance(process, LocalProvisioner) and process.pid and await process.poll() is None:
                found.append(Kernel(id=key, pid=process.pid, cells=self._cells.get(key, 0)))
        return found

    def attend(self, ids: Iterable[str]) -> None:
        """Count the cells that these kernels run from now on, and no others'. Those that hold cards and do nothing have
        little to say, so hearing all of it costs next to nothing; Jupyter's own times and states of kernels would not
        do, for a page that comes back, or an extension that asks how much memory there is, changes them too."""
        manager = self._server.kernel_manager
        wanted = {key for key in ids if key in manager}
        for key in self._heard.keys() - wanted:
            self._heard.pop(key).close()
            self._cells.pop(key, None)
        for key in wanted - self._heard.keys():
            kernel = manager.get_kernel(key)
            stream: Any = kernel.connect_iopub()  # jupyter_client says that it is a bare socket
            stream.on_recv(partial(self._hear, key, kernel.session.clone()))
            self._heard[key] = stream

    def _hear(self, key: str, session: Session, parts: list[bytes]) -> None:
        """Only what a person runs is said again by the kernel; what pages and extensions run silently is not."""
        try:
            said = session.deserialize(session.feed_identities(parts)[1], content=False)
        except ValueError:  # not signed as this kernel's messages are, or no message
            return
        if said["header"]["msg_type"] == "execute_input":
            self._cells[key] = self._cells.get(key, 0) + 1

    async def notebooks(self) -> dict[str, tuple[str, str]]:
        """Name and path of the notebook or console that has each kernel; the kernel's own name where none has it."""
        manager = self._server.kernel_manager
        sessions = await self._server.session_manager.list_sessions()
        alone = {key: (str(manager.get_kernel(key).kernel_name), "") for key in manager.list_kernel_ids()}
        return alone | {one["kernel"]["id"]: _named(one) for one in sessions if one.get("kernel")}


def _named(session: dict[str, Any]) -> tuple[str, str]:
    """A notebook by its file; a console, whose path means nothing to anybody, by its name."""
    path, name = str(session.get("path") or ""), str(session.get("name") or "")
    return (basename(path) or name, path) if session.get("type") == "notebook" else (name or path, "")
