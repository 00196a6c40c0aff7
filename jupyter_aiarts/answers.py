"""What each request is answered by where there is no server: the REST table of spec section 10, verb by verb."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote, unquote

import msgspec

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.kernel.caller import read_header
from jupyter_aiarts.kernel.errors import RequestFailed
from jupyter_aiarts.kernel.transport import Answer
from jupyter_aiarts.model.job import LogLine
from jupyter_aiarts.model.names import check_id, user_name
from jupyter_aiarts.model.phase import Move
from jupyter_aiarts.picture import ListQuery
from jupyter_aiarts.service import JobService

if TYPE_CHECKING:
    from jupyter_aiarts.kernelbook import KernelBook
    from jupyter_aiarts.model.environment import KernelRequest

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


def _caller(request: Request) -> Caller:
    """Who asks: this process's user and folder, and the Python and variables the client tells of."""
    said = read_header(request.headers)
    return Caller(owner=owner(), python=said["python"], environ=said["environ"], folder=Path.cwd())


def owner() -> str:
    """Whose process this is."""
    try:
        return user_name(getpass.getuser())
    except (KeyError, OSError):
        return user_name(f"uid-{os.getuid()}")


def deed_of(route: Route, request: Request) -> str | None:
    """What the audit log calls a request; None for one that changes nothing."""
    tried = request.body if route is _fix and isinstance(request.body, Mapping) else request.query
    if tried.get("dry_run"):
        return None
    if route is _kernel_act:
        return f"{request.parts['act']}-kernel" if request.parts["act"] in KERNEL_DEEDS else None
    return request.parts["move"] if route is _move else DEEDS.get(route)


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, headers or {}, msgspec.to_builtins(value))


async def _list(request: Request) -> Answer:
    asked = {key: request.query.get(key) for key in ("limit", "after", "phase", "q", "owner")}
    query = ListQuery(mine=bool(request.query.get("mine")), **asked)
    return Answer(200, {}, msgspec.json.decode(await request.service.jobs(query, request.lang)))


async def _submit(request: Request) -> Answer:
    raw = request.body
    if request.query.get("dry_run"):
        manifest = bool(request.query.get("manifest"))
        return _json(await request.service.try_out(raw, _caller(request), request.lang, manifest))
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


async def followed(request: Request) -> AsyncGenerator[list[dict[str, Any]], None]:
    """Batches of lines; before the first, why there is none yet."""
    query, run = _log_query(request), request.query.get("run")
    why = None if query.after else await request.service.no_log(request.job, query, run, request.lang)
    if why:
        yield [_waiting_line(why)]
    lines = request.service.follow(request.job, query, run, request.lang)
    async with aclosing(cast("AsyncGenerator[list[LogLine], None]", lines)) as batches:
        async for batch in batches:
            yield msgspec.to_builtins(batch)


async def repaired(request: Request) -> AsyncGenerator[list[dict[str, Any]], None]:
    """What the installer says, line by line."""
    async with aclosing(book().repair(_kernel_request(request).which, request.lang)) as said:
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


async def _rank_table(request: Request) -> Answer:
    return _json(await request.service.rank_table(request.job, request.query.get("run"), request.lang))


async def _events(request: Request) -> Answer:
    return _json(await request.service.events(request.job, request.query.get("run"), request.lang))


async def _job_usage(request: Request) -> Answer:
    asked = request.query
    return _json(await request.service.job_usage(request.job, asked.get("run"), bool(asked.get("history"))))


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


async def _disk(request: Request) -> Answer:
    folder = Path.cwd() / (request.query.get("path") or "")
    return _json(await request.service.filling(str(folder), request.query.get("seconds")))


def book() -> KernelBook:
    """The kernels of this machine, as this user may change them."""
    from jupyter_aiarts.kernelbook import KernelBook

    return KernelBook()


def _kernel_request(request: Request) -> KernelRequest:
    from jupyter_aiarts.model.environment import KernelRequest

    return msgspec.convert(request.body, KernelRequest)


async def _kernels(request: Request) -> Answer:
    return _json(await book().all(request.lang))


async def _kernel_act(request: Request) -> Answer:
    asked, own = _kernel_request(request), book()
    if request.parts["act"] == "register":
        return _json(await own.register(asked.which, asked.scope, request.lang))
    if request.parts["act"] == "unregister":
        return _json(await own.unregister(asked.which))
    if request.parts["act"] == "size":
        return _json(await own.size(asked.which))
    return _json(await own.doctor(asked.which, request.lang))


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
KERNEL_DEEDS = ("register", "unregister", "repair")
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
        ("GET", _JOB + "/ranktable", _rank_table),
        ("GET", _JOB + "/events", _events),
        ("GET", _JOB + "/usage", _job_usage),
        ("GET", "explanations", _explanations),
        ("GET", "health", _health),
        ("GET", "cluster", _cluster),
        ("GET", "usage", _usage),
        ("GET", "usage/disk", _disk),
        ("GET", "queues", _queues),
        ("GET", "queues/order", _order),
        ("GET", "places", _places),
        ("GET", "kernels", _kernels),
        ("POST", "kernels/(?P<act>register|unregister|doctor|size|repair)", _kernel_act),
        ("GET", "templates", _templates),
        ("GET", "templates/(?P<name>[^/]+)", _template),
        ("PUT", "templates/(?P<name>[^/]+)", _save_template),
        ("DELETE", "templates/(?P<name>[^/]+)", _delete_template),
    )
)


def route_of(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """Who answers, and the named pieces of the path; raises `RequestFailed`."""
    for known, pattern, route in ROUTES:
        match = pattern.fullmatch(path)
        if known == method and match:
            return route, {key: unquote(value) for key, value in match.groupdict().items()}
    raise RequestFailed(404, "not-found", f"There is no {method} {path} without a server.")
