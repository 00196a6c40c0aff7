"""What the machine knows when a rank fails: kills for want of memory, and places without room. Cheap, never fatal."""

import os
from typing import Any, Dict, Iterable, List, Optional, Tuple

from .octets import to_bytes

LOOK_SECONDS = 0.3
"""How long a look at the disks may take: a file server that went away would hold us for ever."""
_LEAST_BYTES = 1024 * 1024
_LITTLE_SHARE, _LITTLE_BYTES = 100, 1024 * 1024 * 1024
"""Less than one part of so many is little; not on a large disk, where that is room for years."""
CONTAINER, MACHINE = "container", "machine"


class Kills:
    """Counts the kernel's out-of-memory kills from now on.

    Where possible in the memory cgroup we run in, which in a pod is the container's own; `machine_too` also in the
    whole machine, where it only says that something was killed, be it somebody else's.
    """

    def __init__(self, machine_too: bool, proc: str = "/proc") -> None:
        counters = [(CONTAINER, counter_file(proc))] + ([(MACHINE, f"{proc}/vmstat")] if machine_too else [])
        begun = [(scope, path, _count(path)) for scope, path in counters if path is not None]
        self._begun: List[Tuple[str, str, int]] = [(s, p, count) for s, p, count in begun if count is not None]

    def since(self) -> Dict[str, Any]:
        """How many there were and where they were counted, the narrowest place first; empty without any."""
        for scope, path, before in self._begun:
            now = _count(path)
            if now is not None and now > before:
                return {"oom_kills": now - before, "oom_scope": scope}
        return {}


def counter_file(proc: str = "/proc") -> Optional[str]:
    """The file that counts the kills in our own memory cgroup, of either version; None for the machine's root."""
    groups = [line.split(":", 2) for line in _text(f"{proc}/self/cgroup").splitlines() if line.count(":") >= 2]
    first = next((path for _, names, path in groups if "memory" in names.split(",")), None)
    second = next((path for number, names, path in groups if number == "0" and not names), None)
    kind, path = ("cgroup2", second) if first is None else ("cgroup", first)
    folder = None if path is None else _folder(f"{proc}/self/mountinfo", kind, path)
    if folder is None or os.path.exists(f"{folder}/release_agent"):
        return None  # only the root of a version 1 hierarchy has that; the root of version 2 has no such counter
    return f"{folder}/memory.events" if kind == "cgroup2" else f"{folder}/memory.oom_control"


def full(places: Iterable[Tuple[str, str]]) -> List[str]:
    """The names of those places (name, path) whose disk has no room to speak of, one name per disk."""
    import threading  # only a job that failed needs it

    found: List[str] = []
    look = threading.Thread(target=_look, args=(list(places), found), daemon=True)
    try:
        look.start()
    except RuntimeError:
        return []  # no more processes: that is what the failure will tell of
    look.join(LOOK_SECONDS)
    return list(found)


def _look(places: List[Tuple[str, str]], found: List[str]) -> None:
    disks = set()
    for name, path in places:
        try:
            disk, room = os.stat(to_bytes(path)).st_dev, os.statvfs(to_bytes(path))
        except OSError:
            continue  # not there, or not for us
        if disk not in disks and _is_full(room):
            found.append(name)
        disks.add(disk)


def _is_full(room: os.statvfs_result) -> bool:
    if not room.f_blocks or room.f_flag & os.ST_RDONLY:
        return False  # one that counts nothing, or that nobody writes to
    left = (room.f_bfree if os.geteuid() == 0 else room.f_bavail) * room.f_frsize
    size = room.f_blocks * room.f_frsize
    return left < _LEAST_BYTES or (left * _LITTLE_SHARE < size and left < _LITTLE_BYTES)


def _folder(mountinfo: str, kind: str, path: str) -> Optional[str]:
    """Where our cgroup is to be seen: in a container the mount itself may be it."""
    for line in _text(mountinfo).splitlines():
        place, _, rest = line.partition(" - ")
        words, more = place.split(" "), rest.split(" ")
        if len(words) < 5 or len(more) < 3 or more[0] != kind:
            continue
        if kind == "cgroup" and "memory" not in more[2].split(","):
            continue
        root, mounted = words[3].rstrip("/"), words[4]
        if path == root or path.startswith(root + "/"):
            return (mounted + path[len(root) :]).rstrip("/")
    return None


def _count(path: str) -> Optional[int]:
    for line in _text(path).splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "oom_kill" and words[1].isdigit():
            return int(words[1])
    return None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
