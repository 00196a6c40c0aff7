"""What a request asks for: its query, its body and the caller it speaks for, or a clear 400."""

from __future__ import annotations

import base64
import binascii
import getpass
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tornado.web import RequestHandler

from jupyter_aiarts.errors import BadRequest, TooLarge, UnsupportedType
from jupyter_aiarts.model.names import user_name

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import Caller

T = TypeVar("T")
MAX_BODY = 2 * 1024 * 1024
MAX_CALLER = 32 * 1024
MAX_WORD = 256
# What urllib and curl say when they are told nothing counts as JSON too: the body decides.
JSON_TYPES = frozenset({"", "application/json", "application/merge-patch+json", "application/x-www-form-urlencoded"})


def language_of(handler: RequestHandler) -> str:
    """`zh` or `en`; never fails, since refusals are written in it."""
    asked = handler.request.query_arguments.get("lang", [b""])[-1]
    preferred = handler.request.headers.get("Accept-Language", "")
    return "zh" if (asked.decode("ascii", "replace").strip() or preferred).startswith("zh") else "en"


class Asking(RequestHandler):
    """Reads requests; mixed into `AiartsHandler`, whose verbs call these and nothing of tornado's."""

    @property
    def language(self) -> str:
        """`zh` or `en`: the query wins, then what the browser prefers."""
        return language_of(self)

    def flag(self, name: str) -> bool:
        """`?name=1` or `?name=true`; absent or 0 is no."""
        return self.choice(name, ("0", "1", "false", "true"), "0") in ("1", "true")

    def choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """One of a few words."""
        value = self.get_query_argument(name, default) or default
        if value not in choices:
            raise BadRequest(f"{name}={value!r} is not one of {', '.join(choices)}")
        return value

    def number(self, name: str, low: int, high: int) -> int | None:
        """A whole number within bounds, or None when it was not given."""
        text = self.get_query_argument(name, "")
        if not text:
            return None
        # isdecimal alone accepts other scripts' digits, and int() of a very long text is slow.
        if not (text.isascii() and text.isdecimal() and len(text) <= 12 and low <= int(text) <= high):
            raise BadRequest(f"{name}={text[:40]!r} is not a whole number from {low} to {high}")
        return int(text)

    def word(self, name: str, longest: int = MAX_WORD) -> str | None:
        """A piece of text, or None when it was not given."""
        text = self.get_query_argument(name, "")
        if len(text) > longest:
            raise BadRequest(f"{name} is longer than {longest} characters")
        return text or None

    @property
    def content_type(self) -> str:
        """The body's media type without its parameters."""
        return self.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    def body(self) -> bytes:
        """The body as sent, bounded."""
        if len(self.request.body) > MAX_BODY:
            raise TooLarge(
                f"The body has {len(self.request.body)} bytes; at most {MAX_BODY} are read",
                hint="Put large files on a path the job can read, and name the path.",
            )
        return self.request.body

    def json_object(self) -> dict[str, Any]:
        """The body as a JSON object."""
        if self.content_type not in JSON_TYPES:
            raise UnsupportedType(f"This route reads application/json, not {self.content_type[:80]!r}")
        return decode_object(self.body(), "The body")

    def json_as(self, shape: type[T]) -> T:
        """The body as one of our shapes, or a 400 that says which key is wrong."""
        import msgspec

        try:
            return msgspec.convert(self.json_object(), shape)
        except msgspec.ValidationError as error:
            raise BadRequest(f"The body is not as it should be: {error}") from error

    def caller(self, folder: Path) -> Caller:
        """Who asks, and with which Python: the kernel's word in `X-Aiarts-Caller`, else this server's own."""
        from jupyter_aiarts.engines.base import Caller
        from jupyter_aiarts.engines.local.plan import inherited

        said = read_caller(self.request.headers.get("X-Aiarts-Caller", ""))
        environ = inherited(said.get("environ", dict(os.environ)))
        python = said.get("python") or shutil.which("python3", path=environ.get("PATH")) or sys.executable
        return Caller(owner=owner_name(), python=python, environ=environ, folder=folder)


def decode_object(text: bytes, what: str) -> dict[str, Any]:
    """A JSON object, or a 400 that says where the text goes wrong."""
    from msgspec import DecodeError, json

    try:
        # msgspec refuses lone surrogates, which would otherwise fail much later, when the answer is encoded.
        value = json.decode(text)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"{what} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRequest(f"{what} is not a JSON object but {type(value).__name__}")
    return value


def read_caller(header: str) -> dict[str, Any]:
    """What the kernel side says about its Python and environment; empty when it says nothing."""
    if not header:
        return {}
    if len(header) > MAX_CALLER:
        raise BadRequest(f"X-Aiarts-Caller is longer than {MAX_CALLER} characters")
    try:
        said = decode_object(base64.b64decode(header, validate=True), "X-Aiarts-Caller")
    except binascii.Error as error:
        raise BadRequest(f"X-Aiarts-Caller is not base64: {error}") from error
    python, environ = said.get("python", ""), said.get("environ", {})
    if not isinstance(python, str) or not isinstance(environ, dict) or "\0" in python:
        raise BadRequest("X-Aiarts-Caller holds {python: text, environ: {name: text}}")
    if any(not isinstance(value, str) or "\0" in value for value in environ.values()):
        raise BadRequest("X-Aiarts-Caller: every variable of environ is text")
    return {name: said[name] for name in ("python", "environ") if name in said}


def owner_name() -> str:
    """The operating system's user of this server, who owns every local job submitted through it."""
    try:
        return user_name(getpass.getuser())
    except (KeyError, OSError):
        return user_name(f"uid-{os.getuid()}")
