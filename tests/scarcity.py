"""Little memory and little room, made for real: memory cgroups with a limit, disks of a few kilobytes.

Both need root and a kernel that lets us; where it does not, a test that asks for one says so and is skipped.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def little_memory(megabytes: int) -> Iterator[Path]:
    """A memory cgroup of either version; who writes its pid into `cgroup.procs` has no more than this."""
    folder = _parent() / f"aiarts-test-{os.getpid()}-{time.monotonic_ns()}"
    try:
        folder.mkdir()
        limit = str(megabytes << 20)
        for name, value in {
            "memory.limit_in_bytes": limit,
            "memory.memsw.limit_in_bytes": limit,
            "memory.max": limit,
            "memory.swap.max": "0",
        }.items():
            if (folder / name).exists():
                (folder / name).write_text(value)
    except OSError as error:
        pytest.skip(f"no memory cgroup can be made here: {error}")
    try:
        yield folder
    finally:
        _remove(folder)


def join(folder: Path) -> Callable[[], None]:
    """For `Popen(preexec_fn=…)`: the child and all it starts live there."""

    def enter() -> None:
        (folder / "cgroup.procs").write_text(str(os.getpid()))

    return enter


@contextmanager
def little_room(folder: Path, kilobytes: int = 256) -> Iterator[Path]:
    """A disk of its own at `folder`, in memory."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _parent() -> Path:
    """Where a cgroup can be made that limits memory."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup" and "memory" in options.split(","):
            return Path(folder)
        if kind == "cgroup2" and "memory" in (Path(folder) / "cgroup.subtree_control").read_text().split():
            return Path(folder)
    pytest.skip("this machine has no memory cgroups")


def _remove(folder: Path) -> None:
    """A cgroup whose last process has just ended may be busy for a moment."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
