"""The picture of a large cluster: how soon it is there, what it costs, how quickly it follows."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.build import program
from tests.cluster.cluster import Cluster

from .cluster_paper import paper_jobs, small_jobs
from .measure import Aim, Figure, in_turns, keep, medians, short

pytestmark = [pytest.mark.bench, pytest.mark.cluster, pytest.mark.timeout(1800)]

JOBS, NODES = 1_250, 8
ROUNDS = 5
RATE, CHANGES, CHANGED = 200, 2_000, 400  # a second, in all, and Jobs that they are made to
CHILD = Path(__file__).with_name("cluster_child.py")
ROOT = Path(__file__).parents[2]
Records = list[dict[str, float]]


@pytest.fixture(scope="module")
def namespace(cluster: Cluster) -> Iterator[str]:
    with paper_jobs(cluster, JOBS, NODES) as name:
        yield name


def command(cluster: Cluster, *words: str) -> list[str]:
    return [sys.executable, str(CHILD), words[0], str(cluster.kubeconfig("admin")), *words[1:]]


def child(cluster: Cluster, *words: str) -> dict[str, float]:
    """One measurement in a fresh Python, which has to have seen everything."""
    began = time.perf_counter()
    found: dict[str, float] = json.loads(subprocess.check_output(command(cluster, *words), text=True, cwd=ROOT))
    assert found["pods"] >= JOBS * NODES
    return {**found, "process": time.perf_counter() - began}


def kubectl(cluster: Cluster, namespace: str) -> float:
    """Seconds of `kubectl get pods` of the same namespace."""
    words = [str(program("kubectl")), f"--kubeconfig={cluster.kubeconfig('admin')}", "get", "pods", "-n", namespace]
    began = time.perf_counter()
    lines = subprocess.check_output([*words, "--no-headers"], text=True).count("\n")
    taken = time.perf_counter() - began
    assert lines == JOBS * NODES
    return taken


def test_first_picture(cluster: Cluster, namespace: str) -> None:
    kept: dict[str, Records] = {"ours": [], "typed": [], "bare": []}

    def sample(kind: str) -> dict[str, float]:
        kept[kind].append(child(cluster, kind, namespace))
        return kept[kind][-1]

    def peers() -> float:
        sample("bare")
        return sample("typed")["seconds"]

    seconds = in_turns(ROUNDS, lambda: sample("ours")["seconds"], peers)
    ours, typed, bare = (records[1:] for records in kept.values())
    pauses = [child(cluster, "pauses", namespace)["longest pause"] * 1000 for _ in range(ROUNDS)]
    what = f"{JOBS * NODES:,} pods of {JOBS:,} jobs"
    keep(
        "6 cluster, first picture",
        Figure(
            title=f"First full picture of {what}",
            unit="s",
            peer_name="the `kubernetes` client's typed lists of the same pods and Jobs",
            ours=seconds[0],
            peer=seconds[1],
            aim=Aim(by="speed", bound=6, at_least=True),
            more={
                "longest the event loop was held, ms": short(statistics.median(pauses)),
                "list after that, ms": short(statistics.median(one["again"] * 1000 for one in ours)),
                "bytes read, MB": medians(bare)["megabytes"],
            },
        ),
    )
    keep(
        "6 cluster, memory",
        Figure(
            title="Memory for it at its highest, beyond what the imports took",
            unit="MB",
            peer_name="the same typed lists",
            ours=[one["MB"] for one in ours],
            peer=[one["MB"] for one in typed],
            aim=Aim(by="ratio", bound=1 / 6),
            more={"per job, KB": short(statistics.median(one["MB"] for one in ours) * 1000 / JOBS)},
        ),
    )
    keep(
        "6 cluster, CPU",
        Figure(
            title="CPU time for it",
            unit="s",
            peer_name="reading the same bytes with `http.client` and decoding them with msgspec",
            ours=[one["cpu"] for one in ours],
            peer=[one["cpu"] for one in bare],
            aim=Aim(by="ratio", bound=2),
        ),
    )


def test_first_picture_against_kubectl(cluster: Cluster, namespace: str) -> None:
    ours, peer = in_turns(
        ROUNDS,
        lambda: child(cluster, "ours", namespace)["process"],
        lambda: kubectl(cluster, namespace),
    )
    keep(
        "6 cluster, kubectl",
        Figure(
            title=f"A new process until it has the picture of {JOBS * NODES:,} pods, imports and credentials included",
            unit="s",
            peer_name="`kubectl get pods` of the same namespace",
            ours=ours,
            peer=peer,
            aim=Aim(by="ratio", bound=1),
        ),
    )


def test_following(cluster: Cluster, namespace: str) -> None:
    """Both follow the same changes at the same time; each change says when it was asked for."""
    small_jobs(cluster, namespace, CHANGED)
    ours = subprocess.Popen(
        command(cluster, "follow", namespace, str(CHANGES)), stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    notes = r"jsonpath={.metadata.annotations.jupyter-aiarts\/notes}{'\n'}"
    words = [str(program("kubectl")), f"--kubeconfig={cluster.kubeconfig('admin')}", "get", "jobs", "-n", namespace]
    peer = subprocess.Popen([*words, "--watch-only", "-o", notes], stdout=subprocess.PIPE, text=True, bufsize=1)
    assert ours.stdout is not None and peer.stdout is not None
    printed: list[tuple[float, str]] = []
    reader = threading.Thread(target=lambda: printed.extend((time.time(), line) for line in peer.stdout or ()))
    try:
        assert ours.stdout.readline() == "ready\n"
        reader.start()
        time.sleep(3)  # kubectl does not say when it is ready
        words = [sys.executable, "-m", "tests.bench.cluster_changes", namespace, str(RATE), str(CHANGES), str(CHANGED)]
        made = subprocess.check_output(words, text=True, cwd=ROOT)
        heard = json.loads(ours.stdout.readline())
        time.sleep(1)
    finally:
        for process in (ours, peer):
            process.kill()
            process.wait()
    reader.join()
    for process in (ours, peer):
        process.stdout.close()
    rate = json.loads(made)["per second"]  # as many as the API server takes here
    late = [(at - float(json.loads(line)[0].removeprefix("at "))) * 1000 for at, line in printed]
    assert len(late) == len(heard) == CHANGES
    keep(
        "6 cluster, following",
        Figure(
            title=f"A change in the cluster until it is told, {rate:.0f} changes a second",
            unit="ms",
            peer_name="until `kubectl get -w` prints it, in the same run",
            ours=heard,
            peer=late,
            aim=Aim(by="difference", bound=50),
            more={
                "changes a second": short(rate),
                "slowest of 20, ms": {
                    "ours": short(statistics.quantiles(heard, n=20)[-1]),
                    "peer": short(statistics.quantiles(late, n=20)[-1]),
                },
            },
        ),
    )
