"""A cluster that does not answer: what was known is shown with its age, what was wanted is done when it is back."""

from __future__ import annotations

import asyncio
import inspect
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from jupyter_aiarts.engines.base import Engine
from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.engines.kubernetes.pending import Pending
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.model.phase import Move, Phase
from tests.engines.kubernetes.engines import FOREVER, laboratory
from tests.engines.kubernetes.middleman import Middleman
from tests.engines.kubernetes.standins import full_server, rewritten

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]


async def stale(engine: Engine, wanted: bool, seconds: float = 60) -> None:
    """Wait until the engine says that its picture is old, or that it is not."""

    async def look() -> None:
        if (engine.stale_since is not None) is wanted:
            return
        async for _ in engine.watch():
            if (engine.stale_since is not None) is wanted:
                return

    await asyncio.wait_for(look(), seconds)


async def test_a_stop_asked_for_while_the_api_server_is_away_is_carried_out_when_it_is_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        stopped, paused = await lab.submit(FOREVER, name="a"), await lab.submit(FOREVER, name="b")
        for job in (stopped, paused):
            await lab.printed(job.id, "up")
        cluster.stop_api()
        try:
            await stale(lab.engine, True)
            for job, move in ((stopped, Move.STOP), (paused, Move.PAUSE)):
                with pytest.raises(ClusterUnreachable, match="carried out as soon as the cluster answers"):
                    await lab.engine.act(job.id, move)
            assert {record.phase for record in await lab.engine.snapshot()} == {Phase.RUNNING}  # as it was last seen
        finally:
            await asyncio.to_thread(cluster.start_api)
        await stale(lab.engine, False)
        assert (await lab.until(stopped.id, Phase.STOPPED)).cause.code == "stopped-by-user"
        assert (await lab.until(paused.id, Phase.PAUSED)).cause.code == "paused-by-user"


async def test_a_stop_is_carried_out_by_an_api_server_that_at_first_refuses_everybody(
    cluster: Cluster, tmp_path: Path
) -> None:
    """As one does that has just started, until it has read its roles; the watches need not have noticed anything."""
    middleman, refusals = Middleman(cluster, "alice"), iter(range(6))

    async def away(request: web.Request) -> web.Response:
        return web.json_response({"kind": "Status", "message": "starting"}, status=503)

    async def without_roles(request: web.Request) -> web.Response | None:
        if next(refusals, None) is None:
            return None
        return web.json_response({"kind": "Status", "message": 'User "alice" cannot do this'}, status=403)

    async with (
        middleman.listening(),
        laboratory(cluster, tmp_path, kubeconfig=str(middleman.kubeconfig(tmp_path))) as lab,
    ):
        job = await lab.submit(FOREVER)
        await lab.until(job.id, Phase.RUNNING)
        middleman.before = away
        with pytest.raises(ClusterUnreachable, match="carried out as soon as the cluster answers"):
            await lab.engine.act(job.id, Move.STOP)
        middleman.before = without_roles
        assert (await lab.until(job.id, Phase.STOPPED)).cause.code == "stopped-by-user"
        assert next(refusals, None) is None  # it was refused, more than once


async def test_what_was_asked_for_last_counts_though_it_came_through_at_once(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(FOREVER)
        await lab.printed(job.id, "up")
        wishes = Pending(tmp_path / "state" / "clusters" / "test" / ".pending")
        wishes.keep(job.id, Move.STOP)
        await lab.engine.act(job.id, Move.PAUSE)
        assert wishes.all() == {}
        assert (await lab.until(job.id, Phase.PAUSED)).cause.code == "paused-by-user"


async def test_a_server_carries_out_what_one_before_it_could_not(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(FOREVER)
        await lab.printed(job.id, "up")
        Pending(tmp_path / "state" / "clusters" / "test" / ".pending").keep(job.id, Move.STOP)
        second = open_cluster(
            "test", {"kubeconfig": str(cluster.kubeconfig("alice")), "namespaces": [lab.namespace]}, tmp_path / "state"
        )
        try:
            await second.snapshot()
            await lab.until(job.id, Phase.STOPPED)
        finally:
            await second.aclose()


async def test_a_cluster_that_never_answers_costs_the_others_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """Connecting to it hangs: the first look waits a moment, every later one not at all."""
    with full_server() as port:
        away = {"server": f"https://127.0.0.1:{port}"}
        kubeconfig = rewritten(cluster.kubeconfig("alice"), tmp_path / "nowhere", away)
        engine = open_cluster("nowhere", {"kubeconfig": str(kubeconfig)}, tmp_path / "state")
        try:
            assert await engine.snapshot() == ()
            began = time.monotonic()
            for _ in range(100):
                assert await engine.snapshot() == ()
            assert engine.stale_since is not None
            assert time.monotonic() - began < 1.0
            with pytest.raises(ClusterUnreachable, match="has not answered yet"):  # the job may be there
                await engine.get("abcdefghij")
        finally:
            await engine.aclose()


async def test_work_beside_that_is_ended_before_its_first_step_is_not_left_lying(
    cluster: Cluster, tmp_path: Path
) -> None:
    with full_server() as port:
        away = {"server": f"https://127.0.0.1:{port}"}
        kubeconfig = rewritten(cluster.kubeconfig("alice"), tmp_path / "nowhere", away)
        engine = open_cluster("nowhere", {"kubeconfig": str(kubeconfig)}, tmp_path / "state")
        await engine.snapshot()
        work = asyncio.sleep(60)
        engine._link.do(work)
        await engine.aclose()
        assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
        late = asyncio.sleep(60)
        engine._link.do(late)
        assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED
