"""Whatever versions of Kueue a cluster serves, jobs and queues are read; and Kueue's own order is asked where it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from jupyter_aiarts.model.phase import Phase
from tests.engines.kubernetes.engines import FOREVER, Lab
from tests.engines.kubernetes.queueing import queue_laboratory, queue_when
from tests.engines.kubernetes.standins import Gate, rewritten, status

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]
Rule = Callable[[web.Request], web.Response | None]
GROUP = "/apis/kueue.x-k8s.io"
VISIBLE = "/apis/visibility.kueue.x-k8s.io"


def group(*versions: str) -> web.Response:
    return web.json_response({"kind": "APIGroup", "versions": [{"version": one} for one in versions]})


def only(*versions: str) -> Rule:
    """An API server that has these versions of Kueue's objects and no other."""

    def rule(request: web.Request) -> web.Response | None:
        if request.path == GROUP:
            return group(*versions) if versions else status(404, "NotFound")
        if request.path.startswith(GROUP + "/") and request.path.split("/")[3] not in versions:
            return status(404, "NotFound")
        return None

    return rule


@asynccontextmanager
async def behind(cluster: Cluster, tmp_path: Path, rule: Rule) -> AsyncIterator[tuple[Lab, Gate]]:
    """A laboratory whose engine speaks to the cluster through a gate with this rule."""
    gate = Gate(cluster.kubeconfig("alice"))
    gate.rule = rule
    async with gate.open():
        file = rewritten(cluster.kubeconfig("alice"), tmp_path / "gate.kubeconfig", {"server": gate.url})
        async with queue_laboratory(cluster, tmp_path, cpu="1", kubeconfig=str(file)) as lab:
            yield lab, gate


@pytest.mark.parametrize("versions", [("v1beta1",), ("v1beta2",)], ids=" ".join)
async def test_one_version_is_enough_for_jobs_and_queues(
    cluster: Cluster, tmp_path: Path, versions: tuple[str, ...]
) -> None:
    async with behind(cluster, tmp_path, only(*versions)) as (lab, gate):
        first = await lab.submit(FOREVER, name="first", queue="own", cpu=1)
        await lab.until(first.id, Phase.RUNNING)
        second = await lab.submit(FOREVER, name="second", queue="own", cpu=1)
        await lab.until(second.id, code="quota-exceeded")
        queue = await queue_when(lab, lambda queue: queue.places and queue.own)
        assert ([place.job for place in queue.places], queue.own["cpu"], queue.active) == ([second.id], 1.0, True)
        asked = [path for _, path in gate.asked if path.startswith(GROUP)]
        assert {path.split("/")[3].partition("?")[0] for path in asked if path.count("/") > 2} == set(versions)
        assert asked.count(GROUP) == 2  # once for jobs, once for whoever looks at queues


async def test_both_versions_are_there_and_queues_go_by_the_newer(cluster: Cluster, tmp_path: Path) -> None:
    async with behind(cluster, tmp_path, lambda request: None) as (lab, gate):
        await queue_when(lab, lambda queue: queue.active)
        kinds = {path.split("?")[0] for _, path in gate.asked}
        assert any(path.startswith(f"{GROUP}/v1beta2/") and path.endswith("/localqueues") for path in kinds)
        assert not any(path.startswith(f"{GROUP}/v1beta1/") and path.endswith("/localqueues") for path in kinds)


async def test_without_kueue_there_are_no_queues_and_no_problem(cluster: Cluster, tmp_path: Path) -> None:
    async with behind(cluster, tmp_path, only()) as (lab, gate):
        assert await lab.engine.queues() == ()
        job = await lab.submit("print('hello')")
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED
        assert not any("queues" in path for _, path in gate.asked)


async def test_where_kueue_tells_the_order_it_is_asked_and_where_it_refuses_the_workloads_count(
    cluster: Cluster, tmp_path: Path
) -> None:
    told: dict[str, Any] = {"items": []}

    def rule(request: web.Request) -> web.Response | None:
        if request.path == VISIBLE:
            return group("v1beta1", "v1beta2")
        if request.path.startswith(VISIBLE):
            return web.json_response(told) if told["items"] is not None else status(403, "Forbidden")
        return None

    async with behind(cluster, tmp_path, rule) as (lab, gate):
        first = await lab.submit(FOREVER, name="first", queue="own", cpu=1)
        await lab.until(first.id, Phase.RUNNING)
        second = await lab.submit(FOREVER, name="second", queue="own", cpu=1)
        await lab.until(second.id, code="quota-exceeded")
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"second-{second.id}-1", "uid": "u"}
        meta = {"name": "job-second", "namespace": lab.namespace, "ownerReferences": [owner]}
        told["items"] = [{"metadata": meta, "priority": 0, "positionInClusterQueue": 6, "localQueueName": "own"}]
        queue = await queue_when(lab, lambda queue: queue.places)
        assert (queue.source, [(one.position, one.ahead) for one in queue.places]) == ("visibility", [(7, 6)])
        path = f"{VISIBLE}/v1beta2/namespaces/{lab.namespace}/localqueues/own/pendingworkloads?limit=1000"
        assert ("GET", path) in gate.asked
        told["items"] = None
        queue = await queue_when(lab, lambda queue: queue.places)
        assert (queue.source, [(one.position, one.ahead) for one in queue.places]) == ("workloads", [(1, None)])
