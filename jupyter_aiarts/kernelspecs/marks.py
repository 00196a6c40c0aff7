"""By what a folder or a file is known to be as it was when it was read."""

from __future__ import annotations

import os
import time

UNSETTLED = 100_000_000
"""Nanoseconds in which a folder may change twice and have one time: what was read so soon is read again."""

Mark = tuple[int, int] | None


def mark_of(path: str) -> Mark:
    """None for what is not there, or not for us."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns)


def is_settled(mark: Mark) -> bool:
    """Whether whatever is changed from now on has another mark."""
    return mark is None or time.time_ns() - mark[1] > UNSETTLED
