"""Queues of a test's own on the real cluster."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.model.queue import Queue
from tests.cluster.api import place
from tests.engines.kubernetes.engines import BARE, Lab, laboratory

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

Json = dict[str, Any]
KUEUE = "kueue.x-k8s.io/v1beta2"


def cluster_queue(name: str, cpu: str, cohort: str | None = None) -> Json:
    """A queue with so many CPUs in which a higher priority takes a lower one's place."""
    resources = [{"name": "cpu", "nominalQuota": cpu}, {"name": "memory", "nominalQuota": "64Gi"}]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "default", "resources": resources}]}
    preemption = {"withinClusterQueue": "LowerPriority"}
    spec: Json = {"namespaceSelector": {}, "resourceGroups": [group], "preemption": preemption}
    return {
        "apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name},
        "spec": {**spec, "cohortName": cohort} if cohort else spec,
    }  # fmt: skip


def local_queue(namespace: str, name: str, leads_to: str) -> Json:
    return {
        "apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": leads_to},
    }  # fmt: skip


def priority(name: str, value: int) -> Json:
    return {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}


def apply(cluster: Cluster, *items: Json) -> None:
    cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


@asynccontextmanager
async def queue_laboratory(cluster: Cluster, tmp_path: Path, cpu: str = "1", **settings: Any) -> AsyncIterator[Lab]:
    """A laboratory whose namespace has a LocalQueue `own`, which leads to a ClusterQueue named like the namespace."""
    async with laboratory(cluster, tmp_path, **settings) as lab:
        name = lab.namespace
        apply(cluster, cluster_queue(name, cpu), local_queue(name, "own", name))
        try:
            yield lab
        finally:
            cluster.kubectl("delete", "jobs", "--all", "-n", name, "--wait=false")
            cluster.kubectl("delete", "clusterqueue", name, "--wait=false", "--ignore-not-found")


@contextmanager
def viewing(cluster: Cluster, user: str) -> Iterator[None]:
    """The optional role for the whole cluster, given to somebody for a while."""
    binding = f"viewer-{user}-for-a-test"
    cluster.kubectl("create", "clusterrolebinding", binding, "--clusterrole=aiarts-viewer", f"--user={user}")
    try:
        yield
    finally:
        cluster.kubectl("delete", "clusterrolebinding", binding)


def waiting_job(namespace: str, queue: str, cpu: str = "1") -> Json:
    """Somebody else's Job in a queue, made without us."""
    resources = {"requests": {"cpu": cpu, "memory": "64Mi"}, "limits": {"memory": "64Mi"}}
    main = {"name": "main", "image": BARE, "command": ["true"], "resources": resources}
    meta = {"name": "stranger", "namespace": namespace, "labels": {"kueue.x-k8s.io/queue-name": queue}}
    pod = {"spec": {"containers": [main], "restartPolicy": "Never"}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"suspend": True, "template": pod}}


def forbid_visibility(cluster: Cluster, namespace: str) -> None:
    """Take the right to ask Kueue for its order out of a namespace's role."""
    with cluster.admin() as api:
        role = place("Role", namespace, "aiarts-user")
        rules = [rule for rule in api.get(role)["rules"] if "visibility.kueue.x-k8s.io" not in rule["apiGroups"]]
        api.patch(role, {"rules": rules})


async def queue_when(lab: Lab, there: Callable[[Queue], object], name: str = "own", seconds: float = 30) -> Queue:
    """Look until this is true of a queue."""
    queue = None
    end = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < end:
        queue = next((one for one in await lab.engine.queues() if one.name == name), None)
        if queue is not None and there(queue):
            return queue
        await asyncio.sleep(0.1)
    raise AssertionError(f"after {seconds} s: {queue}")


async def another_second() -> None:
    """A cluster's times have whole seconds: who came in the same one came at the same time."""
    await asyncio.sleep(1.05)
