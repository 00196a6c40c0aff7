"""Many jobs on paper: real objects of our own manifests in a real API server, on nodes where nothing runs."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import msgspec

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.client import Api, Missing, jobs, pods
from jupyter_aiarts.engines.kubernetes.manifest import objects, pod
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from tests.cluster.cluster import Cluster
from tests.engines.kubernetes.making import make_order
from tests.engines.kubernetes.watching import job as small_job

Json = dict[str, Any]
Made = Iterator[tuple[Json, list[Json]]]  # a job and its pods
Work = Callable[[Api, str, Made], Awaitable[None]]
AT_ONCE = 24
STARTED = "2026-11-16T05:00:00Z"
NOBODY = "jupyter-aiarts.bench/nobody"  # the Job controller leaves alone what another one manages


@contextlib.contextmanager
def paper_jobs(cluster: Cluster, count: int, nodes: int) -> Iterator[str]:
    """A namespace with so many running jobs of so many nodes each."""
    machines = max(count * nodes // 100, 1)
    with cluster.namespace() as namespace, cluster.paper_nodes(machines, "bench") as where:
        try:
            asyncio.run(_each(_make, cluster, namespace, count, nodes, where))
            yield namespace
        finally:
            # one by one: a single request to delete ten thousand takes longer than anybody waits
            asyncio.run(_each(_unmake, cluster, namespace, count, nodes, where))


async def _each(work: Work, cluster: Cluster, namespace: str, count: int, nodes: int, where: list[str]) -> None:
    """Do it with every job, over a few connections at once."""
    api = await Api.open(ClusterSettings(name="bench", kubeconfig=str(cluster.kubeconfig("admin"))))
    made = _jobs(namespace, count, nodes, where)
    await asyncio.gather(*(work(api, namespace, made) for _ in range(AT_ONCE)))
    await api.aclose()


def small_jobs(cluster: Cluster, namespace: str, count: int) -> None:
    """So many small Jobs of ours that wait: what a change costs the API server grows with the object."""
    with cluster.admin() as admin:
        for number in range(count):
            one = small_job(small_id(number), suspend=True)
            one["spec"]["managedBy"] = NOBODY
            admin.request("POST", f"apis/batch/v1/namespaces/{namespace}/jobs", one)


def small_id(number: int) -> str:
    return f"c{number:09}"


def _jobs(namespace: str, count: int, nodes: int, where: list[str]) -> Made:
    order = make_order(raw={"kind": "distributed", "nodes": nodes, "name": "train"}, namespace=namespace)
    job, one = objects(order).job, pod(order)
    for number in range(count):
        job_id = f"b{number:09}"
        fresh = _renamed(job, order.job_id, job_id)
        del fresh["metadata"]["labels"][names.CREATING]
        fresh["spec"].update(suspend=False, managedBy=NOBODY)
        places = [where[(number * nodes + index) % len(where)] for index in range(nodes)]
        yield fresh, [_pod(_renamed(one, order.job_id, job_id), index, place) for index, place in enumerate(places)]


def _renamed(item: Json, old: str, new: str) -> Json:
    text = msgspec.json.encode(item).replace(old.encode(), new.encode())
    found: Json = msgspec.json.decode(text)
    return found


def _pod(item: Json, index: int, place: str) -> Json:
    item = copy.copy(item)
    meta = item["metadata"]
    meta["name"] = f"{meta['name'].removesuffix('-0-try')}-{index}-x{index}yz"
    meta["labels"][names.INDEX] = meta["annotations"][names.INDEX] = str(index)
    item["spec"]["nodeName"] = place
    item["spec"]["tolerations"] = [{"operator": "Exists"}]  # a busy machine may forget a node's signs of life
    return item


async def _make(api: Api, namespace: str, made: Made) -> None:
    for job, own in made:
        name = (await api.create(jobs(namespace), job))["metadata"]["name"]
        status = {"active": len(own), "ready": len(own), "startTime": STARTED}
        await api.patch(f"{jobs(namespace, name)}/status", {"status": status})
        for one in own:
            found = await api.create(pods(namespace), one)
            await api.patch(f"{pods(namespace, one['metadata']['name'])}/status", {"status": _status(found)})


async def _unmake(api: Api, namespace: str, made: Made) -> None:
    for _, own in made:
        for one in own:
            with contextlib.suppress(Missing):
                await api.delete(pods(namespace, one["metadata"]["name"]), propagation="Background", grace=0)


def _status(found: Json) -> Json:
    """What a kubelet says of a pod that runs."""
    types = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    conditions = [{"type": one, "status": "True", "lastTransitionTime": STARTED} for one in types]
    image = found["spec"]["containers"][0]["image"]
    common = {"image": image, "imageID": f"sha256:{'0' * 64}", "restartCount": 0, "ready": True}
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": STARTED, "finishedAt": STARTED}
    init = {**common, "name": names.PREPARE, "containerID": f"containerd://{'1' * 64}", "state": {"terminated": ended}}
    main = {**common, "name": names.MAIN, "containerID": f"containerd://{'2' * 64}"}
    return {
        "phase": "Running",
        "startTime": STARTED,
        "hostIP": "10.0.0.1",
        "podIP": "10.0.0.2",
        "conditions": conditions,
        "initContainerStatuses": [init],
        "containerStatuses": [{**main, "started": True, "state": {"running": {"startedAt": STARTED}}}],
    }
