"""What can be said about an image's name before any registry is asked: what is wrong with it, and what was meant."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]{{1,5}})?"
_REFERENCE = re.compile(
    rf"(?:{_HOST}/)?{_COMPONENT}(?:/{_COMPONENT})*(?P<tag>:[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?"
    rf"(?P<digest>@sha(?:256:[0-9a-f]{{64}}|512:[0-9a-f]{{128}}))?"
)
_SCHEME = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]{0,15}:/+")
_LONGEST = 512


def is_reference(text: str) -> bool:
    """Whether container runtimes take it."""
    return len(text) <= _LONGEST and _REFERENCE.fullmatch(text) is not None


def fault(text: str) -> tuple[str, str | None] | None:
    """What is wrong with an image's name, as the rest of a sentence, and the name that was meant where there is one."""
    if is_reference(text):
        return None
    if len(text) > 2 * _LONGEST:
        return "is longer than any name of an image", None
    words: list[str] = []
    better = text
    steps: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("holds spaces or line breaks", lambda one: "".join(one.split())),
        ("holds full-width or invisible characters", _plain),
        ("begins with a scheme, which image names do not have", lambda one: _SCHEME.sub("", one, count=1)),
        ("has backslashes where slashes belong", lambda one: one.replace("\\", "/")),
        ("has empty parts", lambda one: re.sub(r"/{2,}", "/", one).strip("/")),
        ("ends with a colon and no tag", lambda one: one.rstrip(":")),
        ("has capital letters, which only a tag and the registry's address may have", _lowered),
    )
    for what, step in steps:
        changed = step(better)
        if changed != better:
            words.append(what)
            better = changed
    meant = better if is_reference(better) else None
    return " and ".join(words) if words and meant else "is no name of an image (registry/folder/name:tag)", meant


def _plain(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")


def _lowered(text: str) -> str:
    """Small letters but in the registry's address and in what follows the name."""
    first, slash, rest = text.partition("/")
    if not slash or not (set(first) & {".", ":"} or first == "localhost"):
        first, slash, rest = "", "", text
    name, mark, behind = rest.partition("@" if "@" in rest else ":")
    return f"{first}{slash}{name.lower()}{mark}{behind}"


def is_tagged(text: str) -> bool:
    """Whether it names one version; without a tag it is `latest`, whatever that is when a pod starts."""
    match = _REFERENCE.fullmatch(text)
    return match is not None and bool(match["tag"] or match["digest"])
