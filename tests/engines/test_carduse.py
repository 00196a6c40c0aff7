"""What launchers say of a job's cards, read as it was meant; anything else is nothing known."""

from __future__ import annotations

import json

import msgspec
import pytest

from jupyter_aiarts.engines.carduse import usage_of
from jupyter_aiarts.engines.local.records import NodeStatus


def status(node: int, usage: bytes, idle: str | None = None) -> NodeStatus:
    head = {"node": node, "attempt": 1, "phase": "running", "since": "x", "idle_since": idle}
    text = json.dumps(head)[:-1].encode() + b', "usage": ' + usage + b"}"
    return msgspec.json.decode(text, type=NodeStatus)


def test_nodes_are_told_in_order_and_what_is_unknown_stays_so() -> None:
    cards = b'{"t": "t", "cards": [{"id": 2, "name": "910B4", "utilization": null, "most": 9.5, "new-key": 1}]}'
    seen = usage_of([status(1, cards, "since"), status(0, cards), status(2, b"null")])
    assert [(one.node, one.idle_since) for one in seen] == [(0, None), (1, "since")]
    assert (seen[0].cards[0].utilization, seen[0].cards[0].most) == (None, 9.5)


@pytest.mark.parametrize("said", [b"7", b'{"cards": 3}', b'{"cards": [{"id": "x"}]}', b'"text"', b"[]"])
def test_what_is_of_another_form_is_nothing_known(said: bytes) -> None:
    assert usage_of([status(0, said)]) == ()
