"""A large cluster at a glance, 10,000 pods on 1,000 nodes: what a change costs, and what asking costs."""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Callable

import msgspec
import pytest

from jupyter_aiarts.engines.kubernetes.glance import NODES, PODS, Glance
from jupyter_aiarts.engines.kubernetes.nodes import BoundPod
from jupyter_aiarts.engines.kubernetes.room import in_the_way
from jupyter_aiarts.glancing import page_of
from jupyter_aiarts.model.cluster import ClusterPage, ClusterView
from jupyter_aiarts.model.placement import Machine, Need, why_not
from jupyter_aiarts.model.spec import JobSpec
from tests.engines.kubernetes.glancing import ASCEND, DEVICES, NPU, node_json, pod_json, read_node

from .cluster_paper import _status
from .measure import Aim, Figure, in_turns, keep, short, timed

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

MACHINES, EACH = 1_000, 10  # pods of a node: 6 with a card, 4 without
ROUNDS = 9
CHANGES = 200
WHAT = f"{MACHINES * EACH:,} pods on {MACHINES:,} nodes"


def pod_text(node: int, number: int, version: int = 1, phase: str = "Running") -> bytes:
    """A pod as a watch brings it, with a kubelet's whole status."""
    name = f"train-b{node:05}{number:04}-1-0-xyz"
    job = f"b{node:05}{number:04}"
    item = pod_json(name, f"node-{node:04}", int(number < 6), version, job=job, phase=phase)
    item["spec"]["tolerations"] = [{"key": "npu", "operator": "Exists", "effect": "NoSchedule"}]
    item["spec"]["containers"][0]["env"] = [{"name": f"NAME_{index}", "value": "x" * 40} for index in range(40)]
    item["status"] = {**_status(item), "phase": phase} if "image" in item["spec"]["containers"][0] else item["status"]
    return json.dumps(item).encode()


DECODER = msgspec.json.Decoder(BoundPod)


@pytest.fixture(scope="module")
def texts() -> list[bytes]:
    return [pod_text(node, number) for node in range(MACHINES) for number in range(EACH)]


def painted(texts: list[bytes]) -> Glance:
    """The picture of all of them, as a list paints it."""
    found = Glance("big", DEVICES, ("alice",))
    for node in range(MACHINES):
        found.apply(NODES, "ADDED", read_node(node_json(f"node-{node:04}")))
    for text in texts:
        found.apply(PODS, "ADDED", DECODER.decode(text))
    found.keep_only(PODS, "", {f"team-a/{json.loads(text)['metadata']['name']}" for text in texts})
    return found


def page(found: Glance) -> ClusterPage:
    return page_of([ClusterView(cluster="big", at="", nodes=found.rows(), fits=found.fits())], "en")


def changing(found: Glance) -> Callable[[], float]:
    """Milliseconds from a pod's news in bytes until everything is up to date: it ends, or one is there again."""
    phases = ("Failed", "Running")
    news = itertools.cycle([pod_text(node, 0, 2, phase) for phase in phases for node in range(0, MACHINES, 7)])

    def step() -> float:
        text = next(news)
        began = time.perf_counter()
        found.apply(PODS, "MODIFIED", DECODER.decode(text))
        assert len(found.rows()) == MACHINES and found.fits() is not None
        return (time.perf_counter() - began) * 1000

    return step


def test_one_change(texts: list[bytes]) -> None:
    found = painted(texts)
    step = changing(found)

    def ours() -> float:
        return statistics.median(step() for _ in range(CHANGES))

    def anew() -> float:
        return timed(lambda: painted(texts).rows()) * 1000

    changed, again = in_turns(3, ours, anew)
    before = time.process_time()
    for _ in range(CHANGES):
        step()
    cpu = (time.process_time() - before) / CHANGES
    keep(
        "9 glance, one change",
        Figure(
            title=f"{WHAT}: a pod's news until free cards, holders and what fits are up to date",
            unit="ms",
            peer_name="reading the same pods and counting everything anew",
            ours=changed,
            peer=again,
            aim=Aim(by="ours", bound=100),
        ),
    )
    keep(
        "9 glance, 100 changes a second",
        Figure(
            title=f"{WHAT}: CPU at 100 changes a second, each made visible",
            unit="% of a core",
            peer_name="msgspec alone, decoding as many pods",
            ours=[cpu * 100 * 100],
            peer=[timed(lambda: [DECODER.decode(text) for text in texts[:CHANGES]]) / CHANGES * 100 * 100],
            aim=Aim(by="ours", bound=30),
        ),
    )


def test_the_whole_answer(texts: list[bytes]) -> None:
    found = painted(texts)
    found.rows()
    body = msgspec.json.encode(page(found))
    ours, peer = in_turns(
        ROUNDS,
        lambda: timed(lambda: msgspec.json.encode(page(found))) * 1000,
        lambda: timed(lambda: msgspec.json.decode(body)) * 1000,
    )
    keep(
        "9 glance, answer",
        Figure(
            title=f"{WHAT}: the answer of `cluster`, encoded",
            unit="ms",
            peer_name="msgspec decoding the same bytes",
            ours=ours,
            peer=peer,
            aim=Aim(by="ours", bound=100),
            more={"KB": short(len(body) / 1000)},
        ),
    )


NEEDS = {
    "fits": {"devices": 2},
    "fits on 50 nodes": {"devices": 1, "nodes": 50, "kind": "distributed"},
    "must wait": {"devices": 8},
    "never fits": {"devices": 8, "nodes": 2_000, "kind": "distributed"},
}


def test_what_fits_now(texts: list[bytes]) -> None:
    """The slowest of several questions, each after a change, so that nothing is ready beforehand."""
    found = painted(texts)
    step = changing(found)
    slowest: list[str] = []

    def one(keys: dict[str, object]) -> float:
        spec = JobSpec(name="a", device=NPU, cpu=1.0, memory_gb=1.0, **keys)  # type: ignore[arg-type]
        step()
        return timed(lambda: in_the_way(spec, found.offers(NPU))) * 1000

    def ours() -> float:
        taken = {name: one(keys) for name, keys in NEEDS.items()}
        slowest.append(max(taken, key=lambda name: taken[name]))
        return max(taken.values())

    machines: list[Machine] = [offer.machine for offer in found.offers(NPU)]

    def bare() -> float:
        need = Need(device=NPU, devices=8, nodes=1, cpu=1.0)
        return timed(lambda: why_not(need, machines)) * 1000

    asked, peer = in_turns(ROUNDS, ours, bare)
    keep(
        "9 glance, what fits now",
        Figure(
            title=f"{WHAT}: whether a job would fit now, and if not, why",
            unit="ms",
            peer_name="`placement.why_not` over all nodes, for a job that must wait",
            ours=asked,
            peer=peer,
            aim=Aim(by="ours", bound=10),
            more={"slowest question": statistics.mode(slowest), "resource": ASCEND},
        ),
    )
