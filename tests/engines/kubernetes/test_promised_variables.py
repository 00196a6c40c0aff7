"""Every variable that ranks are promised, in every rank of a job on two real nodes."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.model.phase import Phase
from tests.engines.kubernetes.engines import laboratory
from tests.engines.kubernetes.making import NPU
from tests.launcher.promise import CARD, FRAMEWORKS, NODE

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

NODES, CARDS = 2, 8
SHOW = "import json, os\nprint(json.dumps(dict(os.environ)))"
PROFILE = {NPU: {"resource": "huawei.com/Ascend910", "node_selector": {}}}
ALWAYS = [
    "DLWS_JOB_ID", "DLWS_USER_NAME", "DLWS_VC_NAME", "DLWS_ROLE_NAME", "DLWS_ROLE_IDX", "DLWS_NUM_WORKER",
    "DLWS_NUM_GPU_PER_WORKER", "DLWS_GPU_TYPE", "MAIN_PATH", "SAVE_PATH", "TMP_PATH", "TENSORBOARD_LOG_DIR",
    "MASTER_ADDR", "MASTER_PORT",
]  # fmt: skip


@pytest.mark.parametrize("processes", ["node", "card"])
async def test_every_rank_on_two_boards_has_what_is_promised(cluster: Cluster, tmp_path: Path, processes: str) -> None:
    tool = tmp_path / "tools" / "hccn_tool"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\ncase "$HOST_NAME" in node-a) n=11;; *) n=12;; esac\necho "ipaddr:192.168.$2.$n"\n')
    tool.chmod(0o755)
    driver = {"source": str(tool.parent), "target": "/usr/local/Ascend/driver/tools"}
    devices = {NPU: {**PROFILE[NPU], "volumes": [driver]}}
    async with laboratory(cluster, tmp_path, devices=devices) as lab:
        job = await lab.submit(SHOW, device=NPU, nodes=NODES, processes=processes, framework="mindspore", cpu=1)
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED, await lab.texts(job.id)
        said = [json.loads(text) for text in await lab.texts(job.id) if text.startswith("{")]
    ranks = {int(one["RANK"]): one for one in said}
    width = CARDS if processes == "card" else 1
    assert sorted(ranks) == list(range(NODES * width)) and len(said) == NODES * width
    first = ranks[0]
    assert ipaddress.ip_address(first["MS_SCHED_HOST"]) == ipaddress.ip_address(first["POD_IP"])
    met = {"MS_SCHED_HOST": first["POD_IP"], "MS_SCHED_PORT": first["MASTER_PORT"],
           "PET_MASTER_ADDR": first["MASTER_ADDR"], "PET_MASTER_PORT": first["MASTER_PORT"]}  # fmt: skip
    for rank, found in ranks.items():
        node, card = divmod(rank, width)
        assert picked(found) == promised(processes, node, card, met), f"rank {rank}"
        assert all(found.get(name) for name in ALWAYS), f"rank {rank}"
        assert (found["DLWS_ROLE_IDX"], found["DLWS_NUM_WORKER"], found["DLWS_GPU_TYPE"]) == (str(node), "2", NPU)
        assert found["MASTER_ADDR"] == first["MASTER_ADDR"] and found["DEVICE_ID"] == str(card)
        assert found["RANK_TABLE_FILE"].endswith(f"/.npu/{job.id}/hccl.json")


def promised(processes: str, node: int, card: int, met: dict[str, str]) -> dict[str, str | None]:
    table = {**(CARD if processes == "card" else NODE), **FRAMEWORKS["mindspore"]}
    values: dict[str, Any] = {name: value(NODES, CARDS, node, card) for name, value in table.items()}
    known = {name: None if value is None else met.get(name, str(value)) for name, value in values.items()}
    return dict(sorted(known.items()))


def picked(found: dict[str, str]) -> dict[str, str | None]:
    """Of all its variables those of the table, the others as absent."""
    return {name: found.get(name) for name in sorted({*NODE, *CARD, *FRAMEWORKS["mindspore"]})}
