"""The termination message: a few kilobytes that Kubernetes keeps with the pod when everything else is gone.

Pure, but for `write`. Always whole JSON, cut where it is least missed: what later failures said, old lines, wide
lines, ranks that ended well.
"""

import json
import os
from typing import Any, Dict, List

LIMIT = 4096
_WIDTHS = (500, 200, 80)
_OTHERS = ((8, 5, 300), (8, 3, 200), (8, 2, 120), (4, 2, 120), (4, 1, 80), (2, 0, 0))
"""Of later failures: how many, how many of their lines, how wide."""
_PROBLEM_WIDTH = 400
_LEAST = ("schema", "attempt", "node", "result", "started", "ended", "running_seconds")


def message(document: Dict[str, Any]) -> bytes:
    """`document` (a summary, or what another node has to say) in at most `LIMIT` bytes."""
    for version in _versions(document):
        octets = _render(version)
        if len(octets) <= LIMIT:
            return octets
    return _render({key: value for key, value in document.items() if key in _LEAST})


def write(path: str, document: Dict[str, Any]) -> bool:
    """Put the message where the kubelet looks; False when there is no such place."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    except OSError:
        return False  # not in a pod, or the pod has none
    try:
        os.write(file, message(document))
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def _versions(document: Dict[str, Any]) -> "List[Dict[str, Any]]":
    """The document in versions that say less and less."""
    found = [document, *_with_fewer_others(document)]
    document = {key: value for key, value in document.items() if key != "others"}
    found.append(document)
    failure = document.get("first_failure")
    lines = failure.get("last_lines", []) if failure else []
    if failure and lines:
        for width in _WIDTHS:
            for count in (20, 12, 6, 3):
                kept = [line[:width] for line in lines[-count:]]
                found.append({**document, "first_failure": {**failure, "last_lines": kept}})
        document = {**document, "first_failure": {**failure, "last_lines": [line[:80] for line in lines[-3:]]}}
    if document.get("problem"):
        problem = {key: str(value)[:_PROBLEM_WIDTH] for key, value in document["problem"].items()}
        document = {**document, "problem": problem}
        found.append(document)
    if document.get("message"):
        document = {**document, "message": document["message"][:_PROBLEM_WIDTH]}
        found.append(document)
    return found + [_with_fewer_ranks(document, count) for count in (32, 16, 8, 4, 0)]


def _with_fewer_others(document: Dict[str, Any]) -> "List[Dict[str, Any]]":
    """The first failure whole, and of those after it less and less."""
    others = document.get("others", [])
    cuts = _OTHERS if others else ()
    return [
        {**document, "others": [_shortened(one, lines, width) for one in others[:count]]}
        for count, lines, width in cuts
    ]


def _shortened(failure: Dict[str, Any], count: int, width: int) -> Dict[str, Any]:
    kept = failure.get("last_lines", [])[-count:] if count else []
    return {**failure, "last_lines": [line[:width] for line in kept]}


def _with_fewer_ranks(document: Dict[str, Any], count: int) -> Dict[str, Any]:
    """Ranks that failed are kept first, and how many are left out is said."""
    ranks = document.get("ranks", [])
    kept = sorted(ranks, key=lambda rank: (rank.get("exit_code") == 0, rank.get("rank")))[:count]
    ordered = sorted(kept, key=lambda rank: rank.get("rank"))
    return {**document, "ranks": ordered, "ranks_left_out": len(ranks) - len(ordered)}


def _render(document: Dict[str, Any]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
