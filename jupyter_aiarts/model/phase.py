"""The phases of a job and the moves each of them offers."""

from __future__ import annotations

from enum import Enum

from jupyter_aiarts.errors import WrongPhase


class Phase(str, Enum):
    """Where a job stands. Legal order: queued, starting, running, then one of the four ends.

    `paused` leads back to `queued`; a rerun leads from any end back to `queued` with the next run number.
    """

    QUEUED = "queued"  # accepted, no node yet
    STARTING = "starting"  # placed, not every rank up
    RUNNING = "running"  # every rank up
    PAUSED = "paused"  # devices given back, resume runs again
    SUCCEEDED = "succeeded"  # every rank ended with 0
    FAILED = "failed"  # the user's code
    LOST = "lost"  # the platform's fault: evicted, node gone
    STOPPED = "stopped"  # somebody asked

    @property
    def is_terminal(self) -> bool:
        """Whether this run is over; only a rerun makes the job move again."""
        return self in (Phase.SUCCEEDED, Phase.FAILED, Phase.LOST, Phase.STOPPED)

    @property
    def is_active(self) -> bool:
        """Whether the job holds devices."""
        return self in (Phase.STARTING, Phase.RUNNING)


class Move(str, Enum):
    """What a user can ask of a job."""

    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    RERUN = "rerun"
    EDIT = "edit"
    DELETE = "delete"
    CLONE = "clone"
    RELEASE = "release"  # give up on a pod that a dead node holds; no phase alone offers it


_ACTIVE = (Move.PAUSE, Move.STOP, Move.DELETE)
_ENDED = (Move.RERUN, Move.CLONE, Move.EDIT, Move.DELETE)

MOVES: dict[Phase, tuple[Move, ...]] = {
    Phase.QUEUED: (Move.STOP, Move.EDIT, Move.DELETE),
    Phase.STARTING: _ACTIVE,
    Phase.RUNNING: _ACTIVE,
    Phase.PAUSED: (Move.RESUME, Move.STOP, Move.EDIT, Move.DELETE),
    Phase.SUCCEEDED: _ENDED,
    Phase.FAILED: _ENDED,
    Phase.LOST: _ENDED,
    Phase.STOPPED: _ENDED,
}


def check_move(phase: Phase, move: Move, name: str) -> None:
    """Raise `WrongPhase`, saying what is offered, unless a job called `name` in `phase` offers `move`."""
    offered = MOVES[phase]
    if move not in offered:
        *most, last = [one.value for one in offered]
        raise WrongPhase(
            f"The job “{name}” is {phase.value}, and {move.value} is not offered in this phase.",
            hint=f"What it offers now: {', '.join(most)} and {last}.",
        )
