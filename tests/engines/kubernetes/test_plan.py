"""The plan for launchers in pods: what launchers read, with what is true in a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.code import Shipment
from jupyter_aiarts.engines.kubernetes.plan import plan_of
from jupyter_aiarts.engines.kubernetes.storage import Person
from jupyter_aiarts.launcher.plan import Plan, from_json
from tests.engines.kubernetes.making import NPU, make_order
from tests.engines.kubernetes.variants import variants

PLAIN: dict[str, Any] = {
    "schema": 1,
    "job": "abcdefghij",
    "run": 1,
    "attempt": 1,
    "user": "alice",
    "queue": "default",
    "device": "cpu",
    "nodes": 1,
    "cards": 0,
    "processes": "node",
    "framework": "none",
    "start": {"kind": "python", "path": "/aiarts/run/code/train.py", "line": None, "python": "python3"},
    "args": [],
    "paths": [],
    "workdir": "/aiarts/run/code",
    "main_path": "/aiarts/run/code",
    "save_path": "/aiarts/run/output",
    "environ": {},
    "env": {},
    "extra": {},
    "secrets_file": None,
    "devices": [[]],
    "grants": [{}],
    "master_addr": "127.0.0.1",
    "master_port": 29500,
    "grace_seconds": 30,
    "max_restarts": 0,
    "max_seconds": None,
    "used_seconds": 0.0,
    "gang_timeout": 600.0,
    "meeting": None,
    "token": "",
    "log_limit_bytes": 2 << 30,
    "bell": None,
    "regroup": True,
    "port": 9410,
    "folder": "/aiarts/run",
    "own_network": True,
    "code": "/aiarts/run/code",
}


def test_the_whole_plan_of_a_small_job() -> None:
    assert plan_of(make_order()) == PLAIN


@pytest.mark.parametrize("name", list(variants()))
def test_launchers_accept_every_plan(name: str) -> None:
    assert isinstance(from_json(plan_of(variants()[name])), Plan)


def test_nodes_of_a_job_meet_at_the_first_ones_name() -> None:
    plan = plan_of(make_order(raw={"nodes": 3, "framework": "tensorflow"}))
    assert plan["master_addr"] == "train-abcdefghij-1-0.train-abcdefghij-1"
    assert plan["meeting"] == "train-abcdefghij-1-0.train-abcdefghij-1:9411"
    assert plan["hosts"] == [f"train-abcdefghij-1-{node}.train-abcdefghij-1" for node in range(3)]
    assert "hosts" not in plan_of(make_order(raw={"nodes": 3, "framework": "pytorch"}))


def test_cards_are_counted_and_what_grants_them_is_left_to_the_pod() -> None:
    plan = plan_of(make_order(raw={"device": NPU, "devices": 4, "processes": "card"}))
    assert (plan["devices"], plan["grants"]) == ([[0, 1, 2, 3]], [{}])


def test_on_the_nodes_network_every_port_is_drawn() -> None:
    raw = {"nodes": 2, "device": NPU}
    plan = plan_of(make_order({"devices": {NPU: {"host_network": True}}}, raw))
    host, _, meeting = plan["meeting"].rpartition(":")
    assert host == plan["master_addr"] and int(meeting) == plan["port"] + 1
    assert 20_000 <= plan["port"] < 30_000 and 10_000 <= plan["master_port"] < 20_000


def test_a_pod_on_its_nodes_network_has_none_of_its_own() -> None:
    settings = {"devices": {"cpu": {"host_network": True}}}
    assert plan_of(make_order(settings))["own_network"] is False


def test_the_log_mount_is_where_launchers_write() -> None:
    plan = plan_of(make_order({"log_mount": "logs"}, run=4))
    assert plan["folder"] == "/aiarts/log/abcdefghij/run-4"
    assert plan["save_path"] == "/aiarts/log/abcdefghij/run-4/output"


def test_the_users_variables_and_paths_are_in_it_and_no_secret() -> None:
    raw = {
        "env": {"A": "b$c", "PYTHONPATH": "/home/x"},
        "secret_env": {"PASSWORD": "p4ss"},
        "data_path": "/d",
        "output_path": "/o",
        "pass_paths": True,
    }
    shipment = Shipment(script_in_pod="/m/t.py", workdir_in_pod="/m", python_path=("/home/x", "/m"))
    plan = plan_of(make_order(raw=raw, shipment=shipment))
    assert plan["env"] == {"A": "b$c", "PYTHONPATH": "/m"}
    assert plan["extra"] == {"DATA_PATH": "/d", "OUTPUT_PATH": "/o"}
    assert plan["paths"] == ["--data_path", "/d", "--output_path", "/o"]
    assert (plan["save_path"], plan["main_path"], plan["secrets_file"]) == (
        "/o",
        "/m",
        "/aiarts/secret/secret_env.json",
    )
    assert "code" not in plan and "p4ss" not in repr(plan)


@pytest.mark.parametrize(
    ("path", "kind"), [("/a/b.py", "python"), ("/a/b.SH", "shell"), ("/a/b.ipynb", "notebook"), ("/a/b", "exec")]
)
def test_how_a_file_is_started_goes_by_its_name(path: str, kind: str) -> None:
    order = make_order(shipment=Shipment(kind="mounted", script_in_pod=path, workdir_in_pod="/w"))
    assert plan_of(order)["start"] == {"kind": kind, "path": path, "line": None, "python": "python3"}


def test_a_command_is_the_users_own_line() -> None:
    plan = plan_of(make_order(raw={"command": "echo $HOME; exit 3"}))
    assert plan["start"] == {"kind": "command", "path": None, "line": "echo $HOME; exit 3", "python": "python3"}
    assert (plan["workdir"], plan["main_path"], plan["args"]) == (".", ".", [])


def test_a_later_attempt_is_told_how_long_the_job_ran_before() -> None:
    plan = plan_of(make_order(raw={"max_hours": 2}, attempt=3, used_seconds=61.5))
    assert (plan["attempt"], plan["used_seconds"], plan["max_seconds"]) == (3, 61.5, 7200.0)


def test_an_owner_whose_name_cannot_be_a_folder_still_has_a_user_name() -> None:
    assert plan_of(make_order(person=Person(owner="alice@example.org")))["user"] == "alice"
