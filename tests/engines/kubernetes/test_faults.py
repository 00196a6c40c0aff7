"""What really breaks in clusters, broken for real: a job is accounted for, and says why."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.errors import JobNotFound, WrongPhase
from jupyter_aiarts.model.phase import Move, Phase
from tests.cluster.paths import Unavailable
from tests.engines.kubernetes.engines import BARE, FOREVER, Lab, laboratory

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]  # nodes die here, and the cluster is mended after each

GPU = {"nvidia_gpu_amd64": {"resource": "nvidia.com/gpu", "node_selector": {}}}


async def test_an_image_without_python_says_so_in_one_sentence(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(image=BARE)
        record = await lab.until(job.id, code="image-no-python")
        assert record.cause.values["image"] == BARE


async def test_an_image_that_is_not_there_says_so_and_the_job_can_be_stopped(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(image="localhost:1/no/such:image")
        record = await lab.when(job.id, lambda one: one.cause.code.startswith("image-"))
        assert record.phase in (Phase.QUEUED, Phase.STARTING)
        assert any("no/such" in line for line in record.cause.evidence)
        await lab.engine.act(job.id, Move.STOP)
        assert (await lab.until(job.id)).phase is Phase.STOPPED


async def test_a_killed_launcher_is_told_as_lost_and_its_ranks_are_gone(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(FOREVER)
        await lab.printed(job.id, "up")
        kill_in_pod(lab, lab.pods()[0]["metadata"]["name"], lab.pods()[0]["spec"]["nodeName"])
        record = await lab.until(job.id)
        assert (record.phase, record.cause.code) == (Phase.LOST, "launcher-lost")
        assert await lab.texts(job.id) == ["up"]


def kill_in_pod(lab: Lab, pod: str, node: str) -> None:
    """SIGKILL to the launcher from outside its container: inside, the first process of a pod cannot be killed."""
    found = lab.cluster.in_node(node, "pgrep", "-f", "launcher.zip pod")
    for pid in found.split():
        try:
            environ = lab.cluster.in_node(node, "cat", f"/proc/{pid}/environ")
        except Unavailable:  # of another pod, and gone meanwhile
            continue
        if f"POD_NAME={pod}" in environ:
            lab.cluster.in_node(node, "kill", "-KILL", pid)
            return
    raise AssertionError(f"no launcher of {pod} among {found.split()} on {node}")


async def test_a_node_that_dies_is_named_and_after_release_the_job_runs_elsewhere(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(FOREVER)
        await lab.printed(job.id, "up")
        node = lab.pods()[0]["spec"]["nodeName"]
        with cluster.unplugged(node):
            lost = await lab.when(job.id, lambda one: one.cause.code in ("node-lost", "pod-stuck"), 90)
            assert lost.phase is not Phase.LOST
            await asyncio.wait_for(release(lab, job.id), 90)
            await lab.until(job.id, Phase.RUNNING, seconds=90)
            placed = {pod["spec"].get("nodeName") for pod in lab.pods() if pod["status"]["phase"] == "Running"}
            assert placed and node not in placed
            await lab.printed(job.id, "up")
        assert lost.run == (await lab.engine.get(job.id)).run == 1  # nothing of it counts as a failure of the job


async def release(lab: Lab, job_id: str) -> None:
    """As a person does who is told that no pod waits to be released yet: again, a moment later."""
    while True:
        try:
            await lab.engine.act(job_id, Move.RELEASE)
            return
        except WrongPhase:
            await asyncio.sleep(0.5)


async def test_a_killed_kubelet_or_containerd_does_not_end_a_running_job(cluster: Cluster, tmp_path: Path) -> None:
    """Their containers go on; when they are back, so is the picture."""
    source = "import os, time\nprint('up', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.1)\nprint('end')"
    homes = {"default_mounts": [{"source": f"{tmp_path}/{{user}}", "target": f"{tmp_path}/{{user}}"}]}
    async with laboratory(cluster, tmp_path, **homes) as lab:
        lab.folder = tmp_path / "alice"
        lab.folder.mkdir()
        job = await lab.submit(source, workdir=str(lab.folder))
        await lab.printed(job.id, "up")
        node = lab.pods()[0]["spec"]["nodeName"]
        for kill, start in (
            (cluster.kill_kubelet, cluster.start_kubelet),
            (cluster.kill_containerd, cluster.start_containerd),
        ):
            kill(node)
            await asyncio.to_thread(start, node)
        (lab.folder / "go").touch()
        done = await lab.until(job.id)
        assert (done.phase, await lab.texts(job.id)) == (Phase.SUCCEEDED, ["up", "end"])


async def test_a_job_does_not_look_as_if_it_ran_once_its_namespace_is_deleted(cluster: Cluster, tmp_path: Path) -> None:
    """Its pods end with their grace; Kubernetes itself takes minutes to remove the last of such a namespace."""
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(FOREVER)
        await lab.printed(job.id, "up")
        await asyncio.to_thread(cluster.kubectl, "delete", "namespace", lab.namespace, "--wait=false")
        try:
            ended = await lab.when(job.id, lambda record: record.phase is not Phase.RUNNING)
        except JobNotFound:
            return  # it is gone already
        assert ended.phase not in (Phase.SUCCEEDED, Phase.FAILED)
        assert await lab.texts(job.id) == ["up"]


@pytest.mark.timeout(300)
async def test_a_job_of_which_only_half_is_placed_says_what_it_waits_for_and_runs_when_that_comes_free(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path, devices=GPU, gang_timeout=60) as lab:
        keys = {"device": "nvidia_gpu_amd64", "devices": 8}
        single = await lab.submit(FOREVER, name="single", **keys)
        await lab.printed(single.id, "up")
        double = await lab.submit("print('whole')", name="double", nodes=2, **keys)
        waiting = await lab.when(double.id, lambda one: one.cause.code in ("waiting-for-peers", "no-node-fits"))
        assert waiting.phase in (Phase.QUEUED, Phase.STARTING)
        await lab.engine.act(single.id, Move.STOP)
        assert (await lab.until(double.id, seconds=240)).phase is Phase.SUCCEEDED
        assert (await lab.texts(double.id))[-2:] == ["whole", "whole"]
