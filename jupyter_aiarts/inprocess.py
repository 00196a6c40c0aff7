"""The service without a server: the same requests and answers as over HTTP, made in this process.

The command line works this way outside Jupyter, and so does a kernel that belongs to no server. The service
is asynchronous and a kernel's own loop is busy, so it lives on a loop in a thread of its own.
"""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
import re
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from urllib.parse import quote, unquote

import msgspec

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local import open_local, state_folder
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.kernel.caller import read_header
from jupyter_aiarts.kernel.errors import RequestFailed
from jupyter_aiarts.kernel.transport import Answer, Transport
from jupyter_aiarts.model.job import LogLine
from jupyter_aiarts.model.names import check_id, user_name
from jupyter_aiarts.model.phase import Move
from jupyter_aiarts.picture import ListQuery
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore

if TYPE_CHECKING:
    from jupyter_aiarts.audit import AuditLog
    from jupyter_aiarts.kernelbook import KernelBook
    from jupyter_aiarts.model.environment import KernelRequest

T = TypeVar("T")
Route = Callable[["Request"], Coroutine[Any, Any, Answer]]


class Request(NamedTuple):
    """One request as a route sees it; `parts` are the named pieces of its path."""

    service: JobService
    parts: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any
    headers: Mapping[str, str]

    @property
    def lang(self) -> str:
        return self.query.get("lang") or "en"

    @property
    def job(self) -> str:
        return check_id(self.parts["job"])


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
        route, parts = _route(method, path)
        asked = Request(self._service, parts, query or {}, body, headers or {})
        try:
            answer = self._wait(_answered(route(asked)))
        except RequestFailed as error:
            self._note(deed_of(route, asked), parts, error.status)
            raise
        self._note(deed_of(route, asked), parts, answer.status, answer.body)
        return answer

    def _note(self, deed: str | None, parts: Mapping[str, str], status: int, body: Any = None) -> None:
        """Write a deed into the audit log beside the jobs, as a server would; None is no deed."""
        if deed is None:
            return
        if self._audit is None:
            from jupyter_aiarts.audit import AuditLog

            self._audit = AuditLog(self._audit_file, logging.getLogger(__name__))
        subject = parts["name"][:63] if "name" in parts else _known_id(parts.get("job") or (body or {}).get("id"))
        self._audit.note(_owner(), deed, subject, status)

    def stream(self, path: str, query: Mapping[str, Any] | None = None, body: Any = None) -> Iterator[dict[str, Any]]:
        """See `Transport.stream`; ends the service's side too when the reader stops early."""
        _, parts = _route("GET" if body is None else "POST", path)
        request = Request(self._service, parts, query or {}, body, {})
        steps = _Steps(_repaired(request) if path == "kernels/repair" else _followed(request))
        try:
            while True:
                batch = self._wait(steps.next())
                if batch is None:
                    return
                yield from batch
        finally:
            if not self._loop.is_closed():
                self._wait(steps.aclose())

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

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of something done on the loop; an interrupt here cancels it there."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except AiartsError as error:
            raise _refused(error) from None
        except BaseException:
            future.cancel()
            raise


def _refused(error: AiartsError) -> RequestFailed:
    """The error as the server would have sent it."""
    said = error.as_dict()
    return RequestFailed(error.status, said["code"], said["message"], said["hint"], said.get("problems", ()))


async def _open(folder: Path) -> JobService:
    engine = await asyncio.to_thread(open_local, folder)
    return JobService({"local": engine}, TemplateStore(folder / "templates"))


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


def _caller(request: Request) -> Caller:
    """Who asks: this process's user and folder, and the Python and variables the client tells of."""
    said = read_header(request.headers)
    return Caller(owner=_owner(), python=said["python"], environ=said["environ"], folder=Path.cwd())


def _owner() -> str:
    try:
        return user_name(getpass.getuser())
    except (KeyError, OSError):
        return user_name(f"uid-{os.getuid()}")


def _known_id(text: str | None) -> str | None:
    """An id, where it can be one: nothing else that somebody typed gets into the log."""
    try:
        return check_id(text) if text is not None else None
    except AiartsError:
        return None


def deed_of(route: Route, request: Request) -> str | None:
    """What the audit log calls a request; None for one that changes nothing."""
    tried = request.body if route is _fix and isinstance(request.body, Mapping) else request.query
    if tried.get("dry_run"):
        return None
    return request.parts["move"] if route is _move else DEEDS.get(route)


# --- routes: the REST table of spec section 10, verb by verb --------------------------------------


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, headers or {}, msgspec.to_builtins(value))


async def _list(request: Request) -> Answer:
    asked = {key: request.query.get(key) for key in ("limit", "after", "phase", "q", "owner")}
    query = ListQuery(mine=bool(request.query.get("mine")), **asked)
    return Answer(200, {}, msgspec.json.decode(await request.service.jobs(query, request.lang)))


async def _submit(request: Request) -> Answer:
    raw = request.body
    if request.query.get("dry_run"):
        return _json(await request.service.try_out(raw, _caller(request), request.lang))
    done = await request.service.submit(raw, _caller(request), request.lang)
    return _json(done.job, 201 if done.created else 200)


async def _show(request: Request) -> Answer:
    return _json(await request.service.get(request.job, request.lang))


async def _edit(request: Request) -> Answer:
    return _json(await request.service.edit(request.job, request.body, request.lang))


async def _delete(request: Request) -> Answer:
    stayed = " ".join(await request.service.delete(request.job, request.lang))
    return Answer(204, {"x-aiarts-left": quote(stayed)} if stayed else {}, None)


async def _move(request: Request) -> Answer:
    return _json(await request.service.act(request.job, Move(request.parts["move"]), request.lang))


async def _logs(request: Request) -> Answer:
    query, run = _log_query(request), request.query.get("run")
    if request.query.get("source") == "npu":
        found, missing = await request.service.npu_log(request.job, run, query.rank, query.tail, request.lang)
        return _json(found, headers={"x-aiarts-no-log": quote(missing)} if missing else {})
    lines = await request.service.logs(request.job, query, run, request.lang)
    why = None if lines else await request.service.no_log(request.job, query, run, request.lang)
    return _json(lines, headers={"x-aiarts-no-log": quote(why)} if why else {})


def _log_query(request: Request) -> LogQuery:
    asked = request.query
    return LogQuery(
        rank=asked.get("rank"),
        grep=asked.get("grep"),
        tail=asked.get("tail"),
        after=asked.get("after"),
        fold=bool(asked.get("fold")),
    )


async def _followed(request: Request) -> AsyncGenerator[list[dict[str, Any]], None]:
    """Batches of lines; before the first, why there is none yet."""
    query, run = _log_query(request), request.query.get("run")
    why = None if query.after else await request.service.no_log(request.job, query, run, request.lang)
    if why:
        yield [_waiting_line(why)]
    lines = request.service.follow(request.job, query, run)
    async with aclosing(cast("AsyncGenerator[list[LogLine], None]", lines)) as batches:
        async for batch in batches:
            yield msgspec.to_builtins(batch)


async def _repaired(request: Request) -> AsyncGenerator[list[dict[str, Any]], None]:
    async with aclosing(_book().repair(_kernel_request(request).which, request.lang)) as said:
        async for line in said:
            yield [{"line": line}]


def _waiting_line(text: str) -> dict[str, Any]:
    return {"seq": "", "t": "", "node": 0, "rank": 0, "stream": "aiarts", "text": text}


async def _explain(request: Request) -> Answer:
    return _json(await request.service.explain(request.job, request.lang))


async def _fix(request: Request) -> Answer:
    from jupyter_aiarts.fixing import read_request

    return _json(await request.service.fix(request.job, read_request(request.body), request.lang))


async def _explanations(request: Request) -> Answer:
    from jupyter_aiarts.explain.codes import meanings

    return _json(meanings(request.lang))


async def _env(request: Request) -> Answer:
    return _json(await request.service.env(request.job, request.query.get("run"), request.query.get("rank") or 0))


async def _events(request: Request) -> Answer:
    return _json(await request.service.events(request.job, request.query.get("run")))


async def _job_usage(request: Request) -> Answer:
    return _json(await request.service.job_usage(request.job, request.query.get("run")))


async def _queues(request: Request) -> Answer:
    return _json(await request.service.queues(request.query.get("cluster"), request.lang))


async def _order(request: Request) -> Answer:
    job = request.query.get("job")
    return _json(await request.service.turns(check_id(job) if job else None, request.lang))


async def _places(request: Request) -> Answer:
    asked, job = request.query, request.query.get("job")
    folder = asked.get("folder") or str(Path.cwd())
    found = await request.service.places(
        asked.get("path"), folder, asked.get("cluster"), check_id(job) if job else None, request.lang
    )
    return _json(found)


async def _health(request: Request) -> Answer:
    return _json(await request.service.health())


async def _cluster(request: Request) -> Answer:
    return _json(await request.service.cluster(request.query.get("cluster"), request.lang))


async def _usage(request: Request) -> Answer:
    return _json(await request.service.usage(request.query.get("history") or 0, request.lang))


def _book() -> KernelBook:
    from jupyter_aiarts.kernelbook import KernelBook

    return KernelBook()


def _kernel_request(request: Request) -> KernelRequest:
    from jupyter_aiarts.model.environment import KernelRequest

    return msgspec.convert(request.body, KernelRequest)


async def _kernels(request: Request) -> Answer:
    return _json(await _book().all(request.lang))


async def _kernel_act(request: Request) -> Answer:
    asked, book = _kernel_request(request), _book()
    if request.parts["act"] == "register":
        return _json(await book.register(asked.which, asked.scope, request.lang))
    if request.parts["act"] == "unregister":
        return _json(await book.unregister(asked.which))
    return _json(await book.doctor(asked.which, request.lang))


async def _templates(request: Request) -> Answer:
    return _json(await request.service.templates())


async def _template(request: Request) -> Answer:
    return _json(await request.service.template(request.parts["name"]))


async def _save_template(request: Request) -> Answer:
    body = request.body
    return _json(await request.service.save_template(request.parts["name"], body["spec"], body["description"]))


async def _delete_template(request: Request) -> Answer:
    await request.service.delete_template(request.parts["name"])
    return Answer(204, {}, None)


DEEDS: dict[Route, str] = {
    _submit: "submit",
    _edit: "edit",
    _delete: "delete",
    _fix: "fix",
    _save_template: "save-template",
    _delete_template: "delete-template",
}
_JOB = r"jobs/(?P<job>[^/]+)"
ROUTES: tuple[tuple[str, re.Pattern[str], Route], ...] = tuple(
    (method, re.compile(pattern), route)
    for method, pattern, route in (
        ("GET", "jobs", _list),
        ("POST", "jobs", _submit),
        ("GET", _JOB, _show),
        ("PATCH", _JOB, _edit),
        ("DELETE", _JOB, _delete),
        ("POST", _JOB + "/(?P<move>stop|pause|resume|rerun|release)", _move),
        ("GET", _JOB + "/logs", _logs),
        ("GET", _JOB + "/explain", _explain),
        ("POST", _JOB + "/explain", _fix),
        ("GET", _JOB + "/env", _env),
        ("GET", _JOB + "/events", _events),
        ("GET", _JOB + "/usage", _job_usage),
        ("GET", "explanations", _explanations),
        ("GET", "health", _health),
        ("GET", "cluster", _cluster),
        ("GET", "usage", _usage),
        ("GET", "queues", _queues),
        ("GET", "queues/order", _order),
        ("GET", "places", _places),
        ("GET", "kernels", _kernels),
        ("POST", "kernels/(?P<act>register|unregister|doctor|repair)", _kernel_act),
        ("GET", "templates", _templates),
        ("GET", "templates/(?P<name>[^/]+)", _template),
        ("PUT", "templates/(?P<name>[^/]+)", _save_template),
        ("DELETE", "templates/(?P<name>[^/]+)", _delete_template),
    )
)


def _route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    for known, pattern, route in ROUTES:
        match = pattern.fullmatch(path)
        if known == method and match:
            return route, {key: unquote(value) for key, value in match.groupdict().items()}
    raise RequestFailed(404, "not-found", f"There is no {method} {path} without a server.")
