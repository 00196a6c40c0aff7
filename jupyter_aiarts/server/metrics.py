"""What Prometheus may know, in jupyter_server's own registry behind `/metrics`: how many jobs are in which phase, and
what this machine and its cards do.

A scrape waits for nobody: it tells what was last seen, with the time of that, and has a look taken for the next one. No
scraper, no look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily, Metric

from jupyter_aiarts.model.times import now, parse, seconds_between

if TYPE_CHECKING:
    from jupyter_aiarts.model.usage import Card, Host
    from jupyter_aiarts.service import JobService

FRESH = 300.0
"""Seconds after which a look is not told any more, by whoever it was taken; those who scrape come more often."""
CARD = ("kind", "id", "name", "part")


def collected(service: JobService) -> Iterator[Metric]:
    """The families of one scrape; called by `AiartsApp`'s collector."""
    jobs = GaugeMetricFamily("aiarts_jobs", "Jobs by cluster and phase", labels=("cluster", "phase"))
    counts = Counter((job.cluster, job.phase.value) for job in service.known())
    for labels, count in sorted(counts.items()):
        jobs.add_metric(labels, count)
    yield jobs
    seen = service.machine().seen_in_passing()
    if seen is not None and seconds_between(seen.t, now()) <= FRESH:
        at = parse(seen.t).timestamp()
        yield from _host(seen.host, at)
        yield from _cards(seen.devices, at)


def _host(host: Host, at: float) -> Iterator[Metric]:
    """The machine, or the container where the numbers are its own; what is not known is left out."""
    for name, help_text, value in (
        ("aiarts_host_cpus_busy", "CPUs that are busy", host.cpu),
        ("aiarts_host_cpus", "CPUs that there are", host.cpus),
        ("aiarts_host_memory_used_bytes", "Memory that is used", host.memory_used),
        ("aiarts_host_memory_bytes", "Memory that there is", host.memory_total),
    ):
        if value is not None:
            family = GaugeMetricFamily(name, help_text)
            family.add_metric((), value, timestamp=at)
            yield family
    used = GaugeMetricFamily("aiarts_disk_used_bytes", "Room of a disk that is taken", labels=("path",))
    total = GaugeMetricFamily("aiarts_disk_bytes", "Room that a disk has", labels=("path",))
    for disk in host.disks:
        used.add_metric((disk.path,), disk.used, timestamp=at)
        total.add_metric((disk.path,), disk.total, timestamp=at)
    yield from (used, total)


def _cards(cards: Iterable[Card], at: float) -> Iterator[Metric]:
    """A family for each number; a card that does not tell it is not in it."""
    cards = list(cards)
    well = GaugeMetricFamily("aiarts_card_healthy", "Whether a card is well, 1 or 0", labels=CARD)
    for card in cards:
        if card.health not in (None, "unknown"):
            well.add_metric(_labels(card), float(card.health == "ok"), timestamp=at)
    yield well
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
                family.add_metric(_labels(card), value * factor, timestamp=at)
        yield family


def _labels(card: Card) -> tuple[str, str, str, str]:
    return card.kind, str(card.id), card.name, card.part or ""
