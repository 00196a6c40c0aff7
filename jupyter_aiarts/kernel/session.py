"""Between a verb and its door: who asks and how to talk to them, and what a verb comes to."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional

from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.terminal import Style
from jupyter_aiarts.kernel.words import say

INTERRUPTED = 130


class Session(NamedTuple):
    """Who asks, and how to talk to them meanwhile."""

    client: Client
    style: Style
    write: Callable[[str], None]  # one line of a followed log
    notice: Callable[[str], None]  # a sentence beside the answer
    ask: Optional[Callable[[str], bool]] = None  # yes or no; None where nobody can be asked
    notebook: bool = False

    def say(self, text: str, **known: Any) -> str:
        """A sentence in the reader's language."""
        return say(self.style.lang, text, **known)

    def find(self, text: str) -> str:
        """The id somebody means."""
        return self.client.resolve(text)


class Outcome(NamedTuple):
    """What a verb came to: a value for Python, JSON for `--json`, text for people, and the exit code.

    `lines` marks a log, whose JSON is one object per line; what was already written has neither text nor
    data.
    """

    value: Any
    data: Any
    text: str
    status: int = 0
    lines: bool = False
