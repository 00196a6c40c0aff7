"""All routes in one table: handlers and `openapi.json` are both made from it, so neither can drift."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tornado.web import RequestHandler

from jupyter_aiarts.model.names import ID_PATTERN, TEMPLATE_NAME
from jupyter_aiarts.model.phase import Move
from jupyter_aiarts.server.asking import MAX_WORD
from jupyter_aiarts.server.health import HealthHandler
from jupyter_aiarts.server.job_parts import MAX_RANK, MAX_RUN, EnvHandler, EventsHandler, ExplainHandler
from jupyter_aiarts.server.jobs import MAX_LIST, JobHandler, JobsHandler, MoveHandler
from jupyter_aiarts.server.logs import MAX_LINES, SOURCES, STREAMS, LogsHandler
from jupyter_aiarts.server.nowhere import NowhereHandler
from jupyter_aiarts.server.openapi import OpenApiHandler
from jupyter_aiarts.server.stream import StreamHandler
from jupyter_aiarts.server.templates import TemplateHandler, TemplatesHandler

JSON = "application/json"
MOVES = (Move.STOP, Move.PAUSE, Move.RESUME, Move.RERUN, Move.RELEASE)


# Plain classes: a NamedTuple takes longer to define than everything else here, and every server start waits for it.


class Parameter:
    """One query parameter."""

    __slots__ = ("description", "name", "schema")

    def __init__(self, name: str, description: str, schema: Mapping[str, Any]) -> None:
        self.name, self.description, self.schema = name, description, schema


class Answer:
    """What a status brings: the name of a model (`Job`, `Job[]`, `Job|DryRun`), or None for no body.

    `media` are further media types, as text or bytes.
    """

    __slots__ = ("media", "shape")

    def __init__(self, shape: str | None, media: tuple[str, ...] = ()) -> None:
        self.shape, self.media = shape, media


class Operation:
    """One verb of a route; its summary is the docstring of the handler's method. `body_media`: as with `Answer`."""

    __slots__ = ("answers", "body", "body_media", "errors", "parameters", "verb")

    def __init__(
        self,
        verb: str,
        answers: Mapping[int, Answer],
        parameters: tuple[Parameter, ...] = (),
        body: str | None = None,
        body_media: tuple[str, ...] = (),
        errors: tuple[int, ...] = (),
    ) -> None:
        self.verb, self.answers, self.parameters = verb, answers, parameters
        self.body, self.body_media, self.errors = body, body_media, errors


class Route:
    """One address and who answers there."""

    __slots__ = ("handler", "operations", "path")

    def __init__(self, path: str, handler: type[RequestHandler], operations: tuple[Operation, ...]) -> None:
        self.path, self.handler, self.operations = path, handler, operations


def _number(name: str, low: int, high: int, description: str) -> Parameter:
    return Parameter(name, description, {"type": "integer", "minimum": low, "maximum": high})


def _choice(name: str, choices: tuple[str, ...], description: str) -> Parameter:
    return Parameter(name, description, {"type": "string", "enum": list(choices)})


def _text(name: str, description: str) -> Parameter:
    return Parameter(name, description, {"type": "string", "maxLength": MAX_WORD})


LANG = _choice("lang", ("en", "zh"), "The language of sentences; Accept-Language otherwise.")
RUN = _number("run", 1, MAX_RUN, "Which run; the latest by default.")
RANK = _number("rank", 0, MAX_RANK, "Which rank.")
DRY_RUN = _choice("dry_run", ("0", "1"), "1: check and say what would happen, submit nothing.")
LISTING = (
    _number("limit", 1, MAX_LIST, "At most so many."),
    Parameter("after", "Only jobs after this one in the list.", {"type": "string", "pattern": f"^{ID_PATTERN}$"}),
    _text("phase", "Only jobs in this phase, or in one of these: queued,running."),
    _text("q", "Only jobs whose name or id contains this."),
    _text("owner", "Only this user's jobs."),
    _choice("mine", ("0", "1"), "1: only the jobs of the user whom this server is, on each cluster."),
)
CURSOR = {"type": "string", "pattern": "^[0-9a-f._~]+$"}
READING = (
    RUN,
    RANK,
    _choice("stream", STREAMS, "Only this stream."),
    _text("grep", "Only lines that match this regular expression (RE2: always linear time)."),
    _number("tail", 0, MAX_LINES, "The last so many lines; 1,000 by default."),
    _number("limit", 1, MAX_LINES, "So many lines before or after a cursor; 1,000 by default."),
    _choice("fold", ("0", "1"), "1: a run of equal lines comes as one."),
    Parameter("before", "Lines before this cursor, the `seq` of a line.", CURSOR),
    Parameter("after", "Lines after this cursor, the `seq` of a line.", CURSOR),
    _choice("follow", ("0", "1"), "1: NDJSON that goes on until the run has ended."),
    _choice("format", ("json", "text", "raw"), "raw needs rank and stream."),
    _choice("download", ("0", "1"), "1: as a file to save."),
    _choice("source", SOURCES, "npu: errors in the log of the NPU driver; with run, rank and tail alone."),
)
LOG_MEDIA = ("application/x-ndjson", "text/plain", "application/octet-stream")
ONE = (404,)
MOVING = (404, 409)
WRITE = (400, 413, 415)

ROUTES: tuple[Route, ...] = (
    Route(
        "jobs",
        JobsHandler,
        (
            Operation("get", {200: Answer("ListedJob[]")}, (*LISTING, LANG), errors=(400,)),
            Operation(
                "post",
                {201: Answer("Job"), 200: Answer("Job|DryRun")},
                (DRY_RUN, LANG),
                "JobRequest",
                ("text/plain",),
                (*WRITE, 404, 409),
            ),
        ),
    ),
    Route(
        "jobs/{job_id}",
        JobHandler,
        (
            Operation("get", {200: Answer("Job")}, (LANG,), errors=ONE),
            Operation("patch", {200: Answer("Job")}, (LANG,), "Patch", errors=(*WRITE, 404, 409)),
            Operation("delete", {204: Answer(None)}, errors=ONE),
        ),
    ),
    Route(
        "jobs/{job_id}/{move}",
        MoveHandler,
        (Operation("post", {200: Answer("Job")}, (LANG,), errors=MOVING),),
    ),
    Route(
        "jobs/{job_id}/logs",
        LogsHandler,
        (Operation("get", {200: Answer("LogLine[]", LOG_MEDIA)}, (*READING, LANG), errors=(400, 404)),),
    ),
    Route(
        "jobs/{job_id}/env",
        EnvHandler,
        (Operation("get", {200: Answer("Variables")}, (RUN, RANK), errors=(400, 404)),),
    ),
    Route(
        "jobs/{job_id}/explain",
        ExplainHandler,
        (Operation("get", {200: Answer("Explanation")}, (LANG,), errors=ONE),),
    ),
    Route(
        "jobs/{job_id}/events",
        EventsHandler,
        (Operation("get", {200: Answer("Event[]")}, (RUN,), errors=(400, 404)),),
    ),
    Route("templates", TemplatesHandler, (Operation("get", {200: Answer("Template[]")}),)),
    Route(
        "templates/{name}",
        TemplateHandler,
        (
            Operation("get", {200: Answer("Template")}, errors=ONE),
            Operation("put", {200: Answer("Template")}, body="NewTemplate", errors=WRITE),
            Operation("delete", {204: Answer(None)}, errors=(400, 404)),
        ),
    ),
    Route("health", HealthHandler, (Operation("get", {200: Answer("Health")}),)),
    Route("openapi.json", OpenApiHandler, (Operation("get", {200: Answer("Document")}),)),
    Route("stream", StreamHandler, ()),
    Route("{rest}", NowhereHandler, ()),
)

# Ids and names are matched loosely here: a wrong one is told apart from a wrong route by the handler.
_PLACES = {
    "job_id": r"([^/]+)",
    "name": r"([^/]+)",
    "move": "(" + "|".join(move.value for move in MOVES) + ")",
    "rest": "(.*)",
}
PLACE_SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "job_id": {"type": "string", "pattern": f"^{ID_PATTERN}$"},
    "name": {"type": "string", "pattern": f"^{TEMPLATE_NAME}$"},
    "move": {"type": "string", "enum": [move.value for move in MOVES]},
}


def places(path: str) -> list[str]:
    """The names in braces, in order."""
    return re.findall(r"\{(\w+)\}", path)


def pattern(route: Route) -> str:
    """The address as tornado wants it, without the server's base URL."""
    return "/aiarts/" + route.path.replace(".", r"\.").format_map(_PLACES)


def handlers() -> list[tuple[str, type[RequestHandler]]]:
    """What `AiartsApp` gives to jupyter_server."""
    return [(pattern(route), route.handler) for route in ROUTES]
