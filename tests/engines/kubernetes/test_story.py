"""Events of a cluster in the order in which they happened, though some of them count whole seconds."""

from __future__ import annotations

import pytest

from jupyter_aiarts.engines.kubernetes.story import _exactly

MADE = "train-a123456789-1-0-x.18a1b2c3d4e5f607"  # 2026-03-30T18:44:42.320893Z


@pytest.mark.parametrize(
    ("at", "name", "exact"),
    [
        ("2026-03-30T18:44:42Z", MADE, "2026-03-30T18:44:42.320893Z"),
        ("2026-03-30T18:44:43Z", MADE, "2026-03-30T18:44:43Z"),  # made later than it happened, or by another clock
        ("2026-03-30T18:44:42Z", "by-hand", "2026-03-30T18:44:42Z"),
        ("2026-03-30T18:44:42Z", "by.hand", "2026-03-30T18:44:42Z"),
        ("2026-03-30T18:44:42Z", "x.ffffffffffffffff", "2026-03-30T18:44:42Z"),
    ],
)
def test_a_time_in_seconds_is_made_exact_by_the_events_name(at: str, name: str, exact: str) -> None:
    assert (_exactly(at, name) or "").startswith(exact)


def test_an_event_without_a_time_stays_without() -> None:
    assert _exactly(None, MADE) is None
