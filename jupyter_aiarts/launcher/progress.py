"""How far a job says it is, read out of what its first rank printed last; nothing is reckoned.

What counts is a bar that moves (`45%|####`, as tqdm draws it) and a count that says what it counts (`Epoch 3/10`,
`step 12 of 30`). A percentage alone may be anything, an accuracy too, and a bar that is full tells of what is over.
"""

import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from .loop import Loop, Timer
from .tail import Tail

FIRST_SECONDS, PERIOD_SECONDS = 2.0, 10.0
_CODES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_COUNT = re.compile(
    r"\b(epoch|step|iteration|iter|batch|round|cell)\b[\s:#=\[(]{0,4}(\d{1,9})\s?(?:/|of)\s?(\d{1,9})\b", re.IGNORECASE
)
_BAR = re.compile(r"(?<![\d.])(\d{1,2})%\|")


class Progress(NamedTuple):
    """In the words of the output, and as a share from 0 to 1."""

    text: str
    share: float


def progress(streams: Sequence[List[str]]) -> Optional[Progress]:
    """What the last lines of each stream say: the epoch where there is one, and how far it is inside."""
    counts = [one for lines in streams for one in _counts(lines)]
    bar = next((one for one in (_bar(lines[-1]) for lines in streams if lines) if one is not None), None)
    outer = next((one for one in counts if one.text.lower().startswith("epoch")), None)
    inner = bar or next((one for one in counts if one is not outer), None)
    if outer is None or inner is None:
        return outer or inner
    return Progress(f"{outer.text}, {inner.text}", outer.share)


def _counts(lines: List[str]) -> List[Progress]:
    """The newest count of each kind, newest first."""
    found: Dict[str, Progress] = {}
    for line in reversed(lines):
        for word, part, whole in reversed(_COUNT.findall(_CODES.sub("", line))):
            if 0 <= int(part) <= int(whole) > 0:
                found.setdefault(word.lower(), Progress(f"{word} {int(part)}/{int(whole)}", int(part) / int(whole)))
    return list(found.values())


def _bar(line: str) -> Optional[Progress]:
    match = _BAR.search(_CODES.sub("", line))
    return Progress(f"{int(match.group(1))}%", int(match.group(1)) / 100) if match else None


class ProgressWatch:
    """Looks at the output of one rank from `start` to `stop`; `changed` is called when it says something else."""

    def __init__(self, loop: Loop, changed: Callable[[], None]) -> None:
        self._loop = loop
        self._changed = changed
        self._timer: Optional[Timer] = None
        self._tail = Tail()
        self._seen = 0
        self._last: Optional[Progress] = None

    def start(self, tail: Tail) -> None:
        """Begin anew with another process."""
        self.stop()
        self._tail, self._seen, self._last = tail, 0, None
        self._timer = self._loop.after(FIRST_SECONDS, self._look)

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def as_json(self) -> Optional[Dict[str, Any]]:
        """As the status carries it."""
        return self._last and {"text": self._last.text, "share": round(self._last.share, 4)}

    def _look(self) -> None:
        self._timer = self._loop.after(PERIOD_SECONDS, self._look)
        if self._tail.taken == self._seen:
            return
        self._seen = self._tail.taken
        found = progress(self._tail.streams())
        if found != self._last:
            self._last = found
            self._changed()
