"""A table is called sound at once only where the close look finds nothing either."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_aiarts.launcher.ascend import usual
from jupyter_aiarts.launcher.ascend.checking import check
from jupyter_aiarts.launcher.ascend.finding import Finding
from jupyter_aiarts.launcher.ascend.table import encode, render

from .conftest import servers
from .test_properties import DAMAGES, GONE, damaged, places, unhurried

TWO = render(servers(nodes=2), "v1")
TEXT = encode(TWO).decode()
VALUES = [
    "00", "1", "8", "16", "192.168.0.2", "192.168.0.02", "192.168.0.1,192.168.9.9", "::1", "10.0.0.2", "训", "z" * 64
]  # fmt: skip
PIECES = ['"', ",", "}", "{", "]", "[", ":", "\\", " ", "0", "9", '"x": "1", ', '"rank_id": "1", ', '{"a": {"b": ":"}}']


def closely(content: bytes) -> "list[Finding]":
    """With cards to compare it looks closely; which of several servers has them nobody knows, so they say nothing."""
    return check(content, present=range(16))


@pytest.mark.parametrize("nodes", [2, 3, 200])
def test_what_is_built_for_whole_servers_is_seen_to_be_sound_at_once(nodes: int) -> None:
    document = render(servers(nodes), "v1")
    assert usual.is_sound(encode(document).decode()) and closely(encode(document)) == []
    assert usual.is_sound(json.dumps(document, separators=(",", ":")))


@pytest.mark.parametrize("value", DAMAGES + VALUES, ids=lambda value: "gone" if value is GONE else repr(value)[:12])
def test_no_value_deceives_it(value: Any) -> None:
    for at in places(TWO):
        agree(json.dumps(damaged(TWO, at, value)))


@unhurried
@given(st.integers(0, len(TEXT)), st.integers(0, 70), st.sampled_from([*PIECES, ""]))
@example(TEXT.index('"server_id"'), 0, '"device": [], ')
@example(TEXT.index('"device_id"'), 0, '"rank_id": "1", ')
@example(TEXT.index('"host_nic_ip"'), len('"host_nic_ip"'), '"host_ip"')
@example(TEXT.index('"reserve"'), len('"reserve"'), '{"host_ip": "10.0.0.1"}')
def test_no_change_of_the_text_deceives_it(at: int, gone: int, put: str) -> None:
    agree(TEXT[:at] + put + TEXT[at + gone :])


@unhurried
@given(st.integers(0, len(TEXT)), st.integers(0, 200), st.integers(0, len(TEXT)))
def test_nothing_that_stands_twice_deceives_it(at: int, long: int, to: int) -> None:
    agree(TEXT[:to] + TEXT[at : at + long] + TEXT[to:])


@pytest.mark.parametrize("text", ["", "[]", "7", "[" * 100_000, '{"server_list": [1, 2]}', "1" * 1_000_000, "NaN"])
def test_other_texts_are_not_called_sound(text: str) -> None:
    assert not usual.is_sound(text)


def agree(text: str) -> None:
    found = closely(text.encode())
    assert check(text.encode()) == found
    assert not (usual.is_sound(text) and found)
