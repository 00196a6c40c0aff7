"""`${NAME}` in the arguments of a job: what is one of ours but misspelt is refused, the rest may be the image's own."""

from __future__ import annotations

from difflib import SequenceMatcher

from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.engines.kubernetes.plan import plan_of
from jupyter_aiarts.launcher.environment import Places, process_environment, seats
from jupyter_aiarts.launcher.plan import from_json
from jupyter_aiarts.launcher.substitution import names, nearest
from jupyter_aiarts.model.spec import JobSpec

ALIKE = 0.8
"""From how much of a likeness on a name counts as another one misspelt: `RANKID` is, `CUDA_VERSION` is not."""


def unknown_names(order: Order) -> dict[str, tuple[str, str]]:
    """Names in the arguments that no rank gets from us: the key they stand in, and the name that was likely meant."""
    known = set(rank_environment(order))
    found: dict[str, tuple[str, str]] = {}
    for key, text in _texts(order.spec):
        for name in names(text):
            if name not in known:
                near = nearest(name, known)
                found[name] = (key, near if SequenceMatcher(None, name.upper(), near).ratio() >= ALIKE else "")
    return found


def rank_environment(order: Order) -> dict[str, str]:
    """What the first rank finds in its environment, but for what its image brings."""
    plan = from_json(plan_of(order))
    secret = dict.fromkeys(order.spec.secret_env, "")
    return process_environment(plan, seats(plan, 0)[0], Places("", ""), secret)


def name_problems(order: Order) -> list[dict[str, str]]:
    """What is refused: a name that is surely meant to be one of ours."""
    return [
        {"key": key, "message": f"Unknown variable ${{{name}}}: did you mean ${{{near}}}? ($${{ writes a literal ${{)"}
        for name, (key, near) in unknown_names(order).items()
        if near
    ]


def name_notes(order: Order) -> list[str]:
    """What only the image can have."""
    asked = [name for name, (_, near) in unknown_names(order).items() if not near]
    listed = ", ".join(f"${{{name}}}" for name in asked)
    return [f"{listed} must be set by the image: without it the job ends before its ranks start."] if asked else []


def _texts(spec: JobSpec) -> list[tuple[str, str]]:
    many = [("args", text) for text in spec.args]
    for value in spec.params.values():
        each = value if isinstance(value, list) else [value]
        many += [("params", text) for text in each if isinstance(text, str)]
    return many
