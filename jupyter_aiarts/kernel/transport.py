"""How a request travels: one small interface, and HTTP over the standard library.

`Client` knows verbs and shapes and nothing of sockets; `jupyter_aiarts.inprocess` is the other transport.
"""

from __future__ import annotations

import json
import socket
import threading
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, NamedTuple, Optional
from urllib.parse import quote, urlencode, urlsplit

from jupyter_aiarts.kernel.errors import BrokenOff, RequestFailed, Unreachable, WrongUsage

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 60.0
IDEMPOTENT = frozenset({"GET", "PUT", "DELETE"})


class Answer(NamedTuple):
    """A successful answer: its status, its headers with lower-case names, and the decoded JSON (None for
    204)."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Transport:
    """Where requests go. `path` is below `aiarts/`, its parts already quoted; query values of None are left
    out."""

    where = ""

    def request(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Answer:
        """Ask once; a text `body` goes as it is, anything else as JSON. Raises `RequestFailed` for a refusal,
        `BrokenOff` when the answer to a request that was sent never came, `Unreachable` when nobody is
        there."""
        raise NotImplementedError

    def stream(
        self, path: str, query: Optional[Mapping[str, Any]] = None, body: Any = None
    ) -> Iterator[Dict[str, Any]]:
        """JSON lines as they come, until the other side ends them; a `body` is posted. Raises `BrokenOff` when they
        stop before that."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what is open; called by `Client.close`."""


class HttpTransport(Transport):
    """A Jupyter server with our extension, by URL and token, over connections that are kept open.

    One lock per transport: a kernel's completion thread and its main thread may ask at the same time.
    """

    def __init__(self, url: str, token: str = "", timeout: float = ANSWER_SECONDS) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise WrongUsage(f"{url!r} is not an http:// or https:// address")
        self.where = url
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._root = parts.path.rstrip("/") + "/aiarts/"
        self._token = token
        self._timeout = timeout
        self._lock = threading.Lock()
        self._kept: Optional[HTTPConnection] = None

    def request(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Answer:
        """See `Transport.request`. A kept connection that turns out dead is replaced once, where asking
        twice is safe."""
        with self._lock:
            if self._kept is not None and method in IDEMPOTENT:
                try:
                    return self._ask(self._kept, method, path, query, body, headers)
                except _Stale:
                    pass
            self._drop()
            self._kept = self._connect()
            try:
                return self._ask(self._kept, method, path, query, body, headers)
            except _Stale as error:
                raise BrokenOff(f"The server at {self.where} broke off before it answered: {error}") from None

    def stream(
        self, path: str, query: Optional[Mapping[str, Any]] = None, body: Any = None
    ) -> Iterator[Dict[str, Any]]:
        """See `Transport.stream`; every stream has a connection of its own, so other requests go on beside
        it."""
        from http.client import HTTPException

        connection = self._connect()
        try:
            response = self._send(connection, "GET" if body is None else "POST", path, query, body, None)
            if response.status != 200:
                raise _refusal(response.status, dict(response.getheaders()), response.read(), self.where)
            yield from _json_lines(response)
        except (OSError, HTTPException) as error:
            raise BrokenOff(f"The stream from {self.where} broke off: {_reason(error)}") from None
        finally:
            connection.close()

    def close(self) -> None:
        """Close the kept connection."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _connect(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, self._port, timeout=CONNECT_SECONDS)
        try:
            connection.connect()
        except OSError as error:
            raise self._unreachable(error) from None
        connection.sock.settimeout(self._timeout)
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return connection

    def _send(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        body: Any,
        headers: Optional[Mapping[str, str]],
    ) -> HTTPResponse:
        told = {"Accept": "application/json", **(headers or {})}
        if self._token:
            told["Authorization"] = "token " + self._token
        payload = None
        if body is not None:
            payload = _encode(body)
            told["Content-Type"] = "text/plain" if isinstance(body, str) else "application/json"
        connection.request(method, self._root + path + _query(query), body=payload, headers=told)
        return connection.getresponse()

    def _ask(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        body: Any,
        headers: Optional[Mapping[str, str]],
    ) -> Answer:
        from http.client import HTTPException

        try:
            response = self._send(connection, method, path, query, body, headers)
            content = response.read()
        except socket.timeout:
            self._drop()
            raise BrokenOff(f"The server at {self.where} did not answer within {self._timeout:.0f} s.") from None
        except (OSError, HTTPException) as error:
            raise _Stale(_reason(error)) from error
        return _answer(response.status, dict(response.getheaders()), content, self.where)

    def _unreachable(self, error: BaseException) -> Unreachable:
        hint = None
        if type(error).__name__ == "SSLCertVerificationError":
            hint = "Set SSL_CERT_FILE to the certificate the server uses."
        return Unreachable(f"The server at {self.where} does not answer: {_reason(error)}", hint)


class _Stale(Exception):
    """The connection broke before an answer came."""


def segment(text: str) -> str:
    """One part of a path, quoted so that nothing in it can name another path."""
    return quote(text, safe="")


def _query(query: Optional[Mapping[str, Any]]) -> str:
    given = {key: _word(value) for key, value in (query or {}).items() if value is not None}
    return "?" + urlencode(given) if given else ""


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _encode(body: Any) -> bytes:
    try:
        return (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode()
    except UnicodeEncodeError as error:
        broken = error.object[error.start : error.end]
        raise WrongUsage(f"{broken!r} is not UTF-8 text; arguments and values have to be.") from None
    except (TypeError, ValueError) as error:
        raise WrongUsage(f"The spec cannot be written as JSON: {error}") from None


def _answer(status: int, headers: Mapping[str, str], content: bytes, where: str) -> Answer:
    if not 200 <= status < 300:
        raise _refusal(status, headers, content, where)
    known = {name.lower(): value for name, value in headers.items()}
    if not content:
        return Answer(status, known, None)
    try:
        return Answer(status, known, json.loads(content))
    except ValueError:
        raise Unreachable(f"What answers at {where} is not a Jupyter server with jupyter_aiarts.") from None


def _refusal(status: int, headers: Mapping[str, str], content: bytes, where: str) -> Exception:
    """Turn an HTTP error into ours; what has no `code` of ours was said by somebody else on the way."""
    said = _json_object(content)
    if isinstance(said.get("code"), str):
        return RequestFailed(
            status, said["code"], str(said.get("message", "")), said.get("hint"), said.get("problems") or ()
        )
    if 300 <= status < 400 or status in (401, 403):
        hint = "Pass --token, or set AIARTS_TOKEN."
        return RequestFailed(403, "not-allowed", f"The server at {where} does not accept this token.", hint)
    if status == 404:
        hint = "Install jupyter_aiarts where the server runs: `jupyter server extension list` shows it."
        return Unreachable(f"The server at {where} answers, but jupyter_aiarts is not enabled there.", hint)
    if status >= 500:
        return Unreachable(f"The server at {where} failed with {status}: {said.get('message') or 'no reason given'}")
    return RequestFailed(status, "refused", str(said.get("message") or f"The server refused with {status}."))


def _json_object(content: bytes) -> Dict[str, Any]:
    try:
        said = json.loads(content)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _json_lines(response: HTTPResponse) -> Iterator[Dict[str, Any]]:
    """Decode NDJSON. `read1`, not `readline`: only it tells a stream that broke off from one that ended."""
    rest = b""
    while True:
        piece = response.read1(65536)
        if not piece:
            break
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.strip():
                yield json.loads(line)
    if rest.strip():
        yield json.loads(rest)
