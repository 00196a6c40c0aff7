"""Whether a job would find room on the nodes that are seen, and what is in the way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from jupyter_aiarts.engines.kubernetes.room import in_the_way, obstacle_of, seats
from jupyter_aiarts.explain import LANGUAGES, explain
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.placement import Machine, Need, place, why_not
from jupyter_aiarts.model.spec import JobSpec

from .glancing import GPU, NPU, NVIDIA, Json, glance, node_json, pod_json


def asked(*items: Json, **keys: Any) -> Cause | None:
    found = glance(*items)
    spec = JobSpec(name="a", **{"device": NPU, "cpu": 1.0, "memory_gb": 1.0, **keys})
    return in_the_way(spec, found.offers(spec.device))


def gpus(*free: int) -> list[Json]:
    """Nodes of 8 GPUs with so many free."""
    made = []
    for number, count in enumerate(free):
        made.append(node_json(f"g{number}", resource=NVIDIA))
        if count < 8:
            made.append(pod_json(f"p{number}", f"g{number}", 8 - count, resource=NVIDIA))
    return made


def test_what_fits_is_said_to_fit() -> None:
    assert asked(node_json("n1"), pod_json("a", "n1", 3), devices=4) is None
    assert asked(node_json("n1"), node_json("n2"), devices=8, nodes=2, kind="distributed") is None
    assert asked(*gpus(5, 6), device="cpu", nodes=1) is None


def test_sixteen_nodes_asked_of_two_can_never_fit_and_both_languages_say_what_to_do() -> None:
    cause = asked(node_json("n1"), node_json("n2"), devices=8, nodes=16, kind="distributed")
    assert cause is not None and cause.code == "never-fits"
    for lang in ("en", "zh"):
        said = explain(cause, lang)
        assert "16" in said.title + said.why and said.actions


def test_what_must_wait_names_the_node_that_comes_nearest() -> None:
    cause = asked(*gpus(2, 3), device=GPU, devices=5)
    assert cause is not None and (cause.code, cause.values["node"], cause.values["free"]) == ("no-node-fits", "g1", 3)


def test_what_fits_in_smaller_parts_says_which() -> None:
    cause = asked(*gpus(4, 4), device=GPU, devices=8)
    assert cause is not None and cause.code == "fits-as-distributed"
    assert (cause.values["nodes"], cause.values["cards"]) == (2, 4)


@pytest.mark.parametrize("keys", [{"devices": 16, "device": GPU}, {"devices": 8, "nodes": 3, "device": GPU}])
def test_what_no_node_will_ever_hold_never_fits(keys: Json) -> None:
    cause = asked(*gpus(8, 0), **keys)
    assert cause is not None and cause.code == "never-fits"


def test_cards_of_another_architecture_never_fit() -> None:
    cause = asked(node_json("n1", labels={"kubernetes.io/arch": "amd64"}), devices=1)
    assert cause is not None and (cause.code, cause.values["have"]) == ("never-fits", 0)


def test_rings_in_pieces_are_told_where_ids_are_known() -> None:
    pods = [
        pod_json("a", "n1", 2, annotations={"huawei.com/AscendReal": "Ascend910-0,Ascend910-1"}),
        pod_json("b", "n1", 2, annotations={"huawei.com/AscendReal": "Ascend910-4,Ascend910-5"}),
    ]
    cause = asked(node_json("n1"), *pods, devices=4)
    assert cause is not None and (cause.code, cause.values["rings"]) == ("ring-fragmented", "2 + 2")


def test_a_node_that_takes_no_jobs_has_no_room_now_but_may_have_some_day() -> None:
    cause = asked(node_json("n1", cordoned=True), node_json("n2", ready=False), devices=1)
    assert cause is not None and cause.code == "no-node-fits"
    assert cause.evidence == ("cordoned: 1", "not-ready: 1")


@pytest.mark.parametrize(
    ("keys", "node", "code", "what"),
    [
        ({"cpu": 60.0}, {}, "no-node-fits", "CPU"),
        ({"cpu": 65.0}, {}, "never-fits", "CPU"),
        ({"memory_gb": 512.0}, {}, "no-node-fits", "GB"),
        ({"memory_gb": 600.0}, {}, "never-fits", "GB"),
    ],
)
def test_cards_that_nobody_holds_are_no_use_without_cpus_and_memory(
    keys: Json, node: Json, code: str, what: str
) -> None:
    cause = asked(node_json("n1", **node), pod_json("a", "n1", 1, cpu="10"), devices=1, **keys)
    assert cause is not None and (cause.code, cause.values["device"]) == (code, what)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_reads_as_a_whole_sentence(lang: str) -> None:
    pods = [
        pod_json("a", "n1", 2, annotations={"huawei.com/AscendReal": "Ascend910-0,Ascend910-1"}),
        pod_json("b", "n1", 2, annotations={"huawei.com/AscendReal": "Ascend910-4,Ascend910-5"}),
    ]
    causes = [
        asked(*gpus(2), device=GPU, devices=5),
        asked(*gpus(4, 4), device=GPU, devices=8),
        asked(*gpus(8), device=GPU, devices=9),
        asked(node_json("n1"), *pods, devices=4),
        asked(node_json("n1"), devices=1, cpu=65.0),
        asked(devices=1),
    ]
    for cause in causes:
        assert cause is not None
        said = explain(cause, lang)
        assert said.title not in ("Not known", "未知") and not {"unknown", "未知"} & set(said.why.split()), said


MACHINES = st.lists(
    st.builds(
        Machine,
        name=st.uuids().map(str),
        device=st.just(GPU),
        cards=st.just(8),
        free=st.integers(0, 4) | st.frozensets(st.integers(0, 7), max_size=8),
        cpu=st.sampled_from([4.0, 8.0]),
        free_cpu=st.sampled_from([0.0, 2.0, 4.0]),
    ),
    max_size=40,
)


@given(
    machines=MACHINES,
    device=st.sampled_from([GPU, NPU]),
    devices=st.integers(0, 5),
    nodes=st.integers(1, 4),
    cpu=st.sampled_from([0.0, 2.0, 4.0, 8.0]),
)
def test_many_nodes_are_counted_as_placement_would_walk_through_them(
    machines: list[Machine], device: str, devices: int, nodes: int, cpu: float
) -> None:
    need = Need(device=device, devices=devices, nodes=nodes, cpu=cpu)
    machines = [structs.replace(one, device=device) for one in machines]
    assert (seats(need, machines) >= nodes) == (place(need, machines) is not None)
    one, other = obstacle_of(need, machines), why_not(need, machines)
    assert (one and (one.code, one.free, one.split)) == (other and (other.code, other.free, other.split))
