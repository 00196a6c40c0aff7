"""The form of one thing that a line may tell, and what was decided by it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from jupyter_aiarts.explain.rules.lines import Statement
from jupyter_aiarts.model.later import Later

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec


class End(Struct, frozen=True):
    """How a rank ended, beside its lines."""

    exit_code: int | None = None
    signal: str | None = None  # also where a shell reports it as 128 + its number
    full: tuple[str, ...] = ()  # places without room, seen by the launcher
    oom_kills: int = 0  # processes that the kernel ended for want of memory meanwhile
    oom_scope: str | None = None  # where it counted: the job's "container" or the "machine"


class Found(Struct, frozen=True):
    """A cause, and the line that it was decided by."""

    code: str
    form: str
    place: int | None
    values: Mapping[str, Any]
    is_after: bool = False  # what one process sees of another's end: never the first cause where there is another


Values = Callable[["re.Match[str]", Statement, End, "JobSpec | None"], "dict[str, Any] | None"]
"""The values of a cause from what its form caught; None where a closer look says that it is not this cause."""


class Sign(Struct, frozen=True):
    """A form of line that tells a cause. `words` are small letters of which one must be there: most lines have none."""

    code: str
    words: tuple[str, ...]
    look: Later
    form: str = ""
    is_after: bool = False
    values: Values | None = None


def sign(
    code: str,
    words: str | tuple[str, ...],
    look: str,
    form: str = "",
    *,
    is_after: bool = False,
    values: Values | None = None,
) -> Sign:
    """A sign; case never matters."""
    given = (words,) if isinstance(words, str) else words
    return Sign(code, given, Later(look, re.IGNORECASE), form, is_after, values)


def spoken_of(signs: Iterable[Sign], lines: Iterable[str]) -> tuple[Sign, ...]:
    """The signs that any of the lines may carry: most are passed over here, once for all lines."""
    whole = "\n".join(lines).lower()
    return tuple(one for one in signs if any(word in whole for word in one.words))


def first_found(signs: Iterable[Sign], line: Statement, end: End, spec: JobSpec | None) -> Found | None:
    """What the first sign that a line carries tells."""
    small = line.small
    for one in signs:
        if not any(word in small for word in one.words):
            continue
        match = one.look.search(line.text)
        if match is None:
            continue
        values = one.values(match, line, end, spec) if one.values is not None else named(match)
        if values is not None:
            shown = {name: value for name, value in values.items() if name != "form"}
            return Found(one.code, values.get("form", one.form), line.place, shown, one.is_after)
    return None


def named(match: re.Match[str]) -> dict[str, Any]:
    """What the pattern's named groups caught."""
    return {name: value for name, value in match.groupdict().items() if value is not None}
