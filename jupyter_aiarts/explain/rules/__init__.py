"""The cause behind a cause: what the platform or the program said, read more closely.

An engine tells which fact decides and quotes it; each room here knows one kind of speaker. `root` is pure. It answers
with a cause that the quoted words really tell, or with the cause it was given: where words are missing the answer says
less, never something else.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

Read = Callable[[Cause, "JobSpec | None"], "Cause | None"]
"""What a room offers as `read`: a closer cause, or None where its words tell nothing more."""

PLATFORM = ("scheduler", "kueue", "image", "storage", "container", "node", "policy")

ROOMS: dict[str, tuple[str, ...]] = {
    "exit-code": ("failure",),
    "out-of-memory": ("failure",),
    "time-limit": ("failure",),
    "no-node-fits": ("scheduler",),
    "queue-position": ("kueue",),
    "queue-inactive": ("kueue",),
    "quota-exceeded": ("kueue", "policy"),
    "preempted": ("kueue",),
    "evicted": ("node", "kueue"),
    "node-lost": ("node",),
    "mount-missing": ("storage", "scheduler", "container"),
    "mount-denied": ("storage",),
    "policy-refused": ("policy",),
    "start-file-missing": ("start",),
    "start-file-broken-symlink": ("start",),
    "image-not-found": ("image",),
    "image-no-access": ("image",),
    "image-unreachable": ("image",),
    "image-wrong-arch": ("image",),
    "image-user-permission": ("container",),
    "library-missing": ("kernels",),
    "unknown": PLATFORM,
}
"""Who is asked about which code; the first that knows more is believed."""


def root(cause: Cause, spec: JobSpec | None = None) -> Cause:
    """The closest cause that what was seen allows. `spec` is what the job asked for, for the sums in its answer."""
    for name in ROOMS.get(cause.code, ()):
        found = _room(name)(cause, spec)
        if found is not None:
            return found
    return cause


@functools.cache
def _room(name: str) -> Read:
    read: Read = importlib.import_module(f"{__name__}.{name}").read
    return read
