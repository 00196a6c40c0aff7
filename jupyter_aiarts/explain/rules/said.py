"""How rooms look at what was said: the first line that tells something, and names taken from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jupyter_aiarts.model.cause import Cause

LONGEST = 4000
"""Characters of one line that are looked at: a platform's reason stands at the beginning, or near it."""

MOST = 20


def lines(cause: Cause) -> list[str]:
    """The quoted words, each as far as it is looked at."""
    return [line[:LONGEST] for line in cause.evidence[:MOST]]


def text(cause: Cause) -> str:
    """All of it in small letters, for words that are the same wherever they stand."""
    return "\n".join(lines(cause)).lower()


def closer(cause: Cause, code: str | None = None, form: str = "", **values: Any) -> Cause:
    """The same cause, better known; what the engine saw stays in it."""
    return Cause(code=code or cause.code, form=form, values={**cause.values, **values}, evidence=cause.evidence)


def first(pattern: re.Pattern[str], cause: Cause) -> re.Match[str] | None:
    """Where a pattern is found first."""
    return next((found for line in lines(cause) if (found := pattern.search(line))), None)


def either(en: str, zh: str) -> Mapping[str, str]:
    """A value that is a part of a sentence itself: `explain` takes the reader's language."""
    return {"en": en, "zh": zh}
