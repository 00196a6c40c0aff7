"""What every route shares: login and rights, one translation of errors, safe headers, the audit line."""

from __future__ import annotations

import http
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jupyter_server.base.handlers import APIHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin
from jupyter_server.utils import url_path_join
from tornado.web import HTTPError, RequestHandler

from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.model.names import check_id
from jupyter_aiarts.server.asking import Asking, language_of

if TYPE_CHECKING:
    from jupyter_aiarts.server.app import AiartsApp
    from jupyter_aiarts.service import JobService

AUTH_RESOURCE = "aiarts"
VERBS = ("GET", "POST", "PATCH", "PUT", "DELETE")
CODES = {
    400: "bad-request",
    403: "not-allowed",
    404: "not-found",
    405: "method-not-allowed",
    413: "too-large",
    415: "unsupported-media-type",
    503: "unavailable",
}


class ErrorAnswers(RequestHandler):
    """The one translator from exceptions to answers, for plain routes and for the websocket's handshake."""

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer `{code, message, hint, problems?}`; called by tornado for all that a verb lets out."""
        from msgspec import json

        error = kwargs.get("exc_info", (None, None, None))[1]
        status, body = translate(error, status_code, language_of(self))
        self.set_status(status)
        if status == http.HTTPStatus.METHOD_NOT_ALLOWED:
            self.set_header("Allow", ", ".join(offered_verbs(type(self))))
        self.set_header("Content-Type", "application/json")
        self.finish(json.encode(body))

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """One line for what the caller did wrong, without their values; a traceback for our mistakes."""
        if isinstance(value, AiartsError):
            log = cast(Any, self).log
            log.info("%s %s: %s (%d)", self.request.method, self.request.path, value.code, value.status)
        else:
            super().log_exception(typ, value, tb)


class AiartsHandler(ErrorAnswers, Asking, ExtensionHandlerMixin, APIHandler):
    """A route below `aiarts/`. Every verb is decorated `@web.authenticated`, then `@authorized`."""

    auth_resource = AUTH_RESOURCE
    deed: str | None = None  # what the audit log calls this request; None is not recorded
    subject: str | None = None  # the job or template it was done to

    async def prepare(self) -> None:  # type: ignore[override]  # as APIHandler, which has the same
        """Refuse whoever is not logged in, also for verbs a route does not have."""
        await super().prepare()
        if self.request.method != "OPTIONS" and not self.current_user:
            raise HTTPError(403)

    def set_default_headers(self) -> None:
        """Answers are somebody's jobs: no cache keeps them."""
        super().set_default_headers()
        self.set_header("Cache-Control", "no-store")

    @property
    def content_security_policy(self) -> str:
        """Nothing we answer may act as a page on the server's origin, whatever a log contains."""
        return super().content_security_policy + "; sandbox"

    def compute_etag(self) -> str | None:
        """None: answers are not cached, so hashing long lists would be for nothing."""
        return None

    def update_api_activity(self) -> None:
        """As jupyter_server's, but reads the query alone: a body or bad bytes cannot break `finish`."""
        if "no_track_activity" not in self.request.query_arguments:
            self.request.arguments.pop("no_track_activity", None)
            super().update_api_activity()

    def on_finish(self) -> None:
        """Note the deed, refused or done."""
        if self.deed is not None and self.current_user:
            self.app.note(self.current_user.username, self.deed, self.subject, self.get_status())
        super().on_finish()

    @property
    def app(self) -> AiartsApp:
        """The extension, which owns the service."""
        return cast("AiartsApp", self.extensionapp)

    async def service(self) -> JobService:
        """The one picture of all jobs; the first request of a server's life starts it."""
        return await self.app.service()

    @property
    def root(self) -> Path:
        """The folder that relative paths start from when a request names none."""
        return Path(self.serverapp.root_dir)

    def answer(self, value: Any, status: int = 200) -> None:
        """Finish with a model as JSON."""
        from msgspec import json

        self.set_status(status)
        self.finish(json.encode(value))

    def checked(self, job_id: str) -> str:
        """The id if it can be one, before any path or URL is built from it; REST takes full ids alone."""
        self.subject = check_id(job_id)
        return job_id

    def location(self, *parts: str) -> str:
        """The address of one of our things on this server."""
        return url_path_join(self.base_url, "aiarts", *parts)


def translate(error: BaseException | None, status: int, lang: str = "en") -> tuple[int, dict[str, Any]]:
    """The status and body for an exception; says nothing about mistakes that are ours."""
    if isinstance(error, AiartsError):
        if lang == "en":
            return error.status, error.as_dict()
        from jupyter_aiarts.explain.problems import refusal

        return error.status, refusal(error, lang)
    message = http.HTTPStatus(status).phrase if status in set(http.HTTPStatus) else "Error"
    if isinstance(error, HTTPError):
        hint = "Log in to this Jupyter server, or send its token." if status == 403 else ""
        message = error.get_message() or message
        return status, {"code": CODES.get(status, "http-error"), "message": message, "hint": hint}
    hint = "The server's log has the details." if status >= 500 else ""
    return status, {"code": "internal", "message": "Something went wrong in the server", "hint": hint}


def offered_verbs(handler: type[RequestHandler]) -> list[str]:
    """The HTTP verbs a handler answers, for the `Allow` header and for the tests that walk the routes."""
    missing = RequestHandler._unimplemented_method
    return [verb for verb in VERBS if getattr(handler, verb.lower()) is not missing]
