"""Route for the API's own description, made from the table of routes and the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts._version import __version__
from jupyter_aiarts.server.base import AiartsHandler

if TYPE_CHECKING:
    from jupyter_aiarts.server.routes import Answer, Operation, Route

JSON = "application/json"
PREFIX = "#/components/schemas/"


class OpenApiHandler(AiartsHandler):
    """`openapi.json`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """This document."""
        self.answer(document(self.location()))


def document(server: str) -> dict[str, Any]:
    """The OpenAPI 3.1 description of every route."""
    from jupyter_aiarts.server.routes import ROUTES
    from jupyter_aiarts.server.shapes import schemas

    return {
        "openapi": "3.1.0",
        "info": {"title": "jupyter_aiarts", "version": __version__},
        "servers": [{"url": server}],
        "security": [{"token": []}],
        "paths": {f"/{route.path}": _path(route) for route in ROUTES if route.operations},
        "components": {
            "schemas": schemas(),
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "Authorization"}},
        },
    }


def _path(route: Route) -> dict[str, Any]:
    from jupyter_aiarts.server.routes import PLACE_SCHEMAS, places

    inside = [
        {"name": name, "in": "path", "required": True, "schema": PLACE_SCHEMAS[name]} for name in places(route.path)
    ]
    return {"parameters": inside} | {op.verb: _operation(route, op) for op in route.operations}


def _operation(route: Route, operation: Operation) -> dict[str, Any]:
    verb = getattr(route.handler, operation.verb)
    described: dict[str, Any] = {
        "operationId": f"{route.handler.__name__.removesuffix('Handler').lower()}_{operation.verb}",
        "summary": (verb.__doc__ or "").partition("\n")[0],
        "parameters": [
            {"name": one.name, "in": "query", "description": one.description, "schema": one.schema}
            for one in operation.parameters
        ],
        "responses": _responses(operation),
    }
    if operation.body is not None:
        content: dict[str, Any] = {JSON: {"schema": shape(operation.body)}}
        content |= {media: {"schema": {"type": "string"}} for media in operation.body_media}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _responses(operation: Operation) -> dict[str, Any]:
    error = {"description": "What is wrong, and what to do", "content": {JSON: {"schema": shape("Error")}}}
    found = {str(status): _response(answer) for status, answer in operation.answers.items()}
    return found | {str(status): error for status in (*operation.errors, 403, 503)} | {"default": error}


def _response(answer: Answer) -> dict[str, Any]:
    if answer.shape is None:
        return {"description": "Done"}
    content: dict[str, Any] = {JSON: {"schema": shape(answer.shape)}}
    content |= {media: {} for media in answer.media}
    return {"description": answer.shape, "content": content}


def shape(name: str) -> dict[str, Any]:
    """The schema for a name of the table: `Job`, `Job[]` or `Job|DryRun`."""
    if "|" in name:
        return {"anyOf": [shape(one) for one in name.split("|")]}
    if name.endswith("[]"):
        return {"type": "array", "items": shape(name.removesuffix("[]"))}
    return {"$ref": PREFIX + name}
