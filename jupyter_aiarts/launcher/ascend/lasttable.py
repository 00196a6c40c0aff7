"""The rank table that the ranks of this node were started with, as it is now."""

import os
import stat
from typing import Iterable, Mapping, Optional

from ..octets import to_bytes
from .reading import LIMIT


def content(environments: Iterable[Mapping[str, str]]) -> Optional[bytes]:
    """What the file holds that the first of them names; None where there is no such file.

    The name may be the user's own: whatever is not a plain file is not waited for.
    """
    named = [one["RANK_TABLE_FILE"] for one in environments if one.get("RANK_TABLE_FILE")]
    if not named:
        return None
    try:
        file = os.open(to_bytes(named[0]), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        return _read(file) if stat.S_ISREG(os.fstat(file).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(file)


def _read(file: int) -> bytes:
    found = b""
    while len(found) < LIMIT:
        piece = os.read(file, LIMIT - len(found))
        if not piece:
            break
        found += piece
    return found
