"""A cluster that breaks in every way it can: the picture says that it is old, and is true again by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from jupyter_aiarts.engines.kubernetes import credentials, listing, names, phase, transport, watch
from jupyter_aiarts.engines.kubernetes.client import jobs, pods
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.refusals import Expired
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.model.phase import Phase
from tests.cluster.cluster import Cluster

from .standins import Gate, pipe_to, rewritten, status
from .watching import Watch, job, watching

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

AWAY = 30.0  # seconds that the API server is gone
REAL, PAPER = 20, 1000


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    with cluster.namespace() as name:
        yield name


async def stale(watch: Watch, seconds: float = 60) -> None:
    await watch.until(lambda: watch.watcher.stale_since is not None, seconds)


async def fresh(watch: Watch, seconds: float = 60) -> None:
    await watch.until(lambda: watch.watcher.stale_since is None, seconds)


async def compare(watch: Watch, kubeconfig: Path, namespace: str) -> None:
    """What it shows is what somebody sees who looks for the first time; and it told so."""
    async with watching(kubeconfig, namespace) as other:
        assert await other.watcher.settled(60)
        want = {record.id: (record.phase, record.cause.code, record.run) for record in other.picture.records()}
        shown = {record.id: (record.phase, record.cause.code, record.run) for record in watch.picture.records()}
    assert shown == want
    assert len(watch.picture.records()) == len(want)
    assert watch.shown.keys() == want.keys()


async def test_no_job_is_lost_doubled_or_shown_wrong_while_the_api_server_is_away(
    cluster: Cluster, namespace: str
) -> None:
    alice = cluster.kubeconfig("alice")
    async with watching(alice, namespace) as seen:
        await seen.watcher.settled()
        made = [job(f"a{number:09}") for number in range(REAL)]
        made += [job(f"p{number:09}", suspend=True) for number in range(PAPER)]
        for start in range(0, len(made), 20):
            await asyncio.gather(*(seen.api.create(jobs(namespace), one) for one in made[start : start + 20]))
        await seen.until(lambda: _running(seen) == REAL and len(seen.shown) == PAPER + REAL, 120)
        before = {record.id: record.phase for record in seen.picture.records()}
        told = len(seen.told)
        await asyncio.to_thread(cluster.stop_api)
        try:
            await stale(seen)
            began = time.monotonic()
            with pytest.raises(ClusterUnreachable):
                await seen.api.raw("/version")
            assert time.monotonic() - began < 1
            await asyncio.sleep(AWAY)
            assert {record.id: record.phase for record in seen.picture.records()} == before
            assert all(not change.jobs and not change.removed for change in seen.told[told:])
        finally:
            await asyncio.to_thread(cluster.start_api)
        await fresh(seen)
        for number in range(REAL):
            name = names.object_name("train", f"a{number:09}", 1)
            await seen.api.delete(jobs(namespace, name))
        await seen.until(lambda: len(seen.shown) == PAPER, 60)
        await compare(seen, alice, namespace)


def _running(seen: Watch) -> int:
    return sum(record.phase is Phase.RUNNING for record in seen.shown.values())


async def test_what_the_cluster_has_forgotten_is_read_anew(
    cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """410: etcd is compacted and the API server has lost what it had in memory."""
    monkeypatch.setattr(listing, "PAGE", 2)
    alice = cluster.kubeconfig("alice")
    async with watching(alice, namespace) as seen:
        await seen.watcher.settled()
        for number in range(5):
            await seen.api.create(jobs(namespace), job(f"a{number:09}", suspend=True))
        await seen.until(lambda: len(seen.shown) == 5)
        pages = seen.api.pages(jobs(namespace), JobObject)
        await anext(pages)
        await seen.api.delete(jobs(namespace, names.object_name("train", "a000000000", 1)))
        await asyncio.to_thread(cluster.forget_watches)
        with pytest.raises(Expired):  # the rest of a list, of which one page was on its way already
            await drained(pages)
        with pytest.raises(Expired):  # a watch
            await drained(seen.api.watch(jobs(namespace), JobObject, "1"))
        await fresh(seen)
        await seen.api.delete(jobs(namespace, names.object_name("train", "a000000001", 1)))
        await seen.until(lambda: len(seen.shown) == 3)
        await compare(seen, alice, namespace)


async def drained(items: AsyncIterator[object]) -> None:
    async for _ in items:
        pass


async def test_connections_that_go_silent_are_noticed_within_45_s(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """The API server's packets vanish; for two more something in between lives on, carrying and closing nothing."""
    address = cluster.instance.address(1)
    async with pipe_to(address) as pipe:
        server = {"server": f"https://127.0.0.1:{pipe.port}", "tls-server-name": address}
        alice = cluster.kubeconfig("alice")
        behind = rewritten(alice, tmp_path / "pipe", server)
        async with (
            watching(alice, namespace) as direct,
            watching(behind, namespace) as piped,
            watching(behind, namespace) as plain,
        ):
            plain.api._transport._plain = True
            everybody = (direct, piped, plain)
            await asyncio.gather(*(seen.watcher.settled() for seen in everybody))
            assert [seen.api._transport._plain for seen in everybody] == [False, False, True]
            pipe.hold()
            with cluster.silent_api():
                await asyncio.gather(*(stale(seen, 45) for seen in everybody))
                await no_connection(direct)
            pipe.flow()
            pipe.cut()
            await asyncio.gather(*(fresh(seen) for seen in everybody))


async def no_connection(seen: Watch) -> None:
    """Somebody has to find out that connecting hangs; the next is told at once."""
    with pytest.raises(ClusterUnreachable):
        await seen.api.raw("/version")
    began = time.monotonic()
    with pytest.raises(ClusterUnreachable):
        await seen.api.raw("/version")
    assert time.monotonic() - began < 0.5


async def test_429_slows_the_watch_down_and_ends_nothing(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    async with Gate(cluster.kubeconfig("alice")).open() as gate:
        config = rewritten(cluster.kubeconfig("alice"), tmp_path / "gate", {"server": gate.url})
        async with watching(config, namespace) as seen:
            gate.rule = lambda request: status(429, "TooManyRequests", **{"Retry-After": "1"})
            await asyncio.sleep(4)
            assert len(gate.asked) < 5 * 7  # five streams, each after a second or more
            gate.rule = lambda request: None
            await seen.api.create(jobs(namespace), job("a000000001", suspend=True))
            await seen.until(lambda: seen.shown)
            await fresh(seen)


async def test_a_token_that_is_revoked_makes_the_picture_old_and_a_new_one_true_again(
    cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LIFE", (3, 4))
    monkeypatch.setattr(credentials, "CHECK", 1.0)
    account = cluster.service_account_kubeconfig(namespace, "robot")
    async with watching(account.kubeconfig, namespace) as seen:
        await seen.watcher.settled()
        account.revoke()
        await stale(seen)
        assert any("Unauthorized" in problem for problem in seen.watcher.problems.values())
        account.restore()
        await fresh(seen, 90)
        await seen.api.create(jobs(namespace), job("a000000001", suspend=True))
        await seen.until(lambda: seen.shown)


async def test_a_token_that_is_rotated_is_not_noticed_by_anybody(
    cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LIFE", (3, 4))
    monkeypatch.setattr(credentials, "CHECK", 1.0)
    account = cluster.service_account_kubeconfig(namespace, "robot")
    async with watching(account.kubeconfig, namespace) as seen:
        await seen.watcher.settled()
        before = account.token_file.read_text()
        account.restore()
        assert account.token_file.read_text() != before
        await asyncio.sleep(6)
        assert not any(change.health for change in seen.told)
        known = seen.api._credentials.known
        assert known is not None and known.authorization == f"Bearer {account.token_file.read_text()}"


async def test_a_right_that_is_taken_away_shows_and_comes_back(
    cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LIFE", (2, 3))
    monkeypatch.setattr(watch, "DENIED_CAP", 1.0)
    async with watching(cluster.kubeconfig("alice"), namespace) as seen:
        await seen.watcher.settled()
        cluster.kubectl("delete", "-n", namespace, "rolebinding", "aiarts-user-alice")
        await stale(seen)
        cluster.bind("alice", namespace)
        await fresh(seen)


async def test_a_node_that_dies_is_told_and_its_pod_is_stuck_in_the_end(
    cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phase, "STUCK", 5.0)
    body = job("a000000001")
    place = {"nodeSelector": {"kubernetes.io/hostname": "node-b"}, "terminationGracePeriodSeconds": 1}
    body["spec"]["template"]["spec"].update(place)
    async with watching(cluster.kubeconfig("alice"), namespace) as seen:
        await seen.watcher.settled()
        await seen.api.create(jobs(namespace), body)
        await seen.until(lambda: _running(seen) == 1)
        await asyncio.to_thread(cluster.kill_kubelet, "node-b")
        try:
            await seen.until(lambda: seen.shown["a000000001"].cause.code == "node-lost", 60)
            assert seen.shown["a000000001"].phase is Phase.STARTING
            await seen.until(lambda: seen.shown["a000000001"].cause.code == "pod-stuck", 90)
            pod = seen.picture.pods("a000000001")[0]
            await seen.api.delete(pods(namespace, pod.name), grace=0)
        finally:
            await asyncio.to_thread(cluster.start_kubelet, "node-b")
        await seen.until(lambda: _running(seen) == 1, 90)
