"""Every rule of HCCL's loader, each as one sentence that names the key to change."""

import json
import time
from typing import Any

import pytest

from jupyter_aiarts.launcher.ascend.checking import check, check_path
from jupyter_aiarts.launcher.ascend.reading import Unreadable, parse
from jupyter_aiarts.launcher.ascend.table import encode, render, seated

from .conftest import servers

PORTS = {"device_port": "16666", "backup_device_port": "16667"}


def table(form: str = "v1", nodes: int = 2, cards: Any = range(8), ips: bool = True) -> Any:
    return render(servers(nodes, cards, ips), form)


def super_pods() -> Any:
    """Two super pods with two servers each, version 1.2."""
    document = table(nodes=4)
    document["version"] = "1.2"
    for number, server in enumerate(document["server_list"]):
        for card, device in enumerate(server["device"]):
            device.update({"super_device_id": str(number % 2 * 8 + card), "backup_device_ip": "10.9.0.1", **PORTS})
    ids = [{"server_id": server["server_id"]} for server in document["server_list"]]
    document["super_pod_list"] = [
        {"super_pod_id": "0", "server_list": ids[:2]}, {"super_pod_id": "1", "server_list": ids[2:]}
    ]  # fmt: skip
    return document


def found(document: Any, **here: Any) -> "list[tuple[str, str]]":
    """`(code, key)` of everything that is wrong."""
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    return [(one.code, one.key) for one in check(content, **here)]


def put(document: Any, path: str, value: Any = None) -> Any:
    """The document with one key changed, or taken out by None."""
    *way, last = path.replace("[", ".").replace("]", "").split(".")
    holder = document
    for step in way:
        holder = holder[int(step) if step.isdigit() else step]
    if value is None:
        del holder[last]
    else:
        holder[int(last) if last.isdigit() else last] = value
    return document


def test_a_sound_table_of_each_form_has_no_finding() -> None:
    for document in (table(), table("lab"), table("cloud"), super_pods(), table(nodes=1, cards=(2, 3), ips=False)):
        assert found(document) == []


def test_a_finding_is_one_sentence_with_key_cause_and_cure() -> None:
    (finding,) = check(json.dumps(put(table(), "server_list[1].device[3].rank_id", 11)).encode())
    assert finding.sentence() == (
        'server_list[1].device[3].rank_id is the number 11, and HCCL reads strings only: write "rank_id": "11"'
    )


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("status", None, "missing"),
        ("status", "done", "not-completed"),
        ("version", None, "missing"),
        ("version", "1.1", "unknown-version"),
        ("version", 1.0, "not-a-string"),
        ("server_count", "3", "count-differs"),
        ("server_count", 2, "not-a-string"),
        ("server_count", "two", "not-a-number"),
        ("server_list", [], "empty"),
        ("server_list", {}, "not-a-list"),
        ("server_list[1]", "10.0.0.2", "not-an-object"),
        ("server_list[0].server_id", "", "empty"),
        ("server_list[0].server_id", "x" * 64, "too-long"),
        ("server_list[1].server_id", "10.0.0.1", "repeated"),
        ("server_list[0].device", None, "missing"),
        ("server_list[0].device[7].device_id", "16", "device-too-high"),
        ("server_list[0].device[7].device_id", "-1", "not-a-number"),
        ("server_list[0].device[7].device_id", "٣", "not-a-number"),
        ("server_list[0].device[7].device_id", "6", "device-repeated"),
        ("server_list[0].device[7].device_ip", None, "ip-missing"),
        ("server_list[0].device[7].device_ip", "", "ip-missing"),
        ("server_list[0].device[7].device_ip", "-1", "not-an-ip"),
        ("server_list[0].device[7].device_ip", "loop", "not-an-ip"),
        ("server_list[0].device[7].device_ip", "192.168.1.300", "not-an-ip"),
        ("server_list[0].device[7].device_ip", "192.168.6.1", "ip-repeated"),
        ("server_list[0].device[7].device_ip", "2001:db8::1", "ip-kinds"),
        ("server_list[0].device[7].device_ip", "192.168.7.1,192.168.7.101", "ip-counts"),
        ("server_list[0].device[7].device_port", "70000", "not-a-port"),
        ("server_list[0].device[7].rank_id", "6", "rank-repeated"),
        ("server_list[1].device[7].rank_id", "16", "rank-gap"),
        ("server_list[1].device[7].rank_id", "first", "not-a-number"),
    ],
)
def test_version_1_0(path: str, value: Any, code: str) -> None:
    assert (code, path) in found(put(table(), path, value))


def test_host_ip_stands_on_all_servers_or_on_none() -> None:
    partial = put(table(), "server_list[0].host_ip", "10.0.0.1")
    assert found(partial) == [("host-ip-partial", "server_list[1].host_ip")]
    put(partial, "server_list[1].host_ip", "10.0.0.2")
    assert found(put(partial, "server_list[1].device[0].device_ip")) == []  # hosts' cards are used: not read
    assert found(put(partial, "server_list[1].host_ip", "h2")) == [("not-an-ip", "server_list[1].host_ip")]


def test_one_server_may_do_without_addresses_unless_roce_is_asked_for() -> None:
    document = table(nodes=1, ips=False)
    assert found(document) == []
    assert {code for code, _ in found(document, roce=True)} == {"ip-missing"}
    del document["server_count"]  # HCCL counts for itself
    assert found(document) == []


GROUP = "group_list[0]"
FIRST = f"{GROUP}.instance_list[0]"


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("para_plane_nic_location", "host", "wrong-value"),
        ("para_plane_nic_location", None, "missing"),
        ("deploy_mode", 1, "not-a-string"),
        ("group_count", "0", "count-differs"),
        (f"{GROUP}.group_name", None, "missing"),
        (f"{GROUP}.instance_count", "15", "count-differs"),
        (f"{GROUP}.device_num", "15", "count-differs"),
        (f"{GROUP}.server_num", "1", "count-differs"),
        (f"{FIRST}.devices", [], "empty"),
        (f"{FIRST}.devices[0].device_ip", None, "missing"),
        (f"{FIRST}.devices[0].device_ip", "", "ip-missing"),
        (f"{FIRST}.devices[0].device_ip", "1.2.3.4,1.2.3.5", "not-an-ip"),
        (f"{FIRST}.rank_id", "1", "rank-repeated"),
        (f"{FIRST}.rank_id", 0, "not-a-string"),
        (f"{FIRST}.server_id", None, "missing"),
    ],
)
def test_lab(path: str, value: Any, code: str) -> None:
    # Of two that share a rank, the second one is named.
    key = path.replace("list[0].rank", "list[1].rank") if code == "rank-repeated" else path
    assert (code, key) in found(put(table("lab"), path, value))


def test_lab_wants_as_many_cards_on_every_server() -> None:
    document = table("lab", nodes=1, cards=(0, 1, 2))
    assert ("card-count", f"{GROUP}.instance_list") in found(document, rings=False)
    two = {"device_id": "1", "device_ip": ""}
    document = table("lab", nodes=1, cards=(0,))
    document["group_list"][0]["instance_list"][0]["devices"].append(two)
    assert ("several-cards", f"{FIRST}.devices") in found(document)


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (f"{GROUP}.device_count", "15", "count-differs"),
        (f"{GROUP}.instance_count", "1", "count-differs"),
        (f"{GROUP}.instance_list[1].pod_name", "w-0", "repeated"),
        (f"{FIRST}.pod_name", None, "missing"),
        (f"{FIRST}.pod_name", "", "empty"),
        (f"{FIRST}.devices[0].device_id", "8", "device-too-high"),
        (f"{FIRST}.devices[0].device_ip", "nowhere", "not-an-ip"),
    ],
)
def test_cloud(path: str, value: Any, code: str) -> None:
    assert (code, path) in found(put(table("cloud"), path, value))


def test_a_cloud_table_of_one_pod_is_read_without_its_addresses() -> None:
    assert found(put(table("cloud", nodes=1), f"{FIRST}.devices[0].device_ip", "loop")) == []


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("super_pod_list", None, "missing"),
        ("super_pod_list[1].super_pod_id", "0", "repeated"),
        ("super_pod_list[1].super_pod_id", "", "empty"),
        ("super_pod_list[0].server_list[0].server_id", "10.9.9.9", "unknown-server"),
        ("super_pod_list[1].server_list[0].server_id", "10.0.0.1", "repeated"),
        ("server_list[0].device[0].super_device_id", None, "missing"),
        ("server_list[0].device[0].super_device_id", "x", "not-a-number"),
        ("server_list[0].device[1].super_device_id", "0", "repeated"),
        ("server_list[0].device[0].backup_device_ip", "no", "not-an-ip"),
    ],
)
def test_version_1_2(path: str, value: Any, code: str) -> None:
    assert (code, path) in found(put(super_pods(), path, value))


def test_every_server_stands_in_one_super_pod_and_pods_are_even() -> None:
    document = super_pods()
    moved = document["super_pod_list"][0]["server_list"].pop()
    assert {("not-in-a-super-pod", "server_list[1].server_id"), ("super-pods-uneven", "super_pod_list")} <= {
        *found(document)
    }
    document["super_pod_list"][1]["server_list"].append(moved)
    assert ("super-pods-uneven", "super_pod_list") in found(document)


def test_inside_one_super_pod_addresses_are_not_needed() -> None:
    document = super_pods()
    for server in document["server_list"]:
        for device in server["device"]:
            del device["device_ip"]
    assert {code for code, _ in found(document)} == {"ip-missing"}
    document["super_pod_list"] = [
        {"super_pod_id": "0", "server_list": [{"server_id": one["server_id"]} for one in document["server_list"]]}
    ]
    for number, device in enumerate(one for server in document["server_list"] for one in server["device"]):
        device["super_device_id"] = str(number)
    assert found(document) == []


def test_version_2_0_is_known_and_said_not_to_be_checked() -> None:
    (finding,) = check(b'{"status":"completed","version":"2.0","rank_count":1,"rank_list":[]}')
    assert (finding.code, finding.key) == ("version-not-checked", "version")
    assert "not checked here" in finding.sentence()


# --- the shape of a board ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "code", "cure"),
    [
        ((0, 1, 2), "card-count", "take 2 or 4 cards"),
        ((0, 1, 2, 3, 4), "card-count", "take 4 or 8 cards"),
        ((3, 4), "ring-crossed", "one ring"),
        ((0, 1, 4, 5), "ring-crossed", "one ring"),
    ],
)
def test_cards_that_no_910_trains_on(cards: Any, code: str, cure: str) -> None:
    for form, key in (("v1", "server_list[0].device"), ("cloud", f"{FIRST}.devices")):
        content = encode(render(servers(1, cards), form))
        (finding,) = check(content)
        assert (finding.code, finding.key) == (code, key) and cure in finding.cure
        assert check(content, rings=False) == []  # a 910B reaches all its cards


def test_several_servers_have_all_their_cards() -> None:
    assert found(table(cards=range(4))) == [
        ("card-count", "server_list[0].device"), ("card-count", "server_list[1].device")
    ]  # fmt: skip
    assert found(table(nodes=1, cards=range(16))) == []  # no 910, so not its rule


def test_more_than_512_servers_are_too_many() -> None:
    places = [f"{node // 256}.{node % 256}" for node in range(513)]
    many = seated([(f"10.1.{place}", [(card, f"192.{card}.{place}") for card in range(8)], "") for place in places])
    assert ("too-many-servers", "server_list") in found(render(many, "v1"))
    assert found(render(many[:512], "v1")) == []


# --- this process and this machine ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "here", "expected"),
    [
        ("v1", {"rank": "15", "device": 7}, []),
        ("v1", {"rank": "16"}, [("rank-too-high", "RANK_ID")]),
        ("v1", {"rank": "9" * 40}, [("rank-not-digits", "RANK_ID")]),
        ("v1", {"rank": "²"}, [("rank-not-digits", "RANK_ID")]),
        ("v1", {"rank": ""}, [("rank-not-digits", "RANK_ID")]),
        ("v1", {"rank": "w-0"}, [("rank-not-digits", "RANK_ID")]),
        ("lab", {"rank": "w-0"}, [("rank-not-digits", "RANK_ID")]),
        ("v1", {"rank": "3", "device": 4}, [("device-differs", "server_list[0].device[3].device_id")]),
        ("cloud", {"rank": "w-1", "device": 7}, []),
        ("cloud", {"rank": "0"}, [("rank-unknown", "RANK_ID")]),
        ("cloud", {"rank": "w-1", "device": 8}, [("device-differs", f"{GROUP}.instance_list[1].devices[0].device_id")]),
        ("v1", {"present": [0, 1]}, []),  # nobody said which server this is
        ("v1", {"rank": "8", "present": range(7)}, [("device-absent", "server_list[1].device[7].device_id")]),
    ],
)
def test_a_process_finds_itself_in_the_table(form: str, here: Any, expected: Any) -> None:
    assert found(table(form), **here) == expected


def test_cards_that_are_not_there_are_named() -> None:
    (finding,) = check(encode(table(nodes=1, cards=(0, 1))), present=[0])
    assert (finding.key, finding.code) == ("server_list[0].device[1].device_id", "device-absent")


def test_hccl_looks_for_json_from_the_left() -> None:
    assert check_path("/home/a/hccl.json") == []
    assert [one.code for one in check_path("/home/a.json/hccl.json")] == ["path-not-json"]
    assert check_path("/home/a/hccl.txt")[0].cure == "rename the file to /home/a/hccl.json"
    assert check_path("/home/a.b/hccl")[0].cure == "rename the file to /home/a.b/hccl.json"


# --- whatever the bytes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"", "empty-file", "aiarts ranktable"),
        (b"\xef\xbb\xbf{}", "byte-order-mark", "without BOM"),
        ("{}".encode("utf-16"), "not-utf8", "save it as UTF-8"),
        (b"[]", "not-an-object", "a list"),
        (b"null", "not-an-object", "null"),
        (b'{"status": "completed",}', "not-json", "line 1, column"),
        (b'{"status": "completed", // done\n "version": "1.0"}', "comment", "take comments out"),
        (b'# mine\n{"status": "completed"}', "comment", "take comments out"),
        (b'{"status": "completed" /* x */}', "comment", "take comments out"),
        (b'{"version": NaN}', "not-json", "NaN"),
        (b'{"version": -Infinity}', "not-json", "Infinity"),
        (b"[" * 1_000_000, "too-deep", "nested"),
        (b'{"a":' * 90_000, "too-deep", "nested"),
        (b"9" * 3_000_000, "not-an-object", "number"),
        (b"x" * 10_000_000, "too-large", "more than 4 MB"),
        (b"{}," * 1_300_000, "too-large", "cluster"),
        (b'{"status": "\xff"}', "not-utf8", "byte 12"),
    ],
)
def test_junk_gets_one_sentence_quickly(content: bytes, code: str, said: str) -> None:
    start = time.process_time()
    (finding,) = check(content)
    assert time.process_time() - start < 1.0
    assert finding.code == code and said in finding.sentence()
    with pytest.raises(Unreadable):
        parse(content)


def test_a_key_that_stands_twice_is_named_with_its_place() -> None:
    content = encode(table()).replace(b'"rank_id": "9"', b'"rank_id": "9", "rank_id": "9"')
    assert found(content) == [("key-twice", "server_list[1].device[1].rank_id")]


def test_a_misspelt_key_is_named() -> None:
    content = encode(table()).replace(b'"rank_id": "9"', b'"rankId": "9"')
    first = check(content)[0]
    assert (first.key, first.code) == ("server_list[1].device[1].rank_id", "missing")
    assert first.cure == "rename 'rankId' to rank_id"


def test_very_many_mistakes_end_with_a_word_about_the_rest() -> None:
    content = b'{"status":"completed","version":"1.0","server_list":[' + b"{}," * 50_000 + b"{}]}"
    start = time.process_time()
    findings = check(content)
    assert time.process_time() - start < 1.0
    assert len(findings) == 51 and findings[-1].code == "more"


def test_control_characters_of_a_file_do_not_reach_the_reader() -> None:
    hostile = put(table(), "server_list[0].device[0].device_ip", "\x1b[2J\u202e\ud800")
    (finding,) = check(json.dumps(hostile).encode())
    assert finding.sentence().isascii() and "\x1b" not in finding.sentence()


# --- reading -------------------------------------------------------------------------------------


def test_a_table_that_is_not_filled_yet_is_read_as_such() -> None:
    waiting = parse(b'{"status":"initializing"}')
    assert (waiting.status, waiting.servers) == ("initializing", [])
    assert found(b'{"status":"initializing"}') == [("not-completed", "status")]


def test_numbers_are_read_although_hccl_would_not() -> None:
    content = (
        b"".join(encode(table()).split(b'"rank_id": "9"')[:1])
        + b'"rank_id": 9'
        + encode(table()).split(b'"rank_id": "9"')[1]
    )
    assert parse(content).servers == [one._replace(pod_name="") for one in servers(2)]
    assert found(content) == [("not-a-string", "server_list[1].device[1].rank_id")]


@pytest.mark.parametrize("path", ["server_list[0].device[0].rank_id", "server_list[0].server_id", "server_list"])
def test_what_has_a_hole_is_not_read(path: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(json.dumps(put(table(), path)).encode())
    assert caught.value.finding.key == path and caught.value.problem.code == "rank-table-invalid"
