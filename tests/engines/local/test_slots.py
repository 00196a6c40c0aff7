"""Who starts next: order, rings, fairness, and the reason everybody else waits."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.engines.local.slots import Machine, Taken, Waiting, cpus_of, decide
from jupyter_aiarts.model.reading import read_spec

NPU = "huawei_npu_arm64"
MACHINE = Machine(cpus=8, cards={NPU: 8})


def waiting(job_id: str, queued: int = 0, **keys: Any) -> Waiting:
    return Waiting(id=job_id, spec=read_spec({"command": "true", **keys}).spec, queued=f"{queued:03}")


def started(*jobs: Waiting, running: tuple[Taken, ...] = (), machine: Machine = MACHINE) -> list[str]:
    return [job.id for job in decide(machine, running, jobs).starts]


def test_jobs_start_by_priority_then_by_age() -> None:
    machine = Machine(cpus=2)
    jobs = [waiting("old", 1), waiting("new", 2), waiting("urgent", 3, priority=9)]
    assert started(*jobs, machine=machine) == ["urgent", "old"]


def test_a_job_that_waits_holds_back_who_wants_the_same() -> None:
    busy = Taken(id="busy", device=NPU, cpus=1, devices=((0, 1, 2, 3),))
    jobs = [waiting("board", 1, device=NPU, devices=8, cpu=1), waiting("one", 2, device=NPU, devices=1, cpu=1)]
    decision = decide(MACHINE, [busy], jobs)
    assert decision.starts == ()
    assert (decision.waits["board"].code, decision.waits["one"].code) == ("no-node-fits", "queue-position")
    assert decision.waits["one"].values["ahead"] == 1


def test_a_job_that_delays_nobody_may_pass() -> None:
    busy = Taken(id="busy", device=NPU, cpus=1, devices=((0, 1, 2, 3),))
    jobs = [waiting("board", 1, device=NPU, devices=8, cpu=1), waiting("cpu", 2)]
    assert started(*jobs, running=(busy,)) == ["cpu"]


def test_cards_stay_inside_a_ring() -> None:
    taken = Taken(id="x", device=NPU, cpus=0, devices=((0, 1, 4, 5),))
    decision = decide(MACHINE, [taken], [waiting("four", device=NPU, devices=4, cpu=1)])
    assert decision.waits["four"].code == "ring-fragmented"
    pair = decide(MACHINE, [taken], [waiting("two", device=NPU, devices=2, cpu=1)])
    assert pair.starts[0].devices == ((2, 3),)


def test_what_can_never_fit_says_so_and_blocks_nobody() -> None:
    decision = decide(MACHINE, [], [waiting("gpu", 1, device="nvidia_gpu_amd64", devices=2), waiting("cpu", 2)])
    assert decision.waits["gpu"].code == "never-fits"
    assert [job.id for job in decision.starts] == ["cpu"]


@pytest.mark.parametrize("nodes", [2, 3, 5, 7, 64])
def test_more_nodes_than_cpus_take_the_whole_machine(nodes: int) -> None:
    """A distributed script is tried here before it queues on a cluster, however few CPUs there are."""
    job = waiting("wide", nodes=nodes, cpu=1)
    machine = Machine(cpus=2)
    assert cpus_of(job.spec, machine) == 2
    assert started(job, machine=machine) == ["wide"]


def test_a_card_job_takes_its_fair_share_of_the_cpus() -> None:
    assert cpus_of(waiting("x", device=NPU, devices=2).spec, MACHINE) == 2.0


def test_two_jobs_never_get_the_same_card() -> None:
    jobs = [waiting(str(number), number, device=NPU, devices=2, cpu=1) for number in range(4)]
    cards = [card for job in decide(MACHINE, [], jobs).starts for node in job.devices for card in node]
    assert sorted(cards) == list(range(8))
