"""What the kernel side's tests stand on: an empty environment, a real local engine, a real HTTP server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts.kernel import api
from jupyter_aiarts.kernel.client import Client
from tests.startfile import start_file

AROUND = (
    "AIARTS_SERVER",
    "AIARTS_TOKEN",
    "JPY_PARENT_PID",
    "JUPYTER_SERVER_URL",
    "NO_COLOR",
    "LC_ALL",
    "LC_MESSAGES",
)


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """No server in the environment, an empty state folder, and a folder of one's own to work in."""
    for name in AROUND:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("AIARTS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    home = tmp_path / "work"
    home.mkdir()
    monkeypatch.chdir(home)
    yield home
    api.close_all()


@pytest.fixture
def shell(nothing_around: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A notebook's shell in this process, with the magic."""
    monkeypatch.setenv("IPYTHONDIR", str(nothing_around / "ipython"))
    InteractiveShell.clear_instance()
    one = InteractiveShell.instance()
    one.history_manager.enabled = False
    one.run_line_magic("load_ext", "jupyter_aiarts")
    yield one
    one.history_manager.end_session()
    InteractiveShell.clear_instance()


@pytest.fixture
def client() -> Client:
    """A client of the local engine, with no server between."""
    return api.connect()


@pytest.fixture
def script(nothing_around: Path) -> Callable[..., str]:
    """Write a start file; answers with its name."""
    return partial(start_file, nothing_around)


@pytest.fixture
def http(nothing_around: Path) -> Iterator[HttpPlace]:
    """A real HTTP server that answers what a test tells it to."""
    place = HttpPlace()
    yield place
    place.close()


class HttpPlace:
    """Answers each request with the next of `answers`; `requests` keeps what came."""

    def __init__(self) -> None:
        self.answers: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.requests: list[dict[str, Any]] = []
        self.connections = 0
        place = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                place.connections += 1
                super().setup()

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                place.requests.append(
                    {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}
                )
                place.answers.pop(0)(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, *words: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/base"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def answer(self, status: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
        """The next request gets this; `body` is sent as JSON unless it is bytes."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()

        def send(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in (headers or {}).items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)

        self.answers.append(send)

    def stream(self, lines: list[dict[str, Any]], whole: bool = True) -> None:
        """The next request gets these as NDJSON in chunks; not `whole` breaks off before the last chunk's
        end."""

        def send(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for line in lines:
                piece = json.dumps(line).encode() + b"\n"
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if whole:
                handler.wfile.write(b"0\r\n\r\n")
            handler.close_connection = True

        self.answers.append(send)

    def hang_up(self) -> None:
        """The next request gets no answer: the connection is closed."""

        def close(handler: BaseHTTPRequestHandler) -> None:
            handler.close_connection = True

        self.answers.append(close)

    def close(self) -> None:
        """Stop serving."""
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()
