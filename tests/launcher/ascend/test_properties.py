"""Whatever a table holds: what was built is read back, forms turn into each other, and no damaged field passes."""

import copy
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_aiarts.launcher.ascend.checking import check
from jupyter_aiarts.launcher.ascend.finding import Finding
from jupyter_aiarts.launcher.ascend.reading import Unreadable, parse
from jupyter_aiarts.launcher.ascend.table import FORMS, Server, encode, render, seated

from .conftest import servers as few

ALONE = [(3,), (6,), (0, 1), (6, 4), (0, 1, 2, 3), (7, 6, 5, 4), tuple(range(8))]
unhurried = settings(deadline=None)  # a busy machine is no mistake of ours


@st.composite
def jobs(draw: st.DrawFn, most: int = 12) -> "list[Server]":
    """Servers as a launcher may have them: several with all eight cards, or one with some, which may lack addresses."""
    nodes = draw(st.integers(1, most))
    cards = tuple(range(8)) if nodes > 1 else draw(st.sampled_from(ALONE))
    with_ips = nodes > 1 or draw(st.booleans())
    third = draw(st.permutations(range(1, nodes + 1)))
    names = draw(st.lists(st.text("abc-0123", min_size=1, max_size=9), min_size=nodes, max_size=nodes, unique=True))
    return seated(
        [
            (f"10.0.{node}.7", [(card, f"192.168.{card}.{node}" if with_ips else "") for card in cards], name)
            for node, name in zip(third, names, strict=True)
        ]
    )


def nameless(servers: "list[Server]") -> "list[Server]":
    return [server._replace(pod_name="") for server in servers]


@unhurried
@given(jobs())
def test_what_was_built_is_read_back_and_hccl_takes_it(servers: "list[Server]") -> None:
    for form in FORMS:
        content = encode(render(servers, form))
        assert check(content) == []
        table = parse(content)
        assert (table.form, table.status) == (form, "completed")
        if form == "cloud":
            assert {one.pod_name: placed(one) for one in table.servers} == {
                one.pod_name: placed(one) for one in servers
            }
        else:
            assert table.servers == nameless(servers)


def placed(server: Server) -> "tuple[str, list[tuple[int, str]]]":
    """All but the ranks, which HCCL itself gives the cards of a cloud table."""
    return server.server_id, sorted((card.device_id, card.ip) for card in server.cards)


@unhurried
@given(jobs())
def test_version_1_and_lab_turn_into_each_other_and_back(servers: "list[Server]") -> None:
    v1 = encode(render(servers, "v1"))
    lab = encode(render(parse(v1).servers, "lab"))
    assert lab == encode(render(servers, "lab"))
    assert encode(render(parse(lab).servers, "v1")) == v1


@unhurried
@given(jobs())
def test_a_cloud_table_gives_the_ranks_that_hccl_counts(servers: "list[Server]") -> None:
    cards = [(one.server_id, card) for one in parse(encode(render(servers, "cloud"))).servers for card in one.cards]
    in_order = sorted(cards, key=lambda one: one[1].rank)
    assert [card.rank for _, card in in_order] == list(range(len(cards)))
    assert in_order == sorted(cards, key=lambda one: (one[0], one[1].device_id))


# --- damage --------------------------------------------------------------------------------------

GONE = object()
UNREAD = {"host_nic_ip", "board_id", "chip_info", "para_plane_nic_num", "para_plane_nic_name"}
DAMAGES: "list[Any]" = [GONE, 7, 1.5, None, True, [], {}, "", "x y", "-1"]


def places(value: Any, at: Any = ()) -> "list[Any]":
    """The place of every scalar and list that HCCL reads."""
    found = [at] if at and (isinstance(at[-1], str)) else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        if key not in UNREAD:
            found += places(one, (*at, key))
    return found


def damaged(document: Any, at: Any, damage: Any) -> Any:
    document = copy.deepcopy(document)
    holder = document
    for key in at[:-1]:
        holder = holder[key]
    if damage is GONE:
        del holder[at[-1]]
    else:
        holder[at[-1]] = damage
    return document


def harmless(servers: "list[Server]", form: str, at: Any, damage: Any) -> bool:
    """What HCCL does not mind: a name is any text, a count may be left out, one server needs no addresses."""
    key = at[-1]
    text = isinstance(damage, str)
    if key == "device_ip" and len(servers) == 1:
        return damage == "" or form == "cloud" or (damage is GONE and form == "v1")
    if key in ("group_name", "deploy_mode"):
        return text
    if key in ("server_id", "pod_name"):
        return damage in ("x y", "-1") and (form != "lab" or len(servers[0].cards) == 1)
    return key == "server_count" and damage is GONE


@unhurried
@given(jobs(most=3), st.sampled_from(FORMS), st.sampled_from(DAMAGES), st.data())
def test_a_damaged_field_of_any_table_is_found_under_its_key(
    servers: "list[Server]", form: str, damage: Any, data: st.DataObject
) -> None:
    damage_is_found(servers, form, data.draw(st.sampled_from(places(render(servers, form)))), damage)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("nodes", "cards"), [(1, (2, 3)), (1, (0,)), (2, range(8))])
def test_every_field_damaged_in_every_way_is_found(form: str, nodes: int, cards: "Sequence[int]") -> None:
    made = few(nodes, cards)
    for at in places(render(made, form)):
        for damage in DAMAGES:
            damage_is_found(made, form, at, damage)


def damage_is_found(servers: "list[Server]", form: str, at: Any, damage: Any) -> None:
    findings = check(json.dumps(damaged(render(servers, form), at, damage)).encode())
    if harmless(servers, form, at, damage):
        return
    assert findings, (at, damage)
    for finding in findings:
        assert finding.message and finding.cure and finding.code and "\n" not in finding.sentence()
    if damage is not GONE and at[-1] != "version" and not isinstance(damage, str):
        assert any(is_there(finding, at) for finding in findings), findings


def is_there(finding: Finding, at: Any) -> bool:
    path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in at).lstrip(".")
    return finding.key == path


@unhurried
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_bytes_make_it_fall(content: bytes) -> None:
    assert check(content)
    try:
        parse(content)
    except Unreadable as error:
        assert error.problem.code == "rank-table-invalid" and error.problem.message


KEYS = st.sampled_from(
    ["status", "version", "server_list", "server_id", "device", "device_id", "rank_id", "device_ip", "group_list",
     "group_count", "instance_list", "devices", "deploy_mode", "super_pod_list", "pod_name", "server_count"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5),
    max_leaves=20,
)


@unhurried
@given(st.dictionaries(KEYS, JSON), st.sampled_from(["1.0", "1.2", None, 1.0]))
def test_no_document_makes_it_fall(document: "dict[str, Any]", version: Any) -> None:
    content = json.dumps({**document, "version": version} if version else document).encode()
    check(content, present=[0], rank="0", device=0)
    try:
        parse(content)
    except Unreadable:
        pass
