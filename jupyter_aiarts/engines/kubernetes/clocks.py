"""Clocks that differ: the API server's counts; nodes write times by their own, and this server has one too. Pure."""

from __future__ import annotations

from datetime import timedelta

from jupyter_aiarts.model.times import parse, seconds_between, text_of

HARDLY = 5.0  # seconds: an answer's date has whole ones, and the answer was on its way


def lead_of(date: str | None, now: float) -> float:
    """How many seconds a clock that wrote an answer's `Date` is ahead of one that shows `now`; 0 if hardly any."""
    from email.utils import parsedate_to_datetime

    try:
        lead = parsedate_to_datetime(date or "").timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return lead if abs(lead) > HARDLY else 0.0


def moved(time: str, seconds: float) -> str:
    """A moment so much later; what is no time, as people may write into annotations, stays what it is."""
    try:
        return text_of(parse(time) + timedelta(seconds=seconds)) if seconds else time
    except (ValueError, OverflowError):
        return time


def span(earlier: str | None, later: str | None) -> float | None:
    """Seconds from one to the other, none where clocks say that it was the other way round; None if unknown."""
    try:
        return max(seconds_between(earlier, later), 0.0) if earlier and later else None
    except (ValueError, OverflowError):
        return None


def delay_of(started: str | None, created: str | None) -> float:
    """How far a node's clock is behind at least, whose run began before it was made; 0 for all others."""
    return span(started, created) or 0.0
