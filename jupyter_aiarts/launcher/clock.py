"""Times as the state folder writes them: RFC 3339, UTC, microseconds; and the times of output, which never go back."""

import os
import time

_last = 0


def stamp(seconds: float) -> str:
    """`seconds` since the epoch as text: 2026-11-16T01:02:03.456789Z."""
    micros = round(seconds * 1000000)
    return "{}.{:06d}Z".format(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(micros // 1000000)), micros % 1000000)


def now() -> str:
    """The present moment as text."""
    return stamp(time.time())


def rising_ns() -> int:
    """Nanoseconds since the epoch, never less than the time before: a clock set back must not reorder a log."""
    global _last
    _last = max(_last + 1, int(time.time() * 1e9))
    return _last


def stretched(seconds: float) -> float:
    """Up to a half more, at random: of two half-placed jobs one must be gone before the other gives up too."""
    return seconds * (1 + os.urandom(1)[0] / 510.0)
