"""Whom a number of the system's stands for, in words for people."""

from __future__ import annotations

import pwd


def person(uid: int) -> str:
    """A user by name and number; by number alone where nobody here has that one, as is usual with a pod's."""
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
