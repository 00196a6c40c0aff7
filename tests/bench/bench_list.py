"""Listing 10,000 finished jobs, against reading and decoding their files bare."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from .finished import with_finished_jobs
from .measure import Aim, Figure, in_turns, keep, medians, short

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

JOBS = 10_000
ROUNDS = 9
CHILD = Path(__file__).with_name("list_child.py")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with many finished jobs, as the engine leaves them."""
    return with_finished_jobs(tmp_path_factory.mktemp("many") / "state", JOBS)


def child(kind: str, state: Path) -> dict[str, float]:
    """One measurement in a fresh Python, in milliseconds."""
    said = subprocess.check_output([sys.executable, str(CHILD), kind, str(state)], text=True)
    return {key: value * 1000 for key, value in json.loads(said).items()}


def test_listing_many_jobs(state: Path) -> None:
    records: list[dict[str, float]] = []

    def ours() -> float:
        records.append(child("service", state))
        return records[-1]["total"]

    cold, peer = in_turns(ROUNDS, ours, lambda: child("bare", state)["total"])
    steps = medians(records[1:])
    peer_name = f"reading and decoding the same {JOBS:,} job.json with `json`"
    keep(
        "4 cold list",
        Figure(
            title=f"{JOBS:,} finished jobs: a new process until its first list is ready, imports included",
            unit="ms",
            peer_name=peer_name,
            ours=cold,
            peer=peer,
            aim=Aim(by="ours", bound=1000),
            more={key: short(value) for key, value in steps.items() if key not in ("total", "warm")},
        ),
    )
    keep(
        "4 warm list",
        Figure(
            title=f"{JOBS:,} finished jobs: every further list",
            unit="ms",
            peer_name=peer_name,
            ours=[record["warm"] for record in records[1:]],
            peer=peer,
            aim=Aim(by="ours", bound=20),
            more={"over peer": short(steps["warm"] / statistics.median(peer))},
        ),
    )
