"""The runtime folder and the bell: how processes of one state folder wake each other.

Whoever changes a job rings; every server, the supervisor and a waiting command line listen. The bell only makes
things quick: a lost ring costs time, never truth, because listeners read the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import stat
import tempfile
from pathlib import Path

from jupyter_aiarts.engines.local.folder import this_host
from jupyter_aiarts.errors import StateUnusable


def runtime_folder(state: Path) -> Path:
    """The folder for this state folder's sockets, 0700 and checked, the same for every process on this host.

    Its path is written into the state folder: a server under systemd and a command line over ssh see different
    `XDG_RUNTIME_DIR`s, and must still hear each other. It is short, because socket paths must be.
    """
    agreed = state / f"runtime.{this_host()}"
    known = _read(agreed)
    if known is not None and _is_private(known):
        return known
    folder = _make(state)
    _agree(agreed, folder, replace=known is not None)
    return _read(agreed) or folder


def _make(state: Path) -> Path:
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    if not base.is_dir():
        base = Path(tempfile.gettempdir())
    mine = base / f"aiarts-{os.geteuid()}"
    folder = mine / hashlib.sha256(os.fsencode(state)).hexdigest()[:16]
    for path in (mine, folder):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if not _is_private(path):
            raise StateUnusable(
                f"{path} is not a private folder of yours.", "Remove it, or set XDG_RUNTIME_DIR to one that is."
            )
    return folder


def _is_private(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _read(agreed: Path) -> Path | None:
    try:
        return Path(os.fsdecode(agreed.read_bytes()))
    except OSError:
        return None


def _agree(agreed: Path, folder: Path, replace: bool) -> None:
    """Write the path down unless somebody was quicker; a folder that cannot be written agrees on nothing."""
    draft = agreed.with_name(f".{agreed.name}.{os.urandom(4).hex()}")
    with contextlib.suppress(OSError):
        draft.write_bytes(os.fsencode(folder))
        draft.chmod(0o600)
        if replace:
            draft.rename(agreed)
        else:
            with contextlib.suppress(FileExistsError):
                os.link(draft, agreed)
            draft.unlink()


def ring(runtime: Path, job_id: str) -> None:
    """Tell every listener that this job changed; never waits, never fails."""
    try:
        names = [name for name in os.listdir(runtime) if name.endswith(".bell")]
    except FileNotFoundError:
        return
    if not names:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        for name in names:
            path = runtime / name
            try:
                sender.sendto(job_id.encode(), os.fsencode(path))
            except ConnectionRefusedError:
                with contextlib.suppress(OSError):
                    path.unlink()
            except OSError:
                continue  # a full queue will be read anyway; a vanished one has nobody to wake


class Bell:
    """A listener's end. `drain` gives the ids heard; more may have changed, so readers look at the folder too."""

    def __init__(self, runtime: Path) -> None:
        self.path = runtime / f"{os.getpid()}-{os.urandom(4).hex()}.bell"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        try:
            self.socket.bind(os.fsencode(self.path))
        except OSError:
            self.socket.close()
            raise

    def fileno(self) -> int:
        return self.socket.fileno()

    def drain(self) -> set[str]:
        """Every id that was rung since the last time."""
        heard: set[str] = set()
        while True:
            try:
                heard.add(self.socket.recv(64).decode("ascii", "replace"))
            except BlockingIOError:
                return heard

    def close(self) -> None:
        self.socket.close()
        with contextlib.suppress(OSError):
            self.path.unlink()
