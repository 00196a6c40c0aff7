"""No log is never silent."""

from __future__ import annotations

import pytest

from jupyter_aiarts.engines.logs import no_log_reason


@pytest.mark.parametrize(
    ("phase", "why", "ranks", "sentence"),
    [
        ("queued", "2 jobs are before it.", (), "Not started yet (2 jobs are before it)."),
        ("starting", "", (), "Not started yet."),
        ("running", "ignored", (), "Started, nothing printed yet."),
        ("running", "pulling", ("starting",), "Not started yet (pulling)."),
        ("paused", "", (), "Started, nothing printed yet."),
        ("lost", "the node is gone", (), "The log is lost (the node is gone)."),
        ("succeeded", "", (), "Ended, nothing was printed."),
        ("failed", "start file missing", ("queued",), "Ended before it started (start file missing)."),
    ],
)
def test_there_is_a_sentence_for_every_empty_log(phase: str, why: str, ranks: tuple[str, ...], sentence: str) -> None:
    """Not started, nothing printed, lost: always with what is known."""
    assert no_log_reason(phase, why, rank_states=ranks) == sentence


def test_the_sentence_is_there_in_chinese() -> None:
    """The same, in the user's language."""
    assert no_log_reason("queued", "排队中。", "zh") == "尚未启动（排队中）。"
