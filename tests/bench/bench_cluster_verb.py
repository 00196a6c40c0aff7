"""`aiarts cluster` while a server watches 1,000 nodes: the whole command, from its start to its last line."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .glance_api import EACH, MACHINES
from .jupyter import TOKEN, Jupyter, jupyter_server
from .measure import ROOT, Aim, Figure, in_turns, keep, short, timed

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

ROUNDS = 9
WHAT = f"{MACHINES * EACH:,} pods on {MACHINES:,} nodes"
API = Path(__file__).with_name("glance_api.py")


@contextlib.contextmanager
def api_server(folder: Path) -> Iterator[Path]:
    """The API server on paper; its kubeconfig."""
    port = folder / "port"
    with subprocess.Popen([sys.executable, str(API), str(port)], cwd=ROOT) as process:
        try:
            while not port.exists() or not port.read_text():
                assert process.poll() is None
                time.sleep(0.05)
            yield kubeconfig(folder / "kubeconfig", int(port.read_text()))
        finally:
            process.kill()


def kubeconfig(file: Path, port: int) -> Path:
    context = {"cluster": "big", "user": "alice", "namespace": "team-a"}
    content = {
        "clusters": [{"name": "big", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "alice", "user": {"token": "x"}}],
        "contexts": [{"name": "big", "context": context}],
        "current-context": "big",
    }
    file.write_text(json.dumps(content))
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    """A server that somebody looks at the machines of."""
    folder = tmp_path_factory.mktemp("verb")
    with api_server(folder) as config:
        clusters = {"big": {"kubeconfig": str(config), "namespaces": ["team-a"]}}
        with jupyter_server(folder / "jupyter", extension=True, clusters=clusters) as running:
            yield running


def seen(server: Jupyter) -> int:
    """How many nodes the answer has, and how many bytes that is."""
    with server.connection() as connection:
        connection.request("GET", "/aiarts/cluster?cluster=big", headers=server.headers)
        body = connection.getresponse().read()
    nodes = json.loads(body)["nodes"]
    assert len(nodes) == MACHINES and sum(len(node["held_by"]) for node in nodes) == MACHINES * 6
    return len(body)


def test_the_whole_command(server: Jupyter) -> None:
    size = seen(server)
    aiarts = Path(sys.executable).with_name("aiarts")
    command = [str(aiarts), "cluster", "--cluster", "big", "--server", f"http://127.0.0.1:{server.port}/"]
    environ = {**os.environ, "AIARTS_TOKEN": TOKEN, "LANG": "C.UTF-8"}

    def whole() -> float:
        began = time.perf_counter()
        text = subprocess.check_output(command, env=environ, text=True)
        taken = time.perf_counter() - began
        assert text.count("\n") == MACHINES + 2  # the table's head, and what fits now
        return taken * 1000

    def bare() -> float:
        python = timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
        return (python + timed(lambda: seen(server))) * 1000

    ours, peer = in_turns(ROUNDS, whole, bare)
    python = timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)) * 1000
    keep(
        "9 glance, the command",
        Figure(
            title=f"{WHAT}: `aiarts cluster`, the whole command, while the server watches them",
            unit="ms",
            peer_name="`python -c pass`, and getting and reading the same answer",
            ours=ours,
            peer=peer,
            aim=Aim(by="ours", bound=150),
            more={"KB": short(size / 1000), "`python -c pass`": short(python)},
        ),
    )
