"""As whom a pod's processes run and what they may: two forms, named after the Pod Security levels they pass."""

from __future__ import annotations

from typing import Any

from jupyter_aiarts.engines.kubernetes.order import Order

KEPT = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID", "KILL")
"""What root keeps in a `baseline` pod: enough to own files and to become somebody else, nothing of the node."""


def run_as_ids(order: Order) -> tuple[int, int] | None:
    """The user and group to run as; None for the image's own."""
    if order.spec.run_as == "image":
        return None
    if order.spec.run_as == "user":
        # `checks` lets no order through whose owner has no ids
        return order.person.uid or 0, order.person.gid or 0
    uid, gid = order.spec.run_as.split(":")
    return int(uid), int(gid)


def is_restricted(order: Order) -> bool:
    """Whether the pod takes the form without any capability: always when it is known not to be root."""
    ids = run_as_ids(order)
    return order.pod_security == "restricted" if ids is None else ids[0] != 0


def pod_context(order: Order) -> dict[str, Any]:
    """What holds for the whole pod."""
    context: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}
    if is_restricted(order):
        context["runAsNonRoot"] = True
    ids = run_as_ids(order)
    if ids is not None:
        context |= {"runAsUser": ids[0], "runAsGroup": ids[1]}
    groups = [*order.profile.supplemental_groups, *([] if log_readers(order) is None else [log_readers(order)])]
    if groups:
        context["supplementalGroups"] = list(dict.fromkeys(groups))
    return context


def log_readers(order: Order) -> int | None:
    """The group through which the owner's server reads the log mount; None where it needs none to.

    The pod gets it, so that its launcher can give its files to it. It is no more than `run_as: user` would give.
    """
    if order.settings.log_mount is None or order.spec.run_as == "user":
        return None
    return order.person.gid or None  # a server that is root reads everything


def container_context(order: Order) -> dict[str, Any]:
    """What holds for the main container: everything dropped, the six kept for root, the device's own added."""
    kept = () if is_restricted(order) else KEPT
    added = [*kept, *(one for one in order.profile.capabilities if one not in kept)]
    return _context(added)


def prepare_context(order: Order) -> dict[str, Any]:
    """What holds for the init container: it needs no device."""
    return _context([] if is_restricted(order) else list(KEPT))


def _context(added: list[str]) -> dict[str, Any]:
    capabilities: dict[str, Any] = {"drop": ["ALL"]}
    if added:
        capabilities["add"] = added
    return {"allowPrivilegeEscalation": False, "capabilities": capabilities}
