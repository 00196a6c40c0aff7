"""What the launchers of a run last saw of its cards, from their statuses."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_aiarts.engines.local.records import NodeStatus
from jupyter_aiarts.model.usage import NodeUsage, node_usage


def usage_of(statuses: Iterable[NodeStatus]) -> tuple[NodeUsage, ...]:
    """Node by node; those that saw nothing are left out."""
    found = (node_usage(one.node, one.idle_since, one.usage) for one in statuses)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: one.node))
