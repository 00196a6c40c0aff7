"""Looking at this server's files for the path map, without ever failing; blocks: called in a thread."""

from __future__ import annotations

import os
from collections.abc import Sequence

MOST_NAMES = 10_000  # of one folder


def look(path: str) -> str | bool | None:
    """What is at a path of this server: where a link leads, whether something is there; None where nobody may look."""
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        pass  # no link, or nothing
    try:
        os.lstat(path)
    except PermissionError:
        return None
    except (OSError, ValueError):
        return False
    return True


def names(folder: str) -> Sequence[str]:
    """The names in a folder; none where it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(MOST_NAMES), strict=False)]
    except (OSError, ValueError):
        return ()
