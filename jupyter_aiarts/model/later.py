"""A regular expression that is compiled when it is first searched for: there are hundreds, and most jobs need few."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any


class Later:
    """As `re.compile` gives it, for the ways in which patterns are used here."""

    __slots__ = ("_flags", "_made", "_text")

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text, self._flags = text, flags
        self._made: re.Pattern[str] | None = None

    @property
    def made(self) -> re.Pattern[str]:
        if self._made is None:
            self._made = re.compile(self._text, self._flags)
        return self._made

    def search(self, text: str) -> re.Match[str] | None:
        return self.made.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self.made.match(text)

    def findall(self, text: str) -> list[Any]:
        return self.made.findall(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.made.finditer(text)
