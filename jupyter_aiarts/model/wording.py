"""Sentences that can be said again in another language: a text that remembers what it was made of.

Models and engines write English, as plain strings are written; whoever answers a person in another language
(`explain.problems`) finds the sentence by its template. Standard library only.
"""

from __future__ import annotations


class Worded(str):
    """A text made of a template and values, some of which may be such texts themselves."""

    __slots__ = ("template", "values")

    template: str
    values: dict[str, str]


def worded(template: str, **values: object) -> Worded:
    """The template with its values; for everybody who only reads it, a string like any other."""
    texts = {name: value if isinstance(value, str) else str(value) for name, value in values.items()}
    made = Worded(template.format(**texts))
    made.template, made.values = template, texts
    return made
