"""The picture follows a real cluster by open watches alone."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_aiarts.engines.kubernetes import names, transport
from jupyter_aiarts.engines.kubernetes.client import jobs
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.model.phase import Phase
from tests.cluster.cluster import Cluster
from tests.cluster.users import make_namespace

from .standins import Gate, pipe_to, rewritten
from .watching import job, watching

pytestmark = pytest.mark.cluster


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    with cluster.namespace() as name:
        yield name


def requests_of(cluster: Cluster, user: str, since: int) -> list[tuple[str, str]]:
    """What a user asked of the API server after the audit log had this size."""
    mine = [one for one in cluster.audited(since) if one["user"]["username"] == user]
    return [(one["verb"], one["requestURI"]) for one in mine if one["stage"] == "ResponseComplete"]


async def test_jobs_appear_change_and_go_by_themselves(cluster: Cluster, namespace: str) -> None:
    alice = cluster.kubeconfig("alice")
    async with watching(alice, namespace) as watch:
        assert await watch.watcher.settled(30)
        assert watch.picture.records() == ()
        await watch.api.create(jobs(namespace), job("a000000001", nodes=2))
        await watch.until(lambda: watch.shown.get("a000000001") and watch.shown["a000000001"].phase is Phase.RUNNING)
        await watch.api.delete(jobs(namespace, names.object_name("train", "a000000001", 1)))
        await watch.until(lambda: not watch.shown)
        phases = [record.phase for change in watch.told for record in change.jobs]
        assert phases == sorted(phases, key=[Phase.QUEUED, Phase.STARTING, Phase.RUNNING].index)
        assert watch.watcher.stale_since is None


async def test_what_was_there_before_is_shown_at_once_and_whole(cluster: Cluster, namespace: str) -> None:
    async with watching(cluster.kubeconfig("alice"), namespace) as first:
        await first.api.create(jobs(namespace), job("a000000001"))
        await first.until(lambda: any(one.phase is Phase.RUNNING for one in first.shown.values()))
        async with watching(cluster.kubeconfig("alice"), namespace) as second:
            assert not second.watcher.is_settled
            await second.until(lambda: second.told)
            assert [record.phase for record in second.told[0].jobs] == [Phase.RUNNING]  # no half-painted picture before
            assert second.picture.records() == first.picture.records()


async def test_two_servers_see_the_same(cluster: Cluster, namespace: str) -> None:
    async with (
        watching(cluster.kubeconfig("alice"), namespace) as one,
        watching(cluster.kubeconfig("alice"), namespace) as other,
    ):
        await one.watcher.settled()
        await other.watcher.settled()
        for number in range(5):
            await one.api.create(jobs(namespace), job(f"a00000000{number}"))
        for watch in (one, other):
            await watch.until(lambda watch=watch: [r.phase for r in watch.shown.values()] == [Phase.RUNNING] * 5, 60)
        assert sorted(one.shown.items()) == sorted(other.shown.items())


async def test_while_nothing_changes_nothing_is_asked(cluster: Cluster, namespace: str) -> None:
    async with watching(cluster.kubeconfig("alice"), namespace) as watch:
        await watch.api.create(jobs(namespace), job("a000000001"))
        await watch.until(lambda: any(one.phase is Phase.RUNNING for one in watch.shown.values()))
        await asyncio.sleep(1)
        size = cluster.audit_log.stat().st_size
        await asyncio.sleep(8)
        assert requests_of(cluster, "alice", size) == []


async def test_a_namespace_without_rights_is_said_and_hides_nothing_else(cluster: Cluster, namespace: str) -> None:
    async with watching(cluster.kubeconfig("alice"), namespace, "team-b") as watch:
        assert await watch.watcher.settled(30)
        problems = watch.watcher.problems
        assert 'cannot list resource "jobs"' in problems["jobs in team-b"]
        assert f"jobs in {namespace}" not in problems
        assert watch.watcher.stale_since is not None
        await watch.api.create(jobs(namespace), job("a000000001", suspend=True))
        await watch.until(lambda: watch.shown)


async def test_without_the_right_to_see_pods_the_jobs_own_count_is_enough(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    rules = [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "watch", "create"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "jobs"}, "rules": rules}
    cluster.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(role))
    cluster.bind("bob", namespace, "jobs")
    async with watching(cluster.kubeconfig("bob"), namespace) as watch:
        await watch.watcher.settled()
        await watch.api.create(jobs(namespace), job("a000000001"))
        await watch.until(lambda: any(one.phase is Phase.RUNNING for one in watch.shown.values()))
        assert sorted(watch.watcher.problems) == [f"{kind} in {namespace}" for kind in ("events", "pods", "workloads")]
        assert watch.watcher.stale_since is None


async def test_a_cluster_that_is_away_holds_up_nobody(cluster: Cluster, tmp_path: Path) -> None:
    config = rewritten(cluster.kubeconfig("alice"), tmp_path / "away", {"server": "https://127.0.0.1:9"})
    async with watching(config, "team-a") as watch:
        began = time.monotonic()
        assert await watch.watcher.settled(10)
        assert watch.watcher.stale_since is not None
        with pytest.raises(ClusterUnreachable):
            await watch.api.raw("/version")
        assert time.monotonic() - began < 5
        await watch.until(lambda: any(change.health for change in watch.told))


async def test_credentials_that_come_later_are_used(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    config = tmp_path / "later"
    async with watching(config) as watch:
        assert await watch.watcher.settled(10)
        assert "no usable credentials" in str(watch.watcher.problems)
        config.write_text(cluster.kubeconfig("alice").read_text())
        watch.watcher.nudge()
        await watch.until(lambda: watch.watcher.stale_since is None)


async def test_where_websockets_do_not_get_through_short_watches_do(
    cluster: Cluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "PLAIN_LIFE", (2, 2))
    async with Gate(cluster.kubeconfig("alice")).open() as gate:
        config = rewritten(cluster.kubeconfig("alice"), tmp_path / "gate", {"server": gate.url})
        async with watching(config, namespace) as watch:
            await watch.watcher.settled()
            lists = sum("limit=" in path for _, path in gate.asked)
            await watch.api.create(jobs(namespace), job("a000000001"))
            await watch.until(lambda: any(one.phase is Phase.RUNNING for one in watch.shown.values()))
            await asyncio.sleep(3)
            assert watch.watcher.stale_since is None
            assert sum("limit=" in path for _, path in gate.asked) == lists  # a watch goes on where it stood
            assert all("timeoutSeconds=2" in path for _, path in gate.asked[-3:])


async def test_a_connection_that_is_cut_is_opened_again_without_a_word(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    address = cluster.instance.address(1)
    async with pipe_to(address) as pipe:
        server = {"server": f"https://127.0.0.1:{pipe.port}", "tls-server-name": address}
        config = rewritten(cluster.kubeconfig("alice"), tmp_path / "pipe", server)
        async with watching(config, namespace) as watch:
            await watch.watcher.settled()
            pipe.cut()
            await watch.api.create(jobs(namespace), job("a000000001", suspend=True))
            await watch.until(lambda: watch.shown)
            assert watch.watcher.stale_since is None


async def test_a_namespace_that_is_deleted_takes_its_jobs_along(cluster: Cluster) -> None:
    doomed = f"doomed-{uuid.uuid4().hex[:8]}"
    with cluster.admin() as admin:
        make_namespace(admin, doomed)
    cluster.bind("alice", doomed)
    async with watching(cluster.kubeconfig("alice"), doomed) as watch:
        await watch.watcher.settled()
        await watch.api.create(jobs(doomed), job("a000000001"))
        await watch.until(lambda: any(one.phase is Phase.RUNNING for one in watch.shown.values()))
        await asyncio.to_thread(cluster.kubectl, "delete", "namespace", doomed, "--wait=false")
        await watch.until(lambda: not watch.shown, 100)  # the cluster does it in rounds of many seconds
