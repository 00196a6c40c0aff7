"""The one rule that jupyter_server gets from us: what lies below `aiarts/` is looked up here.

A handler is imported by the first request that it answers, so a server pays for what its users do and for no more.
What each route takes and answers is in `routes.py`, by the same paths.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, cast

from tornado.escape import url_unescape
from tornado.routing import Matcher, Router

if TYPE_CHECKING:
    from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
    from tornado.web import Application, RequestHandler

ACTS = ("register", "unregister", "doctor", "size")
MOVES = ("stop", "pause", "resume", "rerun", "release")
HANDLERS = {
    "jobs": "jobs.JobsHandler",
    "jobs/{job_id}": "jobs.JobHandler",
    "jobs/{job_id}/{move}": "jobs.MoveHandler",
    "jobs/{job_id}/logs": "logs.LogsHandler",
    "jobs/{job_id}/env": "job_parts.EnvHandler",
    "jobs/{job_id}/ranktable": "job_parts.RankTableHandler",
    "jobs/{job_id}/explain": "job_parts.ExplainHandler",
    "jobs/{job_id}/events": "job_parts.EventsHandler",
    "jobs/{job_id}/usage": "job_parts.JobUsageHandler",
    "templates": "templates.TemplatesHandler",
    "templates/{name}": "templates.TemplateHandler",
    "cluster": "cluster.ClusterHandler",
    "usage": "usage.UsageHandler",
    "usage/disk": "usage.DiskHandler",
    "kernels": "kernels.KernelsHandler",
    "kernels/repair": "kernels.KernelRepairHandler",
    "kernels/{act}": "kernels.KernelActHandler",
    "queues": "queues.QueuesHandler",
    "queues/order": "queues.OrderHandler",
    "places": "places.PlacesHandler",
    "explanations": "explanations.ExplanationsHandler",
    "health": "health.HealthHandler",
    "openapi.json": "openapi.OpenApiHandler",
    "stream": "stream.StreamHandler",
    "{rest}": "nowhere.NowhereHandler",
}


CHOICES = {"{move}": MOVES, "{act}": ACTS}


class Below(Matcher):
    """Every address that begins with a prefix, taken as it is written."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        return {} if request.path.startswith(self.prefix) else None


class AiartsRouter(Router):
    """Gives each request below `prefix` to its handler; added by `AiartsApp`, called by tornado."""

    SUPPORTED_METHODS = ()  # jupyter_server asks every target for its open verbs; a test asks our handlers themselves

    def __init__(self, application: Application, prefix: str, extension: str) -> None:
        self._application, self._prefix, self._extension = application, prefix, extension

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate:
        path, places = found(request.path[len(self._prefix) :])
        args = [url_unescape(place, encoding=None, plus=False) for place in places]
        return self._application.get_handler_delegate(request, handler(path), {"name": self._extension}, args)


def handler(path: str) -> type[RequestHandler]:
    """The class that answers at a path of the table."""
    module, _, name = HANDLERS[path].partition(".")
    return cast("type[RequestHandler]", getattr(importlib.import_module(f"jupyter_aiarts.server.{module}"), name))


def found(address: str) -> tuple[str, list[str]]:
    """The path of the table that an address below `aiarts/` is meant by, and what stands in its places, as written."""
    parts = address.split("/")
    for path in HANDLERS:
        places = fitting(path.split("/"), parts)
        if places is not None:
            return path, places
    return "{rest}", [address]


def fitting(names: list[str], parts: list[str]) -> list[str] | None:
    """What stands in the places of a path; None where the address is not of this form.

    Ids and names are matched loosely: a wrong one is told apart from a wrong route by the handler.
    """
    if len(names) != len(parts):
        return None
    pairs = list(zip(names, parts, strict=True))
    if all(_fits(name, part) for name, part in pairs):
        return [part for name, part in pairs if name[0] == "{"]
    return None


def _fits(name: str, part: str) -> bool:
    """Whether a part of an address may stand for a name of a path."""
    if name in CHOICES:
        return part in CHOICES[name]
    return bool(part) if name[0] == "{" else part == name
