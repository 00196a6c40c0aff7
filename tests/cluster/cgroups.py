"""The cgroups above a node's pods, in every hierarchy the machine has mounted."""

from __future__ import annotations

import time
from pathlib import Path

from tests.cluster.paths import Instance, Unavailable


def make_cgroups(instance: Instance, node: str) -> str:
    """The kubelet's `cgroupRoot`: `/aiarts0/node-a`, made in each hierarchy."""
    for hierarchy in _hierarchies():
        parent = hierarchy
        for name in (instance.name, node):
            parent = _make(parent, name)
    return f"/{instance.name}/{node}"


def remove_cgroups(instance: Instance) -> None:
    """Deepest first; a cgroup whose last process has just ended may be busy for a moment."""
    for hierarchy in _hierarchies():
        top = hierarchy / instance.name
        deadline = time.monotonic() + 10
        while top.exists() and not _remove(top):
            if time.monotonic() > deadline:
                raise Unavailable(f"{top} cannot be removed: something still runs in it")
            time.sleep(0.05)


def _hierarchies() -> list[Path]:
    lines = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(words[1]) for words in lines if words[2] in ("cgroup", "cgroup2")]


def _make(parent: Path, name: str) -> Path:
    """A new cpuset has no CPUs and no memory until its parent's are copied; version 2 hands controllers down."""
    folder = parent / name
    folder.mkdir(exist_ok=True)
    for file in ("cpuset.cpus", "cpuset.mems"):
        if (parent / "cgroup.clone_children").exists() and (folder / file).exists():
            (folder / file).write_text((parent / file).read_text())
    if (parent / "cgroup.subtree_control").exists():
        offered = (parent / "cgroup.controllers").read_text().split()
        (parent / "cgroup.subtree_control").write_text(" ".join(f"+{controller}" for controller in offered))
    return folder


def _remove(top: Path) -> bool:
    folders = [path for path in top.rglob("*") if path.is_dir()]
    for folder in sorted([top, *folders], reverse=True):
        try:
            folder.rmdir()
        except OSError:
            return False
    return True
