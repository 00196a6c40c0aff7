"""Engines to say the same sentences about, and ways to wait for what they do."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from jupyter_aiarts.engines.base import Caller, Engine, JobRecord
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.reading import read_spec
from tests.engines.closing import closed_after
from tests.engines.reaching import job_reached
from tests.startfile import start_file

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

Until = Callable[..., Awaitable[JobRecord]]
Submit = Callable[..., Awaitable[JobRecord]]

IMAGE = "registry.local/aiarts-test:1"
NPU = "huawei_npu_arm64"


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the person who submits works: a folder of their own that every node of the cluster sees too."""
    found = tmp_path / "home" / "alice"
    found.mkdir(parents=True)
    return found


@pytest_asyncio.fixture(params=["local", pytest.param("kubernetes", marks=pytest.mark.cluster)])
async def engine(request: pytest.FixtureRequest, state_dir: Path, folder: Path) -> AsyncIterator[Engine]:
    """Each engine there is; eight cards to a node, so that shapes can be tried anywhere."""
    if request.param == "local":
        found: Engine = open_local(state_dir, Settings(devices={NPU: 8}, cpus=16))
        async for one in closed_after(found):
            yield one
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    with cluster.namespace() as namespace:
        found = kubernetes_engine(cluster, namespace, state_dir, folder.parent)
        async for one in closed_after(found):
            yield one


def kubernetes_engine(cluster: Cluster, namespace: str, state_dir: Path, homes: Path, **more: Any) -> Engine:
    """An engine as alice has it on the test cluster; her folder below `homes` is at the same place in every pod."""
    from jupyter_aiarts.engines.kubernetes import open_cluster

    board = {"resource": "huawei.com/Ascend910", "node_selector": {}, "volumes": [driver(homes.parent / "driver")]}
    settings = {
        "kubeconfig": str(cluster.kubeconfig("alice")),
        "namespaces": [namespace],
        "default_mounts": [{"source": f"{homes}/{{user}}", "target": f"{homes}/{{user}}"}],
        "devices": {NPU: board},
        **more,
    }
    return open_cluster("test", settings, state_dir)


def driver(folder: Path) -> dict[str, str]:
    """A folder of the nodes with a tool that knows an address for every card, as jobs on several boards need."""
    folder.mkdir(exist_ok=True)
    line = 'case "$HOST_NAME" in node-a) echo ipaddr:10.$2.1.1;; *) echo ipaddr:10.$2.1.2;; esac'
    (folder / "hccn_tool").write_text(f"#!/bin/sh\n{line}\n")
    (folder / "hccn_tool").chmod(0o755)
    return {"source": str(folder), "target": "/usr/local/Ascend/driver/tools"}


@pytest.fixture
def caller(folder: Path) -> Caller:
    """The person who submits, in a folder of their own."""
    return Caller(owner="alice", python=sys.executable, environ=dict(os.environ), folder=folder)


@pytest.fixture
def keys(engine: Engine) -> dict[str, Any]:
    """What a spec needs to be this engine's."""
    return {} if engine.name == "local" else {"cluster": engine.name, "image": IMAGE, "cpu": 0.25, "memory_gb": 0.25}


@pytest.fixture
def submit(engine: Engine, caller: Caller, keys: dict[str, Any]) -> Submit:
    """Write a start file, submit it, give the job."""

    async def send(source: str = "print('hello')", *, file: str = "train.py", **more: Any) -> JobRecord:
        raw = {"script": start_file(caller.folder, source, file), "grace_seconds": 1, **keys, **more}
        record, created = await engine.submit(read_spec(raw), caller)
        assert created
        return record

    return send


@pytest.fixture
def until(engine: Engine) -> Until:
    """Wait, by the engine's own news, until a job is in one of these phases."""

    async def wait(job_id: str, *phases: Phase, seconds: float = 60) -> JobRecord:
        wanted = phases or (Phase.SUCCEEDED, Phase.FAILED, Phase.LOST, Phase.STOPPED)
        return await job_reached(engine, job_id, lambda record: record.phase in wanted, seconds)

    return wait


@pytest.fixture
def text_of(engine: Engine) -> Callable[..., Awaitable[list[str]]]:
    """What a job printed, line by line."""

    async def read(job_id: str, run: int | None = None, rank: int | None = None) -> list[str]:
        log = await engine.log(job_id, run)
        query = LogQuery(tail=1000, rank=rank)
        lines = await asyncio.to_thread(lambda: log.lines(query, ended=True))
        return [line.text for line in lines]

    return read


@pytest.fixture
def printed(engine: Engine) -> Callable[..., Awaitable[None]]:
    """Wait until a line with this text is in the job's log."""

    async def wait(job_id: str, text: str, seconds: float = 60) -> None:
        async def look() -> None:
            follower = (await engine.log(job_id)).follow(LogQuery(tail=1000))
            while not any(text in line.text for line in await asyncio.to_thread(follower.step, False)):
                await asyncio.sleep(0.02)

        await asyncio.wait_for(look(), seconds)

    return wait
