"""A spec's arguments as the process will see them."""

from __future__ import annotations

import json
from typing import TypeGuard

from jupyter_aiarts.model.spec import JobSpec, Parameter, Scalar


def render_arguments(spec: JobSpec) -> list[str]:
    """`args`, then `params` in their order. Engines put it in the plan; `${NAME}` is still unreplaced."""
    return [*spec.args, *(text for key, value in spec.params.items() for text in _named(key, value))]


def path_arguments(spec: JobSpec) -> list[str]:
    """The paths, when `pass_paths` asks for them; they come last, and nothing is replaced in them."""
    if not spec.pass_paths:
        return []
    paths = {"--data_path": spec.data_path, "--output_path": spec.output_path}
    return [text for key, path in paths.items() if path is not None for text in (key, path)]


def is_scalar(value: object) -> TypeGuard[Scalar]:
    """Whether a value can be one argument: text, true, false, or a number of at most 64 bits."""
    if isinstance(value, int):
        return abs(value) < 2**63
    return isinstance(value, (str, float))


def scalar_text(value: Scalar) -> str:
    """Text as it is; numbers, `true` and `false` as JSON writes them."""
    return value if isinstance(value, str) else json.dumps(value)


def _named(key: str, value: Parameter) -> list[str]:
    """One parameter: the key alone for null, once per item for a list."""
    if value is None:
        return [f"--{key}"]
    values = value if isinstance(value, list) else [value]
    return [text for one in values for text in (f"--{key}", scalar_text(one))]
