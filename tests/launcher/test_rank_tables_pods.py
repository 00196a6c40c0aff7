"""Rank tables agreed on by launchers in pods: which cards and addresses, where the files are, who is replaced."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from jupyter_aiarts.launcher.ascend.cards import card_ids, from_json, held_cards
from jupyter_aiarts.launcher.ascend.gathering import Agreement, learn
from jupyter_aiarts.launcher.line import LONGEST
from jupyter_aiarts.launcher.plan import from_json as read_plan

from .boards import CONFIGURATION, NPU, address, annotate, boards, server, tables
from .conftest import Run, wait_until
from .pods import Pods

NAMES = ["hccl.json", "hccl_ms.json", "hccl_tf.json"]
HOLD = 'cat "$RANK_TABLE_FILE"; until [ -e go ]; do sleep 0.05; done'


def servers(root: Any) -> dict[str, list[tuple[str, str, str]]]:
    """Card, address and rank by server, as a pod's v1.0 table says."""
    listed = json.loads(tables(root)["hccl.json"])["server_list"]
    return {
        one["server_id"]: [(card["device_id"], card.get("device_ip", ""), card["rank_id"]) for card in one["device"]]
        for one in listed
    }


def test_two_nodes_of_eight_cards_have_the_same_three_files(pods: Pods) -> None:
    boards(pods).shell('cat "$RANK_TABLE_FILE"; echo "$RANK_ID $RANK_SIZE"').start_all()
    assert pods.wait_all() == [0, 0]
    assert list(tables(pods.roots[0])) == NAMES and tables(pods.roots[0]) == tables(pods.roots[1])
    assert servers(pods.roots[0]) == {
        server(node): [(str(card), address(node, card), str(8 * node + card)) for card in range(8)] for node in range(2)
    }
    for node in range(2):
        assert pods.log(node, node=node) == tables(pods.roots[0])["hccl.json"] + b"%d 16\n" % (8 * node)


def test_a_pods_cloud_table_names_pods(pods: Pods) -> None:
    boards(pods, rank_table="cloud").shell('echo "$RANK_ID"').start_all()
    assert pods.wait_all() == [0, 0]
    instances = json.loads(tables(pods.roots[1])["hccl_tf.json"])["group_list"][0]["instance_list"]
    assert [one["pod_name"] for one in instances] == ["train-0-x", "train-1-x"]
    assert [pods.log(node, node=node) for node in range(2)] == [b"train-0-x\n", b"train-1-x\n"]


def test_pods_that_come_minutes_apart_start_with_the_same_table(pods: Pods) -> None:
    """Nothing is written before the last one is there."""
    boards(pods).shell(HOLD)
    pods.start(0)
    wait_until(lambda: pods.phase(0) == "meeting" and (pods.roots[0] / "home/alice/.npu/a123456789").is_dir())
    assert tables(pods.roots[0]) == {}
    pods.start(1)
    pods.all_running()
    (pods.folder / "go").touch()
    assert pods.wait_all() == [0, 0]
    assert tables(pods.roots[0]) == tables(pods.roots[1])


def test_missing_addresses_of_two_machines_end_the_job_before_any_rank(pods: Pods) -> None:
    boards(pods, tool=False).shell("touch started")
    pods.own[0]["NPU_IPS"] = ",".join(f"{card}:{address(0, card)}" for card in range(8))
    pods.own[1]["NPU_IPS"] = ",".join(f"{card}:{address(1, card)}" for card in range(6))
    pods.start_all()
    assert pods.wait_all() == [1, 1]
    problem = pods.summary["problem"]
    assert problem["code"] == "npu-ip-missing"
    assert "node 1 (host-1): card 6, 7" in problem["message"] and "node 0" not in problem["message"]
    assert problem["hint"].splitlines() == [
        "as root on host-1:",
        "hccn_tool -i 6 -ip -s address 192.168.30.14 netmask 255.255.255.0",
        "hccn_tool -i 7 -ip -s address 192.168.40.14 netmask 255.255.255.0",
        "then run the job again",
    ]
    assert not (pods.folder / "started").exists() and tables(pods.roots[0]) == {}


def test_a_replaced_pod_with_other_addresses_gives_a_new_table_to_all(pods: Pods) -> None:
    boards(pods).shell(HOLD).start_all().all_running()
    before = tables(pods.roots[0])
    wait_until(lambda: pods.log(0, node=0) == before["hccl.json"], "the first table to be printed")
    pods.launchers[1].terminate()
    assert pods.wait(1) == 75
    wait_until(lambda: pods.phase(0) == "meeting")
    pods.own[1].update(POD_IP="10.0.0.77", HOST_NUMBER="7")
    pods.start(1)
    pods.all_running()
    (pods.folder / "go").touch()
    assert pods.wait_all() == [0, 0]
    assert tables(pods.roots[0]) == tables(pods.roots[1]) != before
    assert servers(pods.roots[0])["10.0.0.77"][0] == ("0", address(7, 0), "8")
    assert pods.log(0, node=0) == before["hccl.json"] + tables(pods.roots[0])["hccl.json"]


def test_the_cards_are_those_that_the_pod_was_given(pods: Pods) -> None:
    """The physical ids are in the table and with the ranks; DEVICE_ID stays what it is inside the container."""
    boards(pods, nodes=1, cards=2, processes="card").shell('echo "$DEVICE_ID $RANK_ID"')
    pods.own[0]["ASCEND_VISIBLE_DEVICES"] = "7,6"
    pods.start_all()
    assert pods.wait_all() == [0]
    assert servers(pods.roots[0]) == {server(0): [("6", address(0, 6), "0"), ("7", address(0, 7), "1")]}
    assert [rank["devices"] for rank in pods.summary["ranks"]] == [[6], [7]]
    assert [pods.log(rank) for rank in range(2)] == [b"0 0\n", b"1 1\n"]


def test_the_device_plugins_annotation_is_believed_first(pods: Pods) -> None:
    boards(pods, nodes=1, cards=2).shell("true").make()
    devices = [{"device_id": str(card), "device_ip": f"192.168.9.{card}"} for card in (4, 5)]
    said = {"pod_name": "train-0-x", "server_id": "172.16.0.1", "devices": devices}
    annotate(pods.roots[0], {"huawei.com/Ascend910": "Ascend910-4,Ascend910-5", CONFIGURATION: json.dumps(said)})
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait_all() == [0]
    assert servers(pods.roots[0])[server(0)] == [("4", "192.168.9.4", "0"), ("5", "192.168.9.5", "1")]


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param({"huawei.com/Ascend910": "Ascend910-4"}, id="its card is known before"),
        pytest.param({"huawei.com/npu-core": "x"}, id="only the late one names the card"),
    ],
)
def test_an_annotation_that_comes_late_is_waited_for(pods: Pods, chosen: dict[str, str]) -> None:
    boards(pods, nodes=1, cards=1, tool=False).shell("true").make()
    annotate(pods.roots[0], chosen)
    assert pods.prepare() == 0
    pods.enter()
    wait_until(lambda: pods.phase() == "meeting")
    said = {"server_id": "172.16.0.1", "devices": [{"device_id": "4", "device_ip": "192.168.9.4"}]}
    annotate(pods.roots[0], {**chosen, CONFIGURATION: json.dumps(said)})
    assert pods.wait_all() == [0]
    assert servers(pods.roots[0])[server(0)] == [("4", "192.168.9.4", "0")]


@pytest.mark.parametrize(
    ("environ", "notes", "devices", "found"),
    [
        ({"ASCEND_VISIBLE_DEVICES": "0,1"}, {}, "", [0, 1]),
        ({"ASCEND_VISIBLE_DEVICES": "4-5"}, {}, "", [4, 5]),
        ({"ASCEND_VISIBLE_DEVICES": "Ascend910-2,Ascend910-3"}, {}, "", [2, 3]),
        ({"ASCEND_VISIBLE_DEVICES": "all", "VISIBLE_IDS": r"4\,5"}, {}, "", [4, 5]),
        ({"ASCEND_VISIBLE_DEVICES": "0,1,2"}, {"huawei.com/Ascend910": "Ascend910-6,Ascend910-7"}, "", [6, 7]),
        ({}, {"huawei.com/Ascend910": "Ascend910-0,Ascend910-1", "huawei.com/AscendReal": "Ascend910-2,Ascend910-3"},
         "", [2, 3]),
        ({}, {CONFIGURATION: '{"devices": [{"device_id": "1"}, {"device_id": "0"}]}'}, "", [0, 1]),
        ({}, {CONFIGURATION: "[" * 100_000}, "davinci6 davinci7 davinci_manager", [6, 7]),
        ({}, {}, "davinci0 davinci1 davinci2", None),
        ({"ASCEND_VISIBLE_DEVICES": ""}, {}, "", None),
        ({"ASCEND_VISIBLE_DEVICES": "-1,x"}, {"huawei.com/Ascend910": "Ascend910-2c-100-0"}, "", None),
    ],
)  # fmt: skip
def test_the_first_source_that_names_as_many_cards_as_were_asked_for_is_right(
    tmp_path: Any, environ: dict[str, str], notes: dict[str, str], devices: str, found: list[int] | None
) -> None:
    for name in devices.split():
        (tmp_path / name).touch()
    assert held_cards(2, environ, notes, str(tmp_path)) == found


def test_an_absurd_range_of_cards_is_no_list_of_cards() -> None:
    assert card_ids("0-99999999999") == [] and card_ids("0-9999") == []


def test_unknown_cards_are_counted_and_that_is_said(pods: Pods) -> None:
    launcher = boards(pods, nodes=1, cards=2).shell("true").start(stderr=subprocess.PIPE)
    _, said = launcher.communicate(timeout=20)
    assert launcher.returncode == 0
    (note,) = pods.status()["notes"]
    assert "nothing says which cards train-0-x holds" in note and note.encode() in said


def test_a_home_that_cannot_be_written_to_is_not_needed(pods: Pods) -> None:
    boards(pods, nodes=1, cards=1).shell('echo "$RANK_TABLE_FILE"; cat "$RANK_TABLE_FILE"').make()
    (pods.roots[0] / "home").write_text("a file is no folder")
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait_all() == [0]
    path, *table = pods.log().decode().splitlines()
    assert path == str(pods.roots[0] / "aiarts/run/hccl.json") and table
    assert any("home/alice/.npu" in note and path.rpartition("/")[0] in note for note in pods.status()["notes"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_folders_in_somebodys_home_are_theirs(pods: Pods) -> None:
    boards(pods, nodes=1, cards=1).shell("true").make()
    home = pods.roots[0] / "home/alice"
    home.mkdir(parents=True)
    os.chown(home, 4711, 4712)
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait_all() == [0]
    made = [home / ".npu", home / ".npu/a123456789"]
    assert [(path.stat().st_uid, path.stat().st_gid) for path in made] == [(4711, 4712)] * 2


def test_two_pods_with_one_home_never_show_half_a_file(pods: Pods) -> None:
    """Both write the same name at the same moment, and have the same process number in their pods."""
    line = 'for i in $(seq 50); do cat "$RANK_TABLE_FILE" | sha256sum; done | sort -u'
    boards(pods).shell(line)
    shared = pods.folder / "homes"
    shared.mkdir()
    for node in (1, 0):
        pods.make(node)
        (pods.roots[node] / "home").symlink_to(shared)
        assert pods.prepare(node) == 0
        pods.enter(node)
    assert pods.wait_all() == [0, 0]
    assert pods.log(0) == pods.log(1, node=1) and len(pods.log(0).splitlines()) == 1
    assert sorted(path.name for path in (shared / "alice/.npu/a123456789").iterdir()) == NAMES


def many(run: Run, nodes: int) -> Agreement:
    """As many nodes with eight cards each, all of which said what they have."""
    run.plan(device=NPU, nodes=nodes, cards=8)
    agreement = Agreement(read_plan(run.document))
    for node in range(nodes):
        cards = [[card, f"192.168.{node // 250 * 8 + card}.{node % 250 + 1}"] for card in range(8)]
        told = {"server": f"10.0.{node // 250}.{node % 250 + 1}", "pod": f"train-with-a-long-name-{node}-abcde"}
        agreement.hear(node, {**told, "host": f"host-{node}", "cards": cards, "known": True, "aliases": []})
    return agreement


def test_the_order_to_512_nodes_fits_into_a_message(run: Run) -> None:
    told = many(run, 512).settle().told
    assert told is not None and len(json.dumps(told)) < LONGEST / 4
    mine = from_json({"server": "", "pod": "", "host": "", "cards": [], "known": True, "aliases": []})
    table = json.loads(learn(told, mine).files["hccl.json"])
    assert len(table["server_list"]) == 512 and table["server_list"][511]["device"][7]["rank_id"] == "4095"


def test_a_table_that_does_not_fit_is_refused_with_a_sentence(run: Run) -> None:
    problem = many(run, 10_000).settle().problem
    assert problem is not None and problem.code == "rank-table-invalid"
    assert "too long" in problem.message and "512" in problem.hint


@pytest.mark.parametrize("told", [None, 7, {}, {"cards": 3}, {"cards": [[1]], "server": "a"}, {"cards": [["x", 1]]}])
def test_a_node_that_says_nonsense_of_its_cards_is_named(run: Run, told: Any) -> None:
    agreement = many(run, 3)
    agreement.hear(1, told)
    problem = agreement.settle().problem
    assert problem is not None and "node 1" in problem.message


def test_many_nodes_without_addresses_are_said_in_a_few_lines(run: Run) -> None:
    agreement = many(run, 64)
    for node in range(64):
        cards = [[card, ""] for card in range(8)]
        agreement.hear(node, {"server": f"10.0.0.{node}", "pod": "p", "host": f"host-{node}", "cards": cards,
                              "known": True, "aliases": []})  # fmt: skip
    problem = agreement.settle().problem
    assert problem is not None and "60 nodes more" in problem.message
    assert len(problem.message) + len(problem.hint) < 4000
