"""The table of phases and moves, and the tree of errors."""

from __future__ import annotations

import pickle

import pytest

from jupyter_aiarts import errors
from jupyter_aiarts.errors import AiartsError, InvalidSpec, WrongPhase
from jupyter_aiarts.model.phase import MOVES, Move, Phase, check_move

OFFERED = {
    "queued": {"stop", "edit", "delete"},
    "starting": {"pause", "stop", "delete"},
    "running": {"pause", "stop", "delete"},
    "paused": {"resume", "stop", "edit", "delete"},
    "succeeded": {"rerun", "clone", "edit", "delete"},
    "failed": {"rerun", "clone", "edit", "delete"},
    "lost": {"rerun", "clone", "edit", "delete"},
    "stopped": {"rerun", "clone", "edit", "delete"},
}


def test_every_phase_offers_what_the_table_says() -> None:
    assert {phase.value: {move.value for move in MOVES[phase]} for phase in Phase} == OFFERED


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("move", Move)
def test_a_move_is_refused_exactly_where_it_is_not_offered(phase: Phase, move: Move) -> None:
    if move.value in OFFERED[phase.value]:
        check_move(phase, move, "train")
    else:
        with pytest.raises(WrongPhase):
            check_move(phase, move, "train")


def test_a_refused_move_says_what_is_offered() -> None:
    with pytest.raises(WrongPhase) as caught:
        check_move(Phase.RUNNING, Move.RERUN, "训练")
    assert caught.value.as_dict() == {
        "code": "wrong-phase",
        "message": "The job “训练” is running, and rerun is not offered in this phase.",
        "hint": "What it offers now: pause, stop and delete.",
    }


def test_terminal_and_active_phases() -> None:
    assert [phase.value for phase in Phase if phase.is_terminal] == ["succeeded", "failed", "lost", "stopped"]
    assert [phase.value for phase in Phase if phase.is_active] == ["starting", "running"]


def _tree(root: type[AiartsError]) -> list[type[AiartsError]]:
    return [root, *(below for child in root.__subclasses__() for below in _tree(child))]


def test_the_drawn_tree_is_the_tree() -> None:
    """The docstring names every class with its status and code, and no others."""
    drawn = {
        tuple(line.strip(" │├└─").split()[:3])
        for line in (errors.__doc__ or "").splitlines()
        if any(character.isdigit() for character in line) and "  " in line.strip()
    }
    ours = [one for one in _tree(AiartsError) if one.__module__ == errors.__name__]  # engines may add their own
    assert drawn == {(one.__name__, str(one.status), one.code) for one in ours}


def test_errors_show_code_message_and_hint() -> None:
    error = errors.JobNotFound("No job has the id x.", hint="Look at the list.")
    assert isinstance(error, errors.NotFound)
    assert error.as_dict() == {
        "code": "job-not-found",
        "message": "No job has the id x.",
        "hint": "Look at the list.",
    }


def test_an_invalid_spec_carries_its_problems() -> None:
    one, two = {"key": "a", "message": "A is bad."}, {"key": "b", "message": "B is bad."}
    assert InvalidSpec([one]).as_dict() == {
        "code": "invalid-spec",
        "message": "A is bad.",
        "hint": "Change the named keys and submit again.",
        "problems": [one],
    }
    assert str(InvalidSpec([one, two])) == "The job spec has 2 problems. The first: A is bad."
    assert str(InvalidSpec([])) == "The job spec was refused."


def test_an_invalid_spec_survives_a_process_boundary() -> None:
    error = InvalidSpec([{"key": "a", "message": "A is bad."}], hint="Do this.")
    assert pickle.loads(pickle.dumps(error)).as_dict() == error.as_dict()
