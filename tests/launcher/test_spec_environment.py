"""Every variable that a job is promised, in every rank that really runs, against a table written from the promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.launcher.podenv import parse

from .boards import NPU
from .conftest import Run
from .promise import CARD, FRAMEWORKS, NODE

SHAPES = [(nodes, cards) for nodes in (1, 2) for cards in (0, 1, 2, 8)]


def promised(run: Run, node: int, card: int) -> dict[str, str | None]:
    """What the promise says of one rank."""
    plan = run.document
    nodes, cards, by_card = plan["nodes"], plan["cards"], plan["processes"] == "card"
    counted = max(cards, 1)
    table = {**(CARD if by_card else NODE), **FRAMEWORKS[plan["framework"]]}
    values: dict[str, Any] = {name: value(nodes, counted, node, card) for name, value in table.items()}
    rank = node * counted + card if by_card else node
    folder = run.folder / f"node-{node}"
    values |= {
        "DLWS_JOB_ID": "a123456789", "DLWS_USER_NAME": "alice", "DLWS_VC_NAME": "default",
        "DLWS_ROLE_NAME": "master" if nodes == 1 else "worker", "DLWS_ROLE_IDX": node, "DLWS_NUM_WORKER": nodes,
        "DLWS_NUM_GPU_PER_WORKER": cards, "DLWS_GPU_TYPE": plan["device"],
        "MAIN_PATH": run.folder, "SAVE_PATH": run.folder / "output", "TMP_PATH": folder / f"tmp/{rank}",
        "TENSORBOARD_LOG_DIR": run.folder / "tensorboard/a123456789/logs",
        "AIARTS_POD_ENV": folder / (f"pod.env.{rank}" if by_card else "pod.env"),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29512, "PYTHONUNBUFFERED": 1,
        "DEVICE_ID": (card if by_card else 0) if cards else None,
        "RANK_TABLE_FILE": run.folder / "hccl.json" if cards else None,
        "ASCEND_GLOBAL_LOG_LEVEL": 3 if cards else None, "ASCEND_GLOBAL_EVENT_ENABLE": 0 if cards else None,
        "PATH": plan["environ"]["PATH"], "HOME": run.folder, **plan["grants"][node],
    }  # fmt: skip
    return {name: None if value is None else str(value) for name, value in values.items()}


def variables(octets: bytes) -> dict[str, str]:
    pairs = (word.partition("=") for word in octets.decode().split("\0") if word)
    shells = {"PWD", "SHLVL", "OLDPWD", "_"}
    return {name: value for name, _, value in pairs if name not in shells}


def prepare(run: Run, nodes: int, cards: int, processes: str, framework: str) -> None:
    """Cards are granted as the local engine does; a CPU job is told that there are none."""
    ids = [list(range(node * cards, (node + 1) * cards)) for node in range(nodes)]
    grants = [{"ASCEND_VISIBLE_DEVICES": ",".join(map(str, one)), "CUDA_VISIBLE_DEVICES": ""} for one in ids]
    run.plan(
        nodes=nodes, cards=cards, processes=processes, framework=framework, device=NPU if cards else "cpu",
        devices=ids, grants=grants,
    )  # fmt: skip


@pytest.mark.parametrize("framework", list(FRAMEWORKS))
@pytest.mark.parametrize("processes", ["node", "card"])
@pytest.mark.parametrize(("nodes", "cards"), SHAPES)
def test_every_rank_has_just_what_is_promised(run: Run, nodes: int, cards: int, processes: str, framework: str) -> None:
    prepare(run, nodes, cards, processes, framework)
    assert run.shell("exec env -0").go() == 0
    width = max(cards, 1) if processes == "card" else 1
    for node in range(nodes):
        for card in range(width):
            rank = node * width + card
            wanted = promised(run, node, card)
            found = variables(run.log(rank, node=node))
            assert found == {name: value for name, value in wanted.items() if value is not None}, f"rank {rank}"
            held = parse(Path(found["AIARTS_POD_ENV"]).read_bytes())
            base = {"PATH", "HOME", "PYTHONUNBUFFERED"}
            assert held == {name: value for name, value in found.items() if name not in base}


def test_cpu_ranks_are_shown_no_card(run: Run) -> None:
    prepare(run, 1, 0, "node", "none")
    assert run.shell('echo "[$ASCEND_VISIBLE_DEVICES$CUDA_VISIBLE_DEVICES${DEVICE_ID-}]"').go() == 0
    assert run.log() == b"[]\n"
