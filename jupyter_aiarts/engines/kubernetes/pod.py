"""The pod of one node of a job: a launcher in the user's image, prepared by an init container of the same image."""

from __future__ import annotations

from typing import Any

from jupyter_aiarts.engines.kubernetes.names import (
    INDEX,
    JOB_FOLDER,
    LAUNCHER_PORT_NAME,
    LAUNCHER_ZIP,
    MAIN,
    MEETING_PORT_NAME,
    PREPARE,
)
from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.engines.kubernetes.resources import NO_CARDS, amounts, placement, prepare_amounts
from jupyter_aiarts.engines.kubernetes.security import container_context, pod_context, prepare_context
from jupyter_aiarts.engines.kubernetes.volumes import prepare_mounts, volumes

LAST_WORDS = 15
"""Seconds that a launcher has beyond its ranks' grace, to write down how they ended."""


def pod_spec(order: Order) -> dict[str, Any]:
    """The pod's spec, the same for every node; the Job gives each its index and host name."""
    made, mounted = volumes(order)
    spec = {
        "restartPolicy": "Never",
        "subdomain": order.name,
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": order.spec.grace_seconds + LAST_WORDS,
        "securityContext": pod_context(order),
        "initContainers": [_prepare(order)],
        "containers": [_main(order, mounted)],
        "volumes": made,
        **placement(order),
        **_network(order),
    }
    if order.spec.image_pull_secret:
        spec["imagePullSecrets"] = [{"name": order.spec.image_pull_secret}]
    return spec


def _network(order: Order) -> dict[str, Any]:
    """On the node's own network the cluster's names are still looked up first: nodes find each other by them."""
    return {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"} if order.profile.host_network else {}


def _main(order: Order, mounted: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        **_container(order, MAIN, "pod"),
        "env": _environment(order),
        "ports": [
            {"name": LAUNCHER_PORT_NAME, "containerPort": order.ports.launcher, "protocol": "TCP"},
            {"name": MEETING_PORT_NAME, "containerPort": order.ports.meeting, "protocol": "TCP"},
        ],
        "resources": amounts(order),
        "securityContext": container_context(order),
        "volumeMounts": mounted,
    }


def _prepare(order: Order) -> dict[str, Any]:
    return {
        **_container(order, PREPARE, "prepare"),
        "resources": prepare_amounts(order),
        "securityContext": prepare_context(order),
        "volumeMounts": prepare_mounts(),
    }


def _container(order: Order, name: str, verb: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": order.spec.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-I", "-S", f"{JOB_FOLDER}/{LAUNCHER_ZIP}", verb],
    }


def _environment(order: Order) -> list[dict[str, Any]]:
    """What only Kubernetes knows. The user's variables are in the plan: they reach the ranks and nothing else."""
    known = {
        "AIARTS_NODE": f"metadata.annotations['{INDEX}']",
        "POD_NAME": "metadata.name",
        "POD_IP": "status.podIP",
        "HOST_NAME": "spec.nodeName",
    }
    if order.has_table:
        known["AIARTS_HOST_IP"] = "status.hostIP"  # what device plugins call the server
    fields = [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in known.items()]
    if order.spec.devices:
        return fields
    return [*fields, *({"name": name, "value": value} for name, value in NO_CARDS.items())]
