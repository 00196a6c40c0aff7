"""Rank tables as they are written: the three forms, their order, and the same bytes every time."""

import json
import random

import pytest

from jupyter_aiarts.launcher.ascend import reading
from jupyter_aiarts.launcher.ascend.table import FORMS, NAMES, Card, Server, encode, render, seated

from .conftest import servers

TWO = seated([("10.0.0.5", [(0, "192.168.10.11"), (1, "192.168.20.11")], "job-worker-0")])


def test_ranks_count_through_nodes_and_cards_in_the_order_given() -> None:
    made = seated([("a", [(4, ""), (5, "")], ""), ("b", [(0, "")], "p")])
    assert made == [Server("a", (Card(4, "", 0), Card(5, "", 1))), Server("b", (Card(0, "", 2),), "p")]


def test_version_1_0() -> None:
    assert render(TWO, "v1") == {
        "status": "completed",
        "version": "1.0",
        "server_count": "1",
        "server_list": [
            {
                "server_id": "10.0.0.5",
                "host_nic_ip": "reserve",
                "device": [
                    {"device_id": "0", "device_ip": "192.168.10.11", "rank_id": "0"},
                    {"device_id": "1", "device_ip": "192.168.20.11", "rank_id": "1"},
                ],
            }
        ],
    }


def test_mindspores_lab_form_has_an_instance_for_every_card() -> None:
    document = render(TWO, "lab")
    constant = {key: document[key] for key in ("board_id", "chip_info", "deploy_mode", "para_plane_nic_location")}
    assert constant == {
        "board_id": "0x0020", "chip_info": "910", "deploy_mode": "lab", "para_plane_nic_location": "device"
    }  # fmt: skip
    assert document["para_plane_nic_name"] == [f"eth{number}" for number in range(8)]
    (group,) = document["group_list"]
    assert (group["device_num"], group["server_num"], group["instance_count"]) == ("2", "1", "2")
    assert group["instance_list"][1] == {
        "devices": [{"device_id": "1", "device_ip": "192.168.20.11"}], "rank_id": "1", "server_id": "10.0.0.5"
    }  # fmt: skip


def test_tensorflows_cloud_form_has_an_instance_for_every_pod() -> None:
    document = render(TWO, "cloud")
    assert "deploy_mode" not in document and "version" not in document  # HCCL would read another form
    (group,) = document["group_list"]
    assert (group["instance_count"], group["device_count"]) == ("1", "2")
    assert group["instance_list"] == [
        {
            "pod_name": "job-worker-0",
            "server_id": "10.0.0.5",
            "devices": [
                {"device_id": "0", "device_ip": "192.168.10.11"},
                {"device_id": "1", "device_ip": "192.168.20.11"},
            ],
        }
    ]


def test_a_card_without_address_has_no_address_key_where_hccl_allows_that() -> None:
    unknown = servers(cards=(0, 1), ips=False)
    assert render(unknown, "v1")["server_list"][0]["device"][0] == {"device_id": "0", "rank_id": "0"}
    lab = render(unknown, "lab")["group_list"][0]["instance_list"][0]
    assert lab["devices"] == [{"device_id": "0", "device_ip": ""}]  # there the key must exist


def test_two_nodes_on_one_machine_are_one_server_and_two_pods() -> None:
    nodes = seated([("10.0.0.5", [(0, ""), (1, "")], "w-0"), ("10.0.0.5", [(2, ""), (3, "")], "w-1")])
    (server,) = render(nodes, "v1")["server_list"]
    assert [(one["device_id"], one["rank_id"]) for one in server["device"]] == [(str(n), str(n)) for n in range(4)]
    assert render(nodes, "lab")["group_list"][0]["server_num"] == "1"
    assert [one["pod_name"] for one in render(nodes, "cloud")["group_list"][0]["instance_list"]] == ["w-0", "w-1"]


@pytest.mark.parametrize("form", FORMS)
def test_servers_stand_in_the_order_of_their_first_ranks_also_beyond_ten(form: str) -> None:
    ordered = servers(nodes=12)
    shuffled = ordered[:]
    random.Random(5).shuffle(shuffled)
    assert encode(render(shuffled, form)) == encode(render(ordered, form))
    if form == "v1":
        ranks = [one["rank_id"] for server in render(shuffled, form)["server_list"] for one in server["device"]]
        assert ranks == [str(rank) for rank in range(96)]


@pytest.mark.parametrize("form", FORMS)
def test_every_scalar_is_a_string_and_the_bytes_are_the_same_after_a_restart(form: str) -> None:
    content = encode(render(servers(nodes=2), form))
    assert content == encode(render(servers(nodes=2), form)) and content.endswith(b"}\n")
    assert all(type(value) is str for value in scalars(json.loads(content)))
    assert json.loads(content) == render(servers(nodes=2), form)
    assert NAMES[form].endswith(".json")


def test_names_of_any_script_are_written_so_that_any_locale_reads_them() -> None:
    hostile = '训练},{"x": [{\n\\'
    content = encode(render(seated([("10.0.0.1", [(0, ""), (1, "")], hostile)]), "cloud"))
    assert reading.parse(content).servers[0].pod_name == hostile
    assert content.isascii()


def test_a_card_has_a_line_of_its_own() -> None:
    lines = encode(render(servers(nodes=2), "v1")).decode().splitlines()
    assert sum('"rank_id"' in line for line in lines) == 16


def test_no_text_in_a_table_is_taken_for_its_layout() -> None:
    hostile = "}, {"
    nodes = seated([("10.0.0.1", [(0, hostile), (1, "")], ""), ("10.0.0.2", [(0, ""), (1, "x}, {y")], "")])
    assert json.loads(encode(render(nodes, "v1"))) == render(nodes, "v1")
    lines = encode(render(nodes, "v1")).decode().splitlines()
    assert sum('"rank_id"' in line for line in lines) == 4


def scalars(value: object) -> "list[object]":
    if isinstance(value, dict):
        return [one for inner in value.values() for one in scalars(inner)]
    return [one for inner in value for one in scalars(inner)] if isinstance(value, list) else [value]
