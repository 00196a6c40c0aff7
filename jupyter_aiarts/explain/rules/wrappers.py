"""What programs that start others report of an end, where the others' own words are gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.explain.rules.lines import cleaned
from jupyter_aiarts.explain.rules.signs import End, Found

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_ROOT = re.compile(r"^Root Cause \(first observed failure\)")
_RANK = re.compile(r"^\s*rank\s*: (\d{1,6})\b")
_BY_SIGNAL = {-7: "bus-error", -11: "segfault", -15: "asked-to-end"}
_EXIT = re.compile(r"^\s*exitcode\s*: (-?\d{1,4})\b")


def reported(lines: Sequence[str], end: End, spec: JobSpec | None) -> Found | None:
    """The worker that torchrun saw fail first, with how it ended; nothing is said about why."""
    texts = [cleaned(line) for line in lines]
    start = next((place for place, text in enumerate(texts) if _ROOT.match(text)), None)
    if start is None:
        return None
    known: dict[str, Any] = {}
    place = start
    for number, text in enumerate(texts[start:], start):
        for name, look in (("worker", _RANK), ("worker_exit", _EXIT)):
            match = look.match(text)
            if match is not None and name not in known:
                known[name], place = int(match[1]), number
    if len(known) < 2:
        return None
    form = _BY_SIGNAL.get(known["worker_exit"], "worker-failed")
    return Found("exit-code", form, place, known)
