"""A process of another user, for what only root can see: what a server of that user may do with files."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from typing import TypeVar

import pytest

T = TypeVar("T")
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def as_somebody(ask: Callable[[], T], uid: int = NOBODY, gid: int = NOBODY) -> T:
    """What a real process of this user, and of no group but this, answers.

    It is forked from this one, so it has all that was imported, also where that user could not read the files.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(ask(), pipe)
            os._exit(0)
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, f"the other user's process ended with {status}"
    found: T = pickle.loads(answer)  # our own child's
    return found
