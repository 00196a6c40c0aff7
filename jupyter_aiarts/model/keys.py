"""The keys of a spec: which exist, what else people call them, and the nearest one to a typing error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.argv import is_scalar, scalar_text
from jupyter_aiarts.model.checking import Findings, label, nearest, shown
from jupyter_aiarts.model.spec import DEVICES, JobSpec
from jupyter_aiarts.model.wording import worded

KEYS = JobSpec.__struct_fields__

ALIASES = {"workspace_id": "queue", "vc": "queue"}
"""Other names of a key, from older platforms; they are accepted."""

_MEANT = {
    "gpu": "devices",
    "gpus": "devices",
    "npus": "devices",
    "cards": "devices",
    "cmd": "command",
    "entrypoint": "command",
    "file": "script",
    "parameters": "params",
    "environment": "env",
    "workers": "nodes",
    "replicas": "nodes",
    "volumes": "mounts",
    "memory": "memory_gb",
    "shm_size": "shm_gb",
    "secrets": "secret_env",
    "timeout": "max_hours",
}
"""What people mean by words that are no typing errors; they are refused like any other."""

_KINDS = {
    "regular": "regular",
    "regularjob": "regular",
    "distributed": "distributed",
    "distributedjob": "distributed",
    "psdistjob": "distributed",
}

_ENDPOINTS = (
    "endpoints (Jupyter, SSH, TensorBoard) cannot be opened in a job yet. Remove the key; "
    "logs and usage are shown without it."
)


def as_object(raw: object) -> Mapping[Any, Any]:
    """What a client sent, when it is an object at all; anything else is no spec of any platform."""
    if not isinstance(raw, Mapping):
        message = worded("A job spec is an object of keys and values, and this is {value}.", value=shown(raw))
        raise InvalidSpec([{"key": "", "message": message}])
    return raw


def known_keys(raw: Mapping[Any, Any], findings: Findings) -> dict[str, Any]:
    """The entries of `raw` under their proper keys; null means not given. Everything else is noted."""
    given: dict[str, Any] = {}
    for key, value in raw.items():
        proper = ALIASES.get(key, key) if isinstance(key, str) else key
        if proper not in KEYS:
            findings.add(label(key), _ENDPOINTS if key == "endpoints" else _unknown(key))
        elif value is None:
            continue
        elif proper in given and _as_text(given[proper]) != _as_text(value):
            message = "{key} is another name of {proper}, which is given with another value."
            findings.add(label(key), worded(message, key=label(key), proper=proper))
        else:
            given[proper] = value
    return given


def plain_spellings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same entries with accepted spellings of values made one: kinds, numbers where text is wanted."""
    plain = dict(given)
    if isinstance(plain.get("kind"), str):
        squeezed = re.sub(r"[\s_-]", "", plain["kind"]).lower()
        plain["kind"] = _KINDS.get(squeezed, plain["kind"])
        if squeezed == "pytorchjob":  # a PyTorchJob may have one replica: `nodes` decides
            del plain["kind"]
    if isinstance(plain.get("device"), str) and plain["device"].lower() in DEVICES:
        plain["device"] = plain["device"].lower()
    if isinstance(plain.get("args"), (list, tuple)):
        plain["args"] = [_as_text(value) for value in plain["args"]]
    if isinstance(plain.get("env"), Mapping):
        plain["env"] = {name: _as_text(value) for name, value in plain["env"].items()}
    if "queue" in plain:
        plain["queue"] = _as_text(plain["queue"])
    return plain


def _as_text(value: Any) -> Any:
    """Numbers and truth values as text, so that YAML's `EPOCHS: 10` needs no quotes; the rest as it is."""
    return scalar_text(value) if is_scalar(value) else value


def _unknown(key: Any) -> str:
    if not isinstance(key, str):
        return worded("A job spec's keys are words, and {value} is not one.", value=shown(key))
    meant = _MEANT.get(key.lower()) or nearest(key, [*KEYS, *ALIASES])
    if meant:
        return worded("There is no key {key} in a job spec. Did you mean {near}?", key=label(key), near=meant)
    return worded("There is no key {key} in a job spec. The keys are {keys}.", key=label(key), keys=", ".join(KEYS))
