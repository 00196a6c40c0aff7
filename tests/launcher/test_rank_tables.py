"""Rank tables on one machine: whole before any rank starts, the same for everybody, only where cards want one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.launcher.ascend.cards import own_address

from .boards import NPU, add_tool, address
from .conftest import Run

SHOW = 'echo "$RANK_TABLE_FILE $RANK_ID"; cat "$RANK_TABLE_FILE"'


@pytest.fixture
def two(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two nodes of this machine with four cards each, whose addresses a tool knows."""
    monkeypatch.setenv("PATH", add_tool(run.folder) + ":" + os.environ["PATH"])
    return run.plan(device=NPU, nodes=2, cards=4, devices=[[0, 1, 2, 3], [4, 5, 6, 7]])


def ranked(document: Any) -> list[tuple[str, str, str]]:
    """Card, address and rank of a v1.0 table, server by server."""
    return [
        (card["device_id"], card.get("device_ip", ""), card["rank_id"])
        for server in document["server_list"]
        for card in server["device"]
    ]


def test_every_node_finds_the_whole_table_when_its_first_rank_starts(two: Run) -> None:
    assert two.shell(SHOW).go() == 0
    path, table = str(two.folder / "hccl.json"), (two.folder / "hccl.json").read_bytes()
    assert two.log(0) == f"{path} 0\n".encode() + table
    assert two.log(1, node=1) == f"{path} 4\n".encode() + table
    document = json.loads(table)
    assert (document["status"], document["server_list"][0]["server_id"]) == ("completed", own_address())
    assert ranked(document) == [(str(card), address(0, card), str(card)) for card in range(8)]
    assert sorted(path.name for path in two.folder.glob("hccl*")) == ["hccl.json", "hccl_ms.json", "hccl_tf.json"]


@pytest.mark.parametrize(
    ("form", "name", "ids"),
    [
        ("v1.0", "hccl.json", ["4", "5", "6", "7"]),
        ("lab", "hccl_ms.json", ["4", "5", "6", "7"]),
        ("cloud", "hccl_tf.json", ["a123456789-worker-1"] * 4),
    ],
)
def test_the_file_and_rank_id_go_together(two: Run, form: str, name: str, ids: list[str]) -> None:
    """HCCL finds a rank by its number in two forms and by its pod's name in the third."""
    assert two.shell('echo "$RANK_TABLE_FILE $RANK_ID"', processes="card", rank_table=form).go() == 0
    said = [two.log(rank, node=1).decode().split() for rank in range(4, 8)]
    assert said == [[str(two.folder / name), rank] for rank in ids]
    if form == "cloud":
        pods = json.loads((two.folder / name).read_text())["group_list"][0]["instance_list"]
        assert [pod["pod_name"] for pod in pods] == ["a123456789-worker-0", "a123456789-worker-1"]


def test_a_restart_leaves_the_files_as_they_are(two: Run) -> None:
    line = 'stat -c %i "$RANK_TABLE_FILE"; [ -e once ] && exit 0; sleep 0.2; touch once; exit 1'
    assert two.shell(line, max_restarts=1).go() == 0
    first, second = two.log().split()
    assert (two.summary["restarts"], first) == (1, second)


def test_arguments_may_name_the_table(two: Run) -> None:
    assert two.script("import sys; print(sys.argv[1])", "${RANK_TABLE_FILE}").go() == 0
    assert two.log().decode().strip() == str(two.folder / "hccl.json")


@pytest.mark.parametrize("changes", [{"device": "cpu"}, {"device": "nvidia_gpu_amd64", "cards": 2}, {"device": NPU}])
def test_a_job_without_ascend_cards_has_no_table(run: Run, changes: dict[str, Any]) -> None:
    assert run.shell('echo "${RANK_TABLE_FILE-none}"', **changes).go() == 0
    assert (run.log(), list(run.folder.glob("hccl*"))) == (b"none\n", [])


def test_other_jobs_load_nothing_of_it(run: Run) -> None:
    trace = run.folder / "imported"
    run.command[1:1] = ["-v"]
    with trace.open("wb") as file:
        run.shell("true").start(stderr=file)
        assert run.wait() == 0
    assert b"aiarts_launcher.plan" in trace.read_bytes() and b"ascend" not in trace.read_bytes()


def test_one_machine_goes_on_without_addresses_and_says_so(run: Run) -> None:
    """The lines to run as root are in the warning."""
    assert run.shell("cat $RANK_TABLE_FILE", device=NPU, cards=2, devices=[[4, 5]]).go() == 0
    assert ranked(json.loads(run.log())) == [("4", "", "0"), ("5", "", "1")]
    (note,) = run.status()["notes"]
    assert "no IP address is known for card 4, 5" in note
    assert "hccn_tool -i 4 -ip -s address 192.168.10.12 netmask 255.255.255.0" in note


def test_addresses_may_be_given_by_the_user(run: Run) -> None:
    given = {"NPU_IPS": "0:192.168.1.6,1:192.168.1.7"}
    assert run.shell("cat $RANK_TABLE_FILE", device=NPU, cards=2, env=given).go() == 0
    assert ranked(json.loads(run.log())) == [("0", "192.168.1.6", "0"), ("1", "192.168.1.7", "1")]
    assert run.status()["notes"] == []


def test_one_address_for_two_cards_is_refused_before_anything_starts(run: Run) -> None:
    given = {"NPU_IPS": "0:192.168.1.6,1:192.168.1.6"}
    assert run.shell("touch started", device=NPU, cards=2, env=given).go() == 1
    problem = run.summary["problem"]
    assert problem["code"] == "rank-table-invalid" and "192.168.1.6" in problem["message"]
    assert "card 0" in problem["message"] and "card 1" in problem["message"]
    assert not (run.folder / "started").exists()


def test_cards_across_both_rings_are_said(run: Run) -> None:
    assert run.shell("true", device=NPU, cards=2, devices=[[3, 4]], env={"NPU_IPS": "3:10.1.1.1,4:10.1.1.2"}).go() == 0
    (note,) = run.status()["notes"]
    assert "3, 4" in note and "rings" in note


def test_a_tool_that_hangs_costs_five_seconds_and_no_job(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = Path(add_tool(run.folder)) / "hccn_tool"
    tool.write_text("#!/bin/sh\nexec sleep 300\n")
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    assert run.shell("true", device=NPU, cards=2).go() == 0
    assert "no IP address is known for card 0, 1" in run.status()["notes"][0]


def test_a_folder_that_cannot_be_written_is_a_sentence(run: Run) -> None:
    run.shell("touch started", device=NPU, cards=1)
    (run.folder / "hccl.json").mkdir()
    assert run.go() == 1
    assert "write the rank table" in run.summary["problem"]["message"]
    assert not (run.folder / "started").exists() and not list(run.folder.glob("*.tmp"))
