"""Moves that were asked for while the cluster did not answer: kept in the state folder, carried out when it does."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from jupyter_aiarts.engines.local.folder import read_file, write_file
from jupyter_aiarts.errors import JobUnreadable
from jupyter_aiarts.model.names import check_id
from jupyter_aiarts.model.phase import Move
from jupyter_aiarts.model.times import now


class Wish(Struct, frozen=True, kw_only=True):
    """One move somebody asked for, and when."""

    move: Move
    asked: str


class Pending:
    """One file per job; the last wish for a job is the one that counts. File work: call it from a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, job_id: str, move: Move) -> None:
        """Remember a move for later."""
        self._folder.mkdir(0o700, parents=True, exist_ok=True)
        write_file(self._folder / f"{check_id(job_id)}.json", Wish(move=move, asked=now()))

    def all(self) -> dict[str, Wish]:
        """Every wish, by job."""
        found = {path.stem: self._read(path) for path in self._folder.glob("*.json")}
        return {job_id: wish for job_id, wish in found.items() if wish is not None}

    def forget(self, job_id: str) -> None:
        """It was carried out, or can never be."""
        (self._folder / f"{check_id(job_id)}.json").unlink(missing_ok=True)

    def _read(self, path: Path) -> Wish | None:
        try:
            return read_file(path, Wish)
        except JobUnreadable:
            return None  # damaged: nobody can say what was wanted
