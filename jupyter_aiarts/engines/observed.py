"""What can be learned from jobs that have run: how long they took, and how often one starts. Pure, over records."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.times import parse

MOST = 50  # the last so many: what was usual last year is not


def durations(records: Iterable[JobRecord], device: str) -> list[float]:
    """Seconds that the last jobs with this device took which ended by themselves; one that was stopped says nothing."""
    ended = [
        (one.ended, _seconds(one.started, one.ended))
        for one in records
        if one.phase in (Phase.SUCCEEDED, Phase.FAILED) and one.spec.device == device and one.started and one.ended
    ]
    ended.sort(reverse=True)
    return [seconds for _, seconds in ended[:MOST] if seconds is not None]


def between_starts(records: Iterable[JobRecord], at: str) -> tuple[list[float], float]:
    """Seconds between one start and the next, the last ones, and since the last one."""
    starts = sorted(seconds for one in records if (seconds := _seconds(one.started, at)) is not None and seconds >= 0)
    recent = starts[: MOST + 1]
    gaps = [later - earlier for earlier, later in pairwise(recent)]
    return gaps, recent[0] if recent else 0.0


def _seconds(earlier: str | None, later: str | None) -> float | None:
    try:
        return (parse(later or "") - parse(earlier or "")).total_seconds()
    except ValueError:
        return None
