"""What people feel in JupyterLab's page, in a real browser: starting, long lists, news, fast and long logs, many nodes.

The browser's part of each measurement is a script in `browser/`; it starts a JupyterLab of its own and prints JSON.
"""

from __future__ import annotations

import gzip
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .finished import with_finished_jobs
from .measure import ROOT, Aim, Figure, keep, short

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

JOBS = 10_000
NODES = 1_000
ROUNDS = 5
STARTS = 30  # ten are the least that was asked for, and their median still moves by several per cent here
CHANGES = 25
FOLLOWED = 10  # seconds of a log, each round
LONGEST = 50.0  # ms that a task may take: more, and a hand feels it
NOISE = "a page with nothing of ours, scrolled in the same way"
SCRIPTS = Path(__file__).with_name("browser")
BUILT = ROOT / "jupyter_aiarts" / "labextension" / "static"


def browser(script: str, *words: object) -> Any:
    """What a script measured."""
    command = ["node", str(SCRIPTS / script), *map(str, words)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(said.splitlines()[-1])


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with many finished jobs, as the engine leaves them."""
    return with_finished_jobs(tmp_path_factory.mktemp("many") / "state", JOBS)


def tasks(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """What explains the longest tasks: how many were too long, and how much of one was computing."""
    return {
        f"tasks over {LONGEST:g} ms in {len(rounds)} rounds": sum(len(one["over"]) for one in rounds),
        "CPU of the busiest task, ms": short(statistics.median(one["cpu"] for one in rounds)),
        "share of the time": short(statistics.median(one["busy"] for one in rounds)),
    }


def longest(title: str, ours: list[dict[str, Any]], control: list[dict[str, Any]], peer: str, **more: Any) -> Figure:
    """The longest task of each round."""
    return Figure(
        title=title,
        unit="ms",
        peer_name=peer,
        ours=[one["longest"] for one in ours],
        peer=[one["longest"] for one in control],
        aim=Aim(by="worst", bound=LONGEST),
        more={**tasks(ours), "in the control": tasks(control), **more},
    )


def test_start() -> None:
    found = browser("start.mjs", STARTS)
    ours, peer = found["ours"], found["peer"]
    keep(
        "9 page, JupyterLab's start",
        Figure(
            title="JupyterLab, from the navigation until it is restored",
            unit="ms",
            peer_name="without our extension",
            ours=[one["restored"] for one in ours],
            peer=[one["restored"] for one in peer],
            aim=Aim(by="ratio", bound=1.05),
            more={
                "CPU of the page's main thread, ms": {
                    "ours": short(statistics.median(one["cpu"] for one in ours)),
                    "peer": short(statistics.median(one["cpu"] for one in peer)),
                }
            },
        ),
    )
    at_start, whole = gzipped(found["atStart"]), gzipped([one.name for one in BUILT.glob("*.js")])
    keep(
        "9 page, bundle",
        Figure(
            title="The labextension, gzipped, without what JupyterLab shares",
            unit="kB",
            peer_name="of it, loaded with JupyterLab, before anything of it was opened",
            ours=[whole],
            peer=[at_start],
            aim=Aim(by="ours", bound=350),
            more={"loaded until the sidebar shows jobs": short(gzipped(found["bySidebar"]))},
        ),
    )


def gzipped(names: list[str]) -> float:
    return sum(len(gzip.compress((BUILT / name).read_bytes(), 9)) for name in names) / 1000


def test_many_jobs(state: Path) -> None:
    found = browser("list.mjs", state, ROUNDS)
    opening = [one["opening"] for one in found]
    keep(
        "9 page, list",
        Figure(
            title=f"{JOBS:,} jobs arrive in an open sidebar, until they are painted",
            unit="ms",
            peer_name="of that, until our code has taken them in",
            ours=[one["painted"] for one in found],
            peer=[one["handled"] for one in found],
            aim=Aim(by="ours", bound=300),
            more=tasks(opening),
        ),
    )
    keep(
        "9 page, list in the DOM",
        Figure(
            title=f"{JOBS:,} jobs: rows in the page at most, while scrolling",
            unit="rows",
            peer_name="jobs",
            ours=[one["most"] for one in found],
            peer=[JOBS],
            aim=Aim(by="ours", bound=200),
        ),
    )
    scrolling, control = [one["scrolling"] for one in found], [one["control"] for one in found]
    title = f"{JOBS:,} jobs: the longest task while scrolling"
    keep("9 page, list scrolled", longest(title, scrolling, control, NOISE))


@pytest.mark.parametrize("jobs", [0, JOBS])
def test_changes(state: Path, jobs: int) -> None:
    found = browser("changes.mjs", CHANGES, *([state] if jobs else []))
    beside = f", beside {jobs:,} others" if jobs else ""
    keep(
        f"9 page, a change beside {jobs}",
        Figure(
            title=f"`POST aiarts/jobs` by somebody else, until the job is painted in the sidebar{beside}",
            unit="ms",
            peer_name="until the POST is answered",
            ours=[one["submitted"] for one in found],
            peer=[one["submitAnswered"] for one in found],
            aim=Aim(by="ours", bound=150),
        ),
    )
    keep(
        f"9 page, an end beside {jobs}",
        Figure(
            title=f"A job's end, by its launcher's clock, until that is painted in the sidebar{beside}",
            unit="ms",
            peer_name="from asking for the stop",
            ours=[one["stopped"] for one in found],
            peer=[one["stopAsked"] for one in found],
            aim=Aim(by="ours", bound=150),
        ),
    )


def test_logs() -> None:
    found = browser("log.mjs", ROUNDS, FOLLOWED, 1)
    followed = found["followed"]
    keep(
        "9 page, log followed",
        longest(
            "A log of 5,000 lines a second, followed: the longest task",
            [one["tasks"] for one in followed],
            [one["control"] for one in followed],
            "a page with nothing of ours that computes 10 ms with every frame",
            **{
                "age of the last line in sight, ms": short(statistics.median(one["age"] for one in followed)),
                "a click until it is painted, ms": short(statistics.median(one["click"] for one in followed)),
                "the slowest click, ms": short(max(one["slowestClick"] for one in followed)),
            },
        ),
    )
    keep(
        "9 page, log opened",
        Figure(
            title="A log of 1 GB, from the command until its last line is painted",
            unit="ms",
            peer_name="a log of one line",
            ours=found["long"],
            peer=found["short"],
            aim=Aim(by="difference", bound=100),
        ),
    )


def test_many_nodes() -> None:
    found = browser("cluster.mjs", NODES, ROUNDS)
    keep(
        "9 page, nodes",
        Figure(
            title=f"{NODES:,} nodes arrive in the cluster's page, until they are painted",
            unit="ms",
            peer_name="from the command that opens it",
            ours=[one["painted"] for one in found],
            peer=[one["opened"] for one in found],
            aim=Aim(by="ours", bound=300),
            more={**tasks([one["opening"] for one in found]), "nodes in the page": max(one["most"] for one in found)},
        ),
    )
    scrolling, control = [one["scrolling"] for one in found], [one["control"] for one in found]
    keep(
        "9 page, nodes scrolled",
        longest(f"{NODES:,} nodes: the longest task while scrolling", scrolling, control, NOISE),
    )
