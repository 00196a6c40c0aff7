"""Places that Kubernetes' own scheduler takes, where no Kueue decides: by whom, and back again by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.phase import Phase
from tests.engines.kubernetes.engines import FOREVER, Lab, laboratory
from tests.engines.kubernetes.queueing import Json, another_second, apply

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import JobRecord
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]
NPU = "huawei_npu_arm64"
ONE_NODE = {NPU: {"resource": "huawei.com/Ascend910", "node_selector": {"kubernetes.io/hostname": "node-a"}}}
SETTINGS = {"devices": ONE_NODE, "priorities": {1: "taken-low", 7: "taken-high"}}


def priority_class(name: str, value: int) -> Json:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


@pytest.fixture(autouse=True)
def classes(cluster: Cluster) -> None:
    apply(cluster, priority_class("taken-low", 10), priority_class("taken-high", 1000))


async def lost_its_place(lab: Lab, urgent: str) -> tuple[JobRecord, JobRecord]:
    """A job that has all cards of a node, and a more important one for which it has to go."""
    low = await lab.submit(FOREVER, name="patient", device=NPU, devices=8, priority=2)
    await lab.printed(low.id, "up")
    await another_second()
    return low, await lab.submit(urgent, name="urgent", device=NPU, devices=8, priority=9)


async def test_a_job_that_the_scheduler_preempts_says_by_whom_and_comes_back_by_itself(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path, **SETTINGS) as lab:
        low, high = await lost_its_place(lab, "import time\ntime.sleep(3)")
        taken = await lab.when(low.id, lambda record: "by" in record.cause.values)
        assert (taken.cause.code, taken.cause.values["by"], taken.cause.values["by_id"]) == (
            "preempted",
            "urgent",
            high.id,
        )
        assert taken.phase in (Phase.QUEUED, Phase.STARTING)
        assert any(line.startswith("Preempted by pod") for line in taken.cause.evidence)
        assert "urgent" in explain(taken.cause, "en").title and "urgent" in explain(taken.cause, "zh").title
        assert "quota" not in explain(taken.cause, "en").why and "配额" not in explain(taken.cause, "zh").why
        assert (await lab.until(high.id)).phase is Phase.SUCCEEDED
        back = await lab.until(low.id, Phase.RUNNING)
        assert (back.run, back.cause.code) == (1, "running")


async def test_whoever_took_the_place_out_of_sight_is_not_named_but_the_cluster_is_quoted(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path, **SETTINGS) as lab:
        low = await lab.submit(FOREVER, name="patient", device=NPU, devices=8, priority=2)
        await lab.printed(low.id, "up")
        with cluster.namespace() as elsewhere:
            apply(cluster, urgent_pod(elsewhere))
            taken = await lab.when(low.id, lambda record: any("Preempted by" in one for one in record.cause.evidence))
            assert (taken.cause.code, "by" in taken.cause.values) == ("preempted", False)
            assert explain(taken.cause, "en").title == "Its place was taken"
        await lab.until(low.id, Phase.RUNNING)


def urgent_pod(namespace: str) -> Json:
    """Somebody else's pod, made without us, that needs all cards of the node."""
    limits = {"huawei.com/Ascend910": "8"}
    main = {"name": "main", "image": "registry.local/aiarts-bare:1", "command": ["sleep", "600"],
            "resources": {"limits": limits}}  # fmt: skip
    spec = {"containers": [main], "priorityClassName": "taken-high", "terminationGracePeriodSeconds": 0,
            "nodeSelector": ONE_NODE[NPU]["node_selector"]}  # fmt: skip
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger", "namespace": namespace}, "spec": spec}
