"""From POST on a warm server to the first line of the log, against the same script in a shell."""

from __future__ import annotations

import base64
import http.client
import json
import os
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .jupyter import Jupyter, jupyter_server
from .measure import Aim, Figure, in_turns, keep, short

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

ROUNDS = 25
#: It lives on after its line, as training does: the line has to be seen while the job runs.
SCRIPT = "import time\nprint('step 0', flush=True)\ntime.sleep(0.2)\n"


def test_first_line(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with jupyter_server(tmp_path / "server", extension=True) as server, server.connection() as connection:
        client = Client(server, connection, script)
        ours, peer = in_turns(ROUNDS, client.first_line, lambda: first_byte(script))
        more = {"POST answered after": short(statistics.median(client.answered))}
    keep(
        "1 first line",
        Figure(
            title="POST of a job on a warm server until its first log line",
            unit="ms",
            peer_name="`python script.py` in a shell until its first byte",
            ours=ours,
            peer=peer,
            aim=Aim(by="difference", bound=150),
            more=more,
        ),
    )


class Client:
    """A kernel's way of submitting: it names its own Python."""

    def __init__(self, server: Jupyter, connection: http.client.HTTPConnection, script: Path) -> None:
        self.server = server
        self.script = script
        self.connection = connection
        said = {"python": sys.executable, "environ": {"PATH": os.environ["PATH"]}}
        server.headers["X-Aiarts-Caller"] = base64.b64encode(json.dumps(said).encode()).decode()
        self.answered: list[float] = []

    def first_line(self) -> float:
        """Milliseconds until the script's first line came; returns when the job has ended."""
        start = time.perf_counter()
        job = self.server.ask(self.connection, "POST", "/aiarts/jobs", {"script": str(self.script)})
        self.answered.append((time.perf_counter() - start) * 1000)
        self.connection.request("GET", f"/aiarts/jobs/{job['id']}/logs?follow=1", headers=self.server.headers)
        lines = self.connection.getresponse()
        for line in lines:
            if json.loads(line)["stream"] == "stdout":
                break
        taken = (time.perf_counter() - start) * 1000
        assert json.loads(line)["text"] == "step 0"
        lines.read()
        return taken


def first_byte(script: Path) -> float:
    """Milliseconds until a shell's `python script.py` has written its first byte."""
    line = shlex.join([sys.executable, str(script)])
    start = time.perf_counter()
    with subprocess.Popen(["sh", "-c", line], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        assert os.read(shell.stdout.fileno(), 1) == b"s"
        taken = (time.perf_counter() - start) * 1000
        shell.stdout.read()
    return taken
