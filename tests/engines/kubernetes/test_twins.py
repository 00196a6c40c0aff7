"""Two entries of the configuration that are the same namespace of the same cluster."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.picture import ListQuery
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

RAW: dict[str, Any] = {"command": "true", "image": "registry.local/aiarts-test:1", "cpu": 0.1, "memory_gb": 0.2}


async def test_each_job_is_shown_once_and_the_mistake_is_said_in_the_log_and_in_health(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with cluster.namespace() as namespace:
        raw = {"kubeconfig": str(cluster.kubeconfig("alice")), "namespaces": [namespace]}
        engines = {name: open_cluster(name, raw, tmp_path / name) for name in ("first", "second")}
        service = JobService(engines, TemplateStore(tmp_path / "templates"))
        try:
            assert all("problem" not in one for one in (await service.health())["clusters"])
            caller = Caller(owner="alice", python="python3", folder=tmp_path)
            ids = [(await service.submit({**RAW, "cluster": name}, caller)).job.id for name in engines]
            async for _ in service.subscribe():
                shown = {job["id"]: job["cluster"] for job in json.loads(await service.jobs(ListQuery()))}
                if set(shown.values()) == {"first"} and len(shown) == 2:
                    break
            assert set(shown) == set(ids)
            problems = {one["name"]: one.get("problem") for one in (await service.health())["clusters"]}
            assert problems["first"] is None
            assert "“first” and “second” are the same namespace" in str(problems["second"])
            assert [one.message for one in caplog.records if "same namespace" in one.message] == [problems["second"]]
            for job_id in ids:
                await service.delete(job_id)
            async for _ in service.subscribe():
                if not json.loads(await service.jobs(ListQuery())):
                    break
        finally:
            await service.aclose()
