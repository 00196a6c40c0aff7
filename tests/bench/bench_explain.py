"""Explaining: one failed job from its last lines, and ten thousand jobs that wait."""

from __future__ import annotations

import re

import pytest

from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.spec import JobSpec
from tests.explain.situating import cause_of, situations, spec_of

from .measure import Aim, Figure, in_turns, keep, timed

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

ROUNDS, WAITING = 25, 10_000
SPEC = JobSpec(cluster="k8s", memory_gb=20.0, shm_gb=8.0)
NOISE = [f"step {step}: loss 0.{step:04d}, 41.2 it/s, lr 1e-4 | " + "=" * 60 for step in range(19)]
GREP = re.compile(r"error|exception|failed|killed|out of memory|no such file|denied|timed? ?out", re.IGNORECASE)


def failures() -> list[Cause]:
    """Every situation of a failed program, each with as many lines as a launcher keeps."""
    rows = [row for row in situations() if row["facts"].get("log_tail")]
    causes = [cause_of(row) for row in rows]
    return [Cause(code=one.code, values=one.values, evidence=(*NOISE, *one.evidence)[-20:]) for one in causes]


def test_one_failed_job() -> None:
    causes = failures()

    def ours() -> float:
        spent = sorted(timed(lambda one=cause: explain(one, "en", "abcdefghij", SPEC)) for cause in causes)
        return spent[int(len(spent) * 0.95)] * 1000

    def peer() -> float:
        spent = sorted(timed(lambda one=cause: [GREP.search(line) for line in one.evidence]) for cause in causes)
        return spent[int(len(spent) * 0.95)] * 1000

    mine, theirs = in_turns(ROUNDS, ours, peer)
    keep(
        "8 explain one",
        Figure(
            title=f"Explaining a failed job from its last 20 lines (p95 of {len(causes)} situations)",
            unit="ms",
            peer_name="one pattern of words such as error and denied, searched for in the same lines",
            ours=mine,
            peer=theirs,
            aim=Aim(by="ours", bound=5),
        ),
    )


def test_ten_thousand_that_wait() -> None:
    rows = [row for row in situations() if not row["facts"].get("log_tail")]
    waiting = [(cause_of(row), spec_of(row)) for row in rows]
    chosen = [waiting[number % len(waiting)] for number in range(WAITING)]

    def ours() -> float:
        return timed(lambda: [explain(cause, "zh", "abcdefghij", spec) for cause, spec in chosen])

    def peer() -> float:
        return timed(lambda: [GREP.search(line) for cause, _ in chosen for line in cause.evidence])

    mine, theirs = in_turns(5, ours, peer)
    keep(
        "8 explain waiting",
        Figure(
            title=f"Explaining {WAITING:,} jobs that wait",
            unit="s",
            peer_name="one pattern of words such as error and denied, searched for in the same sentences",
            ours=mine,
            peer=theirs,
            aim=Aim(by="ours", bound=2),
        ),
    )
