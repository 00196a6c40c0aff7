"""Where the API server keeps what this engine asks for."""

from __future__ import annotations

from urllib.parse import quote

KUEUE = "kueue.x-k8s.io"
KUEUE_VERSION = "v1beta1"
"""The version of Kueue's objects that jobs go by, where it is served: it is how releases up to 0.15 store them, so it
can be read while Kueue itself, which converts them, is away."""
NEWER_KUEUE = "v1beta2"
VISIBILITY = "visibility.kueue.x-k8s.io"
METRICS, METRICS_VERSION = "metrics.k8s.io", "v1beta1"


def _below(root: str, namespace: str, kind: str, name: str | None) -> str:
    """A kind in a namespace, in all of them for ""."""
    place = f"{root}/namespaces/{quote(namespace, safe='')}/{kind}" if namespace else f"{root}/{kind}"
    return place if name is None else f"{place}/{quote(name, safe='')}"


def jobs(namespace: str, name: str | None = None) -> str:
    """The Jobs of a namespace, or one of them."""
    return _below("/apis/batch/v1", namespace, "jobs", name)


def pods(namespace: str, name: str | None = None) -> str:
    """The pods of a namespace, or one of them."""
    return _below("/api/v1", namespace, "pods", name)


def nodes(name: str | None = None) -> str:
    """The nodes of the cluster, or one of them."""
    return _below("/api/v1", "", "nodes", name)


def node_metrics() -> str:
    """What the nodes of the cluster use, where a metrics server tells it."""
    return f"/apis/{METRICS}/{METRICS_VERSION}/nodes"


def services(namespace: str, name: str | None = None) -> str:
    """The Services of a namespace, or one of them."""
    return _below("/api/v1", namespace, "services", name)


def configmaps(namespace: str, name: str | None = None) -> str:
    """The ConfigMaps of a namespace, or one of them."""
    return _below("/api/v1", namespace, "configmaps", name)


def secrets(namespace: str, name: str | None = None) -> str:
    """The Secrets of a namespace, or one of them."""
    return _below("/api/v1", namespace, "secrets", name)


def claims(namespace: str, name: str) -> str:
    """One PersistentVolumeClaim of a namespace."""
    return _below("/api/v1", namespace, "persistentvolumeclaims", name)


def events(namespace: str) -> str:
    """The events of a namespace."""
    return _below("/api/v1", namespace, "events", None)


def workloads(namespace: str, name: str | None = None, version: str = KUEUE_VERSION) -> str:
    """Kueue's Workloads of a namespace, or one of them."""
    return _below(f"/apis/{KUEUE}/{version}", namespace, "workloads", name)


def localqueues(namespace: str, name: str | None = None, version: str = KUEUE_VERSION) -> str:
    """Kueue's LocalQueues of a namespace, or one of them."""
    return _below(f"/apis/{KUEUE}/{version}", namespace, "localqueues", name)


def clusterqueues(version: str = KUEUE_VERSION) -> str:
    """Kueue's ClusterQueues."""
    return _below(f"/apis/{KUEUE}/{version}", "", "clusterqueues", None)


def pending_workloads(namespace: str, queue: str, version: str) -> str:
    """Who waits in a LocalQueue, in Kueue's own order."""
    return f"{_below(f'/apis/{VISIBILITY}/{version}', namespace, 'localqueues', queue)}/pendingworkloads"


def resourcequotas(namespace: str) -> str:
    """The ResourceQuotas of a namespace."""
    return _below("/api/v1", namespace, "resourcequotas", None)


def group(name: str) -> str:
    """What an API server says about a group of kinds: which versions of it there are."""
    return f"/apis/{quote(name, safe='')}"


def pod_proxy(namespace: str, pod: str, port: int, path: str) -> str:
    """A path of what listens on a pod's port, by way of the API server."""
    return f"{pods(namespace)}/{quote(pod, safe='')}:{port}/proxy/{path.lstrip('/')}"


def pod_log(namespace: str, pod: str) -> str:
    """What the kubelet still has of a pod's output."""
    return f"{pods(namespace, pod)}/log"
