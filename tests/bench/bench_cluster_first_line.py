"""From submitting a job to a cluster to its first log line, against a Job of the same pod made by kubectl.

The peer's pod has the same image, volumes, init container and tools, and prints by Python as ours does; its
first line is waited for by `kubectl logs -f`, started when `kubectl get -w` shows that the pod runs. Beside it stands
a bare Job, without volumes and init container: what the cluster itself takes.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.kubernetes import manifest, open_cluster
from jupyter_aiarts.engines.kubernetes.engine import KubernetesEngine
from jupyter_aiarts.engines.kubernetes.orders import Place
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.model.names import new_id
from jupyter_aiarts.model.reading import read_spec
from tests.cluster.cluster import Cluster
from tests.engines.reaching import job_reached

from .measure import Aim, Figure, keep, short

pytestmark = [pytest.mark.bench, pytest.mark.cluster, pytest.mark.timeout(900)]

ROUNDS = 9
LINE = "print('step 0', flush=True)"
SPEC = {"cluster": "lab", "image": "registry.local/aiarts-test:1", "cpu": 1, "memory_gb": 0.5, "grace_seconds": 1}


async def test_first_line_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"import time\n{LINE}\ntime.sleep(2)\n")
    ours: list[float] = []
    peer: list[float] = []
    bare: list[float] = []
    with cluster.namespace() as namespace:
        settings = {"kubeconfig": str(cluster.kubeconfig("alice")), "namespaces": [namespace]}
        engine = open_cluster("lab", settings, tmp_path / "state")
        try:
            await engine.snapshot()
            for _ in range(ROUNDS + 1):
                ours.append(await first_line(engine, tmp_path))
                like_ours = await pod_like_ours(engine, tmp_path)
                peer.append(await asyncio.to_thread(kubectl_first_line, cluster, like_ours))
                bare.append(await asyncio.to_thread(kubectl_first_line, cluster, [bare_job(namespace, new_id())]))
        finally:
            await engine.aclose()
    keep(
        "9 cluster first line",
        Figure(
            title="submitting a job to a cluster until its first log line",
            unit="ms",
            peer_name="`kubectl create` of a Job with the same image, volumes and init container, until its first line",
            ours=ours[1:],
            peer=peer[1:],
            aim=Aim(by="ratio", bound=1.3),
            more={"a bare Job without volumes, ms": short(statistics.median(bare[1:]))},
        ),
    )


async def first_line(engine: KubernetesEngine, folder: Path) -> float:
    """Milliseconds; returns when the job is gone, so that it is in nobody's way."""
    caller = Caller(owner="alice", python="python3", folder=folder)
    start = time.perf_counter()
    record, _ = await engine.submit(read_spec({**SPEC, "script": "train.py"}), caller)
    follower = (await engine.log(record.id)).follow(LogQuery(tail=10))
    while not await asyncio.to_thread(follower.step, False):
        await asyncio.sleep(0.01)
    taken = (time.perf_counter() - start) * 1000
    await job_reached(engine, record.id, lambda job: job.phase.is_terminal, 60)
    await engine.delete(record.id)
    return taken


async def pod_like_ours(engine: KubernetesEngine, folder: Path) -> list[dict[str, Any]]:
    """The objects of such a job, its launcher replaced by the script itself."""
    link = await engine._link.up()
    reading = read_spec({**SPEC, "script": "train.py"})
    order = await link.orders.fresh(reading, folder, "alice", new_id(), Place((await link.up()).namespaces[0]))
    made = manifest.objects(order)
    job = made.job
    job["spec"] |= {"suspend": False}
    mark = {"bench": job["metadata"]["name"]}
    job["metadata"]["labels"] = job["spec"]["template"]["metadata"]["labels"] = mark
    containers = job["spec"]["template"]["spec"]
    containers["initContainers"][0]["command"] = ["python3", "-I", "-S", "-c", "open('/aiarts/run/pod.env', 'w')"]
    containers["containers"][0]["command"] = ["python3", "-I", "-S", "-c", f"{LINE}; import time; time.sleep(2)"]
    return [*made.dependents, job]


def bare_job(namespace: str, name: str) -> dict[str, Any]:
    """A Job of the same image that prints the same and has nothing else."""
    command = ["python3", "-I", "-S", "-c", f"{LINE}; import time; time.sleep(2)"]
    main = {"name": "main", "image": SPEC["image"], "imagePullPolicy": "IfNotPresent", "command": command}
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [main]}
    mark = {"bench": name}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": mark},
        "spec": {"backoffLimit": 0, "template": {"metadata": {"labels": mark}, "spec": pod}},
    }


def kubectl_first_line(cluster: Cluster, objects: list[dict[str, Any]]) -> float:
    """Milliseconds from `kubectl create` to the first byte of `kubectl logs -f`."""
    job = objects[-1]["metadata"]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    program = ["kubectl", f"--kubeconfig={cluster.kubeconfig('alice')}", "-n", job["namespace"]]
    shown = ["-o", "custom-columns=NAME:.metadata.name,PHASE:.status.phase", "--no-headers"]
    watching = [*program, "get", "pods", "--watch", "-l", f"bench={job['name']}", *shown]
    with subprocess.Popen(watching, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as pods:
        assert pods.stdout is not None
        start = time.perf_counter()
        cluster.kubectl("create", "-f", "-", user="alice", input=listed)
        running = next(line.split()[0] for line in pods.stdout if line.split()[1] == "Running")
        pods.kill()
    here = ("-n", job["namespace"])
    command = [*program, "logs", "-f", running]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as logs:
        assert logs.stdout is not None
        line = logs.stdout.readline()
        taken = (time.perf_counter() - start) * 1000
        logs.stdout.read()
    assert line == b"step 0\n"
    cluster.kubectl(*here, "delete", "job", job["name"], "--wait=false", user="alice")
    return taken
