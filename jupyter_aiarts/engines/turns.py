"""Where starts out of turn are written down: one line each in the state folder, and only the last ones are kept.

Written by whoever sees it happen: on this machine the supervisor, for a cluster every server that watches it, so two
servers of one user may write the same line, which is told once. File work: call it from a thread.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from jupyter_aiarts.engines.local.folder import read_bytes, unusable, write_bytes
from jupyter_aiarts.errors import JobUnreadable
from jupyter_aiarts.model.turn import Turn

KEPT = 1000  # turns
LARGEST = 1 << 20  # bytes at which the file is made short again
SHORTEST = LARGEST // 2  # what is left of it then, at most

_decoder = msgspec.json.Decoder(Turn)


class TurnBook:
    """The turns of one engine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "turns.ndjson"

    def add(self, turns: Iterable[Turn]) -> None:
        """Write them down; raises `StateUnusable` where that cannot be done."""
        lines = b"".join(msgspec.json.encode(turn) + b"\n" for turn in turns)
        if not lines:
            return
        try:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            with self._locked():
                if self._append(lines) > LARGEST:
                    self._shorten()
        except OSError as error:
            raise unusable(error, self._folder) from error

    def read(self, job: str | None = None) -> tuple[Turn, ...]:
        """The last turns, newest first; with `job` those in which it started or was passed."""
        found: dict[tuple[str, str], Turn] = {}
        for line in reversed(self._lines()):
            turn = _decoded(line)
            if turn is not None:
                found.setdefault((turn.job, turn.at), turn)
            if len(found) == KEPT:
                break
        return tuple(turn for turn in found.values() if job is None or is_about(turn, job))

    def _lines(self) -> list[bytes]:
        try:
            return (read_bytes(self._file) or b"").splitlines()
        except JobUnreadable:
            return []  # something else stands there: nothing is known

    def _append(self, lines: bytes) -> int:
        """Write at the end; how long the file is then."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(self._file, flags, 0o600)
        try:
            size = os.fstat(handle).st_size
            is_cut = size > 0 and os.pread(handle, 1, size - 1) != b"\n"  # somebody was killed while writing
            os.write(handle, b"\n" + lines if is_cut else lines)
            return os.fstat(handle).st_size
        finally:
            os.close(handle)

    def _shorten(self) -> None:
        kept: list[bytes] = []
        size = 0
        for line in reversed(self._lines()[-KEPT:]):
            size += len(line) + 1
            if size > SHORTEST:
                break
            kept.append(line)
        write_bytes(self._file, b"".join(line + b"\n" for line in reversed(kept)))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone: a server that appends while another one makes the file short would write into the old one."""
        handle = os.open(self._folder / ".turns.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def is_about(turn: Turn, job: str) -> bool:
    """Whether a job started in it or was passed."""
    return turn.job == job or any(one.job == job for one in turn.passed)


def _decoded(line: bytes) -> Turn | None:
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None  # half a line: its writer was killed
