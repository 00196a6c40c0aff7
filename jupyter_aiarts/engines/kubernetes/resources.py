"""What a pod asks of a node: amounts, kind of node, and which of several it would rather have."""

from __future__ import annotations

from typing import Any

import msgspec

from jupyter_aiarts.engines.kubernetes.names import CARDS, DEVICE, HOSTNAME, JOB, RUN, label_value
from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.engines.kubernetes.settings import PREEMPTIBLE, ClusterSettings
from jupyter_aiarts.model.quantity import format_quantity
from jupyter_aiarts.model.spec import JobSpec

GB = 1 << 30

#: Summed up, these give every number of cards up to 31, more than a node has.
POWERS = (1, 2, 4, 8, 16)

NO_CARDS = {"NVIDIA_VISIBLE_DEVICES": "void", "ASCEND_VISIBLE_DEVICES": ""}
"""What an image or a runtime might otherwise show to a job that asked for none."""


def amounts(order: Order) -> dict[str, Any]:
    """The main container's resources: what is requested is the limit, so nobody lives off somebody else's share."""
    spec, profile = order.spec, order.profile
    wanted = {**_share(spec), **profile.extra_resources}
    if spec.devices and profile.resource:
        wanted[profile.resource] = str(spec.devices)
    return {"requests": wanted, "limits": dict(wanted)}


def prepare_amounts(order: Order) -> dict[str, Any]:
    """The init container's: no more than the main one's, so it adds nothing, and no cards."""
    share = _share(order.spec)
    return {"requests": share, "limits": dict(share)}


def _share(spec: JobSpec) -> dict[str, str]:
    return {"cpu": format_quantity(spec.cpu or 1), "memory": size(spec.memory_gb or 1)}


def size(gigabytes: float) -> str:
    """GB as a person writes them, in bytes as Kubernetes does."""
    return format_quantity(gigabytes * GB, binary=True)


def placement(order: Order) -> dict[str, Any]:
    """Selectors, tolerations, runtime and scheduler of the device's profile, priority and affinity."""
    profile = order.profile
    found: dict[str, Any] = {
        "nodeSelector": dict(profile.node_selector),
        "tolerations": [msgspec.to_builtins(one) for one in profile.tolerations],
        "runtimeClassName": profile.runtime_class,
        "schedulerName": profile.scheduler_name,
        "priorityClassName": None if order.queue else priority_class(order.spec, order.settings),
        "affinity": affinity(order),
    }
    return {name: value for name, value in found.items() if value}


def priority_class(spec: JobSpec, settings: ClusterSettings) -> str | None:
    """The class that a job's priority is mapped to: the nearest mapped one at or below it, else the lowest."""
    if spec.preemptible and PREEMPTIBLE in settings.priorities:
        return settings.priorities[PREEMPTIBLE]
    numbers = sorted(int(key) for key in settings.priorities if key != PREEMPTIBLE)
    if not numbers:
        return None
    chosen = max((number for number in numbers if number <= spec.priority), default=numbers[0])
    return settings.priorities[str(chosen)]


def device_labels(spec: JobSpec) -> dict[str, str]:
    """What later pods are drawn to: the device, and the number of cards as a sum of powers of two."""
    bits = {f"{CARDS}{power}": "true" for power in POWERS if min(spec.devices, sum(POWERS)) & power}
    return {DEVICE: label_value(spec.device), **bits}


def affinity(order: Order) -> dict[str, Any]:
    """Rather the fuller node; and never two nodes of one job on the same machine.

    A scheduler adds up the weight of every pod that a term matches. One term per power of two, weighted by it, adds up
    the cards that our jobs hold on a node, so the fullest one wins, and nodes need not be read.
    The spread is required: a node of a distributed job is a machine of its own. Two on one would share its network
    and its HCCL server id, and the job would look distributed without being it.
    """
    found: dict[str, Any] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": _draws(order.spec)}}
    if order.spec.nodes > 1:
        same = {"labelSelector": {"matchLabels": {JOB: order.job_id, RUN: str(order.run)}}, "topologyKey": HOSTNAME}
        found["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [same]}
    return found


def _draws(spec: JobSpec) -> list[dict[str, Any]]:
    device = {DEVICE: label_value(spec.device)}
    if not spec.devices:
        return [_draw(100, device)]
    return [_draw(power, {**device, f"{CARDS}{power}": "true"}) for power in POWERS]


def _draw(weight: int, labels: dict[str, str]) -> dict[str, Any]:
    """Towards such pods of every namespace: nodes belong to all of them."""
    term = {"labelSelector": {"matchLabels": labels}, "namespaceSelector": {}, "topologyKey": HOSTNAME}
    return {"weight": weight, "podAffinityTerm": term}
