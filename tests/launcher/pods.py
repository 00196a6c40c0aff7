"""Launchers as they run in pods, without a cluster: each has its own tree of folders and its own port on loopback."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from jupyter_aiarts.launcher.freeports import free_ports

from .conftest import DEADLINE, LAUNCHER, Run, wait_until

TOKEN = "0123456789abcdef" * 2


class Pods:
    """The pods of one job, each below a folder of its own; a replaced one begins in a new folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = [sys.executable, "-I", "-S", str(LAUNCHER / "__main__.py")]
        self.document = dict(Run(folder).document)
        for key in ("attempt", "used_seconds", "environ"):
            del self.document[key]
        self.document.update(token="", save_path=str(folder / "output"), regroup=True)
        self.document.update(silence_seconds=2, reader_seconds=0)  # a test has less patience
        self.environ: dict[str, str] = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.own: dict[int, dict[str, str]] = {}  # variables of single pods
        self.roots: dict[int, Path] = {}
        self.ports: dict[int, int] = {}
        self.launchers: dict[int, subprocess.Popen[bytes]] = {}
        self._made = 0
        self._all: list[subprocess.Popen[bytes]] = []

    @property
    def nodes(self) -> int:
        """How many there are."""
        return int(self.document["nodes"])

    def plan(self, **changes: Any) -> "Pods":
        """Change the plan; more nodes get their lists, ports and meeting."""
        self.document.update(changes)
        nodes, cards = self.nodes, self.document["cards"]
        self.document["grants"] = [{} for _ in range(nodes)]
        self.document["devices"] = [list(range(cards)) for _ in range(nodes)]
        if len(self.ports) != nodes:
            first = free_ports(nodes + 1)
            self.ports = {node: first + node for node in range(nodes)}
            self.document["meeting"] = f"127.0.0.1:{first + nodes}" if nodes > 1 else None
        return self

    def shell(self, line: str, **changes: Any) -> "Pods":
        """Every rank runs this shell line."""
        start = {"kind": "command", "path": None, "line": line, "python": "python3"}
        return self.plan(start=start, **changes)

    def script(self, text: str, **changes: Any) -> "Pods":
        """Every rank runs this Python file."""
        path = self.folder / "start.py"
        path.write_text(text)
        start = {"kind": "python", "path": str(path), "line": None, "python": sys.executable}
        return self.plan(start=start, **changes)

    def make(self, node: int = 0) -> Path:
        """A fresh tree for this node, as the kubelet would mount it."""
        self._made += 1
        root = self.folder / f"pod-{self._made}"
        for name in ("aiarts/job", "aiarts/secret", "aiarts/run", "dev"):
            (root / name).mkdir(parents=True)
        (root / "aiarts/run").chmod(0o777)
        (root / "dev/termination-log").touch()
        (root / "dev/termination-log").chmod(0o666)
        (root / "aiarts/secret/token").write_text(TOKEN)
        document = {"folder": str(root / "aiarts/run"), "port": self.ports.get(node), **self.document}
        (root / "aiarts/job/plan.json").write_text(json.dumps(document))
        (root / "aiarts/job/attempt.json").write_text(json.dumps({"attempt": 1, "used_seconds": 0.0}))
        self.roots[node] = root
        return root

    def prepare(self, node: int = 0, **popen: Any) -> int:
        """Run the init container's command, then mount what it made."""
        root = self.roots[node]
        done = subprocess.run([*self.command, "prepare", str(root)], env=self.environ, timeout=DEADLINE, **popen)
        if not (root / "pod.env").exists() and (root / "aiarts/run/pod.env").exists():
            (root / "pod.env").symlink_to(root / "aiarts/run/pod.env")
        return done.returncode

    def start(self, node: int = 0, **popen: Any) -> "subprocess.Popen[bytes]":
        """A pod of this node, from its first moment."""
        self.make(node)
        assert self.prepare(node) == 0
        return self.enter(node, **popen)

    def enter(self, node: int = 0, **popen: Any) -> "subprocess.Popen[bytes]":
        """Start the main container in a tree that is there."""
        popen.setdefault("stdout", subprocess.DEVNULL)
        popen.setdefault("stderr", subprocess.DEVNULL)
        environ = {**self.environ, "JOB_COMPLETION_INDEX": str(node), "AIARTS_NODE": str(node), "POD_IP": "127.0.0.1"}
        environ.update(self.own.get(node, {}))
        words = [*popen.pop("before", []), *self.command, "pod", str(self.roots[node])]
        launcher = subprocess.Popen(words, stdin=subprocess.DEVNULL, env=environ, **popen)
        self.launchers[node] = launcher
        self._all.append(launcher)
        return launcher

    def start_all(self) -> "Pods":
        """Node 0 last: the others have to wait for it."""
        for node in reversed(range(self.nodes)):
            self.start(node)
        return self

    def wait(self, node: int = 0) -> int:
        """The exit code of a launcher."""
        return self.launchers[node].wait(DEADLINE)

    def wait_all(self) -> list[int]:
        """All exit codes."""
        return [self.wait(node) for node in range(self.nodes)]

    def status(self, node: int = 0) -> Any:
        """What a launcher says of itself; None before it says anything."""
        try:
            return json.loads((self.roots[node] / f"aiarts/run/node-{node}/status.json").read_text())
        except FileNotFoundError:
            return None

    def phase(self, node: int = 0) -> "str | None":
        """The phase in the status file."""
        status = self.status(node)
        return status and str(status["phase"])

    def all_running(self) -> None:
        """Wait for every node to run."""
        wait_until(lambda: all(self.phase(node) == "running" for node in range(self.nodes)), "all running")

    def log(self, rank: int = 0, stream: str = "stdout", node: int = 0) -> bytes:
        """All kept bytes of a stream in the present pod of `node`."""
        folder = self.roots[node] / f"aiarts/run/node-{node}/log/{rank}"
        return b"".join(path.read_bytes() for path in sorted(folder.glob(f"{stream}.*.log")))

    @property
    def summary(self) -> Any:
        """How it ended."""
        return json.loads((self.roots[0] / "aiarts/run/summary.json").read_text())

    def message(self, node: int = 0) -> Any:
        """The termination message."""
        octets = (self.roots[node] / "dev/termination-log").read_bytes()
        assert len(octets) <= 4096
        return json.loads(octets) if octets else None

    def close(self) -> None:
        """Leave nothing running."""
        for launcher in self._all:
            if launcher.poll() is None:
                launcher.kill()
            launcher.wait()
