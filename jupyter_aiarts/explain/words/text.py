"""The form of a text: a title, the reason, and what can be done, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Doing = tuple[str, str | Mapping[str, Any] | None]
"""A label, and a command, a change of the spec (a value `"{name}"` is that value of the cause), or only words."""


class Words(Struct, frozen=True):
    """One language's sentences; `{name}` takes a value of the cause."""

    title: str
    why: str
    actions: tuple[Doing, ...] = ()


class Text(Struct, frozen=True):
    """One code's sentences, or those of one form of it."""

    en: Words
    zh: Words
