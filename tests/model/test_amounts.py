"""Times and quantities: exact, ordered, and read back as written."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.model import times
from jupyter_aiarts.model.quantity import format_quantity, human_size, parse_gb, parse_quantity


def test_now_is_rfc_3339_in_utc_with_microseconds() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", times.now())
    assert abs(times.parse(times.now()) - datetime.now(timezone.utc)) < timedelta(seconds=5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-16T01:02:03.456789Z", datetime(2026, 11, 16, 1, 2, 3, 456789, timezone.utc)),
        ("2026-11-16T01:02:03Z", datetime(2026, 11, 16, 1, 2, 3, 0, timezone.utc)),
        ("2026-11-16T01:02:03.123456789Z", datetime(2026, 11, 16, 1, 2, 3, 123456, timezone.utc)),
        ("2026-11-16T01:02:03.5+02:00", datetime(2026, 11, 15, 23, 2, 3, 500000, timezone.utc)),
        ("2026-11-16 01:02:03-08:30", datetime(2026, 11, 16, 9, 32, 3, 0, timezone.utc)),
    ],
)
def test_times_of_every_rfc_3339_kind_are_read(text: str, expected: datetime) -> None:
    assert times.parse(text) == expected


@pytest.mark.parametrize(
    "text", ["", "now", "2026-11-16", "2026-11-16T01:02:03", "2026-13-16T01:02:03Z", "2026-11-16T01:02:03Z\n"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        times.parse(text)


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(timezone.utc)))
def test_a_moment_survives_being_written(moment: datetime) -> None:
    assert times.parse(times.text_of(moment)) == moment


def test_seconds_between_and_nanoseconds() -> None:
    assert times.seconds_between("2026-01-01T00:00:00Z", "2026-01-01T00:00:01.5Z") == 1.5
    assert times.seconds_between("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z") == -1.0
    assert times.from_ns(1_700_000_000_123_456_789) == "2023-11-14T22:13:20.123456Z"


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("500m", "0.5"), ("2", "2"), ("1.5Gi", "1610612736"), ("1e3", "1000"), ("1E3", "1000"),
        ("1E", "1e18"), ("100n", "1e-7"), ("5u", "0.000005"), ("3k", "3000"), ("-1Ki", "-1024"),
        (".5", "0.5"), ("+1M", "1000000"), ("12e-3", "0.012"), ("8Ei", str(8 * 2**60)),
    ],
)  # fmt: skip
def test_quantities_are_read_exactly(text: str, amount: str) -> None:
    assert parse_quantity(text) == Decimal(amount)


@pytest.mark.parametrize(
    "text", ["", "m", "1 Gi", "1gb", "1KI", "0x10", "1e", "--1", "1" * 65, "NaN", "inf", "1e9999", "\u0661"]
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Not a quantity"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("amount", "binary", "text"),
    [
        (0.5, False, "500m"), (2, False, "2"), (1000, False, "1k"), (0, False, "0"), (1.5, False, "1500m"),
        (0.0001, False, "1m"), (1610612736, True, "1536Mi"), (2**30, True, "1Gi"), (1000, True, "1000"),
        (0.5, True, "1"), (0, True, "0"),
    ],
)  # fmt: skip
def test_quantities_are_written_short(amount: float, binary: bool, text: str) -> None:
    assert format_quantity(amount, binary=binary) == text


@given(st.integers(0, 10**12))
def test_a_quantity_survives_being_written(thousandths: int) -> None:
    amount = Decimal(thousandths) / 1000
    assert parse_quantity(format_quantity(amount)) == amount
    assert parse_quantity(format_quantity(thousandths, binary=True)) == thousandths


@pytest.mark.parametrize(
    ("text", "gb"),
    [("4", 4), ("4G", 4), ("4GB", 4), ("4 Gi", 4), ("512MB", 0.5), ("1.5g", 1.5), ("2TiB", 2048)],
)
def test_sizes_people_write(text: str, gb: float) -> None:
    assert parse_gb(text) == gb


@pytest.mark.parametrize("text", ["", "GB", "-1", "4 4", "1e3", "4 apples", "9" * 65])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Not a size"):
        parse_gb(text)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536 * 2**20, "1.5 GiB"),
        (2**20 - 1, "1.0 MiB"),
    ],
)
def test_sizes_people_read(count: int, text: str) -> None:
    assert human_size(count) == text
