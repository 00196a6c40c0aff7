"""Between a place and a start: nodes that still lack the image, and those of a job that are up and wait for others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import structs

from jupyter_aiarts.engines.kubernetes.causes import newest_pull
from jupyter_aiarts.engines.kubernetes.seen import Notice, Pod
from jupyter_aiarts.model.cause import Cause

FEW = 5
"""Machines that are named; of more, their number says enough."""

# Why one node of a job may not be up while others are.
_HELD_UP = frozenset(("no-node-fits", "mount-missing", "mount-denied", "policy-refused", "quota-exceeded", "unknown"))


def pulling_cause(pods: Iterable[Pod], notices: Iterable[Notice], image: str | None) -> Cause | None:
    """Machines that have begun to fetch the image and have started nothing since; where the job is up, they have it."""
    pods, notices = tuple(pods), tuple(notices)
    waiting = [pod for pod in pods if pod.trouble is not None and pod.trouble.unstarted and pod.deleted is None]
    pulls = {pod.node or "": pull for pod in waiting if (pull := newest_pull(pod, notices)) is not None}
    if not pulls:
        return None
    first = min(pulls.values(), key=lambda one: one.at)
    values = {"image": image, "since": first.at, "pulling": _named(pulls)}
    having = {pod.node for pod in pods if pod.node and pod.started}
    if having:
        values["having"] = _named(having)
    form = "image-pulling-some" if having else ""
    return Cause(code="image-pulling", form=form, values=values, evidence=(first.message,))


def with_those_up(cause: Cause, pods: Mapping[int, Pod], nodes: int) -> Cause:
    """The reason why some nodes of a job are not up, with those that are: they hold their cards while they wait."""
    up = [f"{number} ({pod.node})" for number, pod in sorted(pods.items()) if pod.is_up]
    if not up or len(up) >= nodes or not (cause.code in _HELD_UP or cause.code.startswith("image-")):
        return cause
    if cause.code == "image-pulling":
        return cause  # it names them itself
    return structs.replace(cause, values={**cause.values, "up": _named(up), "nodes": nodes})


def _named(machines: Iterable[str]) -> str:
    found = sorted(machines)
    return ", ".join(found[:FEW]) + (f" … ({len(found)})" if len(found) > FEW else "")
