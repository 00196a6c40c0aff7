"""What Prometheus may know, in jupyter_server's own registry behind `/metrics`: how many jobs are in which phase, and
what this machine's cards did when somebody last looked.

A scrape reads what is known and asks nobody: it never makes a probe run, a thread stand or a cluster answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily, Metric

from jupyter_aiarts.model.times import now, seconds_between

if TYPE_CHECKING:
    from jupyter_aiarts.model.usage import Card
    from jupyter_aiarts.service import JobService

FRESH = 30.0
"""Seconds after which a look at the machine is not told any more: an old number is not the present one."""
CARD = ("kind", "id", "name", "part")


def collected(service: JobService) -> Iterator[Metric]:
    """The families of one scrape; called by `AiartsApp`'s collector."""
    jobs = GaugeMetricFamily("aiarts_jobs", "Jobs by cluster and phase", labels=("cluster", "phase"))
    counts = Counter((job.cluster, job.phase.value) for job in service.known())
    for labels, count in sorted(counts.items()):
        jobs.add_metric(labels, count)
    yield jobs
    seen = service.last_usage()
    if seen is not None and seconds_between(seen.t, now()) <= FRESH:
        yield from _cards(seen.devices)


def _cards(cards: Iterable[Card]) -> Iterator[Metric]:
    """A family for each number; a card that does not tell it is not in it."""
    cards = list(cards)
    for name, help_text, field, factor in (
        ("aiarts_card_utilization_ratio", "How busy a card is, 0 to 1", "utilization", 0.01),
        ("aiarts_card_memory_used_bytes", "Memory of a card that is used", "memory_used_mb", 1 << 20),
        ("aiarts_card_memory_bytes", "Memory that a card has", "memory_total_mb", 1 << 20),
        ("aiarts_card_power_watts", "Power that a card draws", "power_w", 1),
        ("aiarts_card_temperature_celsius", "How warm a card is", "temperature_c", 1),
    ):
        family = GaugeMetricFamily(name, help_text, labels=CARD)
        for card in cards:
            value = getattr(card, field)
            if value is not None:
                family.add_metric((card.kind, str(card.id), card.name, card.part or ""), value * factor)
        yield family
