"""What holds a job up or ends it on a real cluster, made to happen: the code, what decides, and an action that helps.

Made to happen elsewhere: a node that dies and a pod that never ends (`test_faults`, `test_watch_faults`,
`test_stuck_cluster`), a place that is taken (`test_queues_cluster`), rights that are missing (`test_submit`,
`test_rights`), groups that do not meet (`test_gang_cluster`); images in `test_explain_images`.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.explain import explain
from jupyter_aiarts.intake import read_edit
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.reading import read_spec
from tests.cluster.cluster import CommandFailed
from tests.engines.kubernetes.engines import FOREVER, SMALL, Lab, laboratory
from tests.engines.kubernetes.telling import told

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

CARDS = {
    "nvidia_gpu_amd64": {"resource": "nvidia.com/gpu", "node_selector": {}},
    "huawei_npu_arm64": {"resource": "huawei.com/Ascend910", "node_selector": {}},
}


async def patched(lab: Lab, job_id: str, patch: dict[str, Any] | None) -> None:
    """Do what an action offers."""
    assert patch is not None
    await lab.engine.edit(job_id, read_edit(await lab.engine.asked(job_id), patch, lab.engine))


# -- no node ---------------------------------------------------------------------------------------------------------


async def test_closed_and_reserved_nodes_are_told_apart_and_counted(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        try:
            cluster.kubectl("cordon", "node-a")
            cluster.kubectl("taint", "node", "node-b", "team=blue:NoSchedule")
            closed = await lab.submit(name="closed")
            found = await told(lab, closed.id, "no-node-fits", "1 node: closed for new jobs", "1 node: reserved")
            assert "take no new jobs" in found.title and found.actions[-1].command == "aiarts cluster"
            cluster.kubectl("taint", "node", "node-a", "team=blue:NoSchedule")
            cluster.kubectl("uncordon", "node-a")
            job = await lab.submit(name="reserved")
            found = await told(lab, job.id, "no-node-fits", "reserved for others", "2 nodes: reserved")
            assert "TAINTS" in (found.actions[0].command or "")
        finally:
            cluster.kubectl("uncordon", "node-a")
            for node in ("node-a", "node-b"):
                with contextlib.suppress(CommandFailed):  # it has none yet
                    cluster.kubectl("taint", "node", node, "team-")
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED


async def test_a_half_placed_job_says_which_nodes_are_up_and_what_the_others_wait_for(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path, devices=CARDS, gang_timeout=60) as lab:
        keys = {"device": "nvidia_gpu_amd64", "devices": 8}
        single = await lab.submit(FOREVER, name="single", **keys)
        await lab.printed(single.id, "up")
        taken = lab.pods()[0]["spec"]["nodeName"]
        other = "node-b" if taken == "node-a" else "node-a"
        double = await lab.submit(FOREVER, name="double", nodes=2, **keys)
        found = await told(
            lab, double.id, "no-node-fits", "enough nvidia.com/gpu", "2 nodes these are up", f"({other})"
        )
        assert any("0/2 nodes are available" in line for line in found.evidence)


# -- quotas and rules ------------------------------------------------------------------------------------------------


async def test_a_queue_says_how_much_is_missing_and_what_it_can_never_hold(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path, queue=True, devices=CARDS) as lab:
        keys = {"device": "huawei_npu_arm64", "queue": "cards"}
        holder = await lab.submit(FOREVER, name="holder", devices=8, **keys)
        await lab.printed(holder.id, "up")
        waits = await lab.submit(name="waits", devices=4, **keys)
        busy = await told(lab, waits.id, "quota-exceeded", "4 more of huawei.com/Ascend910 (default)")
        assert [one.command for one in busy.actions] == ["aiarts queues", "aiarts jobs --phase running"]
        large = await lab.submit(name="large", nodes=2, devices=8, **keys)
        never = await told(lab, large.id, "never-fits", "16 of huawei.com/Ascend910", "at most 8")
        assert [one.patch for one in never.actions] == [None]  # two Ascend nodes have eight cards each, or none


async def test_a_quota_of_the_namespace_offers_what_is_left_and_with_that_the_job_runs(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        cluster.kubectl("-n", lab.namespace, "create", "quota", "team", "--hard=limits.memory=700Mi")
        counted = "--for=jsonpath={.status.hard.limits\\.memory}"
        cluster.kubectl("-n", lab.namespace, "wait", "resourcequota/team", counted, "--timeout=30s")
        holder = await lab.submit(FOREVER, name="holder")
        await lab.printed(holder.id, "up")
        job = await lab.submit(name="large", memory_gb=0.5)
        found = await told(lab, job.id, "quota-exceeded", "512.0 MiB of limits.memory", "444.0 MiB are left")
        assert found.actions[0].patch == {"memory_gb": 0.433}  # 444 of 1024
        await patched(lab, job.id, found.actions[0].patch)
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED


async def test_a_limit_for_one_pod_is_said_before_submitting_with_the_change_that_keeps_it(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        limit = {"type": "Container", "max": {"memory": "200Mi", "cpu": "200m"}}
        body = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small"}, "spec": {"limits": [limit]}}
        cluster.kubectl("-n", lab.namespace, "apply", "-f", "-", input=json.dumps(body))
        fit = await lab.engine.fits(read_spec({**SMALL, "command": "true"}), lab.caller)
        assert fit.cause is not None
        found = explain(fit.cause, spec=fit.spec)
        assert (found.code, found.actions[0].patch) == ("policy-refused", {"cpu": 0.2, "memory_gb": 0.195})
        small = {**SMALL, **(found.actions[0].patch or {}), "command": "true"}
        assert (await lab.engine.fits(read_spec(small), lab.caller)).cause is None


async def test_pod_security_offers_another_user_only_where_the_user_is_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    with cluster.namespace(pod_security="restricted") as namespace:
        async with laboratory(cluster, tmp_path, namespaces=[namespace], allow_host_paths=["/srv"]) as lab:
            job = await lab.submit(run_as="image")  # which is root
            found = await told(lab, job.id, "policy-refused")
            assert found.actions[0].patch == {"run_as": "user"}
            assert any("runAsNonRoot" in line for line in found.evidence)
            folder = {"source": "/srv/data", "target": "/data", "read_only": True}
            fit = await lab.engine.fits(read_spec({**SMALL, "command": "true", "mounts": [folder]}), lab.caller)
            assert fit.cause is not None
            refused = explain(fit.cause, spec=fit.spec)
            assert refused.code == "policy-refused" and any("hostPath" in line for line in refused.evidence)
            assert not any(one.patch for one in refused.actions)


# -- storage ---------------------------------------------------------------------------------------------------------


async def test_a_claim_that_is_not_there_is_named_and_once_made_is_said_to_have_no_volume(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(mounts=[{"source": "training-data", "target": "/data"}])
        found = await told(lab, job.id, "mount-missing", "no volume claim training-data")
        assert found.actions[0].command == "kubectl get persistentvolumeclaims"
        spec = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
        body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "training-data"}}
        cluster.kubectl("-n", lab.namespace, "apply", "-f", "-", input=json.dumps({**body, "spec": spec}))
        await told(lab, job.id, "mount-missing", "has no volume yet")


async def test_an_nfs_server_that_cannot_be_mounted_is_named(cluster: Cluster, tmp_path: Path) -> None:
    """These nodes have no NFS client, or no server answers them: either way the share is named."""
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(mounts=[{"source": "127.0.0.1:/export/data", "target": "/data", "read_only": True}])
        found = await told(lab, job.id, "mount-missing", "127.0.0.1", seconds=90)
        assert any("/export/data" in line for line in found.evidence)


# -- what a node or the platform does to it --------------------------------------------------------------------------


async def test_an_eviction_by_the_api_is_told_and_not_held_against_the_job(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(FOREVER)
        await lab.printed(job.id, "up")
        pod = lab.pods()[0]
        name, node = pod["metadata"]["name"], pod["spec"]["nodeName"]
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": lab.namespace}}
        with cluster.admin() as api:
            api.request("POST", f"api/v1/namespaces/{lab.namespace}/pods/{name}/eviction", body)
        found = await told(lab, job.id, "evicted", f"Evicted from {node}", "Somebody asked for that")
        assert found.actions[0].command == "aiarts cluster"
        await lab.until(job.id, Phase.RUNNING)


async def test_memory_beyond_a_real_limit_is_told_with_a_larger_one(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit("x = [bytearray(10_000_000) for _ in range(100)]", memory_gb=0.25)
        found = await told(lab, job.id, "out-of-memory")
        assert (found.actions[0].patch or {}).get("memory_gb", 0) > 0.25


async def test_shared_memory_that_a_real_writer_fills_is_told_with_a_larger_one(
    cluster: Cluster, tmp_path: Path
) -> None:
    source = "with open('/dev/shm/batch', 'wb') as file:\n    file.write(bytes(64 << 20))"
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(source, shm_gb=0.03125)
        found = await told(lab, job.id, "shared-memory-full")
        assert (found.actions[0].patch or {}).get("shm_gb", 0) > 0.03125


async def test_a_time_limit_ends_a_job_and_is_told_with_its_hours(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(FOREVER, max_hours=0.001)
        found = await told(lab, job.id, "time-limit")
        assert "0.001" in f"{found.title} {found.why}" and found.actions


async def test_a_user_who_may_not_write_where_the_script_writes_is_told_the_path(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path, allow_run_as=["1234:1234"]) as lab:
        job = await lab.submit("open('/usr/results.txt', 'w')", run_as="1234:1234")
        found = await told(lab, job.id, "permission-denied")
        assert any("/usr/results.txt" in line for line in found.evidence)
