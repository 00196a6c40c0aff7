"""The two kernel promises that Python has no call for. Where they cannot be had, the launcher does without.

An image's Python may lack ctypes; `tree` then still finds what a rank left behind by session and environment.
"""

import os
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes

        return ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None


_call: Any = None


def adopt_orphans() -> bool:
    """Make this process the parent of every descendant that loses its own; True when it is.

    The first process of a container is so by nature. Also loads what `die_with_parent` needs, which must not
    import anything.
    """
    global _call
    _call = _prctl()
    adopting = _call is not None and _call(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    return adopting or os.getpid() == 1


def die_with_parent() -> None:
    """In a child before exec: be killed when the launcher dies, however it dies."""
    if _call is not None:
        _call(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
