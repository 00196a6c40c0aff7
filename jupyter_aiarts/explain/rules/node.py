"""What a node did to a pod that was fine: it ran short of something, was emptied, lost a card, or went away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.explain.rules.amounts import GB, amount
from jupyter_aiarts.explain.rules.said import closer, first, text
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.quantity import human_size

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_LOW = re.compile(r"low on resource: ([\w-]{1,60})")
_USING = re.compile(r"Container main was using (\w{1,40}), request is (\w{1,40})")
_VOLUME = re.compile(r'EmptyDir volume "([\w.-]{1,253})" exceeds the limit "?([\w.]{1,40}\w)"?')
_OWN = re.compile(
    r"(?:exceeds the total limit of containers|exceeded its local ephemeral storage limit) \"?([\w.]{1,40}\w)\"?"
)
_OUT_OF = re.compile(r"OutOf([\w./-]{1,100})")
_CARD_WORDS = ("device plugin", "nvml", "gpu is lost", "allocate failed", "requested devices", "npu")
_CONDITION = re.compile(r"The node had condition: \[([\w, ]{1,200})\]")
_LOW_FORMS = {
    "memory": "evicted-memory",
    "ephemeral-storage": "evicted-disk",
    "inodes": "evicted-disk",
    "pids": "evicted-pids",
}


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """What happened on the node."""
    if cause.code == "evicted" and "queue" in cause.values:
        return None  # Kueue's word, not a node's
    return _storage(cause) or _low(cause) or _admission(cause) or _taken(cause)


def _storage(cause: Cause) -> Cause | None:
    """Limits of the pod's own: it wrote more than it was given."""
    volume = first(_VOLUME, cause)
    if volume is None:
        own = first(_OWN, cause)
        return closer(cause, "evicted", "evicted-own-disk", limit=own[1]) if own is not None else None
    if "shm" not in volume[1]:
        return closer(cause, "evicted", "evicted-folder-full", volume=volume[1], limit=volume[2])
    limit = amount(volume[2])
    values: dict[str, Any] = {"limit": volume[2]}
    if limit is None or limit <= 0:
        return closer(cause, "shared-memory-full", "shm-limit", **values)
    # It was exceeded by an amount that nobody said: twice as much is the next thing to try.
    return closer(cause, "shared-memory-full", "shm-limit", **values, shm_gb=float(round(limit * 2 / GB, 3)))


def _low(cause: Cause) -> Cause | None:
    """The node ran short. Whoever was ended is not always who used it up: what it used is said."""
    low = first(_LOW, cause)
    if low is None:
        condition = first(_CONDITION, cause)
        return closer(cause, "evicted", "node-strained", condition=condition[1]) if condition is not None else None
    form = _LOW_FORMS.get(low[1])
    if form is None:
        return closer(cause, "evicted", "evicted-low", resource=low[1])
    using = first(_USING, cause)
    used = amount(using[1]) if using is not None else None
    if used is None or using is None or form == "evicted-pids":
        return closer(cause, "evicted", form)
    asked = amount(using[2])
    values: dict[str, Any] = {"used": human_size(float(used)), "asked": human_size(float(asked or 0))}
    return closer(cause, "evicted", f"{form}-used", **values)


def _admission(cause: Cause) -> Cause | None:
    """A kubelet that refused a pod which the scheduler had given it."""
    said = text(cause)
    if "unexpectedadmissionerror" in said and any(word in said for word in _CARD_WORDS):
        lost = "gpu is lost" in said or "unhealthy" in said
        return closer(cause, "device-unhealthy", "card-lost" if lost else "cards-not-given")
    out = first(_OUT_OF, cause)
    if out is not None and cause.code == "unknown" and "didn't have enough resource" in said:
        return closer(cause, "no-node-fits", "node-filled-up", resource=out[1])
    return None


def _taken(cause: Cause) -> Cause | None:
    said = text(cause)
    if "eviction api" in said or "evictionbyevictionapi" in said:
        return closer(cause, "evicted", "evicted-drained")
    if "node shutdown" in said:
        return closer(cause, "evicted", "evicted-shutdown")
    if cause.code == "node-lost" and "noexecute taint" in said:
        return closer(cause, None, "node-emptied")
    return None
