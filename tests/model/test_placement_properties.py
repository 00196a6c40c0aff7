"""Placement against a reference that tries everything: what fits is found, what is chosen is allowed, reasons are true.

The reference knows the rules of spec section 5 and nothing of the code: it walks through sets of cards one by one.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_aiarts.model.placement import Machine, Need, Seat, place, why_not

NPU = "huawei_npu_arm64"
GPU = "nvidia_gpu_amd64"
ANYHOW = "rings or not"  # a device of the reference alone: NPU cards counted as if there were no rings
BOARDS = [frozenset(range(8))]
RINGS = [frozenset(range(4)), frozenset(range(4, 8))]


def allowed(device: str, count: int, cards: frozenset[int]) -> bool:
    """Whether one node of a job may take these cards together."""
    if device != NPU or count == 0:
        return True
    if count not in (1, 2, 4, 8):
        return False
    return any(cards <= home for home in (BOARDS if count == 8 else RINGS))


def most_seats(device: str, count: int, free: frozenset[int], wanted: int) -> int:
    """How many nodes of a job this machine's cards hold at best, tried out."""
    if wanted == 0 or count == 0:
        return wanted
    best = 0
    for cards in map(frozenset, combinations(sorted(free), count)):
        if min(cards) == min(free) and allowed(device, count, cards):
            best = max(best, 1 + most_seats(device, count, free - cards, wanted - 1))
        if best == wanted:
            return best
    # Or the lowest card stays idle.
    return max(best, most_seats(device, count, free - {min(free)}, wanted)) if free else best


def seats_on(need: Need, machine: Machine, device: str) -> int:
    """How many nodes of the job the machine takes: by cards, by CPUs, and one unless it is shared."""
    if need.device not in ("cpu", machine.device):
        return 0
    assert isinstance(machine.free, frozenset)
    found = most_seats(device, need.devices, machine.free, need.nodes if machine.shared else 1)
    if machine.free_cpu is not None and need.cpu:
        found = min(found, round(machine.free_cpu * 10) // round(need.cpu * 10))
    return found


def fits(need: Need, machines: list[Machine], device: str | None = None) -> bool:
    return sum(seats_on(need, one, device or need.device) for one in machines) >= need.nodes


def empty(machines: list[Machine]) -> list[Machine]:
    return [
        machine(one.name, one.device, range(one.cards), one.cards, one.cpu, one.cpu, one.shared) for one in machines
    ]


def reason(need: Need, machines: list[Machine]) -> str | None:
    """The code of the obstacle, from the words of the spec."""
    if fits(need, machines):
        return None
    if not fits(need, empty(machines)):
        return "never-fits"
    if need.device == NPU and fits(need, machines, ANYHOW):
        return "ring-fragmented"
    return "fits-as-distributed" if splits(need, machines) else "no-node-fits"


def splits(need: Need, machines: list[Machine]) -> list[tuple[int, int]]:
    """In how many equal parts a regular GPU job would fit now."""
    if need.nodes > 1 or need.device != GPU:
        return []
    ways = [n for n in range(2, need.devices + 1) if need.devices % n == 0]
    parts = {n: Need(device=GPU, devices=need.devices // n, nodes=n, cpu=need.cpu / n) for n in ways}
    return [(n, part.devices) for n, part in parts.items() if fits(part, machines)]


def machine(
    name: str, device: str, free: object, cards: int = 8, cpu: float | None = None,
    free_cpu: float | None = None, shared: bool = False,
) -> Machine:  # fmt: skip
    held = frozenset(free)  # type: ignore[call-overload]
    return Machine(name=name, device=device, cards=cards, free=held, cpu=cpu, free_cpu=free_cpu, shared=shared)


tenths = st.integers(0, 30).map(lambda count: count / 10)


@st.composite
def machine_sets(draw: st.DrawFn) -> list[Machine]:
    """At most four machines of at most eight cards, of one kind more often than of two; CPUs counted or not."""
    device = draw(st.sampled_from([NPU, GPU]))
    found = []
    for index in range(draw(st.integers(0, 4))):
        own = draw(st.sampled_from([device, device, device, GPU, "cpu"]))
        cards = 0 if own == "cpu" else draw(st.sampled_from([8, 8, 4]))
        free = draw(st.sets(st.integers(0, cards - 1))) if cards else set()
        cpu = draw(st.none() | tenths)
        free_cpu = None if cpu is None else draw(st.integers(0, round(cpu * 10))) / 10
        found.append(machine(f"m{index}", own, free, cards, cpu, free_cpu, draw(st.booleans())))
    return found


needs = st.builds(
    Need,
    device=st.sampled_from([NPU, GPU]),
    devices=st.integers(1, 9),
    nodes=st.sampled_from([1, 1, 1, 2, 3, 4, 16]),
    cpu=st.sampled_from([0.0, 0.0, 0.6, 1.2]),
) | st.builds(Need, device=st.just("cpu"), nodes=st.integers(1, 4), cpu=st.sampled_from([0.1, 0.3, 1.0, 2.0]))


@settings(max_examples=300, deadline=None)
@given(needs, machine_sets())
def test_a_seat_is_found_exactly_when_there_is_one(need: Need, machines: list[Machine]) -> None:
    assert (place(need, machines) is not None) == fits(need, machines)


@settings(max_examples=300, deadline=None)
@given(needs, machine_sets())
def test_what_is_chosen_is_free_allowed_and_nobody_elses(need: Need, machines: list[Machine]) -> None:
    seats = place(need, machines)
    if seats is None:
        return
    by_name = {one.name: one for one in machines}
    assert len(seats) == need.nodes
    for name, own in ((one.name, [seat for seat in seats if seat.machine == one.name]) for one in machines):
        taken = [card for seat in own for card in seat.cards or ()]
        assert len(taken) == len(set(taken)) and set(taken) <= set(by_name[name].free)  # type: ignore[arg-type]
        assert len(own) <= 1 or by_name[name].shared
        assert len(own) <= seats_on(need, by_name[name], need.device)
    for seat in seats:
        assert len(seat.cards or ()) == need.devices
        assert allowed(need.device, need.devices, frozenset(seat.cards or ()))


@settings(max_examples=300, deadline=None)
@given(needs, machine_sets())
def test_fuller_machines_go_first(need: Need, machines: list[Machine]) -> None:
    """No machine that is left without a node of the job, though it could take one, is fuller than one that has one."""
    seats = place(need, machines) or []
    used = {seat.machine for seat in seats}
    spare = [one for one in machines if one.name not in used and seats_on(need, one, need.device)]
    emptiest_used = max((one.free_cards for one in machines if one.name in used), default=0)
    assert not used or all(one.free_cards >= emptiest_used for one in spare)


@settings(max_examples=400, deadline=None)
@given(st.sets(st.integers(0, 7)), st.sampled_from([1, 2, 4]))
def test_a_broken_ring_is_used_up_before_a_whole_one_is_opened(free: set[int], count: int) -> None:
    seats = place(Need(device=NPU, devices=count), [machine("a", NPU, free)])
    if seats is None:
        return
    rings = [len(free & ring) for ring in RINGS]
    own = len(free & next(ring for ring in RINGS if set(seats[0].cards or ()) <= ring))
    if count in rings:
        assert own == count, "a ring with exactly as many free cards is the one that is filled"
    if count == 1 and any(0 < size < 4 for size in rings):
        assert own < 4, "one card never opens a whole ring while another is open"


@settings(max_examples=400, deadline=None)
@given(needs, machine_sets())
def test_the_reason_is_the_one_the_reference_finds(need: Need, machines: list[Machine]) -> None:
    obstacle = why_not(need, machines)
    assert (obstacle and obstacle.code) == reason(need, machines)
    if obstacle is None:
        return
    usable = {one.name: one for one in machines if need.device in ("cpu", one.device)}
    assert obstacle.machine in usable if usable else obstacle.machine is None
    if obstacle.code == "fits-as-distributed":
        assert obstacle.split == splits(need, machines)[0]
    if obstacle.code == "never-fits":
        assert obstacle.split == next(iter(splits(need, empty(machines))), None)
    if obstacle.code == "ring-fragmented":
        assert obstacle.machine is not None and obstacle.rings is not None
        assert sum(obstacle.rings) == obstacle.free == usable[obstacle.machine].free_cards >= need.devices


@pytest.mark.parametrize("count", [3, 5, 6, 7, 9, 16])
def test_numbers_of_npu_cards_that_no_board_gives_never_fit(count: int) -> None:
    machines = [machine(name, NPU, range(8)) for name in "ab"]
    assert place(Need(device=NPU, devices=count), machines) is None
    assert (why_not(Need(device=NPU, devices=count), machines) or pytest.fail("it fits")).code == "never-fits"


def test_sixteen_nodes_asked_of_two_never_fit() -> None:
    need = Need(device=NPU, devices=8, nodes=16)
    assert (
        why_not(need, [machine(name, NPU, range(8)) for name in "ab"]) or pytest.fail("it fits")
    ).code == "never-fits"


def test_fractions_of_a_cpu_add_up_to_the_cpu() -> None:
    """0.3 - 0.1 - 0.1 is less than 0.1 to a computer."""
    need = Need(device="cpu", cpu=0.1, nodes=3)
    here = machine("a", "cpu", (), 0, 0.3, 0.3, shared=True)
    assert place(need, [here]) == [Seat(machine="a", cards=[])] * 3


def test_more_cards_than_any_machine_has_may_fit_in_parts() -> None:
    machines = [machine(name, GPU, range(4), 4) for name in "ab"]
    obstacle = why_not(Need(device=GPU, devices=8), machines)
    assert obstacle is not None and (obstacle.code, obstacle.split) == ("never-fits", (2, 4))


def test_rings_in_pieces_are_seen_beside_an_emptier_machine_without_cpus() -> None:
    """The machine with most free cards is not always the one that the job could have had."""
    machines = [machine("a", NPU, range(8), 8, 8.0, 0.0), machine("b", NPU, {0, 1, 4, 5}, 8, 8.0, 8.0)]
    obstacle = why_not(Need(device=NPU, devices=4, cpu=1), machines)
    assert obstacle is not None
    assert (obstacle.code, obstacle.machine, obstacle.rings) == ("ring-fragmented", "b", (2, 2))
