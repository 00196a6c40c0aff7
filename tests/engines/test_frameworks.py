"""Processes of a job really meet through the variables they are given, on this machine and on a cluster.

PyTorch for CPUs alone is on no index that tests may rely on, and with CUDA it has most of a gigabyte. So the programs
here are stand-ins of ours in `frameworks/`, written from what the frameworks' documentation says of their variables:
a rendezvous as `env://`, `torchrun` with its PET_ defaults, TF_CONFIG, MindSpore's dynamic cluster. They use real
sockets, and fail where two processes have one number, one is missing, or an address cannot be reached.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from jupyter_aiarts.engines.base import Caller, Engine, JobRecord
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.model.phase import Phase
from tests.engines.closing import closed_after
from tests.engines.conftest import kubernetes_engine

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

Submit = Callable[..., Awaitable[JobRecord]]
Until = Callable[..., Awaitable[JobRecord]]
TextOf = Callable[..., Awaitable[list[str]]]
Shape = dict[str, Any]
GPU = "nvidia_gpu_amd64"
PROGRAMS = Path(__file__).parent / "frameworks"
TRAIN = """
import os, sys
from meeting import all_reduce
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
total = all_reduce(2 ** rank)
assert total == 2 ** size - 1, total
place = f"on node {os.environ['NODE_RANK']} card {os.environ.get('LOCAL_RANK')}"
sys.stdout.write(f"rank {rank} of {size}, {place}: {total}\\n")  # in one piece: torchrun's processes share a pipe
"""


@pytest_asyncio.fixture(params=["local", pytest.param("kubernetes", marks=pytest.mark.cluster)])
async def engine(request: pytest.FixtureRequest, state_dir: Path, folder: Path) -> AsyncIterator[Engine]:
    """Locally with declared GPUs: NPUs of several nodes would want addresses, which nobody has here."""
    if request.param == "local":
        async for one in closed_after(open_local(state_dir, Settings(devices={GPU: 8}, cpus=16))):
            yield one
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    with cluster.namespace() as namespace:
        async for one in closed_after(kubernetes_engine(cluster, namespace, state_dir, folder.parent)):
            yield one


@pytest.fixture
def pair(engine: Engine) -> Shape:
    """Two nodes; locally with two cards each, on the cluster without, where a node counts as one card."""
    cards: Shape = {"device": GPU, "devices": 2} if engine.name == "local" else {}
    return {"nodes": 2, **cards}


@pytest.fixture(autouse=True)
def programs(caller: Caller) -> None:
    """The stand-ins beside the start file, as somebody would have them in their folder."""
    for path in PROGRAMS.glob("*.py"):
        shutil.copy(path, caller.folder)


def width(pair: Shape) -> int:
    return int(pair.get("devices", 1))


async def test_torchrun_without_options_starts_everybody_and_they_meet(
    submit: Submit, until: Until, text_of: TextOf, pair: Shape, caller: Caller
) -> None:
    (caller.folder / "train.py").write_text(TRAIN)
    job = await submit("", file="unused.py", script=None, command="python3 torchrun.py train.py", **pair)
    assert (await until(job.id)).phase is Phase.SUCCEEDED, await text_of(job.id)
    size = 2 * width(pair)
    said = [
        f"rank {rank} of {size}, on node {rank // width(pair)} card {rank % width(pair)}: {2**size - 1}"
        for rank in range(size)
    ]
    assert sorted(await text_of(job.id)) == said


async def test_a_process_for_each_card_meets_by_env(
    engine: Engine, submit: Submit, until: Until, text_of: TextOf, pair: Shape
) -> None:
    job = await submit(TRAIN, processes="card", **pair)
    assert (await until(job.id)).phase is Phase.SUCCEEDED, await text_of(job.id)
    size = 2 * width(pair)
    for rank in range(size):
        place = f"on node {rank // width(pair)} card {rank % width(pair)}"
        assert await text_of(job.id, rank=rank) == [f"rank {rank} of {size}, {place}: {2**size - 1}"]
        shown = await engine.environment(job.id, None, rank)
        assert (shown["RANK"], shown["WORLD_SIZE"], "PET_NNODES" in shown) == (str(rank), str(size), False)


async def test_a_process_for_each_node_meets_by_env(
    engine: Engine, submit: Submit, until: Until, text_of: TextOf, pair: Shape
) -> None:
    """As on PAI-DLC: RANK is the node's number and WORLD_SIZE how many there are, whatever cards they have."""
    job = await submit(TRAIN, processes="node", **pair)
    assert (await until(job.id)).phase is Phase.SUCCEEDED, await text_of(job.id)
    for rank in range(2):
        assert await text_of(job.id, rank=rank) == [f"rank {rank} of 2, on node {rank} card None: 3"]
        shown = await engine.environment(job.id, None, rank)
        assert (shown["RANK"], shown["PET_NODE_RANK"], "LOCAL_RANK" in shown) == (str(rank), str(rank), False)


@pytest.mark.parametrize("processes", ["card", "node"])
async def test_every_worker_of_tf_config_is_where_the_others_look_for_it(
    submit: Submit, until: Until, text_of: TextOf, pair: Shape, processes: str
) -> None:
    source = (PROGRAMS / "tensorflow_like.py").read_text()
    job = await submit(source, framework="tensorflow", processes=processes, **pair)
    assert (await until(job.id)).phase is Phase.SUCCEEDED, await text_of(job.id)
    size = 2 * width(pair) if processes == "card" else 2
    for rank in range(size):
        assert await text_of(job.id, rank=rank) == [f"met {rank} of {size}"]


@pytest.mark.parametrize("processes", ["card", "node"])
async def test_mindspores_workers_register_with_their_scheduler(
    submit: Submit, until: Until, text_of: TextOf, pair: Shape, processes: str
) -> None:
    source = (PROGRAMS / "mindspore_like.py").read_text()
    job = await submit(source, framework="mindspore", processes=processes, **pair)
    assert (await until(job.id)).phase is Phase.SUCCEEDED, await text_of(job.id)
    assert await text_of(job.id) == [f"met as one of {2 * width(pair)}"] * (2 * width(pair))
