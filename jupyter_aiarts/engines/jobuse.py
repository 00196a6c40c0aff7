"""What the launchers of a run saw of its cards and ranks, read from their statuses and from the past they keep."""

# Annotations are values: see model/spec.py.

from collections.abc import Iterable, Mapping

from msgspec import Struct, ValidationError, convert

from jupyter_aiarts.engines.local.records import NodeStatus
from jupyter_aiarts.launcher.usage.ledger import NAME as PAST
from jupyter_aiarts.model.usage import CardUse, NodeUsage, RankUse, RunHistory

__all__ = ["PAST", "usage_of"]

Over = tuple[float | None, float | None, float | None]  # last, mean, most
UNKNOWN: Over = (None, None, None)


class _Card(Struct):
    id: int
    utilization: Over
    memory: Over
    name: str = ""
    total: float | None = None
    health: str | None = None
    power: float | None = None
    temperature: float | None = None

    def told(self) -> CardUse:
        return CardUse(
            id=self.id,
            name=self.name,
            utilization=self.utilization[0],
            memory_used_mb=self.memory[0],
            memory_total_mb=self.total,
            health=self.health,
            power_w=self.power,
            temperature_c=self.temperature,
            mean=self.utilization[1],
            most=self.utilization[2],
            mean_memory_mb=self.memory[1],
            most_memory_mb=self.memory[2],
        )


class _Rank(Struct):
    id: int
    cpu: Over
    memory: Over
    read: Over = UNKNOWN  # a launcher of an earlier version does not tell
    written: Over = UNKNOWN

    def told(self) -> RankUse:
        return RankUse(
            rank=self.id,
            cpu=self.cpu[0],
            memory_mb=self.memory[0],
            mean_cpu=self.cpu[1],
            most_cpu=self.cpu[2],
            mean_memory_mb=self.memory[1],
            most_memory_mb=self.memory[2],
            read=self.read[0],
            written=self.written[0],
            mean_read=self.read[1],
            mean_written=self.written[1],
        )


class _Network(Struct):
    received: Over
    sent: Over


class _Said(Struct):
    """What a status says under `usage`."""

    t: str = ""
    cards: tuple[_Card, ...] = ()
    ranks: tuple[_Rank, ...] = ()
    network: _Network | None = None


def usage_of(statuses: Iterable[NodeStatus], past: Mapping[int, RunHistory] | None = None) -> tuple[NodeUsage, ...]:
    """Node by node, with the past where it is given; those that saw nothing are left out."""
    found = (_node(one, (past or {}).get(one.node)) for one in statuses)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: one.node))


def _node(status: NodeStatus, past: RunHistory | None) -> NodeUsage | None:
    """What one launcher says; None where it says nothing, or something else."""
    try:
        said = convert(status.usage, _Said | None)
    except ValidationError:
        return None
    if said is None:
        return None
    received, sent = (UNKNOWN, UNKNOWN) if said.network is None else (said.network.received, said.network.sent)
    return NodeUsage(
        node=status.node,
        t=said.t,
        idle_since=status.idle_since,
        cards=tuple(card.told() for card in said.cards),
        ranks=tuple(rank.told() for rank in said.ranks),
        received=received[0],
        sent=sent[0],
        mean_received=received[1],
        mean_sent=sent[1],
        history=past,
    )
