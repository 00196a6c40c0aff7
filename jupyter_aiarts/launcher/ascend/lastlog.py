"""The NPU driver's errors about one node's cards as a document: for who asks, and kept for who comes after the pod."""

import json
import os
from typing import Any, Dict, Optional

from .. import record
from . import slog

NAME = "npulog.json"
KEPT_BYTES = 256 * 1024


def document(brought: Optional[Dict[str, Any]], since: float, root: str) -> Dict[str, Any]:
    """Errors of the cards that a node brought, of all where nobody knows which those are, since a moment."""
    cards = [card for card, _ in brought["cards"]] if brought and brought["known"] else None
    found = slog.errors(cards, since, root)
    return {**found._asdict(), "lines": [one._asdict() for one in found.lines]}


def newest_of(found: Dict[str, Any]) -> Dict[str, Any]:
    """As much of it as is worth keeping."""
    newest, room = [], KEPT_BYTES
    for line in reversed(found["lines"]):
        room -= len(json.dumps(line)) + 1
        if room < 0:
            break
        newest.append(line)
    return {**found, "lines": newest[::-1]}


def keep(kept: Dict[str, Any], folder: str) -> None:
    """Put it beside the node's log; raises `OSError`."""
    record.write_json(os.path.join(folder, NAME), kept)
