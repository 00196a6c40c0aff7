"""Real launchers on real folders: what every test of this room starts from."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .pods import Pods

LAUNCHER = Path(__file__).parents[2] / "jupyter_aiarts" / "launcher"
DEADLINE = 20.0


def wait_until(true: Callable[[], Any], what: str = "the condition", seconds: float = DEADLINE) -> Any:
    """For what has no event of its own: another process's file or the process table."""
    end = time.monotonic() + seconds
    while True:
        value = true()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not come true within {seconds} s"
        time.sleep(0.01)


def looks_until(true: Callable[[], Any], what: str) -> int:
    """How many looks it took, ten milliseconds apart: time in which the machine stands still is none."""
    looks: list[int] = []
    wait_until(lambda: looks.append(1) or true(), what)
    return len(looks)


def lives(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat[stat.rindex(b")") + 2 :][:1] not in (b"Z", b"X")


class Run:
    """One run's folder, its plan, and the launchers started on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = [sys.executable, "-I", "-S", str(LAUNCHER / "__main__.py")]
        self.launchers: dict[int, subprocess.Popen[bytes]] = {}
        self.document: dict[str, Any] = {
            "schema": 1, "job": "a123456789", "run": 1, "attempt": 1, "user": "alice", "queue": "default",
            "device": "cpu", "nodes": 1, "cards": 0, "processes": "node", "framework": "none",
            "start": {"kind": "command", "path": None, "line": "true", "python": sys.executable},
            "args": [], "paths": [], "workdir": str(folder), "main_path": str(folder),
            "save_path": str(folder / "output"), "environ": {"PATH": os.environ["PATH"], "HOME": str(folder)},
            "env": {}, "extra": {}, "secrets_file": None, "devices": [[]], "grants": [{}],
            "master_addr": "127.0.0.1", "master_port": 29512, "grace_seconds": 0.5, "max_restarts": 0,
            "max_seconds": None, "used_seconds": 0.0, "gang_timeout": 15, "meeting": None, "token": "5ec2e7",
            "log_limit_bytes": 2**31, "bell": None,
        }  # fmt: skip

    def plan(self, **changes: Any) -> "Run":
        """Change the plan; more nodes get their lists and their meeting."""
        self.document.update(changes)
        nodes, cards = self.document["nodes"], self.document["cards"]
        if len(self.document["grants"]) != nodes:
            self.document["grants"] = [{} for _ in range(nodes)]
        if [len(ids) for ids in self.document["devices"]] != [cards] * nodes:
            self.document["devices"] = [list(range(cards)) for _ in range(nodes)]
        if nodes > 1 and self.document["meeting"] is None:
            self.document["meeting"] = str(self.folder / "m.sock")
        return self

    def shell(self, line: str, **changes: Any) -> "Run":
        """Every rank runs this shell line."""
        start = {"kind": "command", "path": None, "line": line, "python": sys.executable}
        return self.plan(start=start, **changes)

    def script(self, text: str, *args: str, kind: str = "python", **changes: Any) -> "Run":
        """Every rank runs this file."""
        path = self.folder / f"start.{kind}"
        path.write_text(text)
        path.chmod(0o755)
        start = {"kind": kind, "path": str(path), "line": None, "python": sys.executable}
        return self.plan(start=start, args=list(args), **changes)

    def start(self, node: int = 0, **popen: Any) -> "subprocess.Popen[bytes]":
        """Start one launcher."""
        plan = self.folder / "plan.json"
        (self.folder / "plan.new").write_text(json.dumps(self.document))
        os.replace(self.folder / "plan.new", plan)  # another launcher may just be reading it
        words = [*self.command, str(plan), str(node), str(self.folder / f"node-{node}")]
        self.launchers[node] = subprocess.Popen(words, stdin=subprocess.DEVNULL, **popen)
        return self.launchers[node]

    def wait(self, node: int = 0) -> int:
        """The exit code of a launcher."""
        return self.launchers[node].wait(DEADLINE)

    def go(self) -> int:
        """Run all launchers to their end; node 0's exit code."""
        for node in range(self.document["nodes"]):
            self.start(node)
        codes = [self.wait(node) for node in range(self.document["nodes"])]
        return codes[0]

    def json(self, name: str) -> Any:
        """One of the run's files."""
        return json.loads((self.folder / name).read_text())

    @property
    def summary(self) -> Any:
        """How it ended."""
        return self.json("summary.json")

    def status(self, node: int = 0) -> Any:
        """What a launcher says of itself; None while it has not said anything."""
        try:
            return self.json(f"node-{node}/status.json")
        except FileNotFoundError:
            return None

    def phase(self, node: int = 0) -> "str | None":
        """The phase in the status file."""
        status = self.status(node)
        return status and str(status["phase"])

    def log(self, rank: int = 0, stream: str = "stdout", node: int = 0) -> bytes:
        """All kept bytes of a stream."""
        folder = self.folder / f"node-{node}" / "log" / str(rank)
        return b"".join(path.read_bytes() for path in sorted(folder.glob(f"{stream}.*.log")))

    def until_logged(self, text: bytes, rank: int = 0, node: int = 0) -> bytes:
        """Wait for a rank to have said something; all it said so far."""
        wait_until(lambda: text in self.log(rank, node=node), f"{text!r} in the log")
        return self.log(rank, node=node)

    def close(self) -> None:
        """Leave nothing running."""
        for launcher in self.launchers.values():
            if launcher.poll() is None:
                launcher.send_signal(signal.SIGKILL)
            launcher.wait()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """A run whose folder is made and whose launchers end with the test."""
    run = Run(tmp_path)
    yield run
    run.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB where this user may mount one; otherwise files that may not grow beyond that."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if not mounted:
        resource.setrlimit(resource.RLIMIT_FSIZE, (256 * 1024, limits[1]))
    yield folder
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def real_small_disk(small_disk: Path) -> Path:
    """One that is really full when it is: a file that may not grow is something else, and said so."""
    if not os.path.ismount(small_disk):
        pytest.skip("only root can mount a small disk")
    return small_disk


@pytest.fixture
def pods(tmp_path: Path) -> Iterator["Pods"]:
    """The pods of a job of one node, until a test asks for more; they end with the test."""
    from .pods import Pods

    pods = Pods(tmp_path).plan()
    yield pods
    pods.close()
