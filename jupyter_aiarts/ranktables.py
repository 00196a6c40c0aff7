"""A run's rank table for whoever looks at the job: its rows, and whether HCCL would take it."""

from __future__ import annotations

from msgspec import convert

from jupyter_aiarts.kernel.doctor_ranktable import verdict
from jupyter_aiarts.launcher.ascend.reading import LIMIT, Unreadable, parse
from jupyter_aiarts.model.ranktable import RankTable, TableCard


def told(content: bytes, lang: str = "en") -> RankTable:
    """The table with the doctor's verdict; any bytes will do, and of too many only the beginning is shown."""
    text = content[:LIMIT].decode("utf-8", "replace")
    return convert({"text": text, "cards": _cards(content), **verdict(content, lang)}, RankTable)


def _cards(content: bytes) -> list[TableCard]:
    try:
        servers = parse(content).servers
    except Unreadable:
        return []
    cards = [
        TableCard(rank=card.rank, server=one.server_id, device=card.device_id, ip=card.ip, pod=one.pod_name)
        for one in servers
        for card in one.cards
    ]
    return sorted(cards, key=lambda card: card.rank)
