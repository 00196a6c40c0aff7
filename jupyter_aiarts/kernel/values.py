"""What people type for a value, turned into what a spec holds: pairs, mounts, numbers, spec files.

Nothing is judged here that the server judges: a number that is none is passed on as text, so that all
problems of a spec are reported together and in one place.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple, Union

from jupyter_aiarts.kernel.errors import WrongUsage


def number(text: str) -> Union[int, float, str]:
    """A whole or fractional number, else the text itself for the server to refuse by its key."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def truth(text: str) -> Union[bool, str]:
    """`true` or `false` in the usual spellings, else the text itself for the server to refuse."""
    known = {
        "true": True,
        "yes": True,
        "1": True,
        "on": True,
        "false": False,
        "no": False,
        "0": False,
        "off": False,
    }
    return known.get(text.lower(), text)


def pair(text: str) -> Tuple[str, Any]:
    """`k=v` gives text, `k:=JSON` a JSON value, `k` alone None."""
    key, equals, value = text.partition("=")
    if not key or key == ":":
        raise WrongUsage(f"{text!r} has no name before the '='.", "Write name=value.")
    if not equals:
        return key, None
    if not key.endswith(":"):
        return key, value
    try:
        return key[:-1], json.loads(value)
    except ValueError as error:
        raise WrongUsage(
            f"After {key}= comes JSON, and {value!r} is none: {error}", "Write name=value for text."
        ) from None


def params(texts: Sequence[str]) -> Dict[str, Any]:
    """`--param` options in their order; a key given twice becomes a list, which repeats it on the command
    line."""
    found: Dict[str, List[Any]] = {}
    for text in texts:
        key, value = pair(text)
        found.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}


def variables(texts: Sequence[str]) -> Dict[str, str]:
    """`--env K=V` options; the value is everything after the first `=`, `K` alone takes it from here."""
    found: Dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            if name not in os.environ:
                raise WrongUsage(f"The variable {name} is not set here, so it needs a value: {name}=…")
            value = os.environ[name]
        found[name] = value
    return found


def mount(text: str) -> Dict[str, Any]:
    """`SOURCE:TARGET[:ro|:rw]`, read from the right, because an NFS source has a colon of its own."""
    head, _, last = text.rpartition(":")
    writable = {"ro": False, "rw": True}.get(last)
    source, colon, target = (text if writable is None else head).rpartition(":")
    if not colon or not source or not target.startswith("/"):
        raise WrongUsage(f"{text!r} is not a mount.", "Write SOURCE:/TARGET or SOURCE:/TARGET:ro.")
    return {"source": source, "target": target, "read_only": writable is False}


def mounts(texts: Sequence[str]) -> List[Dict[str, Any]]:
    """`--mount` options."""
    return [mount(text) for text in texts]


def read_spec(path: str) -> Dict[str, Any]:
    """A spec file, JSON or YAML; called for `--file`."""
    text = read_text(path)
    if Path(path).suffix.lower() in (".yaml", ".yml"):
        spec = _yaml(text, path)
    else:
        try:
            spec = json.loads(text)
        except ValueError as error:
            raise WrongUsage(f"{path} is not JSON: {error}", "A YAML file ends in .yaml or .yml.") from None
    if not isinstance(spec, dict):
        raise WrongUsage(f"{path} holds no spec: its top level is not a map of keys.")
    return spec


def read_text(path: str) -> str:
    """A file's text, or the sentence that says why not."""
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise WrongUsage(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise WrongUsage(f"{path} cannot be read: {error.strerror}.") from None


def _yaml(text: str, path: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise WrongUsage("Reading YAML needs PyYAML.", "pip install pyyaml, or write the spec as JSON.") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise WrongUsage(f"{path} is not YAML: {error}") from None
