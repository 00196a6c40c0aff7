"""A cell holds a part of the cluster: processes, mounts and network links of its own, which go when it goes.

There are three: `control`, `node-a`, `node-b`. Each is a set of Linux namespaces under a first process (`cell.py`);
when that is killed, the kernel ends every process in the cell, containers included, and with them go the mounts,
bridges and firewall rules they made. So a crash of whoever started the cluster leaves nothing that cannot be found
again: the first process carries the cell's folder in its arguments.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import psutil

from tests.cluster.paths import Unavailable

SCRIPT = Path(__file__).with_name("cell.py")
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"}


@dataclass(frozen=True)
class Cell:
    """One cell, running or not, known by its folder."""

    folder: Path
    logs: Path

    @property
    def name(self) -> str:
        return self.folder.name

    def start(self, mounts: Sequence[Sequence[str]]) -> None:
        """Start the first process with these mounts (arguments of mount(8)); returns when they are made."""
        (self.folder / "mounts.json").write_text(json.dumps(mounts))
        # setsid's fork makes it nobody's child here: it outlives this process and is buried by the machine's first.
        separate = ["setsid", "--fork", "unshare", "--mount", "--pid", "--net", "--fork", "--mount-proc", "--"]
        command = [*separate, sys.executable, "-I", str(SCRIPT), str(self.folder)]
        with (
            self._log("cell") as log,
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, cwd="/", env=ENVIRONMENT
            ) as started,
        ):
            assert started.stdout is not None
            if started.stdout.readline() != b"ready\n":
                raise Unavailable(f"{self.name} did not start:\n{self.tail('cell')}")

    def first(self) -> psutil.Process | None:
        """The first process, found by its arguments."""
        for process in psutil.process_iter():
            if is_first(process, self.folder):
                return process
        return None

    def pid(self) -> int:
        found = self.first()
        if found is None:
            raise Unavailable(f"{self.name} is not running")
        return found.pid

    def enter(self, processes: bool = False) -> list[str]:
        """What to put before a command that shall run in the cell's network, or wholly inside the cell."""
        spaces = ["--net", "--pid", "--mount"] if processes else ["--net"]
        return ["nsenter", "--target", str(self.pid()), *spaces, "--"]

    def run(self, *command: str, text: str | None = None, processes: bool = False) -> str:
        """Run this in the cell's network (and among its processes and mounts, when asked) and give what it prints."""
        done = subprocess.run(
            [*self.enter(processes), *command], input=text, capture_output=True, text=True, env=ENVIRONMENT, cwd="/"
        )
        if done.returncode:
            raise Unavailable(f"{' '.join(command)} in {self.name}: {done.stderr.strip()}")
        return done.stdout

    def spawn(self, name: str, command: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        """Start a program that stays, as a child of the first process; what it prints goes to its log."""
        with self._log(name) as log:
            subprocess.run(
                [*self.enter(processes=True), "setsid", "--fork", *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**ENVIRONMENT, **(environ or {})}, cwd="/",
                check=True,
            )  # fmt: skip

    def find(self, name: str) -> psutil.Process | None:
        """The running program of this name, started by `spawn`."""
        first = self.first()
        for process in first.children() if first else []:
            if _called(process, name):
                return process
        return None

    def kill(self, name: str) -> None:
        """End a program at once, as a crash would; one that isn't running is left alone."""
        found = self.find(name)
        if found is not None:
            found.kill()
            _wait_gone(found)

    def destroy(self) -> None:
        """End everything in the cell; returns when it has ended."""
        first = self.first()
        if first is not None:
            first.kill()
            _wait_gone(first)

    def log_file(self, name: str) -> Path:
        return self.logs / f"{self.name}-{name}.log"

    def tail(self, name: str, size: int = 3000) -> str:
        """The end of a program's log, for the message that says it failed."""
        text = self.log_file(name).read_text(errors="replace") if self.log_file(name).exists() else ""
        return text[-size:]

    def _log(self, name: str) -> BinaryIO:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self.log_file(name).open("ab")


def is_first(process: psutil.Process, folder: Path) -> bool:
    """Whether this is the first process of the cell in `folder`; its parent, unshare, carries the same arguments."""
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return len(words) > 2 and words[-1] == str(folder) and Path(words[-2]).name == SCRIPT.name and words[1] == "-I"


def _called(process: psutil.Process, name: str) -> bool:
    """Programs of the cache carry their version: `kubelet-v1.34.4-…` is the kubelet."""
    try:
        base = os.path.basename((process.cmdline() or [""])[0])
    except psutil.Error:
        return False
    return base == name or base.startswith(f"{name}-v")


def _wait_gone(process: psutil.Process, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while _alive(process):
        if time.monotonic() > deadline:
            raise Unavailable(f"{process} does not end")
        time.sleep(0.01)


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
