"""What an action of an explanation would do, decided in one place for every door; pure.

An action is words, a change of the spec, a move, one of our own commands that only looks, or a command for the user's
own shell. What a shell would run is shown and never run here, whatever it is.
"""

# Annotations are values: see spec.py.

import re
import shlex
from collections.abc import Collection, Mapping
from typing import Any, Literal

from msgspec import Struct, field, json

from jupyter_aiarts.errors import BadRequest, WrongPhase
from jupyter_aiarts.model.job import Action, Job
from jupyter_aiarts.model.phase import Move, Phase

FixKind = Literal["edit", "move", "look", "shell", "words"]

PROGRAM = "aiarts"
MOVES = (Move.STOP, Move.PAUSE, Move.RESUME, Move.RERUN, Move.RELEASE)
LOOKS = frozenset({"cluster", "doctor", "explain", "jobs", "logs", "queues", "show", "usage"})
"""Commands of ours that change nothing: the kernel's side may run them. Its own list has to be the same."""

_PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_]*")
_SHELLS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<"})


class FixRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which action to carry out; `values` fill in what it asks for, or take the place of what it suggests."""

    fix: str
    dry_run: bool = False
    values: dict[str, Any] = field(default_factory=dict)


class SpecChange(Struct, frozen=True, kw_only=True):
    """One key of the spec, or of a map in it (`env.LR`), as it is and as it will be; a secret's value is null."""

    key: str
    before: Any = None
    after: Any = None


class Plan(Struct, frozen=True, kw_only=True):
    """What is to be done: `first`, then the patch, then the move. `command` is what remains for whoever asked."""

    kind: FixKind
    action: Action
    first: Move | None = None
    patch: dict[str, Any] | None = None
    move: Move | None = None
    command: str | None = None


class Fix(Struct, frozen=True, kw_only=True):
    """An action, what it changes and the job afterwards; `done` is false where nothing was changed here.

    `first` is the move before the change: a start that cannot succeed is given up by a pause. `command` is left to
    whoever asked: of kind `look` it is one of ours, of kind `shell` one for a person's own shell.
    """

    action: Action
    kind: FixKind
    changes: list[SpecChange]
    first: Move | None
    move: Move | None
    command: str | None
    done: bool
    job: Job


def kind_of(action: Action, job_id: str) -> FixKind:
    """What carrying out an action of this job's explanation means."""
    if action.patch is not None:
        return "edit"
    if not action.command:
        return "words"
    words = _words(action.command)
    if len(words) < 2 or words[0] != PROGRAM or not _SHELLS.isdisjoint(words):
        return "shell"
    verb, rest = words[1], words[2:]
    if verb == "edit" and rest[:1] == [job_id] and len(rest) > 1 and all("=" in word for word in rest[1:]):
        return "edit"
    if verb in MOVES and rest == [job_id]:
        return "move"
    # Deleting and submitting cannot be undone by the next fix, so those are left to a person as well.
    looks = verb in LOOKS and "--fix" not in rest and not any(_PLACEHOLDER.fullmatch(word) for word in rest)
    return "look" if looks else "shell"


def plan(
    action: Action, number: int, job_id: str, phase: Phase, offered: Collection[Move], values: Mapping[str, Any]
) -> Plan:
    """What carrying out the action means for a job in this phase; raises with what is missing or in the way.

    `number` is the action's place in the explanation, for the line that says what to give.
    """
    kind = kind_of(action, job_id)
    if kind == "edit":
        patch = _patch(action, number, job_id, values)
        if phase is Phase.STARTING and Move.PAUSE in offered:  # nothing runs yet, so nothing is lost by starting anew
            return Plan(kind=kind, action=action, first=Move.PAUSE, patch=patch, move=Move.RESUME)
        _check_edit(action, job_id, phase, offered)
        return Plan(kind=kind, action=action, patch=patch, move=Move.RERUN if Move.RERUN in offered else None)
    if values:
        raise BadRequest(
            f"“{action.label}” changes no key of the spec, and {_listed(values)} was given.",
            f"Leave it out, or change the spec: {PROGRAM} edit {job_id} KEY=VALUE.",
        )
    if kind == "move":
        move = Move(_words(action.command or "")[1])
        _check_move(action, move, phase, offered)
        return Plan(kind=kind, action=action, move=move)
    return Plan(kind=kind, action=action, command=action.command)


def _patch(action: Action, number: int, job_id: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch, with what was given in it; every key that only the user knows has to be."""
    patch, missing = _suggested(action)
    strange = [key for key in values if key not in patch and key not in missing]
    if strange:
        raise BadRequest(
            f"“{action.label}” is about {_listed({**patch, **missing})}, not about {_listed(strange)}.",
            f"Other keys are changed by {PROGRAM} edit {job_id} KEY=VALUE.",
        )
    lacking = {key: name for key, name in missing.items() if values.get(key) in (None, "", name)}
    if lacking:
        given = " ".join(f"{key}={name}" for key, name in lacking.items())
        raise BadRequest(
            f"“{action.label}” needs {_listed(lacking)} from you.",
            f"Give it: {PROGRAM} explain {job_id} --fix {number} {given} (over REST in `values`).",
        )
    return {**patch, **{key: _over(patch.get(key), value) for key, value in values.items()}}


def _over(suggested: Any, given: Any) -> Any:
    """What was given in place of what was suggested; of a map, such as `env`, only what was given in it."""
    if isinstance(suggested, Mapping) and isinstance(given, Mapping):
        return {**suggested, **given}
    return given


def _suggested(action: Action) -> tuple[dict[str, Any], dict[str, str]]:
    """The keys that an action sets, and those for which it has only a word in capitals."""
    if action.patch is not None:
        return dict(action.patch), {}
    pairs = [word.partition("=") for word in _words(action.command or "")[3:]]
    missing = {key: value for key, _, value in pairs if _PLACEHOLDER.fullmatch(value)}
    return {key: _typed(value) for key, _, value in pairs if key not in missing}, missing


def _typed(text: str) -> Any:
    """A value of a command line: a number or truth where it reads as one, else text."""
    try:
        return json.decode(text)
    except ValueError:
        return text


def _check_edit(action: Action, job_id: str, phase: Phase, offered: Collection[Move]) -> None:
    if Move.EDIT in offered:
        return
    change = action.command or f"{PROGRAM} edit {job_id} KEY=VALUE"
    again = f"Stop it, change it, run it again: {PROGRAM} stop {job_id}; {change}; {PROGRAM} rerun {job_id}"
    hint = again if Move.STOP in offered else _offers(offered)
    raise WrongPhase(
        f"“{action.label}” changes the spec, which a job that is {phase.value} has already been started with.", hint
    )


def _check_move(action: Action, move: Move, phase: Phase, offered: Collection[Move]) -> None:
    if move not in offered:
        raise WrongPhase(
            f"“{action.label}” means {move.value}, which a job that is {phase.value} does not offer now.",
            _offers(offered),
        )


def _offers(offered: Collection[Move]) -> str:
    return f"What it offers now: {_listed(move.value for move in offered)}."


def _listed(names: Any) -> str:
    return ", ".join(str(name)[:80] for name in names)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote without its end: only a person can tell what was meant
        return []
