"""What must never be shown: which names look secret, and how values leave a spec before anybody keeps it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct

from jupyter_aiarts.model.argv import is_scalar, scalar_text
from jupyter_aiarts.model.checking import Findings, label, name_fault, strange_key, text_fault
from jupyter_aiarts.model.wording import worded

_WORDS = frozenset(
    [
        "TOKEN",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWORDS",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "APIKEY",
        "ACCESSKEY",
        "SECRETKEY",
        "PRIVATEKEY",
        "AUTHORIZATION",
        "BEARER",
        "JWT",
    ]
)
_PAIRS = frozenset([("API", "KEY"), ("ACCESS", "KEY"), ("PRIVATE", "KEY"), ("ENCRYPTION", "KEY"), ("SIGNING", "KEY")])


class PullSecret(Struct, frozen=True, kw_only=True):
    """How to log in to an image registry. An engine makes a pull secret from it and forgets it."""

    registry: str
    username: str
    password: str

    def __repr__(self) -> str:
        return f"PullSecret(registry={self.registry!r}, username={self.username!r}, password=…)"


def looks_secret(name: str) -> bool:
    """Whether a variable's name holds a whole word that means a secret (`HF_TOKEN`, not `TOKENIZERS_…`)."""
    words = [word.upper() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    return not _WORDS.isdisjoint(words) or not _PAIRS.isdisjoint(pairwise(words))


def split_secrets(
    env: Mapping[str, Any], given: Any, known: Collection[str], findings: Findings
) -> tuple[dict[str, str], dict[str, None], list[str]]:
    """Secret values, the names that a spec may show, and which of them were found in `env`.

    `given` is the spec's own `secret_env`; null there stands for a value that is already kept (`known`).
    Problems never print a value.
    """
    if not isinstance(given, Mapping):
        findings.add("secret_env", "secret_env must be an object of names and values.")
        given = {}
    values: dict[str, str] = {}
    for name, value in given.items():
        fault = _value_fault(name, value, known)
        if fault:
            where = f"secret_env.{label(name)}"
            findings.add(where, worded("{key} {fault}.", key=where, fault=fault))
        elif value is not None:
            values[name] = scalar_text(value)
    moved = [name for name, value in env.items() if isinstance(value, str) and looks_secret(name) and name not in given]
    values.update((name, env[name]) for name in moved)
    return values, dict.fromkeys([*(name for name in given if isinstance(name, str)), *moved]), moved


def _value_fault(name: Any, value: Any, known: Collection[str]) -> str:
    if name_fault(name):
        return name_fault(name)
    if value is None:
        return "" if name in known else "is null, and no value is kept for it. Give the value"
    if not is_scalar(value):
        return "must be text"
    return text_fault(scalar_text(value))


def split_pull_secret(given: Any, findings: Findings) -> tuple[str | None, PullSecret | None]:
    """The name of an existing pull secret, or the login to make one from; never both."""
    if given is None or isinstance(given, str):
        return given, None
    names = PullSecret.__struct_fields__
    if not isinstance(given, Mapping):
        message = "image_pull_secret must be a name, or an object of {names}."
        findings.add("image_pull_secret", worded(message, names=", ".join(names)))
        return None, None
    before = findings.count
    for name in given:
        if name not in names:
            sentence = strange_key("image_pull_secret", label(name), "", names)
            findings.add(f"image_pull_secret.{label(name)}", sentence)
    for name in names:
        value = given.get(name)
        if not isinstance(value, str) or not value or text_fault(value) or len(value) > 4096:
            findings.add(
                f"image_pull_secret.{name}",
                worded("{key} must be text of 1 to 4,096 characters.", key=f"image_pull_secret.{name}"),
            )
    return None, PullSecret(**given) if findings.count == before else None
