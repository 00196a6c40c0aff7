"""What a launcher says of itself beside its log, as far as the picture keeps it."""

from __future__ import annotations

from msgspec import Struct

from jupyter_aiarts.engines.local.records import NodeStatus
from jupyter_aiarts.engines.notes import MOST
from jupyter_aiarts.model.job import Progress
from jupyter_aiarts.model.times import parse

RING_WAIT = "ring-controller-wait"  # the launcher's own word, without its modules
LONGEST = 4000
"""Characters of a note; one may list what to do for eight cards."""
MOST_PROGRESS = 60


class Said(Struct, gc=False, frozen=True, kw_only=True):
    """One node's; most have nothing to say."""

    pod: str  # empty where it was read from a file
    attempt: int
    code: str | None = None  # what it waits for
    message: str | None = None
    notes: tuple[str, ...] = ()
    idle_since: str | None = None  # since when its cards do nothing
    progress: Progress | None = None  # how far its first rank says it is


def said_of(status: NodeStatus, pod: str = "") -> Said:
    """Out of a launcher's status, and never much: a user's code may speak in its place."""
    notes = tuple(note[:LONGEST] for note in status.notes[:MOST])
    message = status.message[:LONGEST] if status.message else None
    idle = status.idle_since if status.idle_since and _is_time(status.idle_since) else None
    return Said(
        pod=pod,
        attempt=status.attempt,
        code=status.code,
        message=message,
        notes=notes,
        idle_since=idle,
        progress=_bounded(status.progress),
    )


def _bounded(said: Progress | None) -> Progress | None:
    if said is None or not 0 <= said.share <= 1:
        return None
    return said if len(said.text) <= MOST_PROGRESS else Progress(said.text[:MOST_PROGRESS], said.share)


def _is_time(text: str) -> bool:
    try:
        parse(text)
    except (ValueError, OverflowError):
        return False
    return True
