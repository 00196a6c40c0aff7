"""How full the disks are: those with a person's files, and whatever storage is mounted on this machine.

A disk that does not answer, such as an NFS server that is away, holds whoever asks it for ever. So each has a sentry of
its own, and none of them is behind another.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from jupyter_aiarts.devices.counting import plain
from jupyter_aiarts.devices.sentry import Sentry
from jupyter_aiarts.model.mounttable import Mounted, read_table
from jupyter_aiarts.model.usage import Disk

WAITED = 1.0  # seconds after which a look at a disk is not waited for
PERIOD = 10.0  # seconds: disks fill more slowly than cards work
LINGER = 1.0  # seconds: a thread that is wanted every ten need not wait for it
MOST = 16  # mounts that are looked at beside the usual paths
_STORAGE = (
    "9p", "afs", "beegfs", "btrfs", "ceph", "cifs", "exfat", "ext2", "ext3", "ext4", "f2fs", "gfs2", "glusterfs",
    "gpfs", "lustre", "nfs", "nfs4", "ocfs2", "smb3", "vfat", "virtiofs", "xfs", "zfs",
)  # fmt: skip
_NO_STORAGE = ("fuse.lxcfs", "fuse.gvfsd-fuse", "fuse.portal", "fuse.snapfuse")
_SYSTEM = (  # also what a runtime mounts into a container: its name server, the driver's tools and libraries
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/snap", "/sys", "/usr",
    "/var/lib/docker", "/var/lib/kubelet",
)  # fmt: skip


class DiskProbe:
    """One file system, by a path on it; `name` is that path as it can be told."""

    def __init__(self, path: str) -> None:
        self.name, self._path = plain(path), path

    def look(self) -> tuple[int, Disk] | None:
        """Its device and how full it is; None for what is no folder, or may not be asked, or holds nothing."""
        try:
            if not os.path.isdir(self._path):
                return None
            device, disk = os.stat(self._path).st_dev, disk_of(self._path)
        except OSError:
            return None
        return (device, disk) if disk.total else None


class Disks:
    """All of them. `ask` never waits; `told` is called, in a thread, after each look at one."""

    def __init__(self, paths: Iterable[str], told: Callable[[], None], table: Path = Path("/proc/self/mountinfo")):
        self._paths, self._told, self._table = tuple(dict.fromkeys(paths)), told, table
        self._sentries: dict[str, Sentry[tuple[int, Disk] | None]] = {}
        self._asked: float | None = None

    @property
    def sentries(self) -> Iterable[Sentry[tuple[int, Disk] | None]]:
        """One for each path, in the order in which they are shown."""
        return self._sentries.values()

    @property
    def pending(self) -> bool:
        """Whether one that was asked just now has not answered."""
        return any(sentry.pending and sentry.busy_for < WAITED for sentry in self._sentries.values())

    def ask(self) -> None:
        """Have them looked at, if that was not done lately."""
        now = time.monotonic()
        if self._asked is not None and now - self._asked < PERIOD:
            return
        self._asked = now
        wanted = tuple(dict.fromkeys((*self._paths, *mounted(read_table(_text(self._table))))))
        before = self._sentries  # probes' threads read it meanwhile: it is replaced, never changed
        self._sentries = {path: before.get(path) or Sentry(DiskProbe(path), self._told, LINGER) for path in wanted}
        for path in before.keys() - self._sentries.keys():
            before[path].close()
        for sentry in self._sentries.values():
            sentry.ask()

    def seen(self, silent: float) -> Iterator[Disk]:
        """Each file system once, by the first path on it; one that has not answered for so long is unknown."""
        devices = set()
        for sentry in self._sentries.values():
            found = sentry.last.value if sentry.last is not None and sentry.busy_for <= silent else None
            if found is not None and found[0] not in devices:
                devices.add(found[0])
                yield found[1]

    def close(self) -> None:
        """Ask no more."""
        for sentry in self._sentries.values():
            sentry.close()


def disk_of(path: str) -> Disk:
    """How full the file system of a path is, without what only root may take; raises `OSError`."""
    size = os.statvfs(path)
    used = (size.f_blocks - size.f_bfree) * size.f_frsize
    return Disk(path=plain(path), used=used, total=used + size.f_bavail * size.f_frsize)


def mounted(table: Iterable[Mounted]) -> list[str]:
    """The folders of a mount table that hold a person's files; those of the network first, they fill up for many."""
    storage = [one for one in table if _is_storage(one)]
    storage.sort(key=lambda one: one.source.startswith("/dev/"))
    return [one.path for one in storage[:MOST]]


def _is_storage(one: Mounted) -> bool:
    if one.kind not in _STORAGE and not (one.kind.startswith("fuse.") and one.kind not in _NO_STORAGE):
        return False
    return one.path != "/" and not any(one.path == base or one.path.startswith(base + "/") for base in _SYSTEM)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""  # not Linux: the usual paths are looked at
