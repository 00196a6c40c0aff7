"""What launchers say of a job's cards and ranks, read as it was meant; anything else is nothing known."""

from __future__ import annotations

import json

import msgspec
import pytest

from jupyter_aiarts.engines.jobuse import usage_of
from jupyter_aiarts.engines.local.records import NodeStatus
from jupyter_aiarts.model.usage import Lines, RunHistory

EMPTY = Lines(times=[], series={})


def status(node: int, usage: bytes, idle: str | None = None) -> NodeStatus:
    head = {"node": node, "attempt": 1, "phase": "running", "since": "x", "idle_since": idle}
    text = json.dumps(head)[:-1].encode() + b', "usage": ' + usage + b"}"
    return msgspec.json.decode(text, type=NodeStatus)


def test_nodes_are_told_in_order_and_what_is_unknown_stays_so() -> None:
    said = (
        b'{"t": "t", "cards": [{"id": 2, "name": "910B4", "utilization": [null, 4, 9.5], "memory": [1, 2, 3], "x": 1,'
        b' "power": 93.5, "temperature": null}],'
        b' "ranks": [{"id": 5, "cpu": [null, 0.5, 2], "memory": [10, 20, 30]}]}'
    )
    seen = usage_of([status(1, said, "since"), status(0, said), status(2, b"null")])
    assert [(one.node, one.idle_since) for one in seen] == [(0, None), (1, "since")]
    card, rank = seen[0].cards[0], seen[0].ranks[0]
    assert (card.utilization, card.mean, card.most, card.mean_memory_mb, card.most_memory_mb) == (None, 4, 9.5, 2, 3)
    assert (card.power_w, card.temperature_c) == (93.5, None)
    assert (rank.rank, rank.cpu, rank.mean_cpu, rank.most_cpu, rank.memory_mb) == (5, None, 0.5, 2, 10)
    assert (rank.read, rank.mean_written) == (None, None)  # an older launcher does not tell


def test_what_a_rank_reads_and_writes_is_told_by_the_second() -> None:
    said = b'{"ranks": [{"id": 0, "cpu": [1, 1, 1], "memory": [1, 1, 1], "read": [5, 6, 7], "written": [null, 2, 3]}]}'
    (seen,) = usage_of([status(0, said)])
    (rank,) = seen.ranks
    assert (rank.read, rank.mean_read, rank.written, rank.mean_written) == (5, 6, None, 2)


def test_a_pods_network_is_told_and_one_that_nobody_looked_at_is_unknown() -> None:
    said = b'{"network": {"received": [5, 6, 7], "sent": [null, null, null]}}'
    pod, machine = usage_of([status(0, said), status(1, b"{}")])
    assert (pod.received, pod.mean_received, pod.sent, pod.mean_sent) == (5, 6, None, None)
    assert (machine.received, machine.sent) == (None, None)


def test_a_past_is_its_own_nodes_and_only_where_it_was_asked_for() -> None:
    past = RunHistory(cards=EMPTY, ranks=Lines(times=[1.0], series={"0 cpu": [None]}))
    with_past, without = usage_of([status(0, b"{}"), status(1, b"{}")], {0: past})
    assert (with_past.history, without.history) == (past, None)


@pytest.mark.parametrize(
    "said", [b"7", b'{"cards": 3}', b'{"cards": [{"id": "x"}]}', b'"text"', b"[]", b'{"ranks": [{"id": 1, "cpu": []}]}']
)
def test_what_is_of_another_form_is_nothing_known(said: bytes) -> None:
    assert usage_of([status(0, said)]) == ()


@pytest.mark.parametrize("series", [{"a": [1.0]}, {"a": [1.0, 2.0], "b": []}])
def test_series_of_another_length_than_their_times_are_refused(series: dict[str, list[float]]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"times": [1.0, 2.0], "series": series}, Lines)
