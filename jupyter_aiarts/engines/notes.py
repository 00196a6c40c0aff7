"""What the launchers of a run say to whoever looks at the job: as its notes, and as events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jupyter_aiarts.engines.local.records import NodeStatus
from jupyter_aiarts.model.job import Event
from jupyter_aiarts.model.wording import worded

MOST = 10
"""Notes on a job's page: five hundred nodes may all say the same. Its events have them all."""


def notes_of(said: Iterable[tuple[int, Sequence[str]]], nodes: int) -> tuple[str, ...]:
    """The notes of all nodes as sentences, each with its node where there are several."""
    found = [
        f"Node {node}: {note}" if nodes > 1 else note[:1].upper() + note[1:]
        for node, notes in sorted(said)
        for note in notes
    ]
    if len(found) <= MOST:
        return tuple(found)
    return (*found[: MOST - 1], f"{len(found) - MOST + 1} more notes of its launchers are among its events.")


def events_of(status: NodeStatus, thing: str) -> list[Event]:
    """The same of one node as events, and what it waits for at this moment."""
    started = min((rank.started for rank in status.ranks if rank.started), default=None)
    found = [
        Event(
            t=started or status.since,
            type="Warning",
            reason="Noted",
            message=worded("Node {node}: {sentence}", node=status.node, sentence=note),
            object=thing,
        )
        for note in status.notes
    ]
    if status.code and status.message:
        message = worded("Node {node}: {sentence}", node=status.node, sentence=status.message)
        found.append(Event(t=status.since, type="Normal", reason="Waiting", message=message, object=thing))
    return found
