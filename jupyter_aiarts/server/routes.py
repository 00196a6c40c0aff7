"""What each route takes and answers, in one table: `openapi.json` is made from it and from the handlers themselves.

The paths are those of `router.py`, and a handler without its row here, or a row without a handler, fails the tests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tornado.web import RequestHandler

from jupyter_aiarts.model.names import ID_PATTERN, TEMPLATE_NAME
from jupyter_aiarts.server.asking import MAX_WORD
from jupyter_aiarts.server.job_parts import MAX_RANK, MAX_RUN
from jupyter_aiarts.server.jobs import MAX_LIST
from jupyter_aiarts.server.logs import MAX_LINES, SOURCES, STREAMS
from jupyter_aiarts.server.places import LONGEST
from jupyter_aiarts.server.router import ACTS, HANDLERS, MOVES, handler
from jupyter_aiarts.server.usage import MAX_SECONDS, MOST_SECONDS


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
CLUSTER = _text("cluster", "Only this cluster; all of them by default.")
HISTORY = _number("history", 1, MAX_SECONDS, "With what was seen in the last so many seconds, at most a day.")
PAST = _choice("history", ("0", "1"), "1: with what was seen since the run began.")
COUNTING = (
    Parameter("path", "The folder to count; the server's root by default.", {"type": "string", "maxLength": LONGEST}),
    _number("seconds", 1, MOST_SECONDS, "How long it may take; 20 by default. What was counted until then is told."),
    LANG,
)
DRY_RUN = _choice("dry_run", ("0", "1"), "1: check and say what would happen, submit nothing.")
MANIFEST = _choice("manifest", ("0", "1"), "1: with dry_run, also what `kubectl apply` makes the same job from.")
LISTING = (
    _number("limit", 1, MAX_LIST, "At most so many."),
    Parameter("after", "Only jobs after this one in the list.", {"type": "string", "pattern": f"^{ID_PATTERN}$"}),
    _text("phase", "Only jobs in this phase, or in one of these: queued,running."),
    _text("q", "Only jobs whose name or id contains this."),
    _text("owner", "Only this user's jobs."),
    _choice("mine", ("0", "1"), "1: only the jobs of the user whom this server is, on each cluster."),
)
ABOUT = Parameter("job", "Only what is about this job.", {"type": "string", "pattern": f"^{ID_PATTERN}$"})
SEEKING = (
    Parameter("path", "Where this is visible, and why not.", {"type": "string", "maxLength": LONGEST}),
    Parameter("folder", "The folder that a relative path is meant from.", {"type": "string", "maxLength": LONGEST}),
    Parameter("job", "In this job's processes, relative to its folder.", ABOUT.schema),
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
    _choice("follow", ("0", "1"), "1: NDJSON until the run has ended; an empty line is a sign of life."),
    _choice("format", ("json", "text", "raw"), "raw needs rank and stream."),
    _choice("download", ("0", "1"), "1: as a file to save."),
    _choice("source", SOURCES, "npu: errors in the log of the NPU driver; with run, rank and tail alone."),
)
LOG_MEDIA = ("application/x-ndjson", "text/plain", "application/octet-stream")
ONE = (404,)
MOVING = (404, 409)
WRITE = (400, 413, 415)
KERNEL = (*WRITE, 403, 404)

OPERATIONS: Mapping[str, tuple[Operation, ...]] = {
    "jobs": (
        Operation("get", {200: Answer("ListedJob[]")}, (*LISTING, LANG), errors=(400,)),
        Operation(
            "post",
            {201: Answer("Job"), 200: Answer("Job|DryRun")},
            (DRY_RUN, MANIFEST, LANG),
            "JobRequest",
            ("text/plain",),
            (*WRITE, 404, 409),
        ),
    ),
    "jobs/{job_id}": (
        Operation("get", {200: Answer("Job")}, (LANG,), errors=ONE),
        Operation("patch", {200: Answer("Job")}, (LANG,), "Patch", errors=(*WRITE, 404, 409)),
        Operation("delete", {204: Answer(None)}, (LANG,), errors=ONE),
    ),
    "jobs/{job_id}/{move}": (Operation("post", {200: Answer("Job")}, (LANG,), errors=MOVING),),
    "jobs/{job_id}/logs": (
        Operation("get", {200: Answer("LogLine[]", LOG_MEDIA)}, (*READING, LANG), errors=(400, 404)),
    ),
    "jobs/{job_id}/env": (Operation("get", {200: Answer("Variables")}, (RUN, RANK), errors=(400, 404)),),
    "jobs/{job_id}/ranktable": (Operation("get", {200: Answer("RankTable")}, (RUN, LANG), errors=(400, 404)),),
    "jobs/{job_id}/explain": (
        Operation("get", {200: Answer("Explanation")}, (LANG,), errors=ONE),
        Operation("post", {200: Answer("Fix")}, (LANG,), "FixRequest", errors=(*WRITE, 404, 409)),
    ),
    "jobs/{job_id}/events": (Operation("get", {200: Answer("Event[]")}, (RUN,), errors=(400, 404)),),
    "jobs/{job_id}/usage": (Operation("get", {200: Answer("JobUsage")}, (RUN, PAST), errors=(400, 404)),),
    "templates": (Operation("get", {200: Answer("Template[]")}),),
    "templates/{name}": (
        Operation("get", {200: Answer("Template")}, errors=ONE),
        Operation("put", {200: Answer("Template")}, body="NewTemplate", errors=WRITE),
        Operation("delete", {204: Answer(None)}, errors=(400, 404)),
    ),
    "cluster": (Operation("get", {200: Answer("ClusterPage")}, (CLUSTER, LANG), errors=(400, 404)),),
    "kernels": (Operation("get", {200: Answer("ShownKernel[]")}, (LANG,)),),
    "kernels/repair": (
        Operation(
            "post", {200: Answer(None, ("application/x-ndjson",))}, (LANG,), "KernelRequest", errors=(*KERNEL, 409)
        ),
    ),
    "kernels/{act}": (
        Operation("post", {200: Answer("ShownKernel|Registered|KernelSize")}, (LANG,), "KernelRequest", errors=KERNEL),
    ),
    "usage": (Operation("get", {200: Answer("UsagePage")}, (HISTORY, LANG), errors=(400,)),),
    "usage/disk": (Operation("get", {200: Answer("Filling")}, COUNTING, errors=(400, 403, 404, 503)),),
    "queues": (Operation("get", {200: Answer("ShownQueue[]")}, (CLUSTER, LANG), errors=(400, 404)),),
    "queues/order": (Operation("get", {200: Answer("ShownTurn[]")}, (ABOUT, LANG), errors=(400, 404)),),
    "places": (Operation("get", {200: Answer("PathMap")}, (*SEEKING, CLUSTER, LANG), errors=(400, 404)),),
    "explanations": (Operation("get", {200: Answer("Meaning[]")}, (LANG,)),),
    "health": (Operation("get", {200: Answer("Health")}),),
    "openapi.json": (Operation("get", {200: Answer("Document")}),),
    "stream": (),
    "{rest}": (),
}
ROUTES = tuple(Route(path, handler(path), OPERATIONS[path]) for path in HANDLERS)

PLACE_SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "job_id": {"type": "string", "pattern": f"^{ID_PATTERN}$"},
    "name": {"type": "string", "pattern": f"^{TEMPLATE_NAME}$"},
    "move": {"type": "string", "enum": list(MOVES)},
    "act": {"type": "string", "enum": list(ACTS)},
}


def places(path: str) -> list[str]:
    """The names in braces, in order."""
    return re.findall(r"\{(\w+)\}", path)
