"""Cards: rings stay whole, fuller machines go first, and the reason for waiting is the true one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.model.placement import (
    Machine,
    Need,
    Obstacle,
    Seat,
    choose_cards,
    need_of,
    place,
    ring_shapes,
    why_not,
)
from jupyter_aiarts.model.spec import JobSpec

NPU = "huawei_npu_arm64"
GPU = "nvidia_gpu_amd64"


def machine(name: str, device: str, free: set[int] | int, cards: int = 8, **more: object) -> Machine:
    held = free if isinstance(free, int) else frozenset(free)
    return Machine(name=name, device=device, cards=cards, free=held, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("free", "count", "cards"),
    [
        ({0, 1, 2, 3, 4, 5, 6, 7}, 1, [0]),
        ({0, 1, 2, 3, 5}, 1, [5]),  # the ring with one free card
        ({0, 1, 4, 5, 6}, 1, [4]),  # three before two
        ({0, 1, 4, 5, 6, 7}, 1, [0]),  # two before four
        ({0, 1, 2, 3, 6, 7}, 2, [6, 7]),  # the pair that is left
        ({0, 1, 2, 4, 5, 6, 7}, 2, [4, 5]),  # four before three
        ({1, 2, 3}, 2, [1, 2]),
        ({0, 4}, 2, None),
        ({0, 1, 4, 5}, 4, None),
        ({3, 4, 5, 6, 7}, 4, [4, 5, 6, 7]),
        (set(range(8)), 8, list(range(8))),
        (set(range(7)), 8, None),
        (set(range(4, 12)), 8, None),
        (set(range(4, 16)), 8, list(range(8, 16))),
        (set(range(8)), 3, None),
        (set(), 0, []),
        ({1}, 0, []),
    ],
)
def test_ascend_cards_come_from_one_ring(free: set[int], count: int, cards: list[int] | None) -> None:
    assert choose_cards(free, count, NPU) == cards


@pytest.mark.parametrize(
    ("free", "count", "cards"), [({5, 1, 3}, 2, [1, 3]), ({1}, 2, None), ({7, 2, 4}, 3, [2, 4, 7])]
)
def test_other_cards_are_taken_from_the_lowest(free: set[int], count: int, cards: list[int] | None) -> None:
    assert choose_cards(free, count, GPU) == cards


@given(st.sets(st.integers(0, 7)), st.sampled_from([1, 2, 4, 8]))
def test_an_ascend_choice_is_free_whole_and_found_when_there_is_one(free: set[int], count: int) -> None:
    cards = choose_cards(free, count, NPU)
    low, high = len(free & {0, 1, 2, 3}), len(free & {4, 5, 6, 7})
    assert (cards is not None) == (len(free) == 8 if count == 8 else max(low, high) >= count)
    if cards is not None:
        assert len(cards) == count
        assert set(cards) <= free
        assert count == 8 or len({card // 4 for card in cards}) == 1


def test_shapes_belong_to_the_device() -> None:
    assert ring_shapes(NPU, "regular") == (0, 1, 2, 4, 8)
    assert ring_shapes("huawei_npu_amd64", "distributed") == (8,)
    assert ring_shapes(GPU, "distributed") is None
    assert ring_shapes("cpu", "regular") is None


def test_the_need_of_a_spec() -> None:
    spec = JobSpec(device=GPU, devices=2, nodes=3, kind="distributed", cpu=1.5)
    assert need_of(spec) == Need(device=GPU, devices=2, nodes=3, cpu=1.5)
    assert need_of(JobSpec(), cpu=1).cpu == 1


def test_the_fuller_machine_goes_first() -> None:
    machines = [machine("a", GPU, set(range(8))), machine("b", GPU, set(range(7)))]
    assert place(Need(device=GPU, devices=1), machines) == [Seat(machine="b", cards=[0])]
    assert place(Need(device=GPU, devices=8), machines) == [Seat(machine="a", cards=list(range(8)))]


def test_nodes_of_a_job_sit_apart_unless_the_machine_is_shared() -> None:
    need = Need(device=GPU, devices=2, nodes=2)
    assert place(need, [machine("a", GPU, set(range(8)))]) is None
    assert place(need, [machine("a", GPU, {0, 1, 2, 5}, shared=True)]) == [
        Seat(machine="a", cards=[0, 1]),
        Seat(machine="a", cards=[2, 5]),
    ]
    assert place(need, [machine("a", GPU, {0, 1}), machine("b", GPU, 2)]) == [
        Seat(machine="a", cards=[0, 1]),
        Seat(machine="b", cards=None),
    ]


def test_cpus_are_slots_where_they_are_counted() -> None:
    here = machine("a", "cpu", set(), cards=0, cpu=4.0, free_cpu=3.0, shared=True)
    assert place(Need(device="cpu", cpu=2, nodes=1), [here]) == [Seat(machine="a", cards=[])]
    assert place(Need(device="cpu", cpu=2, nodes=2), [here]) is None
    assert why_not(Need(device="cpu", cpu=2, nodes=2), [here]) == Obstacle(code="no-node-fits", machine="a")
    assert why_not(Need(device="cpu", cpu=5), [here]) == Obstacle(code="never-fits", machine="a")


def test_a_cpu_job_runs_on_any_machine_and_a_card_job_only_where_its_cards_are() -> None:
    assert place(Need(device="cpu"), [machine("a", GPU, set())]) == [Seat(machine="a", cards=[])]
    assert place(Need(device=NPU, devices=1), [machine("a", GPU, {0})]) is None


def test_nothing_is_in_the_way_of_what_fits() -> None:
    assert why_not(Need(device=GPU, devices=2), [machine("a", GPU, {0, 1})]) is None


@pytest.mark.parametrize(
    ("need", "machines", "obstacle"),
    [
        (
            Need(device=GPU, devices=9),
            [machine("a", GPU, set(range(8)))],
            Obstacle(code="never-fits", machine="a"),
        ),
        (Need(device=GPU, devices=1), [], Obstacle(code="never-fits")),
        (Need(device=NPU, devices=1), [machine("a", GPU, {1})], Obstacle(code="never-fits")),
        (
            Need(device=NPU, devices=8, nodes=2),
            [machine("a", NPU, set(range(8)))],
            Obstacle(code="never-fits", machine="a"),
        ),
        (
            Need(device=NPU, devices=4),
            [machine("a", NPU, {0, 1, 4, 5})],
            Obstacle(code="ring-fragmented", machine="a", free=4, rings=(2, 2)),
        ),
        (
            Need(device=NPU, devices=4),
            [machine("a", NPU, {0, 1})],
            Obstacle(code="no-node-fits", machine="a", free=2, rings=(2, 0)),
        ),
        (
            Need(device=GPU, devices=8),
            [machine("a", GPU, {0, 1, 2, 3}), machine("b", GPU, {4, 5, 6, 7})],
            Obstacle(code="fits-as-distributed", machine="a", free=4, split=(2, 4)),
        ),
        (
            Need(device=GPU, devices=8),
            [machine("a", GPU, {0, 1, 2, 3}), machine("b", GPU, {4, 5, 6})],
            Obstacle(code="no-node-fits", machine="a", free=4),
        ),
        (
            Need(device=NPU, devices=8),
            [machine("a", NPU, {0, 1, 2, 3}), machine("b", NPU, {4, 5, 6, 7})],
            Obstacle(code="no-node-fits", machine="a", free=4, rings=(4, 0)),
        ),
        (
            Need(device=GPU, devices=2),
            [machine("a", GPU, 1)],
            Obstacle(code="no-node-fits", machine="a", free=1),
        ),
    ],
)
def test_the_reason_is_the_true_one(need: Need, machines: list[Machine], obstacle: Obstacle) -> None:
    assert why_not(need, machines) == obstacle


@given(
    st.lists(st.sets(st.integers(0, 7)), max_size=3),
    st.sampled_from([NPU, GPU]),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 3),
)
def test_either_it_fits_or_there_is_a_reason(frees: list[set[int]], device: str, count: int, nodes: int) -> None:
    machines = [machine(f"m{n}", device, free) for n, free in enumerate(frees)]
    need = Need(device=device, devices=count, nodes=nodes)
    seats, obstacle = place(need, machines), why_not(need, machines)
    assert (seats is None) == (obstacle is not None)
    if seats is not None:
        assert len({seat.machine for seat in seats}) == nodes
    if obstacle is not None:
        assert (obstacle.code == "never-fits") == (len(machines) < nodes)
