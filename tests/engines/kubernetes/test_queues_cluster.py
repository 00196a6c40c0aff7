"""Queues as they are on a real cluster with Kueue: places, quotas, preemption, and what goes wrong with them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.model.queue import Queue
from tests.cluster.api import until as cluster_until
from tests.engines.kubernetes.engines import FOREVER, Lab, laboratory
from tests.engines.kubernetes.queueing import (
    another_second,
    apply,
    cluster_queue,
    forbid_visibility,
    local_queue,
    priority,
    queue_laboratory,
    queue_when,
    viewing,
    waiting_job,
)
from tests.engines.reaching import reached

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import JobRecord
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


async def test_places_come_from_kueue_itself_and_without_that_right_from_the_workloads(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with queue_laboratory(cluster, tmp_path, cpu="1") as lab:
        second, _ = await with_two_waiting(lab)
        queue = await queue_when(lab, lambda queue: queue.pending == 2 and is_told(queue, 1, 2))
        about = (queue.kind, queue.namespace, queue.lends_from, queue.active)
        assert about == ("kueue", lab.namespace, lab.namespace, True)
        assert (queue.source, [(one.name, one.position, one.ahead) for one in queue.places]) == (
            "visibility",
            [("second", 1, 0), ("third", 2, 1)],
        )
        assert [one.job for one in queue.places[1].before] == [second.id]
        assert (queue.quota["cpu"], queue.used["cpu"], queue.own["cpu"]) == (None, None, 1.0)
        # the right is taken away: the next look counts who can be seen, and how many others there are is unknown
        forbid_visibility(cluster, lab.namespace)
        queue = await queue_when(lab, lambda queue: queue.source == "workloads")
        assert [(one.name, one.position, one.ahead) for one in queue.places] == [
            ("second", 1, None),
            ("third", 2, None),
        ]
        assert [one.job for one in queue.places[1].before] == [second.id]


async def test_who_waits_in_another_namespace_counts_where_kueue_tells_the_order(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with queue_laboratory(cluster, tmp_path, cpu="1") as lab:
        first = await lab.submit(FOREVER, name="first", queue="own", cpu=1)
        await lab.until(first.id, Phase.RUNNING)
        with cluster.namespace() as elsewhere:
            apply(cluster, local_queue(elsewhere, "theirs", lab.namespace), waiting_job(elsewhere, "theirs"))
            await asyncio.to_thread(wait_for_workload, cluster, elsewhere)
            await another_second()
            mine = await lab.submit(FOREVER, name="mine", queue="own", cpu=1)
            await lab.until(mine.id, code="quota-exceeded")
            queue = await queue_when(lab, lambda queue: queue.pending and is_told(queue, 2))
            [place] = queue.places
            assert (queue.source, queue.pending, place.ahead, place.before) == ("visibility", 1, 1, ())


def wait_for_workload(cluster: Cluster, namespace: str) -> None:
    """Until Kueue has taken note of a job there; its order is by the second in which it did."""
    path = f"apis/kueue.x-k8s.io/v1beta2/namespaces/{namespace}/workloads"
    with cluster.admin() as api:
        cluster_until("Kueue to take note of a job", lambda: api.get(path)["items"])


def is_told(queue: Queue, *positions: int) -> bool:
    """Whether Kueue itself tells these places: its API is back a moment after it was restarted."""
    return queue.source == "visibility" and [one.position for one in queue.places] == list(positions)


async def with_two_waiting(lab: Lab) -> tuple[JobRecord, JobRecord]:
    """Of a queue with room for one, a first job has it; the second and the third."""
    first = await lab.submit(FOREVER, name="first", queue="own", cpu=1)
    await lab.until(first.id, Phase.RUNNING)
    second = await lab.submit(FOREVER, name="second", queue="own", cpu=1)
    await lab.until(second.id, code="quota-exceeded")  # Kueue has taken note of it
    await another_second()
    third = await lab.submit(FOREVER, name="third", queue="own", cpu=1)
    await lab.until(third.id, code="quota-exceeded")
    return second, third


async def test_with_the_viewers_role_quotas_and_all_who_wait_are_seen(cluster: Cluster, tmp_path: Path) -> None:
    with viewing(cluster, "alice"):
        async with queue_laboratory(cluster, tmp_path, cpu="1") as lab:
            first = await lab.submit(FOREVER, name="first", queue="own", cpu=1)
            await lab.until(first.id, Phase.RUNNING)
            second = await lab.submit(FOREVER, name="second", queue="own", cpu=1)
            await lab.until(second.id, code="quota-exceeded")
            queue = await queue_when(lab, lambda queue: queue.places and queue.used.get("cpu"))
            assert [(place.job, place.position, place.ahead) for place in queue.places] == [(second.id, 1, 0)]
            assert (queue.quota["cpu"], queue.used["cpu"], queue.borrowed["cpu"]) == (1.0, 1.0, 0.0)
            assert queue.quota["memory"] == 64 * 2**30
            assert queue.why is None
            # lowered below what runs: what runs goes on, and the queue says what is the matter
            apply(cluster, cluster_queue(lab.namespace, "500m"))
            queue = await queue_when(lab, lambda queue: queue.why is not None)
            assert queue.why is not None and queue.why.code == "quota-below-use"
            assert (queue.why.values["used"], queue.why.values["quota"]) == (1.0, 0.5)
            assert (await lab.engine.get(first.id)).phase is Phase.RUNNING


async def test_a_preempted_job_says_by_whom_and_comes_back_by_itself(cluster: Cluster, tmp_path: Path) -> None:
    classes = {1: "test-low", 7: "test-high"}
    apply(cluster, priority("test-low", 10), priority("test-high", 1000))
    async with queue_laboratory(cluster, tmp_path, cpu="1", priorities=classes) as lab:
        low = await lab.submit(FOREVER, name="patient", queue="own", cpu=1, priority=2)
        await lab.until(low.id, Phase.RUNNING)
        await another_second()
        high = await lab.submit("import time\ntime.sleep(3)", name="urgent", queue="own", cpu=1, priority=9)
        taken = await lab.until(low.id, code="preempted")
        assert taken.phase is Phase.QUEUED
        assert (taken.cause.values["by"], taken.cause.values["by_id"]) == ("urgent", high.id)
        assert explain(taken.cause, "en").title == "Its place was taken by urgent"
        assert "urgent" in explain(taken.cause, "zh").title
        assert (await lab.until(high.id)).phase is Phase.SUCCEEDED
        back = await lab.until(low.id, Phase.RUNNING)
        assert (back.run, back.cause.code) == (1, "running")
        [turn] = await lab.engine.turns(low.id)
        assert (turn.job, [(one.job, one.reason) for one in turn.passed]) == (high.id, [(low.id, "higher-priority")])


async def test_a_later_job_that_started_first_is_explained(cluster: Cluster, tmp_path: Path) -> None:
    async with queue_laboratory(cluster, tmp_path, cpu="1") as lab:
        first = await lab.submit(FOREVER, name="first", queue="own", cpu=0.5)
        await lab.until(first.id, Phase.RUNNING)
        large = await lab.submit(FOREVER, name="large", queue="own", cpu=1)
        await lab.until(large.id, code="quota-exceeded")
        await another_second()
        small = await lab.submit(FOREVER, name="small", queue="own", cpu=0.25)
        await lab.until(small.id, Phase.STARTING, Phase.RUNNING)
        await lab.until(small.id, Phase.RUNNING)
        [turn] = await lab.engine.turns(large.id)
        assert (turn.job, turn.name, turn.queue) == (small.id, "small", "own")
        assert [(one.job, one.reason, one.about) for one in turn.passed] == [(large.id, "quota", "cpu")]


async def test_a_queue_deleted_under_waiting_jobs_is_said_and_nothing_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    async with queue_laboratory(cluster, tmp_path, cpu="1") as lab:
        first = await lab.submit(FOREVER, name="first", queue="own", cpu=1)
        await lab.until(first.id, Phase.RUNNING)
        second = await lab.submit("print('at last')", name="second", queue="own", cpu=1)
        await lab.until(second.id, code="quota-exceeded")
        await queue_when(lab, lambda queue: queue.active)
        cluster.kubectl("delete", "localqueue", "own", "-n", lab.namespace)
        queue = await queue_when(lab, lambda queue: queue.active is False)
        assert queue.why is not None and queue.why.code == "queue-gone"
        assert (queue.pending, [place.job for place in queue.places]) == (1, [second.id])
        await lab.until(second.id, code="queue-inactive")
        apply(cluster, local_queue(lab.namespace, "own", lab.namespace))
        await lab.engine.act(first.id, Move.STOP)
        assert (await lab.until(second.id)).phase is Phase.SUCCEEDED


async def test_a_stopped_queue_says_why_it_takes_no_jobs(cluster: Cluster, tmp_path: Path) -> None:
    async with queue_laboratory(cluster, tmp_path, cpu="1") as lab:
        await queue_when(lab, lambda queue: queue.active)
        stopped = cluster_queue(lab.namespace, "1")
        stopped["spec"]["stopPolicy"] = "Hold"
        apply(cluster, stopped)
        queue = await queue_when(lab, lambda queue: queue.active is False)
        assert queue.why is not None
        assert (queue.why.code, queue.why.values["lends_from"]) == ("queue-inactive", lab.namespace)
        assert any(queue.why.evidence)


async def test_a_namespace_with_a_quota_is_a_queue(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        hard = {"requests.cpu": "2", "limits.cpu": "4", "memory": "4Gi", "pods": "10"}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": hard}}
        apply(cluster, {**quota, "metadata": {"name": "small", "namespace": lab.namespace}})
        counted = "--for=jsonpath={.status.hard.requests\\.cpu}"  # until then every pod is refused
        cluster.kubectl("-n", lab.namespace, "wait", "resourcequota/small", counted, "--timeout=30s")
        job = await lab.submit(FOREVER, queue=lab.namespace, cpu=1, memory_gb=1)
        await lab.until(job.id, Phase.RUNNING)
        queue = await queue_when(lab, lambda queue: queue.used.get("cpu"), name=lab.namespace)
        assert (queue.kind, queue.lends_from, queue.quota["cpu"], queue.used["cpu"]) == ("quota", "small", 2.0, 1.0)
        assert queue.quota.keys() == {"cpu", "memory"}
        hard["requests.cpu"] = "500m"
        apply(cluster, {**quota, "metadata": {"name": "small", "namespace": lab.namespace}})
        queue = await queue_when(lab, lambda queue: queue.why is not None, name=lab.namespace)
        assert queue.why is not None and queue.why.code == "quota-below-use"


async def test_without_any_right_everything_is_unknown_and_says_what_to_ask_for(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path, kubeconfig=str(cluster.kubeconfig("nobody"))) as lab:
        [queue] = await lab.engine.queues()
        assert (queue.kind, queue.name, queue.active, queue.pending) == ("unknown", lab.namespace, None, None)
        assert (queue.quota, queue.used, queue.places) == ({}, {}, ())
        assert queue.why is not None and queue.why.code == "not-allowed"
        assert "aiarts-user" in queue.why.values["hint"]
        assert "localqueues" in explain(queue.why, "en").why


async def test_while_kueue_is_away_for_a_minute_jobs_stay_as_they_are_and_go_on_when_it_is_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with queue_laboratory(cluster, tmp_path, cpu="1") as lab:
        first = await lab.submit(FOREVER, name="first", queue="own", cpu=1)
        await lab.until(first.id, Phase.RUNNING)
        second = await lab.submit("print('at last')", name="second", queue="own", cpu=1)
        await lab.until(second.id, code="quota-exceeded")
        await queue_when(lab, lambda queue: queue.places)
        cluster.stop_kueue()
        try:
            over = asyncio.get_running_loop().time() + 60
            while asyncio.get_running_loop().time() < over:
                [record] = [one for one in await lab.engine.snapshot() if one.id == second.id]
                assert (record.phase, record.cause.code) == (Phase.QUEUED, "quota-exceeded")
                assert (await lab.engine.get(first.id)).phase is Phase.RUNNING
                await asyncio.sleep(0.5)
            assert lab.engine.stale_since is None
            with pytest.raises(ClusterUnreachable) as refused:
                await lab.submit("print('third')", name="third", queue="own", cpu=1, submission_id="third")
            assert "Kueue" in refused.value.hint
            assert len(await lab.engine.snapshot()) == 2
            # a server that starts now knows the jobs too, and says whom the queue waits for
            other = open_cluster("test", lab.raw, tmp_path / "other")
            try:
                known = await asyncio.wait_for(reached(other, other.snapshot, bool), 60)  # none until all are known
                assert {one.id for one in known} == {first.id, second.id}
                [unseen] = await other.queues()
                assert unseen.why is not None and (unseen.kind, unseen.why.code) == ("unknown", "kueue-away")
            finally:
                await other.aclose()
        finally:
            cluster.start_kueue()
        third = await lab.submit("print('third')", name="third", queue="own", cpu=1, submission_id="third")
        await lab.until(third.id, code="quota-exceeded")
        queue = await queue_when(lab, lambda queue: len(queue.places) == 2 and queue.source == "visibility")
        assert ([one.job for one in queue.places], queue.why) == ([second.id, third.id], None)
        await lab.engine.act(first.id, Move.STOP)
        for waited in (second, third):
            assert (await lab.until(waited.id)).phase is Phase.SUCCEEDED
        assert {one.id for one in await lab.engine.snapshot()} == {first.id, second.id, third.id}
