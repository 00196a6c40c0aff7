"""Where the API server keeps what this engine asks for."""

from __future__ import annotations

from urllib.parse import quote

KUEUE = "kueue.x-k8s.io"
KUEUE_VERSION = "v1beta1"
"""The version of Kueue's objects that is asked for; every release since 0.1 has served it."""


def _below(root: str, namespace: str, kind: str, name: str | None) -> str:
    place = f"{root}/namespaces/{quote(namespace, safe='')}/{kind}"
    return place if name is None else f"{place}/{quote(name, safe='')}"


def jobs(namespace: str, name: str | None = None) -> str:
    """The Jobs of a namespace, or one of them."""
    return _below("/apis/batch/v1", namespace, "jobs", name)


def pods(namespace: str, name: str | None = None) -> str:
    """The pods of a namespace, or one of them."""
    return _below("/api/v1", namespace, "pods", name)


def services(namespace: str, name: str | None = None) -> str:
    """The Services of a namespace, or one of them."""
    return _below("/api/v1", namespace, "services", name)


def configmaps(namespace: str, name: str | None = None) -> str:
    """The ConfigMaps of a namespace, or one of them."""
    return _below("/api/v1", namespace, "configmaps", name)


def secrets(namespace: str, name: str | None = None) -> str:
    """The Secrets of a namespace, or one of them."""
    return _below("/api/v1", namespace, "secrets", name)


def events(namespace: str) -> str:
    """The events of a namespace."""
    return _below("/api/v1", namespace, "events", None)


def workloads(namespace: str, name: str | None = None) -> str:
    """Kueue's Workloads of a namespace, or one of them."""
    return _below(f"/apis/{KUEUE}/{KUEUE_VERSION}", namespace, "workloads", name)


def localqueues(namespace: str, name: str | None = None) -> str:
    """Kueue's LocalQueues of a namespace, or one of them."""
    return _below(f"/apis/{KUEUE}/{KUEUE_VERSION}", namespace, "localqueues", name)


def pod_proxy(namespace: str, pod: str, port: int, path: str) -> str:
    """A path of what listens on a pod's port, by way of the API server."""
    return f"{pods(namespace)}/{quote(pod, safe='')}:{port}/proxy/{path.lstrip('/')}"


def pod_log(namespace: str, pod: str) -> str:
    """What the kubelet still has of a pod's output."""
    return f"{pods(namespace, pod)}/log"
