"""Jobs that block each other, on a real cluster: one goes first, the other gives way, and both end well."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.model.phase import Move, Phase
from tests.engines.kubernetes.engines import FOREVER, Lab, laboratory

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import JobRecord
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

GPU = {"nvidia_gpu_amd64": {"resource": "nvidia.com/gpu", "node_selector": {}}}
CARDS = {"device": "nvidia_gpu_amd64"}


@asynccontextmanager
async def with_one_card_taken(
    cluster: Cluster, tmp_path: Path, gang_timeout: int
) -> AsyncIterator[tuple[Lab, JobRecord]]:
    """A laboratory where a job of 8 cards per node finds one whole node, and one with 7 free cards."""
    async with laboratory(cluster, tmp_path, devices=GPU, gang_timeout=gang_timeout) as lab:
        single = await lab.submit(FOREVER, name="single", devices=1, **CARDS)
        await lab.printed(single.id, "up")
        yield lab, single


async def test_of_two_jobs_that_each_hold_half_of_the_cards_the_less_urgent_gives_way(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Long before `gang_timeout`: neither could start, and the cards of both would be held for nothing."""
    async with with_one_card_taken(cluster, tmp_path, gang_timeout=600) as (lab, single):
        first = await lab.submit("print('first')", name="first", devices=8, nodes=2, priority=6, **CARDS)
        await lab.until(first.id, code="no-node-fits")
        second = await lab.submit("print('second')", name="second", devices=7, nodes=2, **CARDS)
        away = await lab.until(second.id, code="gives-way")
        assert (away.phase, away.cause.values) == (Phase.QUEUED, {"to": first.id})
        await lab.engine.act(single.id, Move.STOP)
        for job in (first, second):
            assert (await lab.until(job.id)).phase is Phase.SUCCEEDED, job.spec.name
            assert await lab.texts(job.id) == [job.spec.name] * 2


async def test_a_job_that_gave_way_can_be_stopped_and_stays_so(cluster: Cluster, tmp_path: Path) -> None:
    async with with_one_card_taken(cluster, tmp_path, gang_timeout=600) as (lab, _):
        first = await lab.submit("print('first')", name="first", devices=8, nodes=2, priority=6, **CARDS)
        await lab.until(first.id, code="no-node-fits")
        second = await lab.submit("print('second')", name="second", devices=7, nodes=2, **CARDS)
        await lab.until(second.id, code="gives-way")
        await lab.engine.act(second.id, Move.STOP)
        assert (await lab.until(second.id)).phase is Phase.STOPPED
        await lab.engine.act(first.id, Move.STOP)
        assert (await lab.until(first.id)).phase is Phase.STOPPED
        assert (await lab.engine.get(second.id)).phase is Phase.STOPPED


async def test_a_job_that_can_not_be_whole_gives_its_cards_back_and_says_whom_it_waits_for(
    cluster: Cluster, tmp_path: Path
) -> None:
    """After `gang_timeout` somebody else gets them: a job of a whole node runs where the half of it was."""
    async with with_one_card_taken(cluster, tmp_path, gang_timeout=4) as (lab, _):
        double = await lab.submit("print('whole')", name="double", devices=8, nodes=2, **CARDS)
        waiting = await lab.until(double.id, code="waiting-for-peers")
        assert waiting.phase in (Phase.QUEUED, Phase.STARTING) and waiting.cause.values["nodes"] == 2
        other = await lab.submit("print('other')", name="other", devices=8, **CARDS)
        assert (await lab.until(other.id)).phase is Phase.SUCCEEDED
        assert await lab.texts(double.id) == []


async def test_a_job_whose_first_node_failed_does_not_call_its_other_nodes_for_ever(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Node 1 has no place; what node 0 found wrong is the end of it, and nothing is left waiting for cards."""
    async with with_one_card_taken(cluster, tmp_path, gang_timeout=3) as (lab, _):
        (lab.folder / "start").write_text("#!/no/such/interpreter\n")
        (lab.folder / "start").chmod(0o755)
        job = await lab.submit(script="start", name="broken", devices=8, nodes=2, **CARDS)
        record = await lab.until(job.id)
        assert (record.phase, record.cause.code) == (Phase.FAILED, "start-file-bad-interpreter")
        held = [pod for pod in lab.pods("-l", f"jupyter-aiarts/job={job.id}") if pod["status"]["phase"] != "Failed"]
        assert not held
