"""Where a card's address comes from: four sources in their order, each of them absent, late or wrong at times."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.launcher.ascend import addresses
from jupyter_aiarts.launcher.ascend.addresses import cure, find

from .conftest import SAMPLES, Stand

NONE = "/nonexistent"
RECORDED = (SAMPLES / "20_hccn_tool_ip.txt").read_text()


def told(cards: Any, **sources: Any) -> "dict[int, str]":
    """Addresses alone, with no tool and no file unless given."""
    known = {"environ": {"PATH": NONE}, "tool": NONE, "conf": NONE, **sources}
    return {card: ip for card, (ip, _) in find(list(cards), **known).items()}


# --- the pod's annotation ------------------------------------------------------------------------


def annotation(*devices: Any, **more: Any) -> str:
    return json.dumps({"pod_name": "w-0", "server_id": "10.0.0.5", "devices": list(devices), **more})


@pytest.mark.parametrize(
    "text",
    [
        annotation({"device_id": "0", "device_ip": "192.168.10.11"}, {"device_id": "4", "device_ip": "192.168.10.12"}),
        annotation(
            {"device_id": "0", "device_ip": "192.168.10.11", "super_device_id": "0"},
            {"device_id": 4, "device_ip": "192.168.10.12"},
            host_ip="10.0.0.5",
            super_pod_id=-1,
        ),
    ],
)
def test_what_the_device_plugin_says_of_the_pod(text: str) -> None:
    assert told(range(8), annotation=text) == {0: "192.168.10.11", 4: "192.168.10.12"}


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"devices": 3}', '{"devices": ["x", null, {}]}', "[" * 100_000,
        annotation({"device_id": "0", "device_ip": "127.0.0.1"}),  # a virtual card
        annotation({"device_id": "0", "device_ip": "loop"}),  # a card without a port
        annotation({"device_id": "0", "device_ip": "-1"}),
        annotation({"device_id": "zero", "device_ip": "192.168.10.11"}),
        '{"devices":[{"device_id":' + "1" * 900_000 + ',"device_ip":"192.168.10.11"}]}',
    ],
)  # fmt: skip
def test_an_annotation_without_an_address_is_no_answer(text: str) -> None:
    start = time.process_time()
    assert told([0], annotation=text) == {}
    assert time.process_time() - start < 1.0


# --- NPU_IPS -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:192.168.10.11,1:192.168.20.11", {0: "192.168.10.11", 1: "192.168.20.11"}),
        ("10:192.168.10.21,2:192.168.30.11", {10: "192.168.10.21", 2: "192.168.30.11"}),
        (r"0:192.168.10.11\,1:192.168.20.11", {0: "192.168.10.11", 1: "192.168.20.11"}),  # as an old pod.env quotes it
        (" '0:192.168.10.11, 1:192.168.20.11' ", {0: "192.168.10.11", 1: "192.168.20.11"}),
        ("0:2001:db8::30,1:2001:db8::31", {0: "2001:db8::30", 1: "2001:db8::31"}),
        ("0:192.168.10.11,1:,:9.9.9.9,x:1.1.1.1,2,3:host", {0: "192.168.10.11"}),
        ("", {}),
        ("," * 1_000_000, {}),
    ],
)
def test_the_old_platforms_variable(text: str, expected: Any) -> None:
    assert told(range(16), environ={"NPU_IPS": text, "PATH": NONE}) == expected


# --- hccn_tool -----------------------------------------------------------------------------------

KNOWS = 'case "$*" in "-i 0 -ip -g") echo ipaddr:192.168.10.11; echo netmask:255.255.255.0 ;; *) exit 1 ;; esac'


def test_the_tool_is_found_on_path_and_asked_for_each_card(stand_in: Stand) -> None:
    folder = os.path.dirname(stand_in(KNOWS))
    found = find([0, 1], {"PATH": f"{NONE}:{folder}"}, conf=NONE)
    assert found == {0: ("192.168.10.11", "hccn_tool")}


@pytest.mark.parametrize(
    ("prints", "expected"),
    [
        (RECORDED, {0: "192.0.2.213"}),
        ("ipaddr:\nnetmask:\n", {}),
        ("IPADDR : 192.0.2.9\r\nnetmask : 255.255.0.0\r\n", {0: "192.0.2.9"}),
        ("hccn_tool is busy, please try again later\n", {}),
        ("Cmd os interface is invalid. ret=4\nThe device does not exist\n", {}),
        ("ipaddr:255.255.255.999\n", {}),
        ("", {}),
    ],
)
def test_what_the_tool_prints(stand_in: Stand, tmp_path: Path, prints: str, expected: Any) -> None:
    (tmp_path / "said").write_text(prints)
    assert told([0], tool=stand_in(f"cat {tmp_path}/said"), environ=dict(os.environ)) == expected


def test_a_tool_that_hangs_costs_its_deadline_once_and_leaves_nothing(stand_in: Stand, tmp_path: Path) -> None:
    tool = stand_in(f"echo $$ >> {tmp_path}/pids\n[ $2 = 3 ] && echo ipaddr:192.168.40.11\nsleep 300 & wait")
    start = time.monotonic()
    assert told(range(4), tool=tool, environ=dict(os.environ), seconds=1.0) == {3: "192.168.40.11"}
    assert time.monotonic() - start < 8
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 4 and not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_a_tool_that_never_stops_printing_is_stopped(stand_in: Stand) -> None:
    start = time.monotonic()
    assert told([0], tool=stand_in("exec yes"), environ=dict(os.environ), seconds=20.0) == {}
    assert time.monotonic() - start < 10


def test_what_is_no_program_is_no_answer(tmp_path: Path) -> None:
    broken = tmp_path / "hccn_tool"
    broken.write_bytes(b"\x7fELF for another machine")
    broken.chmod(0o755)
    assert told([0], tool=str(broken)) == told([0], tool=str(tmp_path)) == {}


def test_no_shell_sees_a_word(stand_in: Stand, tmp_path: Path) -> None:
    tool = stand_in("echo ipaddr:192.168.10.11", name="hccn tool; touch x")
    assert told([0], tool=tool, environ=dict(os.environ)) == {0: "192.168.10.11"}


# --- /etc/hccn.conf ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("01_8cards_full.conf", {card: f"192.0.2.{10 + card}" for card in range(8)}),
        ("02_crlf_no_final_newline.conf", {card: f"198.51.100.{20 + card}" for card in range(4)}),
        ("04_missing_cards.conf", {0: "192.0.2.123", 1: "192.0.2.182", 4: "192.0.2.67"}),
        ("05_ipv6_extra_keys.conf", {0: "192.0.2.30", 1: "192.0.2.31"}),
    ],
)
def test_files_as_they_are_found(name: str, expected: Any) -> None:
    assert told(range(8), conf=str(SAMPLES / name)) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"#address_0=1.1.1.1\n address_0 = 192.0.2.1  # ring A\n", {0: "192.0.2.1"}),
        (b"address_0=192.0.2.1\naddress_0=192.0.2.2\n", {0: "192.0.2.2"}),  # as a shell would read it
        (b"address_0=2001:db8::1\n", {0: "2001:db8::1"}),
        (b"address_0=\naddress_1=192.0.2.1\n", {1: "192.0.2.1"}),
        (b"\xef\xbb\xbfaddress_0=192.0.2.1", {0: "192.0.2.1"}),
        (b"\xff\xfe\x00address_0=192.0.2.1\n\x00" * 3, {}),
        (b"address_99999999999=192.0.2.1\nxaddress_0=192.0.2.1\naddress_0=host\n", {}),
    ],
)
def test_files_that_people_wrote(tmp_path: Path, content: bytes, expected: Any) -> None:
    (tmp_path / "hccn.conf").write_bytes(content)
    assert told(range(8), conf=str(tmp_path / "hccn.conf")) == expected


def test_a_pipe_or_a_folder_in_its_place_does_not_hold_anybody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hccn.conf")
    assert told([0], conf=str(tmp_path / "hccn.conf")) == told([0], conf=str(tmp_path)) == {}


# --- all of them ---------------------------------------------------------------------------------


def test_each_card_is_told_by_the_first_source_that_knows_it(stand_in: Stand, tmp_path: Path) -> None:
    conf = tmp_path / "hccn.conf"
    conf.write_text("".join(f"address_{card}=192.0.2.{card}\n" for card in range(4)))
    tool = stand_in(f"echo $2 >> {tmp_path}/asked; [ $2 -le 2 ] && echo ipaddr:198.51.100.$2")
    found = find(
        [3, 2, 1, 0, 9],
        {"NPU_IPS": "0:203.0.113.0,1:203.0.113.1", "PATH": os.environ["PATH"]},
        annotation=annotation({"device_id": "0", "device_ip": "10.1.0.1"}),
        tool=tool,
        conf=str(conf),
    )
    assert found == {
        0: ("10.1.0.1", addresses.ANNOTATION),
        1: ("203.0.113.1", addresses.VARIABLE),
        2: ("198.51.100.2", addresses.TOOL),
        3: ("192.0.2.3", addresses.CONF),
    }
    assert sorted((tmp_path / "asked").read_text().split()) == ["2", "3", "9"]  # the others were known


def test_nothing_anywhere_is_an_empty_answer() -> None:
    assert find([0, 1], {}, conf=NONE) == {} == find([], {})


# --- the cure ------------------------------------------------------------------------------------


def test_the_cure_is_the_line_for_that_card_of_that_node() -> None:
    assert cure([5, 0], 0) == [
        "hccn_tool -i 0 -ip -s address 192.168.10.11 netmask 255.255.255.0",
        "hccn_tool -i 5 -ip -s address 192.168.20.12 netmask 255.255.255.0",
    ]
    assert cure([7], 1) == ["hccn_tool -i 7 -ip -s address 192.168.40.14 netmask 255.255.255.0"]


def test_no_two_cards_of_a_cluster_are_told_the_same_address_and_rings_share_subnets() -> None:
    said = [line.split() for node in range(512) for line in cure(range(16), node)]
    ips = [words[6] for words in said]
    assert len(set(ips)) == 512 * 16 and all(addresses.is_address(ip) for ip in ips)
    first = [words[6].split(".")[2] for words in said[:8]]
    assert first == ["10", "20", "30", "40"] * 2
