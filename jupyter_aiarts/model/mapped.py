"""What the mappers of `foreign.py` give back, and the sentences they have in common."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from jupyter_aiarts.model.checking import Findings, label


class Mapped(Struct, frozen=True, kw_only=True):
    """A spec for `reading.read_spec`, and sentences about what was left out or changed on the way."""

    spec: dict[str, Any]
    notes: list[str] = field(default_factory=list)


def refuse_unknown(given: Mapping[str, Any], known: Iterable[str], what: str, findings: Findings) -> None:
    """Note every key that the other platform does not have either, with the nearest one it has."""
    words = sorted(known)
    for key in given:
        if key not in words:
            near = difflib.get_close_matches(str(key)[:80], words, n=1)
            advice = f"Did you mean {near[0]}?" if near else "Remove it."
            findings.add(label(key), f"There is no key {label(key)} in {what}. {advice}")


def left_out(key: str, why: str) -> str:
    """The sentence about a key that is understood and has no counterpart."""
    return f"{key} was left out: {why}."
