"""The form of a text: a title, the reason, and what can be done, in both languages."""

from __future__ import annotations

from msgspec import Struct


class Words(Struct, frozen=True):
    """One language's sentences; `{name}` takes a value of the cause. An action is a label and perhaps a command."""

    title: str
    why: str
    actions: tuple[tuple[str, str | None], ...] = ()


class Text(Struct, frozen=True):
    """One code's sentences."""

    en: Words
    zh: Words
