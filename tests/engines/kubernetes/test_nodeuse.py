"""What nodes use, as a metrics server tells it: amounts or unknown, never a guess."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_aiarts.engines.kubernetes.nodeuse import NodeMetrics, Use, joined, used
from jupyter_aiarts.model.cluster import Node


def metrics(**usage: str) -> NodeMetrics:
    """As the API server sends it."""
    sent = {"metadata": {"name": "node-a"}, "timestamp": "2026-11-18T06:00:00Z", "window": "10s", "usage": usage}
    return msgspec.convert(sent, NodeMetrics)


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        ({"cpu": "3250123456n", "memory": "12582912Ki"}, Use(3.25, 12.0)),
        ({"cpu": "250m", "memory": "512Mi"}, Use(0.25, 0.5)),
        ({"cpu": "0", "memory": "0"}, Use(0.0, 0.0)),
        ({"cpu": "4"}, Use(4.0, None)),
        ({}, Use(None, None)),
        ({"cpu": "much", "memory": "-1"}, Use(None, None)),
        ({"cpu": "1e999999", "memory": "9" * 500}, Use(None, None)),
    ],
)
def test_an_amount_is_told_and_anything_else_is_unknown(usage: dict[str, str], found: Use) -> None:
    assert used([metrics(**usage)]) == {"node-a": found}


def test_a_node_that_the_metrics_server_does_not_know_stays_unknown() -> None:
    nodes = tuple(Node(cluster="lab", name=name, ready=True, device=None, cards=0, free=0) for name in ("a", "b"))
    with_use = joined(nodes, {"a": Use(1.5, 2.0), "gone": Use(1.0, 1.0)})
    assert [(one.name, one.used_cpu, one.used_memory_gb) for one in with_use] == [("a", 1.5, 2.0), ("b", None, None)]
    assert joined(nodes, {}) is nodes
