"""Moments as text: RFC 3339, UTC, microseconds, `Z`, so that text order is time order."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Compiled when first used: this module is imported by every server, and few of them parse a time at once.
_MOMENT = r"(?a)(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))"


def now() -> str:
    """This moment."""
    return text_of(datetime.now(timezone.utc))


def text_of(moment: datetime) -> str:
    """An aware datetime as this package writes it."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_ns(nanoseconds: int) -> str:
    """Nanoseconds since the epoch (a log chunk's time) as text; what is below a microsecond is cut."""
    return text_of(_EPOCH + timedelta(microseconds=nanoseconds // 1000))


def parse(text: str) -> datetime:
    """An aware datetime from any RFC 3339 text; Kubernetes' seconds and nanoseconds are both read.

    Raises ValueError for everything else, also for a time without a zone, which would be a guess.
    """
    match = re.fullmatch(_MOMENT, text)
    if match is None:
        raise ValueError(f"Not an RFC 3339 time with a zone: {text!r}.")
    day, clock, fraction, sign, hours, minutes = match.groups()
    moment = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=timezone.utc)
    moment += timedelta(microseconds=int((fraction or "0")[:6].ljust(6, "0")))
    if sign is None:
        return moment
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return moment - offset if sign == "+" else moment + offset


def seconds_between(earlier: str, later: str) -> float:
    """How many seconds lie between two moments; negative when they come in the other order."""
    return (parse(later) - parse(earlier)).total_seconds()
