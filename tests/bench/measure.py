"""How a figure is measured, judged and kept: samples of ours and of a named peer, taken in turns in one run."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What a figure should be: a number made of both medians, and its bound.

    `worst` is for what must never happen: no sample may be beyond the bound, however good their median.
    """

    by: str  # "ratio" (ours / peer), "speed" (peer / ours), "difference" (ours - peer), "ours" or "worst"
    bound: float
    at_least: bool = False

    def value(self, ours: float, peer: float, worst: float) -> float:
        """The number that is judged."""
        ways: dict[str, Callable[[], float]] = {
            "ratio": lambda: ours / peer if peer else float("inf"),
            "speed": lambda: peer / ours,
            "difference": lambda: ours - peer,
            "ours": lambda: ours,
            "worst": lambda: worst,
        }
        return ways[self.by]()

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of the table, with everything it was made from."""

    title: str
    unit: str
    peer_name: str
    ours: list[float]
    peer: list[float]
    aim: Aim | None = None  # None: told for the reader, judged by nothing
    more: dict[str, Any] = field(default_factory=dict)  # further medians that explain the figure

    def as_dict(self) -> dict[str, Any]:
        """The figure as results.json keeps it."""
        ours, peer = statistics.median(self.ours), statistics.median(self.peer)
        judged: dict[str, Any] = {"by": "ratio", "value": short(ours / peer) if peer else None}
        if self.aim is not None:
            value = self.aim.value(ours, peer, (min if self.aim.at_least else max)(self.ours))
            judged = {"by": self.aim.by, "value": short(value), "bound": self.aim.bound}
            judged |= {"at_least": self.aim.at_least, "met": self.aim.is_met(value)}
        medians = {"ours": short(ours), "peer": short(peer)}
        samples = {"ours": [short(one) for one in self.ours], "peer": [short(one) for one in self.peer]}
        said = {"title": self.title, "unit": self.unit, "peer_name": self.peer_name}
        return {**said, "medians": medians, "judged": judged, "more": self.more, "samples": samples}


def in_turns(rounds: int, ours: Callable[[], float], peer: Callable[[], float]) -> tuple[list[float], list[float]]:
    """Samples of both, A B A B …, so that whatever else the machine does falls on both; one round is thrown away."""
    pairs = [(ours(), peer()) for _ in range(rounds + 1)][1:]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def medians(records: list[dict[str, float]]) -> dict[str, float]:
    """Key by key over several measurements of the same steps."""
    return {key: short(statistics.median(one[key] for one in records)) for key in records[0]}


def short(value: float) -> float:
    """Five digits: more would pretend to a precision that no machine has."""
    return float(f"{value:.5g}")


def circumstances() -> dict[str, Any]:
    """When, of which code and on what kind of machine; nothing that names the machine."""
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": _git("rev-parse", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--", "jupyter_aiarts")),
        "cpus": len(os.sched_getaffinity(0)),
        "load": short(os.getloadavg()[0]),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def keep(key: str, figure: Figure) -> None:
    """Put a figure into results.json, replacing its last measurement, and say it."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    known[key] = {**figure.as_dict(), "measured": circumstances()}
    text = json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False)
    RESULTS.write_text(_flat_lists(text) + "\n", encoding="utf-8")
    shown = {name: known[key][name] for name in ("medians", "judged", "more")}
    print(f"\n{key}: {json.dumps(shown, ensure_ascii=False)}")


def _flat_lists(text: str) -> str:
    """Samples on one line each, so that a new measurement is a readable change."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if inside:
            lines[-1] += line.strip() + ("" if line.strip().startswith("]") or not line.endswith(",") else " ")
            inside = not line.strip().startswith("]")
        else:
            lines.append(line)
            inside = line.endswith("[")
    return "\n".join(lines)
