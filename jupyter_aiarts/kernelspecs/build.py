"""What a kernelspec of an environment is: pure functions from the environment to names and the files of a folder.

Jupyter fills in every `{prefix}` that it finds in `argv`, in a folder's name too; so no name of the environment stands
there. They are in `environment.sh`, quoted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import unicodedata
from collections.abc import Iterable
from typing import Any

from jupyter_aiarts.model.environment import Environment

MARK = "jupyter_aiarts"
"""The key in a kernelspec's metadata that says that it is ours."""
START = ("/bin/sh", "{resource_dir}/start.sh")
_LONGEST_SLUG = 40
_LONGEST_TITLE = 60


def spec_name(environment: Environment) -> str:
    """`aiarts-<slug>-<hash>`: valid for Jupyter whatever the environment is called, and its own."""
    plain = unicodedata.normalize("NFKD", environment.name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:_LONGEST_SLUG].strip("-")
    digest = hashlib.sha256(os.fsencode(environment.path)).hexdigest()[:8]
    return "-".join(part for part in ("aiarts", slug, digest) if part)


def display_names(environments: Iterable[Environment]) -> dict[str, str]:
    """`{path: what people read}`: the environment's name, with as much more as tells it from the others."""
    everyone = list(environments)
    named: dict[str, list[Environment]] = {}
    for one in everyone:
        named.setdefault(_title(one.name).casefold(), []).append(one)
    shown = {}
    for one in everyone:
        twins = named[_title(one.name).casefold()]
        owners = {twin.owner for twin in twins}
        more = "" if len(twins) == 1 else one.owner if len(owners) == len(twins) else os.path.dirname(one.path)
        shown[one.path] = f"{_title(one.name)} ({one.kind}{', ' + _title(more) if more else ''})"
    return shown


def files(environment: Environment, display_name: str, version: str) -> dict[str, str]:
    """The texts of the kernelspec's folder by their names, without those that are the same for all."""
    return {
        "kernel.json": json.dumps(kernel_json(environment, display_name, version), indent=1, ensure_ascii=True) + "\n",
        "environment.sh": f"prefix={shlex.quote(environment.path)}\nname={shlex.quote(environment.name)}\n",
    }


def kernel_json(environment: Environment, display_name: str, version: str) -> dict[str, Any]:
    """The kernelspec; what is in braces is Jupyter's to fill in."""
    return {
        "argv": [*START, "python", "{resource_dir}/kernel.py", "-f", "{connection_file}"],
        "display_name": display_name,
        "language": "python",
        "interrupt_mode": "signal",
        "metadata": {
            "debugger": True,
            MARK: {
                "prefix": _text(environment.path),
                "name": _text(environment.name),
                "kind": environment.kind,
                "version": version,
            },
        },
    }


def _title(name: str) -> str:
    """A name as a person may read it in a launcher: no controls, not endless."""
    clean = "".join(char for char in _text(name) if unicodedata.category(char)[0] != "C").strip() or "environment"
    return clean if len(clean) <= _LONGEST_TITLE else clean[: _LONGEST_TITLE - 1] + "…"


def _text(name: str) -> str:
    """A file's name that may not be UTF-8, as text that is."""
    return os.fsencode(name).decode("utf-8", "replace")
