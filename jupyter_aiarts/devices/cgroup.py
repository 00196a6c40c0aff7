"""What this container may have and has taken, from its control groups, version 1 or 2.

Limits may stand on any group above ours: the tightest counts. Where the whole tree is not visible, as in a container
with version 1, our own group is mounted as the root.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

UNLIMITED = 1 << 60
"""Version 1 writes a number near 2^63 where there is no limit."""


class Taken(Struct, frozen=True, kw_only=True):
    """The limits that hold for us and what our group has used; None where there is no limit or no number."""

    memory_limit: int | None = None
    memory_used: int | None = None
    cpus: float | None = None
    cpu_seconds: float | None = None


def taken(root: Path = Path("/")) -> Taken:
    """What holds for this process; `root` is where proc and sys are."""
    groups = _groups(root / "proc/self/cgroup")
    if "" in groups and (root / "sys/fs/cgroup/cgroup.controllers").exists():
        return _second(_upwards(root / "sys/fs/cgroup", groups[""]))
    return _first(
        _upwards(_mounted(root, "memory"), groups.get("memory", "/")),
        _upwards(_mounted(root, "cpu"), groups.get("cpu", "/")),
        _upwards(_mounted(root, "cpuacct"), groups.get("cpuacct", "/")),
    )


def _second(folders: list[Path]) -> Taken:
    limits = [limit for folder in folders if (limit := _number(folder / "memory.max")) is not None]
    used = _number(folders[0] / "memory.current") if folders else None
    rates = [rate for folder in folders if (rate := _rate(_words(folder / "cpu.max"))) is not None]
    spent = _stat(folders[0] / "cpu.stat").get("usage_usec") if folders else None
    idle = _stat(folders[0] / "memory.stat").get("inactive_file", 0) if folders else 0
    return Taken(
        memory_limit=min(limits, default=None),
        memory_used=None if used is None else max(used - idle, 0),
        cpus=min(rates, default=None),
        cpu_seconds=None if spent is None else spent / 1e6,
    )


def _first(memory: list[Path], cpu: list[Path], account: list[Path]) -> Taken:
    limits = [_number(folder / "memory.limit_in_bytes") for folder in memory]
    used = _number(memory[0] / "memory.usage_in_bytes") if memory else None
    idle = _stat(memory[0] / "memory.stat").get("total_inactive_file", 0) if memory else 0
    pairs = [_words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us") for folder in cpu]
    spent = _number(account[0] / "cpuacct.usage") if account else None
    return Taken(
        memory_limit=min((limit for limit in limits if limit is not None and limit < UNLIMITED), default=None),
        memory_used=None if used is None else max(used - idle, 0),
        cpus=min((rate for rate in map(_rate, pairs) if rate is not None), default=None),
        cpu_seconds=None if spent is None else spent / 1e9,
    )


def _groups(path: Path) -> dict[str, str]:
    """`{controller: our group}`; version 2 is the controller without a name."""
    found = {}
    for line in _text(path).splitlines():
        _, _, rest = line.partition(":")
        names, _, group = rest.partition(":")
        found.update(dict.fromkeys(names.split(","), group))
    return found


def _mounted(root: Path, controller: str) -> Path:
    for name in (controller, "cpu,cpuacct"):
        if (folder := root / "sys/fs/cgroup" / name).is_dir():
            return folder
    return root / "sys/fs/cgroup" / controller


def _upwards(mount: Path, group: str) -> list[Path]:
    """Our group's folder and those above it; only the mount where the path is that of the world outside."""
    parts = [part for part in group.split("/") if part not in ("", ".", "..")]
    folders = [mount.joinpath(*parts[:count]) for count in range(len(parts), -1, -1)]
    return [folder for folder in folders if folder.is_dir()]


def _rate(words: list[str]) -> float | None:
    """Whole CPUs out of `quota period`."""
    if len(words) != 2 or not all(word.isdigit() for word in words) or int(words[1]) == 0:
        return None  # `max`, or -1 in version 1
    return int(words[0]) / int(words[1])


def _stat(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _text(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _words(path: Path) -> list[str]:
    return _text(path).split()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
