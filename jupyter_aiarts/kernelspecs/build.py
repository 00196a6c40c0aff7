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

from jupyter_aiarts.launcher.activation import SCRIPT
from jupyter_aiarts.model.environment import Environment, OwnKernel

MARK = "jupyter_aiarts"
"""The key in a kernelspec's metadata that says that it is ours."""
START = ("/bin/sh", "{resource_dir}/start.sh")
_LONGEST_SLUG = 40
_LONGEST_TITLE = 60


def spec_name(environment: Environment, own: OwnKernel | None = None) -> str:
    """`aiarts-<slug>-<hash>`: valid for Jupyter whatever the environment is called, and its own; with the name of the
    kernelspec that it starts, where that is not Python's."""
    parts = (
        "aiarts",
        _slug(environment.name),
        _digest_of(environment.path),
        _other(own.name) if own is not None else "",
    )
    return "-".join(part for part in parts if part)


def _other(kernel: str) -> str:
    return f"{_slug(kernel)}-{hashlib.sha256(os.fsencode(kernel)).hexdigest()[:4]}".strip("-")


def is_name_for(name: str, prefix: str, kernel: str) -> bool:
    """Whether `spec_name` gave this name to the kernelspec of that environment. Somebody's copy has our mark too, and
    another name."""
    end = "-".join(part for part in (_digest_of(prefix), _other(kernel) if kernel else "") if part)
    return name.startswith("aiarts-") and name.endswith(f"-{end}")


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:_LONGEST_SLUG].strip("-")


def display_names(environments: Iterable[Environment], taken: Iterable[str] = ()) -> dict[str, str]:
    """`{path: what people read}`: the environment's name, with as much more as tells it from the others and from what
    is `taken` by kernels of environments that cannot be seen here."""
    named: dict[str, list[Environment]] = {}
    for one in environments:
        named.setdefault(_title(one.name).casefold(), []).append(one)
    others = {name.casefold() for name in taken}
    shown = {}
    for twins in named.values():
        for more in (_no_more, _owner, _folder, _digest):
            said = [_with(one, more(one)) for one in twins]
            folded = {text.casefold() for text in said}
            if len(folded) == len(twins) and not folded & others:
                break
        shown.update({one.path: text for one, text in zip(twins, said, strict=True)})
    return shown


def _with(one: Environment, more: str) -> str:
    return f"{_title(one.name)} ({one.kind}{', ' + _title(more) if more else ''})"


def _no_more(one: Environment) -> str:
    return ""


def _owner(one: Environment) -> str:
    return one.owner


def _folder(one: Environment) -> str:
    return os.path.dirname(one.path)


def _digest(one: Environment) -> str:
    return _digest_of(one.path)


def _digest_of(path: str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:8]


def files(environment: Environment, display_name: str, version: str, own: OwnKernel | None = None) -> dict[str, str]:
    """The texts of the kernelspec's folder by their names, without those that are copied as they are."""
    said = kernel_json(environment, display_name, version, own)
    names = {"_aiarts_prefix": environment.path, "_aiarts_name": environment.name}
    return {
        "kernel.json": json.dumps(said, indent=1, ensure_ascii=True) + "\n",
        "environment.sh": "".join(f"{name}={shlex.quote(text)}\n" for name, text in names.items()),
        "activate.sh": SCRIPT,
    }


def kernel_json(
    environment: Environment, display_name: str, version: str, own: OwnKernel | None = None
) -> dict[str, Any]:
    """The kernelspec; what is in braces is Jupyter's to fill in. `own` is one of the environment's that is not
    Python's: it is started as it says itself, activated."""
    mark = {
        "prefix": plain_text(environment.path),
        "name": plain_text(environment.name),
        "kind": environment.kind,
        "owner": environment.owner,
        "frameworks": dict(environment.frameworks),
        "version": version,
    }
    if own is None:
        argv = ["python", "{resource_dir}/kernel.py", "-f", "{connection_file}"]
        interpreter = {
            "path": plain_text(f"{environment.path}/bin/python")
        }  # by which VS Code knows whose kernel it is
        return {
            "argv": [*START, *argv],
            "display_name": display_name,
            "language": "python",
            "interrupt_mode": "signal",
            "metadata": {"debugger": True, "interpreter": interpreter, MARK: mark},
        }
    return {
        "argv": [*START, *own.argv],
        "display_name": f"{_title(own.display_name)} – {display_name}",
        "language": own.language,
        "interrupt_mode": own.interrupt_mode,
        "env": own.env,
        "metadata": {MARK: {**mark, "kernel": plain_text(own.name)}},
    }


def _title(name: str) -> str:
    """A name as a person may read it in a launcher: no controls, not endless."""
    text = plain_text(name)
    if not (text.isascii() and text.isprintable()):  # most are, and there may be many
        text = "".join(char for char in text if unicodedata.category(char)[0] != "C")
    clean = text.strip() or "environment"
    return clean if len(clean) <= _LONGEST_TITLE else clean[: _LONGEST_TITLE - 1] + "…"


def plain_text(name: str) -> str:
    """What may not be UTF-8, as text that is."""
    return name if name.isascii() else name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
