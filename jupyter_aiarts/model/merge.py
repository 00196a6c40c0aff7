"""JSON merge patch (RFC 7396): how PATCH changes a job's spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_patch(target: Any, patch: Any) -> Any:
    """What `target` becomes under `patch`; neither is changed.

    An object merges key by key and null removes a key; anything else, lists included, replaces.
    """
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged
