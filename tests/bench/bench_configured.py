"""What a configured cluster adds to a server's start: its engine, its client, the package that knows credentials."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .measure import Figure, in_turns, keep

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

ROUNDS = 10
CHILD = Path(__file__).with_name("configured_child.py")


def kubeconfig(folder: Path) -> Path:
    """Of a cluster that refuses at once: what is measured is this side."""
    path = folder / "kubeconfig"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(json.dumps(content))
    return path


def test_a_configured_cluster_against_none(tmp_path: Path) -> None:
    config = kubeconfig(tmp_path)
    megabytes: dict[bool, list[float]] = {True: [], False: []}

    def sample(with_cluster: bool) -> float:
        words = [sys.executable, str(CHILD), str(tmp_path / "state"), *([str(config)] if with_cluster else [])]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KUBERNETES_")}
        said = json.loads(subprocess.check_output(words, text=True, env=environ))
        assert said["loaded"] is with_cluster
        megabytes[with_cluster].append(said["mb"])
        return float(said["ms"])

    ours, peer = in_turns(ROUNDS, lambda: sample(True), lambda: sample(False))
    none = "the same server without one"
    title = "A server with a configured cluster: from its first request until the first list"
    keep("6 configured, time", Figure(title=title, unit="ms", peer_name=none, ours=ours, peer=peer))
    memory = Figure(
        title="Memory that it takes by then",
        unit="MB",
        peer_name=none,
        ours=megabytes[True][1:],
        peer=megabytes[False][1:],
    )
    keep("6 configured, memory", memory)
