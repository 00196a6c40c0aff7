"""The cluster at a glance on a real one: two nodes with eight cards, jobs that take three of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.engines.base import Caller, Engine, Fit
from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.model.cluster import ClusterView, Node, held_cards
from jupyter_aiarts.model.reading import read_spec
from tests.engines.kubernetes.engines import FOREVER, SMALL, Lab, laboratory
from tests.engines.kubernetes.glancing import may_read_what_the_plugin_writes, write_health

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import JobRecord
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

NPU, RESOURCE = "huawei_npu_arm64", "huawei.com/Ascend910"
BOARD = {NPU: {"resource": RESOURCE, "node_selector": {}}}


@asynccontextmanager
async def with_three_cards_taken(cluster: Cluster, tmp_path: Path) -> AsyncIterator[tuple[Lab, Engine, JobRecord, str]]:
    """Alice's laboratory where jobs of two cards and of one run, a viewer's engine, the first job, and their node."""
    raw = {"kubeconfig": str(cluster.kubeconfig("viewer")), "namespaces": ["team-a"], "devices": BOARD}
    viewer = open_cluster("test", raw, tmp_path / "viewer")
    try:
        async with laboratory(cluster, tmp_path, devices=BOARD) as lab:
            job = await lab.submit(FOREVER, name="two", device=NPU, devices=2)
            await lab.printed(job.id, "up")
            other = await lab.submit(FOREVER, name="one", device=NPU, devices=1)
            await lab.printed(other.id, "up")
            yield lab, viewer, job, lab.pods("-l", f"jupyter-aiarts/job={job.id}")[0]["spec"]["nodeName"]
    finally:
        await viewer.aclose()


def cards_of(view: ClusterView, name: str) -> Node:
    (row,) = [row for row in view.nodes if row.name == name and row.device == NPU]
    return row


def check_sums(view: ClusterView) -> None:
    for row in view.nodes:
        assert row.free is not None and row.cards is not None
        assert row.free + held_cards(row) == row.cards + row.missing


async def until(engine: Engine, there: Callable[[ClusterView], bool], seconds: float = 40) -> ClusterView:
    """Look until this is so; every look on the way adds up."""

    async def look() -> ClusterView:
        while not there(view := await engine.cluster()):
            check_sums(view)
            await asyncio.sleep(0.05)
        return view

    return await asyncio.wait_for(look(), seconds)


async def tried(engine: Engine, folder: Path, **keys: object) -> Fit:
    raw = {**SMALL, "device": NPU, "command": "true", "queue": "team-a", **keys}
    return await engine.fits(read_spec(raw), Caller(owner="x", python="python3", folder=folder))


async def test_who_may_see_it_sees_free_cards_their_holders_and_what_fits(cluster: Cluster, tmp_path: Path) -> None:
    async with with_three_cards_taken(cluster, tmp_path) as (lab, viewer, job, name):
        view = await viewer.cluster()
        check_sums(view)
        assert {row.name for row in view.nodes} == {"node-a", "node-b"} and view.unknown == ()
        row = cards_of(view, name)
        assert (row.ready, row.cards, row.free, row.problems) == (True, 8, 5, ())
        assert [(one.owner, one.namespace, one.cards) for one in row.held_by] == [
            ("alice", lab.namespace, 2),
            ("alice", lab.namespace, 1),
        ]
        assert row.held_by[0].job == job.id
        assert view.fits is not None and view.fits[NPU]["8"] == view.fits[NPU]["nodes_of_8"] == 1
        assert (await tried(viewer, tmp_path, devices=8)).now is True
        waits = await tried(viewer, tmp_path, devices=8, nodes=2, kind="distributed")
        assert (waits.now, waits.cause and waits.cause.code) == (False, "no-node-fits")
        never = await tried(viewer, tmp_path, devices=8, nodes=3, kind="distributed")
        assert (never.now, never.cause and never.cause.code) == (False, "never-fits")
        await lab.engine.delete(job.id)
        after = await until(viewer, lambda view: cards_of(view, name).free == 7)
        assert [one.cards for one in cards_of(after, name).held_by] == [1]


async def test_who_may_not_see_it_is_told_what_to_ask_for_and_nothing_is_guessed(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with with_three_cards_taken(cluster, tmp_path) as (lab, _, job, name):
        view = await lab.engine.cluster()
        (row,) = view.nodes
        assert (row.name, row.ready, row.cards, row.free, held_cards(row)) == (name, None, None, None, 3)
        assert {one.job for one in row.held_by} > {job.id} and view.fits is None
        (cause,) = view.unknown
        assert (cause.code, cause.values["role"], cause.values["user"]) == (
            "cards-not-visible",
            "aiarts-viewer",
            "alice",
        )
        assert (await tried(lab.engine, tmp_path, devices=8, queue=lab.namespace)).now is None
        with granted(cluster):
            seen = await until_seen(lab.engine)
            assert cards_of(seen, name).free == 5 and not seen.unknown


@contextmanager
def granted(cluster: Cluster) -> Iterator[None]:
    """Alice is a viewer inside the block."""
    words = ("clusterrolebinding", "glance-alice")
    cluster.kubectl("create", *words, "--clusterrole=aiarts-viewer", "--user=alice")
    try:
        yield
    finally:
        cluster.kubectl("delete", *words)


async def until_seen(engine: Engine) -> ClusterView:
    """A no is kept for seconds alone: whoever is given a right sees it soon."""

    async def look() -> ClusterView:
        while (view := await engine.cluster()).unknown:
            await asyncio.sleep(0.2)
        return view

    return await asyncio.wait_for(look(), 20)


async def test_a_cordoned_node_and_cards_that_are_gone_are_told(cluster: Cluster, tmp_path: Path) -> None:
    async with with_three_cards_taken(cluster, tmp_path) as (_, viewer, _, name):
        other = "node-a" if name == "node-b" else "node-b"
        cluster.kubectl("cordon", other)
        try:
            view = await until(viewer, lambda view: cards_of(view, other).problems == ("cordoned",))
            assert (cards_of(view, other).free, view.fits and view.fits[NPU]["8"]) == (8, 0)
            waits = await tried(viewer, tmp_path, devices=8)
            assert waits.now is False and waits.cause is not None
            assert (waits.cause.code, waits.cause.evidence) == ("no-node-fits", ("cordoned: 1",))
        finally:
            cluster.kubectl("uncordon", other)
        over = asyncio.Event()
        offering = asyncio.create_task(keep_offering(cluster, name, 2, over))
        try:
            view = await until(viewer, lambda view: cards_of(view, name).missing == 1)
            row = cards_of(view, name)
            assert (row.cards, row.free, row.unhealthy) == (2, 0, 6)
            assert row.problems == ("unhealthy-cards", "cards-missing")
        finally:
            over.set()
            await asyncio.wait({offering})  # cancelled, its last word would come after ours
            offer(cluster, name, 8)
        await until(viewer, lambda view: cards_of(view, name).free == 5)


async def keep_offering(cluster: Cluster, name: str, cards: int, over: asyncio.Event) -> None:
    """Say it again and again, as a device plugin does: the kubelet counts all eight anew every ten seconds."""
    while not over.is_set():
        await asyncio.to_thread(offer, cluster, name, cards)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(over.wait(), 1)


def offer(cluster: Cluster, name: str, cards: int) -> None:
    """Have a node offer so many of its eight cards, as a device plugin does that finds some of them broken."""
    patch = json.dumps({"status": {"allocatable": {RESOURCE: str(cards)}}})
    cluster.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", patch)


async def test_a_card_that_the_device_plugin_calls_broken_is_told_while_it_is_and_no_longer(
    cluster: Cluster, tmp_path: Path
) -> None:
    """What it writes is watched, as far as ConfigMaps of kube-system may be read; nobody has to look again for it."""
    raw = {"kubeconfig": str(cluster.kubeconfig("viewer")), "namespaces": ["team-a"], "devices": BOARD}
    with may_read_what_the_plugin_writes(cluster, "viewer"):
        viewer = open_cluster("test", raw, tmp_path / "viewer")
        try:
            well = cards_of(await viewer.cluster(), "node-a")
            assert (well.problems, well.unhealthy) == ((), 0)
            for word, told, count in (
                ("Unhealthy", "Ascend910-3", 1),
                ("NetworkUnhealthy", "Ascend910-3,Ascend910-5", 2),
            ):
                write_health(cluster, "node-a", **{word: told})
                view = await until(viewer, lambda view, n=count: cards_of(view, "node-a").unhealthy == n)
                assert cards_of(view, "node-a").problems == ("unhealthy-cards",)
                assert cards_of(view, "node-b").problems == ()
            write_health(cluster, "node-a", Unhealthy="")
            await until(viewer, lambda view: cards_of(view, "node-a").problems == ())
            write_health(cluster, "node-a", Unhealthy="Ascend910-3")
            await until(viewer, lambda view: cards_of(view, "node-a").unhealthy == 1)
            cluster.kubectl("delete", "configmap", "-n", "kube-system", "mindx-dl-deviceinfo-node-a")
            await until(viewer, lambda view: cards_of(view, "node-a").problems == ())
        finally:
            await viewer.aclose()


async def test_while_the_cluster_is_away_the_last_view_is_shown_with_its_age(cluster: Cluster, tmp_path: Path) -> None:
    """And when it comes back having forgotten its history, everything is listed anew and still adds up."""
    async with with_three_cards_taken(cluster, tmp_path) as (lab, viewer, job, name):
        before = await viewer.cluster()
        cluster.stop_api()
        try:
            away = await until(viewer, lambda view: view.stale_since is not None)
            assert (away.nodes, away.fits) == (before.nodes, before.fits)
            cluster.compact_etcd()
        finally:
            cluster.start_api()
        back = await until(viewer, lambda view: view.stale_since is None)
        assert cards_of(back, name).free == 5 and back.at > away.at
        await lab.when(job.id, lambda _: lab.engine.stale_since is None)


async def test_a_dead_node_is_not_ready_and_its_cards_are_still_held(cluster: Cluster, tmp_path: Path) -> None:
    async with with_three_cards_taken(cluster, tmp_path) as (_, viewer, job, name):
        cluster.kill_kubelet(name)
        try:
            view = await until(viewer, lambda view: "not-ready" in cards_of(view, name).problems)
            row = cards_of(view, name)
            assert (row.ready, row.free, held_cards(row)) == (False, 5, 3)
            assert job.id in [one.job for one in row.held_by]
            assert view.fits is not None and view.fits[NPU]["1"] == 8
        finally:
            cluster.start_kubelet(name)
        await until(viewer, lambda view: cards_of(view, name).ready is True)
