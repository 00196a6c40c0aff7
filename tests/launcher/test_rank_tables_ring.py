"""A controller of the cluster makes the rank table: waited for, checked, and followed in who has which rank."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .boards import address, boards, server, tables
from .conftest import wait_until
from .pods import Pods

NAME = "rings-config-train"
RANKS = 'echo "$RANK_ID ${RANK_TABLE_FILE##*/}"; cmp "$RANK_TABLE_FILE" "$RING" && echo same'


def given(servers: list[tuple[str, int]], status: str = "completed", cards: int = 8) -> dict[str, Any]:
    """A v1.0 table as the controller writes it: servers in the order in which their pods came."""
    listed = [
        {
            "server_id": server_id,
            "device": [
                {"device_id": str(card), "device_ip": address(node, card), "rank_id": str(cards * place + card)}
                for card in range(cards)
            ],
        }
        for place, (server_id, node) in enumerate(servers)
    ]
    return {"status": status, "version": "1.0", "server_count": str(len(listed)), "server_list": listed}


class Controller:
    """Writes the table into the file that node 0 has mounted, as the kubelet does: all at once."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ring" / "hccl.json"
        self.path.parent.mkdir()

    def write(self, document: Any) -> None:
        beside = self.path.with_suffix(".new")
        beside.write_text(document if isinstance(document, str) else json.dumps(document))
        os.replace(beside, self.path)


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    return Controller(tmp_path)


@pytest.fixture
def ringed(pods: Pods, controller: Controller) -> Pods:
    """Two nodes of eight cards in a cluster with a controller."""
    ring = {"file": str(controller.path), "name": NAME}
    return boards(pods, ring=ring, env={"RING": str(controller.path)}).shell(RANKS)


def waits_for(pods: Pods, text: str) -> None:
    wait_until(lambda: text in ((pods.status(0) or {}).get("message") or ""), text)


def test_the_table_is_waited_for_until_it_is_completed_and_ranks_come_from_it(
    ringed: Pods, controller: Controller
) -> None:
    """Node 1 came first, so it has the first ranks."""
    ringed.start_all()
    waits_for(ringed, f"{NAME}: No such file")
    controller.write({"status": "initializing"})
    waits_for(ringed, f"complete {NAME}, which is initializing")
    assert [ringed.log(node, node=node) for node in range(2)] == [b"", b""]
    controller.write(given([("172.16.0.2", 1), ("172.16.0.1", 0)]))  # by the hosts' addresses
    assert ringed.wait_all() == [0, 0]
    assert [ringed.log(node, node=node) for node in range(2)] == [b"8 hccl.json\nsame\n", b"0 hccl.json\nsame\n"]
    assert tables(ringed.roots[0]) == tables(ringed.roots[1]) == {"hccl.json": controller.path.read_bytes()}


def test_each_card_has_the_rank_that_the_table_gives_it(ringed: Pods, controller: Controller) -> None:
    table = given([(server(0), 0), (server(1), 1)])
    for one in table["server_list"]:
        one["device"].reverse()
        first = min(int(card["rank_id"]) for card in one["device"])
        for place, card in enumerate(one["device"]):
            card["rank_id"] = str(first + place)  # card 7 is the first rank of its server
    controller.write(table)
    ringed.plan(processes="card").shell('echo "$DEVICE_ID $RANK_ID"').start_all()
    assert ringed.wait_all() == [0, 0]
    assert [ringed.log(8 + card, node=1) for card in range(8)] == [b"%d %d\n" % (card, 15 - card) for card in range(8)]


def test_the_older_form_knows_pods_by_name(ringed: Pods, controller: Controller) -> None:
    instances = [
        {
            "pod_name": f"train-{node}-x",
            "server_id": f"172.16.0.{node + 1}",
            "devices": [{"device_id": str(card), "device_ip": address(node, card)} for card in range(8)],
        }
        for node in range(2)
    ]
    group = {"group_name": "g", "instance_count": "2", "device_count": "16", "instance_list": instances}
    controller.write({"status": "completed", "group_count": "1", "group_list": [group]})
    ringed.start_all()
    assert ringed.wait_all() == [0, 0]
    said = [ringed.log(node, node=node).decode().splitlines()[0] for node in range(2)]
    assert said == ["train-0-x hccl_tf.json", "train-1-x hccl_tf.json"]


def test_a_table_of_pods_that_were_before_is_not_used(ringed: Pods, controller: Controller) -> None:
    controller.write(given([("172.16.0.1", 0), ("172.16.0.9", 9)]))
    ringed.start_all()
    waits_for(ringed, f"name train-1-x (10.0.0.6) in {NAME}")
    controller.write(given([("172.16.0.1", 0), ("172.16.0.2", 1)]))
    assert ringed.wait_all() == [0, 0]


def test_a_replaced_pod_waits_for_a_table_with_itself(ringed: Pods, controller: Controller) -> None:
    controller.write(given([("172.16.0.1", 0), ("172.16.0.2", 1)]))
    ringed.shell('echo "$RANK_ID"; until [ -e go ]; do sleep 0.05; done').start_all().all_running()
    wait_until(lambda: ringed.log(0) == b"0\n", "the first rank to say who it is")
    ringed.launchers[1].terminate()
    assert ringed.wait(1) == 75
    ringed.own[1].update(POD_IP="10.0.0.77", AIARTS_HOST_IP="172.16.0.7", HOST_NUMBER="7")
    ringed.start(1)
    waits_for(ringed, "name train-1-x (10.0.0.77)")
    controller.write(given([("172.16.0.7", 7), ("172.16.0.1", 0)]))
    ringed.all_running()
    (ringed.folder / "go").touch()
    assert ringed.wait_all() == [0, 0]
    assert (ringed.log(0), ringed.log(1, node=1)) == (b"0\n8\n", b"0\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{ not JSON", "cannot be used"),
        ('{"status": "completed"}', "cannot be used"),
        (json.dumps({**given([("172.16.0.1", 0), ("172.16.0.2", 0)])}), "as is server_list[0]"),
        (json.dumps(given([("172.16.0.1", 0), ("172.16.0.2", 1)])).replace('"rank_id": "9"', '"rank_id": 9'), "HCCL"),
    ],
)
def test_a_table_that_hccl_would_refuse_ends_the_job_with_a_sentence(
    ringed: Pods, controller: Controller, content: str, said: str
) -> None:
    controller.write(content)
    ringed.start_all()
    assert ringed.wait_all() == [1, 1]
    problem = ringed.summary["problem"]
    assert problem["code"] == "rank-table-invalid"
    assert NAME in problem["message"] and said in problem["message"] and problem["hint"]
    assert ringed.summary["ranks"] == []


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_controller_that_never_completes_it_is_named(pods: Pods, controller: Controller, nodes: int) -> None:
    controller.write({"status": "initializing"})
    ring = {"file": str(controller.path), "name": NAME}
    boards(pods, nodes=nodes, ring=ring).shell("touch started")
    for node in reversed(range(nodes)):  # whoever looks for node 0 is patient: node 0 alone is to give up
        pods.plan(gang_timeout=15 if node else 3).start(node)
    assert pods.wait_all() == [1] * nodes
    problem = pods.summary["problem"]
    assert problem["code"] == "rank-table-invalid" and f"complete {NAME}, which is initializing" in problem["message"]
    assert f"kubectl get configmap {NAME}" in problem["hint"] and "ring_controller" in problem["hint"]


def test_while_somebody_is_missing_it_is_they_who_are_waited_for(ringed: Pods, controller: Controller) -> None:
    controller.write({"status": "initializing"})
    ringed.plan(gang_timeout=1)
    ringed.start(0)
    assert ringed.wait(0) == 75
    assert ringed.summary["problem"]["code"] == "waiting-for-peers"


def test_a_stop_while_waiting_ends_the_job(pods: Pods, controller: Controller) -> None:
    boards(pods, nodes=1, ring={"file": str(controller.path), "name": NAME}).shell("touch started").start()
    waits_for(pods, NAME)
    pods.launchers[0].terminate()
    assert pods.wait() == 75
    assert pods.summary["result"] == "stopped" and not (pods.folder / "started").exists()
