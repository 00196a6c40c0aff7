"""Nodes and anybody's pods as an API server writes them, decoded as a watch decodes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.glance import NODES, PODS, Glance
from jupyter_aiarts.engines.kubernetes.nodes import BoundPod, NodeObject
from jupyter_aiarts.engines.kubernetes.settings import DeviceProfile, Toleration
from jupyter_aiarts.engines.kubernetes.unwell import HealthObject

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

Json = dict[str, Any]
NPU, GPU = "huawei_npu_arm64", "nvidia_gpu_amd64"
ASCEND, NVIDIA = "huawei.com/Ascend910", "nvidia.com/gpu"
ARM = {"kubernetes.io/arch": "arm64"}
DEVICES = {
    "cpu": DeviceProfile(),
    GPU: DeviceProfile(resource=NVIDIA, node_selector={"kubernetes.io/arch": "amd64"}),
    NPU: DeviceProfile(
        resource=ASCEND, node_selector=ARM, tolerations=(Toleration(key="npu", operator="Exists", effect="NoSchedule"),)
    ),
}


def node_json(name: str, cards: int = 8, version: int = 1, **more: Any) -> Json:
    """A node with Ascend cards; `more`: capacity, resource, labels, taints, cordoned, ready, conditions, cpu, uid."""
    resource = more.get("resource", ASCEND)
    room = {"cpu": more.get("cpu", "64"), "memory": more.get("memory", "512Gi"), "pods": "110"}
    arch = "arm64" if resource == ASCEND else "amd64"
    conditions = {"Ready": "True" if more.get("ready", True) else "Unknown", "DiskPressure": "False"}
    conditions |= more.get("conditions", {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": more.get("uid", f"uid-{name}"),
            "resourceVersion": str(version),
            "labels": {"kubernetes.io/arch": arch, "kubernetes.io/hostname": name, **more.get("labels", {})},
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": {"podCIDR": "10.244.0.0/24", "unschedulable": more.get("cordoned", False), "taints": more.get("taints")}
        if more.get("taints")
        else {"podCIDR": "10.244.0.0/24", **({"unschedulable": True} if more.get("cordoned") else {})},
        "status": {
            "capacity": {**room, resource: str(more.get("capacity", cards))},
            "allocatable": {**room, resource: str(cards)},
            "conditions": [
                {"type": kind, "status": status, "lastHeartbeatTime": "2026-11-16T05:00:00Z", "reason": "Kubelet"}
                for kind, status in conditions.items()
            ],
            "nodeInfo": {"kubeletVersion": "v1.34.4", "architecture": arch},
        },
    }


def pod_json(name: str, node: str | None, cards: int = 1, version: int = 1, **more: Any) -> Json:
    """A pod; `more`: namespace, phase, uid, resource, cpu, job, owner, annotations, spec (replaces parts of it)."""
    requests = {"cpu": more.get("cpu", "250m"), "memory": "256Mi"}
    requests |= {more.get("resource", ASCEND): str(cards)} if cards else {}
    labels = {}
    if more.get("job"):
        labels = {names.JOB: more["job"], names.RUN: "1", names.OWNER: names.owner_label(more.get("owner", "alice"))}
    main = {"name": "main", "image": "x:1", "resources": {"requests": requests, "limits": requests}}
    spec = {"containers": [main], "restartPolicy": "Never", **({"nodeName": node} if node else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": more.get("namespace", "team-a"),
            "uid": more.get("uid", f"uid-{name}"),
            "resourceVersion": str(version),
            "labels": {"app": "train", **labels},
            "annotations": more.get("annotations", {}),
            **({"deletionTimestamp": "2026-11-16T05:00:00Z"} if more.get("deleted") else {}),
        },
        "spec": {**spec, **more.get("spec", {})},
        "status": {"phase": more.get("phase", "Running"), "podIP": "10.244.0.9"},
    }


def read_node(item: Json) -> NodeObject:
    return msgspec.json.decode(json.dumps(item), type=NodeObject)


def read_pod(item: Json) -> BoundPod:
    return msgspec.json.decode(json.dumps(item), type=BoundPod)


def health(node: str, **told: str) -> HealthObject:
    """What Huawei's device plugin writes of a node's cards: Unhealthy="Ascend910-3", …"""
    cards = {f"{ASCEND}-{what}": names for what, names in told.items()}
    info = json.dumps(
        {"DeviceInfo": {"DeviceList": {ASCEND: "Ascend910-0", **cards}, "UpdateTime": 1}, "CheckCode": "0"}
    )
    meta = {"name": f"mindx-dl-deviceinfo-{node}", "namespace": "kube-system", "resourceVersion": "1"}
    return msgspec.convert({"metadata": meta, "data": {"DeviceInfoCfg": info, "other": "x"}}, type=HealthObject)


def glance(*items: Json, **rights: bool) -> Glance:
    """A picture of these nodes and pods."""
    found = Glance("k8s", DEVICES, **rights)
    for item in items:
        is_node = item["kind"] == "Node"
        found.apply(NODES if is_node else PODS, "ADDED", read_node(item) if is_node else read_pod(item))
    return found


def write_health(cluster: Cluster, node: str, **told: str) -> None:
    """Have the ConfigMap of a node say this, as Huawei's device plugin would."""
    found = health(node, **told)
    item = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"DeviceInfoCfg": found.data.told},
            "metadata": {"name": found.metadata.name, "namespace": found.metadata.namespace}}  # fmt: skip
    cluster.kubectl("apply", "-f", "-", input=json.dumps(item))


@contextmanager
def may_read_what_the_plugin_writes(cluster: Cluster, user: str) -> Iterator[None]:
    """The right that the guide names, and after the block neither it nor what was written."""
    where = ("-n", "kube-system")
    cluster.kubectl("create", "role", "deviceinfo", *where, "--verb=list,watch", "--resource=configmaps")
    cluster.bind(user, "kube-system", "deviceinfo")
    try:
        yield
    finally:
        cluster.kubectl("delete", "rolebinding", f"deviceinfo-{user}", *where)
        cluster.kubectl("delete", "role", "deviceinfo", *where)
        cluster.kubectl("delete", "configmap", "mindx-dl-deviceinfo-node-a", *where, "--ignore-not-found")
