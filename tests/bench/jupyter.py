"""A real `jupyter server` process, with or without the extension, and a client for it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOKEN = "bench"
#: What else the environment may have brought: off, so that both sides differ by our extension alone.
OTHERS = ("jupyterlab", "jupyter_lsp", "jupyter_resource_usage", "notebook_shim", "jupyter_server_terminals")


class Jupyter:
    """Where a running server is, and how to ask it."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port
        self.headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}

    @contextlib.contextmanager
    def connection(self) -> Iterator[http.client.HTTPConnection]:
        """A connection that is kept, as a browser keeps one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.connect()
            yield connection
        finally:
            connection.close()

    def ask(self, connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> Any:
        """One request and its JSON answer."""
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, self.headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status < 300, content
        return json.loads(content) if content else None


@contextlib.contextmanager
def jupyter_server(folder: Path, *, extension: bool, **ours: Any) -> Iterator[Jupyter]:
    """A server on a free port with folders of its own, up when given and gone afterwards; `ours` are our settings."""
    for name in ("config", "root"):
        (folder / name).mkdir(parents=True)
    enabled = {"jupyter_aiarts": extension, **dict.fromkeys(OTHERS, False)}
    own = {"state_dir": str(folder / "state"), **ours}
    settings = {"ServerApp": {"jpserver_extensions": enabled}, "AiartsApp": own}
    (folder / "config" / "jupyter_server_config.json").write_text(json.dumps(settings))
    port = _free_port()
    with open(folder / "server.log", "wb") as log:
        process = subprocess.Popen(_command(folder, port), env=_environ(folder), stdout=log, stderr=log)
    server = Jupyter(process, port)
    try:
        _wait_until_up(server)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _command(folder: Path, port: int) -> list[str]:
    options = [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder / 'root'}"]
    return [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", *options]


def _environ(folder: Path) -> dict[str, str]:
    places = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    inherited = {key: value for key, value in os.environ.items() if key != "AIARTS_STATE_DIR"}
    return {**inherited, **places, "JUPYTER_TOKEN": TOKEN}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(server: Jupyter) -> None:
    """Nothing tells when a server listens, so it is asked until it answers."""
    end = time.monotonic() + 60
    while True:
        try:
            with server.connection() as connection:
                server.ask(connection, "GET", "/api/status")
                return
        except OSError:
            assert time.monotonic() < end and server.process.poll() is None, "the server did not start"
            time.sleep(0.05)
