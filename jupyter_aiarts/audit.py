"""Who did what when: JSON lines beside the jobs, written away from the event loop and bounded in size."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jupyter_aiarts.model.times import now

LIMIT_BYTES = 4 * 1024 * 1024
LONGEST_USER = 128
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class AuditLog:
    """One line per deed in `<state>/audit.log`; a full file becomes `audit.log.1` in place of the older one.

    Owned by `AiartsApp`, where `AiartsHandler.on_finish` calls `note`, and by the service without a server. A line
    holds who, what, which job and the answer's status, and nothing of the request's body, so no secret can get into it.
    """

    def __init__(self, path: Path, log: logging.Logger, limit: int = LIMIT_BYTES) -> None:
        self.path = path
        self._log = log
        self._limit = limit
        # One thread: lines keep their order, and a slow disk never holds up an answer.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aiarts-audit")

    def note(self, user: str, action: str, subject: str | None, status: int) -> None:
        """Record one deed; returns at once."""
        entry = {
            "t": now(),
            "user": user[:LONGEST_USER],
            "action": action,
            "subject": subject,
            "status": status,
        }
        line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        self._thread.submit(self._append, line)

    def close(self) -> None:
        """Write what is waiting, then end the thread; called when its owner stops."""
        self._thread.shutdown(wait=True)

    def _append(self, line: bytes) -> None:
        try:
            self._write(line)
        except OSError as error:
            # A full disk must not stop who wants to delete a job; the server's own log has the request.
            self._log.warning("The audit log %s cannot be written: %s", self.path, error)

    def _write(self, line: bytes) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._open_locked()
        try:
            if os.fstat(file).st_size + len(line) > self._limit:
                os.replace(self.path, self.path.with_name(self.path.name + ".1"))
                os.close(file)
                file = self._open_locked()
            os.write(file, line)
        finally:
            os.close(file)

    def _open_locked(self) -> int:
        """The current file, locked: another server on the same folder may be turning it over right now."""
        while True:
            file = os.open(self.path, FLAGS, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX)
            if _still_there(self.path, file):
                return file
            os.close(file)


def _still_there(path: Path, file: int) -> bool:
    """Whether the open file is still the one of that name (not renamed while we waited for the lock)."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(file))
    except FileNotFoundError:
        return False
