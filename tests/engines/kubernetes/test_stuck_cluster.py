"""A node dies for real: what it holds is found, listed with its cards, and given back all at once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.picture import ListQuery
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore
from tests.engines.kubernetes.engines import FOREVER, laboratory

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

NODE = "node-b"
DEVICES = {
    "nvidia_gpu_amd64": {"resource": "nvidia.com/gpu", "node_selector": {"kubernetes.io/hostname": NODE}},
}
CARDS = {"device": "nvidia_gpu_amd64", "devices": 2}


async def test_cards_that_a_dead_node_holds_are_listed_and_given_back_together(
    cluster: Cluster, tmp_path: Path
) -> None:
    def is_stuck(record: JobRecord) -> bool:
        return record.is_stuck

    async with laboratory(cluster, tmp_path, devices=DEVICES) as lab:
        service = JobService({"test": lab.engine}, TemplateStore(tmp_path / "templates"))
        jobs = [await lab.submit(FOREVER, name=name, **CARDS) for name in ("one", "two")]
        for job in jobs:
            await lab.printed(job.id, "up")
        assert (await service.cluster()).stuck == []
        cluster.kill_kubelet(NODE)
        cluster.kill_containerd(NODE)
        try:
            for job in jobs:
                await lab.when(job.id, is_stuck, 120)
            stuck = (await service.cluster()).stuck
            assert {(one.job, one.kind, one.node, one.cards) for one in stuck} == {
                (job.id, "pod-stuck", NODE, 2) for job in jobs
            }
            listed = (await service.jobs(ListQuery())).decode()
            assert listed.count('"release"') == 2
            await asyncio.gather(*(service.act(job.id, Move.RELEASE) for job in jobs))
            for job in jobs:
                await lab.when(job.id, lambda record: not record.is_stuck, 60)
            assert (await service.cluster()).stuck == []
            waiting = [await lab.engine.get(job.id) for job in jobs]
            assert {one.phase for one in waiting} <= {Phase.QUEUED, Phase.STARTING}  # they come back with their node
        finally:
            await asyncio.to_thread(cluster.revive, NODE)
        for job in jobs:
            await lab.until(job.id, Phase.RUNNING, seconds=90)
