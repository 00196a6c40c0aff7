"""Tab completion for `%aiarts`: verbs, options, phases and devices, jobs and templates.

It runs while somebody types, so it never raises, never takes longer than a second, and asks the server at
most every few seconds.
"""

from __future__ import annotations

import threading
import time
from typing import Callable, List, Optional, Sequence, Tuple

from jupyter_aiarts.kernel import grammar, options
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.errors import ClientError

LIMIT_SECONDS = 1.0
FRESH_SECONDS = 5.0
JOB_VERBS = frozenset(
    {"show", "explain", "logs", "stop", "pause", "resume", "release", "rerun", "clone", "edit", "delete", "env"}
)
WORDS = {
    "templates": ("list", "show", "save", "delete"),
    "kernels": ("list", "register", "unregister", "repair", "doctor", "size"),
    "create": ("job",),
    "get": ("workspace",),
    "doctor": ("path", "ranktable"),
}


class Completer:
    """Completes a line; `connect` gives a client, and is called in a thread that may be left behind."""

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._known: Tuple[float, List[str]] = (0.0, [])

    def complete(self, line: str) -> List[str]:
        """What the last word of `line` (all that stands before the cursor, without `%aiarts`) may become."""
        words = line.split()
        last = "" if not words or line[-1:].isspace() else words.pop()
        verb = next((word for word in words if word in grammar.BY_NAME), None)
        if "--" in words:
            return []
        return sorted(word for word in self._candidates(verb, words, last) if word.startswith(last))

    def _candidates(self, verb: Optional[str], words: Sequence[str], last: str) -> List[str]:
        if verb is None:
            return (
                [*grammar.BY_NAME, *grammar.COMMON, "--version", "--help"]
                if last.startswith("-")
                else [*grammar.BY_NAME]
            )
        if words[-1] in ("--from", "--diff"):
            return self._jobs()
        choices = values_of(verb, words[-1])
        if choices is not None:
            return choices
        if last.startswith("-"):
            return [flag for flag in grammar.parser_of(verb)._option_string_actions if flag.startswith("--")]
        return self._jobs() if verb in JOB_VERBS else list(WORDS.get(verb, ()))

    def _jobs(self) -> List[str]:
        """Ids and names of jobs, fetched aside: whoever types waits a second at most, and gets what was
        known."""
        if time.monotonic() - self._known[0] > FRESH_SECONDS:
            thread = threading.Thread(target=self._fetch, name="aiarts-completion", daemon=True)
            thread.start()
            thread.join(LIMIT_SECONDS)
        return self._known[1]

    def _fetch(self) -> None:
        try:
            found = self._connect().jobs(limit=200)
        except ClientError:
            return
        names = {job["name"] for job in found if job["name"] and not any(char.isspace() for char in job["name"])}
        self._known = (time.monotonic(), [*(job["id"] for job in found), *names])


def values_of(verb: str, flag: str) -> Optional[List[str]]:
    """The values an option may take: none for one that takes any text, None where `flag` takes no value at
    all."""
    action = grammar.parser_of(verb)._option_string_actions.get(flag)
    if action is None or action.nargs == 0:
        return None
    if action.choices:
        return [str(choice) for choice in action.choices]
    key = options.BY_NAME.get(action.dest[len("key_") :]) if action.dest.startswith("key_") else None
    return list(key.choices) if key else []
