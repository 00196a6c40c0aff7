"""The variables of a job, as whole dictionaries for N nodes, C cards and both kinds of processes."""

import json
from typing import Any

import pytest

from jupyter_aiarts.launcher.environment import (
    GRANT_VARIABLES,
    RANK_VARIABLES,
    Places,
    Seat,
    exported,
    node_variables,
    process_environment,
    rank_variables,
    seats,
)
from jupyter_aiarts.launcher.plan import Plan, from_json

from .conftest import Run

PLACES = Places("/run/node-0/pod.env", "/run/node-0/tmp/0")


@pytest.fixture
def make(run: Run) -> Any:
    """A plan with changes."""

    def make(**changes: Any) -> Plan:
        return from_json(run.plan(**changes).document)

    return make


def meet(port: int = 29512) -> dict[str, str]:
    return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def torchrun(nodes: int, node: int, per_node: int) -> dict[str, str]:
    return {
        "PET_NNODES": str(nodes), "PET_NODE_RANK": str(node), "PET_NPROC_PER_NODE": str(per_node),
        "PET_MASTER_ADDR": "127.0.0.1", "PET_MASTER_PORT": "29512",
    }  # fmt: skip


def test_one_cpu_node(make: Any) -> None:
    plan = make()
    assert seats(plan, 0) == [Seat(0, 0, 0, [])]
    assert rank_variables(plan, seats(plan, 0)[0]) == {
        "RANK_SIZE": "1", "RANK_ID": "0", "DEVICE_NUM": "1", "RANK": "0", "WORLD_SIZE": "1",
        "LOCAL_WORLD_SIZE": "1", "NODE_RANK": "0", "NPROC_PER_NODE": "1", **meet(), **torchrun(1, 0, 1),
    }  # fmt: skip


def test_two_nodes_with_four_cards_once_per_node(make: Any) -> None:
    plan = make(nodes=2, cards=4, device="huawei_npu_arm64", devices=[[0, 1, 2, 3], [4, 5, 6, 7]])
    assert seats(plan, 1) == [Seat(1, 0, 1, [4, 5, 6, 7])]
    assert rank_variables(plan, seats(plan, 1)[0]) == {
        "RANK_SIZE": "8", "RANK_ID": "4", "DEVICE_ID": "0", "DEVICE_NUM": "4", "RANK": "1", "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "4", "NODE_RANK": "1", "NPROC_PER_NODE": "4", **meet(), **torchrun(2, 1, 4),
        "RANK_TABLE_FILE": "/hccl.json",  # the folder is the launcher's to find
    }  # fmt: skip


def test_two_nodes_with_four_cards_once_per_card(make: Any) -> None:
    plan = make(nodes=2, cards=4, processes="card", device="nvidia_gpu_amd64", devices=[[0, 1, 2, 3], [4, 5, 6, 7]])
    assert [seat.rank for seat in seats(plan, 1)] == [4, 5, 6, 7]
    assert [seat.devices for seat in seats(plan, 1)] == [[4], [5], [6], [7]]
    assert rank_variables(plan, seats(plan, 1)[2]) == {
        "RANK_SIZE": "8", "RANK_ID": "6", "DEVICE_ID": "2", "DEVICE_NUM": "4", "RANK": "6", "WORLD_SIZE": "8",
        "LOCAL_RANK": "2", "LOCAL_WORLD_SIZE": "4", "NODE_RANK": "1", "NPROC_PER_NODE": "4", **meet(),
    }  # fmt: skip


def test_three_cpu_nodes_once_per_card_are_one_process_each(make: Any) -> None:
    plan = make(nodes=3, processes="card")
    assert rank_variables(plan, seats(plan, 2)[0]) == {
        "RANK_SIZE": "3", "RANK_ID": "2", "DEVICE_NUM": "1", "RANK": "2", "WORLD_SIZE": "3",
        "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "NODE_RANK": "2", "NPROC_PER_NODE": "1", **meet(),
    }  # fmt: skip


@pytest.mark.parametrize("nodes", [1, 2, 3])
@pytest.mark.parametrize("cards", [0, 1, 2, 8])
@pytest.mark.parametrize("processes", ["node", "card"])
def test_ranks_are_numbered_without_gaps(make: Any, nodes: int, cards: int, processes: str) -> None:
    plan = make(nodes=nodes, cards=cards, processes=processes)
    everybody = [seat for node in range(nodes) for seat in seats(plan, node)]
    tables = [rank_variables(plan, seat) for seat in everybody]
    assert [seat.rank for seat in everybody] == list(range(len(everybody)))
    assert [table["RANK"] for table in tables] == [str(rank) for rank in range(len(everybody))]
    assert {table["WORLD_SIZE"] for table in tables} == {str(len(everybody))}
    assert all(set(table) <= RANK_VARIABLES for table in tables)


def test_tensorflow_workers_know_each_other(make: Any) -> None:
    plan = make(nodes=2, cards=2, processes="card", framework="tensorflow")
    config = json.loads(rank_variables(plan, seats(plan, 1)[0])["TF_CONFIG"])
    workers = ["127.0.0.1:29512", "127.0.0.1:29513", "127.0.0.1:29514", "127.0.0.1:29515"]
    assert config == {"cluster": {"worker": workers}, "task": {"type": "worker", "index": 2}}


def test_mindspore_workers_know_their_scheduler(make: Any) -> None:
    plan = make(nodes=2, cards=4, framework="mindspore")
    table = rank_variables(plan, seats(plan, 1)[0])
    assert {name: table[name] for name in table if name.startswith("MS_")} == {
        "MS_WORKER_NUM": "8", "MS_LOCAL_WORKER": "4", "MS_SCHED_HOST": "127.0.0.1", "MS_SCHED_PORT": "29512",
        "MS_NODE_RANK": "1",
    }  # fmt: skip


def test_node_variables(make: Any) -> None:
    plan = make(nodes=2, cards=2, device="huawei_npu_arm64", queue="", environ={"HOME": "/home/alice"})
    assert node_variables(plan, 1, PLACES) == {
        "DLWS_JOB_ID": "a123456789", "DLWS_USER_NAME": "alice", "DLWS_VC_NAME": "default",
        "DLWS_ROLE_NAME": "worker", "DLWS_ROLE_IDX": "1", "DLWS_NUM_WORKER": "2",
        "DLWS_NUM_GPU_PER_WORKER": "2", "DLWS_GPU_TYPE": "huawei_npu_arm64",
        "MAIN_PATH": plan.main_path, "SAVE_PATH": plan.save_path,
        "TMP_PATH": "/run/node-0/tmp/0", "TENSORBOARD_LOG_DIR": "/home/alice/tensorboard/a123456789/logs",
        "AIARTS_POD_ENV": "/run/node-0/pod.env",
    }  # fmt: skip


def test_a_regular_job_has_the_role_of_a_master(make: Any) -> None:
    assert node_variables(make(), 0, PLACES)["DLWS_ROLE_NAME"] == "master"


def test_pod_env_holds_no_base_environment_and_the_process_has_it(make: Any) -> None:
    plan = make(
        environ={"PATH": "/bin"},
        env={"LR": "0.1"},
        extra={"DATA_PATH": "/data"},
        grants=[{"CUDA_VISIBLE_DEVICES": ""}],
    )
    held = exported(plan, seats(plan, 0)[0], PLACES)
    assert "PATH" not in held
    assert (held["LR"], held["DATA_PATH"], held["CUDA_VISIBLE_DEVICES"]) == ("0.1", "/data", "")
    process = process_environment(plan, seats(plan, 0)[0], PLACES, {"API_KEY": "s3cret"})
    assert process == {"PYTHONUNBUFFERED": "1", "PATH": "/bin", "API_KEY": "s3cret", **held}


def test_nobody_but_the_platform_sets_reserved_names(make: Any) -> None:
    stolen = dict.fromkeys(RANK_VARIABLES | GRANT_VARIABLES, "stolen")
    plan = make(environ=stolen, env=stolen, extra=stolen, grants=[{"ASCEND_VISIBLE_DEVICES": "4"}])
    process = process_environment(plan, seats(plan, 0)[0], PLACES, stolen)
    assert "stolen" not in process.values()
    assert process["ASCEND_VISIBLE_DEVICES"] == "4"
    assert "LOCAL_RANK" not in process


def test_the_user_may_change_everything_else(make: Any) -> None:
    plan = make(env={"MAIN_PATH": "/mine", "PYTHONUNBUFFERED": "", "PATH": "/mine/bin"})
    process = process_environment(plan, seats(plan, 0)[0], PLACES, {})
    assert (process["MAIN_PATH"], process["PYTHONUNBUFFERED"], process["PATH"]) == ("/mine", "", "/mine/bin")
