"""A rank table of 512 servers with 8 cards each: built, checked against every rule of HCCL and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_aiarts.launcher import record
from jupyter_aiarts.launcher.ascend.checking import check
from jupyter_aiarts.launcher.ascend.table import encode, render, seated

from .measure import Aim, Figure, in_turns, keep, medians, timed

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

SERVERS, CARDS, ROUNDS = 512, 8, 25
NODES = [
    (
        f"10.0.{node // 256}.{node % 256}",
        [(card, f"192.{card}.{node // 256}.{node % 256}") for card in range(CARDS)],
        f"w-{node}",
    )
    for node in range(SERVERS)
]


def test_a_large_rank_table(tmp_path: Path) -> None:
    path, beside = str(tmp_path / "hccl.json"), tmp_path / "peer.json"
    document = render(seated(NODES), "v1")
    steps: list[dict[str, float]] = []

    def ours() -> float:
        made: dict[str, bytes] = {}

        def build() -> None:
            made["content"] = encode(render(seated(NODES), "v1"))

        def judge() -> None:
            assert check(made["content"]) == []

        taken = {
            "build": timed(build),
            "check": timed(judge),
            "write": timed(lambda: record.write(path, made["content"])),
        }
        steps.append({name: seconds * 1000 for name, seconds in taken.items()})
        return sum(steps[-1].values())

    def peer() -> float:
        def dump() -> None:
            with beside.open("w") as file:
                json.dump(document, file, indent=1)

        return timed(dump) * 1000

    mine, theirs = in_turns(ROUNDS, ours, peer)
    assert json.loads(Path(path).read_bytes()) == json.loads(beside.read_bytes())
    keep(
        "7 rank table",
        Figure(
            title=f"A rank table of {SERVERS} × {CARDS} cards: built, checked and written",
            unit="ms",
            peer_name="`json.dump` of the same table, already built, with an indent and unchecked",
            ours=mine,
            peer=theirs,
            aim=Aim(by="ours", bound=50),
            more={f"{name}, ms": value for name, value in medians(steps[1:]).items()},
        ),
    )
