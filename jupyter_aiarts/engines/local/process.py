"""Who a process is: pids are used again, so a pid alone is never trusted."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
from pathlib import Path

from msgspec import Struct


class Identity(Struct, frozen=True, kw_only=True):
    """A process for good: boot, pid namespace, pid and start time together name it once."""

    boot: str
    pidns: str
    pid: int
    start: str


def boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return "unknown"


def pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "unknown"


def start_time(pid: int) -> str | None:
    """When the kernel started this pid, in ticks since boot; None when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] == b"Z" else fields[19].decode("ascii")


def identify(pid: int) -> Identity | None:
    """The identity of a live process, None for a dead one."""
    start = start_time(pid)
    return None if start is None else Identity(boot=boot_id(), pidns=pid_namespace(), pid=pid, start=start)


def is_alive(process: Identity) -> bool:
    """Whether exactly this process still lives; a pid that was used again is somebody else."""
    return identify(process.pid) == process


def open_pidfd(process: Identity) -> int | None:
    """A handle that becomes readable when exactly this process ends; None when it has, or cannot be had."""
    try:
        handle = os.pidfd_open(process.pid)
    except (OSError, AttributeError):
        return None
    if is_alive(process):
        return handle
    os.close(handle)
    return None


def send(process: Identity, signum: signal.Signals) -> bool:
    """Signal exactly this process; False when it is gone."""
    handle = open_pidfd(process)
    if handle is None:
        return False
    try:
        signal.pidfd_send_signal(handle, signum)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def is_held(lock: Path) -> bool | None:
    """Whether a process holds this lock file: the kernel lets go when its holder dies. None when it was never made."""
    try:
        handle = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return True
        raise
    finally:
        os.close(handle)
    return False


def take_lock(lock: Path) -> int | None:
    """Hold a lock file; the handle, which a child may inherit, or None when somebody has it."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    for _ in range(50):  # somebody who only asks `is_held` has it for microseconds
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        return handle
    os.close(handle)
    return None


def leftovers(mark: str) -> list[Identity]:
    """Processes of this user that carry `mark` in their environment: what a killed launcher left behind."""
    found: list[Identity] = []
    needle = os.fsencode(mark)
    for name in os.listdir("/proc"):
        if not name.isdecimal() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if needle in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                process = identify(int(name))
                found += [process] if process else []
    return found
