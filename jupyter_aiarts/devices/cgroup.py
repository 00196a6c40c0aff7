"""What this container may have and has taken, from its control groups, version 1 or 2.

Limits may stand on any group above ours: the tightest counts, and what was taken is told of the group that has it: who
shares a limit shares what is left. Where the whole tree is not visible, as in a container with version 1, our own group
is mounted as the root.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import Struct

N = TypeVar("N", int, float)
MOST_BYTES = 64 * 1024
UNLIMITED = 1 << 60
"""Version 1 writes a number near 2^63 where there is no limit."""


class Limits(Struct, frozen=True, kw_only=True):
    """The limits that hold for us: bytes, and whole CPUs; None where there is none.

    The groups that have them are so many above ours.
    """

    memory: int | None = None
    cpus: float | None = None
    memory_above: int = 0
    cpus_above: int = 0


class _Ours(NamedTuple):
    """Our group and those above it, in the tree of each controller; version 2 has one tree for all."""

    is_second: bool
    memory: tuple[str, ...]
    cpu: tuple[str, ...]
    account: tuple[str, ...]


def limits(root: Path = Path("/")) -> Limits:
    """What this process may have; `root` is where proc and sys are."""
    ours = _ours(root)
    if ours.is_second:
        sizes = [_number(f"{folder}/memory.max") for folder in ours.memory]
        pairs = [_words(f"{folder}/cpu.max") for folder in ours.cpu]
    else:
        sizes = [_number(f"{folder}/memory.limit_in_bytes") for folder in ours.memory]
        pairs = [_words(f"{folder}/cpu.cfs_quota_us") + _words(f"{folder}/cpu.cfs_period_us") for folder in ours.cpu]
    memory, memory_above = _tightest([None if size is None or size >= UNLIMITED else size for size in sizes])
    cpus, cpus_above = _tightest([_rate(pair) for pair in pairs])
    return Limits(memory=memory, cpus=cpus, memory_above=memory_above, cpus_above=cpus_above)


def memory_used(root: Path = Path("/"), above: int = 0) -> int | None:
    """Bytes that a group so many above ours has taken, without what the kernel could give back at once."""
    ours = _ours(root)
    if len(ours.memory) <= above:
        return None
    folder = ours.memory[above]
    used = _number(f"{folder}/{'memory.current' if ours.is_second else 'memory.usage_in_bytes'}")
    idle = _stat(f"{folder}/memory.stat", "inactive_file" if ours.is_second else "total_inactive_file")
    return None if used is None else max(used - (idle or 0), 0)


def cpu_seconds(root: Path = Path("/"), above: int = 0) -> float | None:
    """What a group so many above ours has had of all CPUs."""
    ours = _ours(root)
    if len(ours.account) <= above:
        return None
    if ours.is_second:
        spent, parts = _stat(f"{ours.account[above]}/cpu.stat", "usage_usec"), 1e6
    else:
        spent, parts = _number(f"{ours.account[above]}/cpuacct.usage"), 1e9
    return None if spent is None else spent / parts


def _tightest(found: Sequence[N | None]) -> tuple[N | None, int]:
    """The smallest of the limits on our group and those above it, and how far above it stands."""
    limits = [(limit, above) for above, limit in enumerate(found) if limit is not None]
    return min(limits) if limits else (None, 0)


def _ours(root: Path) -> _Ours:
    tree = os.path.join(root, "sys/fs/cgroup")
    groups = _groups(os.path.join(root, "proc/self/cgroup"))
    if "" in groups and os.path.exists(f"{tree}/cgroup.controllers"):
        folders = _upwards(tree, groups[""])
        return _Ours(True, folders, folders, folders)
    return _Ours(
        False,
        _upwards(_mounted(tree, "memory"), groups.get("memory", "/")),
        _upwards(_mounted(tree, "cpu"), groups.get("cpu", "/")),
        _upwards(_mounted(tree, "cpuacct"), groups.get("cpuacct", "/")),
    )


def _groups(path: str) -> dict[str, str]:
    """`{controller: our group}`; version 2 is the controller without a name."""
    found = {}
    for line in _text(path).splitlines():
        _, _, rest = line.partition(":")
        names, _, group = rest.partition(":")
        found.update(dict.fromkeys(names.split(","), group))
    return found


@functools.lru_cache(maxsize=16)  # asked every second, and nobody mounts them anew
def _mounted(tree: str, controller: str) -> str:
    for name in (controller, "cpu,cpuacct"):
        if os.path.isdir(folder := f"{tree}/{name}"):
            return folder
    return f"{tree}/{controller}"


@functools.lru_cache(maxsize=16)  # a process that is moved has another group, and so another answer
def _upwards(mount: str, group: str) -> tuple[str, ...]:
    """Our group's folder and those above it; only the mount where the path is that of the world outside."""
    parts = [part for part in group.split("/") if part not in ("", ".", "..")]
    folders = ["/".join((mount, *parts[:count])) for count in range(len(parts), -1, -1)]
    return tuple(folder for folder in folders if os.path.isdir(folder))


def _rate(words: list[str]) -> float | None:
    """Whole CPUs out of `quota period`."""
    if len(words) != 2 or not all(word.isdigit() for word in words) or int(words[1]) == 0:
        return None  # `max`, or -1 in version 1
    return int(words[0]) / int(words[1])


def _stat(path: str, name: str) -> int | None:
    """One number of a file with a name and a number on each of many lines."""
    told = f"\n{_text(path)}".partition(f"\n{name} ")[2].partition("\n")[0].strip()
    return int(told) if told.isdigit() else None


def _number(path: str) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _words(path: str) -> list[str]:
    return _text(path).split()


def _text(path: str) -> str:
    """The beginning of a small file of the kernel's, as cheaply as it can be had: some are read every second."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(file, MOST_BYTES).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(file)
