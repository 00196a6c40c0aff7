"""Whose memory of a card it was: the sum that an out-of-memory line allows."""

from __future__ import annotations

import re
from typing import Any

from jupyter_aiarts.explain.rules.lines import Statement
from jupyter_aiarts.explain.rules.signs import End
from jupyter_aiarts.model.later import Later

_SIZE = r"(\d{1,7}(?:\.\d{1,6})?) ?(bytes|[KMGT]i?B)"
_TOTAL = Later(rf"total capacity of {_SIZE}|{_SIZE} total capacity", re.IGNORECASE)
_FREE = Later(rf"of which {_SIZE} is free|{_SIZE} free", re.IGNORECASE)
_MINE = Later(rf"this process has {_SIZE} memory in use|{_SIZE} reserved in total", re.IGNORECASE)
_OTHER = Later(rf"\bProcess (\d{{1,9}}) has {_SIZE} memory in use")
_CARD = Later(r"\b(?:GPU|NPU|Device|device)[ :]{0,2}(\d{1,3})\b")
_UNITS = {"bytes": 2**-30, "k": 2**-20, "m": 2**-10, "g": 1.0, "t": 2.0**10}

LEAST_GIB = 2.0
LEAST_SHARE = 0.1
"""What must be held by others before it is said: less may be the driver's own."""


def shares(match: re.Match[str], line: Statement, end: End, spec: Any) -> dict[str, Any]:
    """Card, total, free, and what this process and others hold, in GiB; `form` where others hold much of it."""
    text = line.text
    total, free, mine = (_gib(look.search(text)) for look in (_TOTAL, _FREE, _MINE))
    card = _CARD.search(text)
    known: dict[str, Any] = {"card": int(card[1]) if card else None}
    if total is None or free is None or mine is None:
        return known
    held = total - free - mine
    named = [(float(gib), pid) for pid, gib in ((one[1], _size(one[2], one[3])) for one in _OTHER.finditer(text))]
    known.update(total=round(total, 1), free=round(free, 2), mine=round(mine, 1))
    if held < max(LEAST_GIB, LEAST_SHARE * total):
        return known
    known.update(held=round(held, 1), form="card-memory-held")
    if named:
        known.update(by=max(named)[1], form="card-memory-held-by")
    return known


def half_free(match: re.Match[str], line: Statement, end: End, spec: Any) -> dict[str, Any]:
    """MindSpore's own sum in bytes."""
    total = re.search(r"total size: ?(\d{6,15})", line.text)
    free = re.search(r"free size: ?(\d{1,15})", line.text)
    card = _CARD.search(line.text)
    known: dict[str, Any] = {"card": int(card[1]) if card else None, "form": "card-held"}
    if total is not None and free is not None:
        all_of, left = int(total[1]) / 2**30, int(free[1]) / 2**30
        known.update(total=round(all_of, 1), free=round(left, 1), held=round(all_of - left, 1))
        known["form"] = "card-half-free"
    return known


def _gib(match: re.Match[str] | None) -> float | None:
    if match is None:
        return None
    groups = [group for group in match.groups() if group is not None]
    return _size(groups[0], groups[1])


def _size(number: str, unit: str) -> float:
    small = unit.lower()
    return float(number) * _UNITS["bytes" if small == "bytes" else small[0]]
