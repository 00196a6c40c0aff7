"""The service without a server: the same requests and answers as over HTTP, made in this process.

The command line works this way outside Jupyter, and so does a kernel that belongs to no server. The service
is asynchronous and a kernel's own loop is busy, so it lives on a loop in a thread of its own.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_aiarts.answers import Request, book, deed_of, followed, owner, repaired, route_of
from jupyter_aiarts.engines.local import open_local, state_folder
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.kernel.errors import RequestFailed
from jupyter_aiarts.kernel.transport import Answer, Transport
from jupyter_aiarts.model.names import check_id
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore

if TYPE_CHECKING:
    from jupyter_aiarts.audit import AuditLog

T = TypeVar("T")


class InProcessTransport(Transport):
    """`JobService` over the local engine; made by `kernel.api.connect` when there is no server."""

    def __init__(self, state_dir: Path | None = None) -> None:
        folder = state_dir or state_folder()
        self.where = str(folder)
        self._audit_file = folder / "audit.log"
        self._audit: AuditLog | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="aiarts", daemon=True)
        self._thread.start()
        try:
            self._service = self._wait(_open(folder))
        except BaseException:
            self._end_loop()
            raise

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """See `Transport.request`."""
        route, parts = route_of(method, path)
        asked = Request(self._service, parts, query or {}, body, headers or {})
        try:
            answer = self._wait(_answered(route(asked)), asked.lang)
        except RequestFailed as error:
            self._note(deed_of(route, asked), asked, error.status)
            raise
        self._note(deed_of(route, asked), asked, answer.status, answer.body)
        return answer

    def _note(self, deed: str | None, asked: Request, status: int, body: Any = None) -> None:
        """Write a deed into the audit log beside the jobs, as a server would; None is no deed."""
        if deed is None:
            return
        if self._audit is None:
            from jupyter_aiarts.audit import AuditLog

            self._audit = AuditLog(self._audit_file, logging.getLogger(__name__))
        self._audit.note(owner(), deed, _subject(asked, body), status)

    def stream(self, path: str, query: Mapping[str, Any] | None = None, body: Any = None) -> Iterator[dict[str, Any]]:
        """See `Transport.stream`; ends the service's side too when the reader stops early."""
        route, parts = route_of("GET" if body is None else "POST", path)
        request = Request(self._service, parts, query or {}, body, {})
        steps = _Steps(repaired(request) if path == "kernels/repair" else followed(request))
        status = 200
        try:
            while True:
                batch = self._wait(steps.next(), request.lang)
                if batch is None:
                    return
                yield from batch
        except RequestFailed as error:
            status = error.status
            raise
        finally:
            if not self._loop.is_closed():
                self._wait(steps.aclose())
            self._note(deed_of(route, request), request, status)

    def close(self) -> None:
        """Stop watching; jobs go on."""
        if self._audit is not None:
            self._audit.close()
        self._wait(self._service.aclose())
        self._wait(self._loop.shutdown_asyncgens())
        self._wait(self._loop.shutdown_default_executor())
        self._end_loop()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, T], lang: str = "en") -> T:
        """The result of something done on the loop; an interrupt here cancels it there."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except AiartsError as error:
            raise _refused(error, lang) from None
        except BaseException:
            future.cancel()
            raise


def _refused(error: AiartsError, lang: str) -> RequestFailed:
    """The error as the server would have sent it."""
    from jupyter_aiarts.explain.problems import refusal

    said = refusal(error, lang)
    return RequestFailed(error.status, said["code"], said["message"], said["hint"], said.get("problems", ()))


async def _open(folder: Path) -> JobService:
    engine = await asyncio.to_thread(open_local, folder)
    return JobService({"local": engine}, TemplateStore(folder / "templates"), lambda name: book().folder_of(name))


async def _answered(work: Awaitable[Answer]) -> Answer:
    return await work


class _Steps:
    """A followed log read step by step from another thread, which may be interrupted in the middle of one."""

    def __init__(self, batches: AsyncGenerator[list[dict[str, Any]], None]) -> None:
        self._batches = batches
        self._step: asyncio.Task[Any] | None = None

    async def next(self) -> list[dict[str, Any]] | None:
        """The next batch; None after the last."""
        self._step = asyncio.current_task()
        return await anext(self._batches, None)

    async def aclose(self) -> None:
        """End it. A step that still runs goes first: a generator cannot be closed while it is running."""
        if self._step is not None and not self._step.done():
            self._step.cancel()
            await asyncio.wait([self._step])
        await self._batches.aclose()


def _subject(asked: Request, body: Any) -> str | None:
    """A template's name, what names an environment, as the server has it, or a job's id."""
    if "name" in asked.parts:
        return asked.parts["name"][:63]
    if "act" in asked.parts:
        return str(asked.body.get("which", ""))[:200]
    return _known_id(asked.parts.get("job") or (body or {}).get("id"))


def _known_id(text: str | None) -> str | None:
    """An id, where it can be one: nothing else that somebody typed gets into the log."""
    try:
        return check_id(text) if text is not None else None
    except AiartsError:
        return None
