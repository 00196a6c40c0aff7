"""What nodes use on a real cluster, by a real metrics server: who may see it, and what is shown without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.engines.base import Engine
from jupyter_aiarts.engines.kubernetes import nodeuse, open_cluster

if TYPE_CHECKING:
    from jupyter_aiarts.model.cluster import Node
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]


@asynccontextmanager
async def engine_of(cluster: Cluster, user: str, folder: Path) -> AsyncIterator[Engine]:
    raw = {"kubeconfig": str(cluster.kubeconfig(user)), "namespaces": ["team-a"]}
    engine = open_cluster("test", raw, folder / user)
    try:
        yield engine
    finally:
        await engine.aclose()


async def until(engine: Engine, is_so: Callable[[Node], bool]) -> tuple[Node, ...]:
    """Look until this is so of every node."""

    async def look() -> tuple[Node, ...]:
        while not (nodes := (await engine.cluster()).nodes) or not all(map(is_so, nodes)):
            await asyncio.sleep(0.1)
        return nodes

    return await asyncio.wait_for(look(), 60)


def is_told(node: Node) -> bool:
    return node.used_cpu is not None and node.used_memory_gb is not None


def is_unknown(node: Node) -> bool:
    return node.used_cpu is None and node.used_memory_gb is None


async def test_what_nodes_use_is_told_while_a_metrics_server_is_there(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodeuse, "EVERY", 0.2)  # a test has less patience
    async with engine_of(cluster, "viewer", tmp_path) as viewer:
        assert {node.name for node in await until(viewer, is_unknown)} == {"node-a", "node-b"}
        with cluster.metrics_server():
            nodes = await until(viewer, is_told)
            for node in nodes:
                assert node.cpu and 0 < (node.used_cpu or 0) <= node.cpu
                assert node.memory_gb and 0 < (node.used_memory_gb or 0) <= node.memory_gb
        await until(viewer, is_unknown)  # it went: what it said last is not shown for ever


async def test_who_may_not_read_metrics_sees_the_rest_and_asks_for_nothing_that_is_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    """A role of before, without the metrics."""
    role = "nodes-and-pods"
    cluster.kubectl("create", "clusterrole", role, "--verb=get,list,watch", "--resource=nodes,pods")
    cluster.kubectl("create", "clusterrolebinding", role, f"--clusterrole={role}", "--user=bob")
    seen = cluster.audit_log.stat().st_size
    try:
        with cluster.metrics_server():
            async with engine_of(cluster, "bob", tmp_path) as engine:
                nodes = await until(engine, is_unknown)
                assert {node.name for node in nodes} == {"node-a", "node-b"} and nodes[0].cpu
        with cluster.audit_log.open("rb") as log:
            log.seek(seen)
            asked = [line for line in log if b'"username":"bob"' in line and b"metrics.k8s.io/v1beta1/nodes" in line]
        assert asked == []
    finally:
        cluster.kubectl("delete", "clusterrolebinding", role)
        cluster.kubectl("delete", "clusterrole", role)
