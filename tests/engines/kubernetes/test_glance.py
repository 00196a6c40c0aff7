"""Free cards, who holds them and what fits now, from one state of what was seen of nodes and pods."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.glance import HEALTH, NODES, PODS, Glance
from jupyter_aiarts.engines.kubernetes.nodes import card_ids, requested, units
from jupyter_aiarts.model.cluster import Holding, Node, held_cards

from .glancing import ASCEND, DEVICES, GPU, NPU, NVIDIA, Json, glance, health, node_json, pod_json, read_node, read_pod


def only(found: Glance) -> Node:
    (row,) = found.rows()
    return row


def container(cards: int, **more: Any) -> Json:
    return {"name": "c", "resources": {"requests": {ASCEND: str(cards)}}, **more}


ALWAYS = {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("spec", "cards"),
    [
        ({"containers": [container(2), container(1)]}, 3),
        ({"containers": [container(1)], "initContainers": [container(4), container(2)]}, 4),
        ({"containers": [container(3)], "initContainers": [container(1)]}, 3),
        ({"containers": [container(3)], "initContainers": [container(1, **ALWAYS)]}, 4),
        ({"containers": [container(1)], "initContainers": [container(2, **ALWAYS), container(3)]}, 5),
        ({"containers": [container(1)], "initContainers": [container(3), container(2, **ALWAYS)]}, 3),
        ({"containers": [container(1)], "overhead": {ASCEND: "1"}}, 2),
        ({"containers": [{"name": "none"}]}, 0),
    ],
    ids=["sum", "init", "init-less", "sidecar", "sidecar-first", "sidecar-last", "overhead", "nothing"],
)
def test_a_pod_holds_what_the_scheduler_counts_for_it(spec: Json, cards: int) -> None:
    assert requested(read_pod(pod_json("a", "n1", spec=spec)).spec, ASCEND) == cards


def test_what_a_pod_requests_as_a_whole_stands_for_its_containers() -> None:
    whole = {"resources": {"requests": {"cpu": "3", "memory": "1Gi"}}, "overhead": {"cpu": "500m"}}
    spec = read_pod(pod_json("a", "n1", cards=2, cpu="1", spec=whole)).spec
    assert (requested(spec, "cpu", 1000), requested(spec, "memory"), requested(spec, ASCEND)) == (3500, 2**30, 2)


@pytest.mark.parametrize(("text", "amount"), [("8", 8), ("1k", 1000), ("nonsense", 0), ("-3", 0), ("", 0)])
def test_an_amount_that_is_none_counts_nothing(text: str, amount: int) -> None:
    assert units(text) == amount


def test_free_is_what_the_node_offers_less_what_its_living_pods_request() -> None:
    found = glance(
        node_json("n1"),
        pod_json("mine", "n1", 3, job="abcdefghij", owner="alice"),
        pod_json("other", "n1", 2, namespace="team-b"),
        pod_json("going", "n1", 1, namespace="team-b", deleted=True),
        pod_json("over", "n1", 2, phase="Succeeded"),
        pod_json("failed", "n1", 2, phase="Failed"),
        pod_json("waiting", None, 2, phase="Pending"),
    )
    row = only(found)
    assert (row.name, row.device, row.cards, row.free, row.missing, row.problems) == ("n1", NPU, 8, 2, 0, ())
    assert [(one.owner, one.job, one.namespace, one.cards) for one in row.held_by] == [
        ("alice", "abcdefghij", "team-a", 3),
        (None, None, "team-b", 2),
        (None, None, "team-b", 1),
    ]
    assert (row.cpu, row.free_cpu, row.memory_gb, row.free_memory_gb) == (64.0, 63.25, 512.0, 511.2)


def test_an_owner_is_named_only_where_the_label_proves_it() -> None:
    """The label holds a slug and a hash of the exact name: another name with the same slug is not taken for it."""
    pods = [pod_json("a", "n1", 1, job="abcdefghij", owner="Alice@example.org")]
    assert only(glance(node_json("n1"), *pods)).held_by[0].owner is None
    known = Glance("k8s", DEVICES, ("Alice@example.org",))
    known.apply(NODES, "ADDED", read_node(node_json("n1")))
    known.apply(PODS, "ADDED", read_pod(pods[0]))
    assert only(known).held_by[0].owner == "Alice@example.org"


def test_cards_that_are_held_and_not_offered_any_more_are_missing_and_never_negative() -> None:
    row = only(glance(node_json("n1", 4, capacity=8), pod_json("a", "n1", 6)))
    assert (row.cards, row.free, row.missing, row.unhealthy) == (4, 0, 2, 4)
    assert row.problems == ("unhealthy-cards", "cards-missing")
    assert (row.free or 0) + held_cards(row) == (row.cards or 0) + row.missing


@pytest.mark.parametrize(
    ("more", "problems", "fits"),
    [
        ({"cordoned": True}, ("cordoned",), 0),
        ({"ready": False}, ("not-ready",), 0),
        ({"taints": [{"key": "other", "effect": "NoSchedule"}]}, ("tainted",), 0),
        ({"taints": [{"key": "npu", "value": "x", "effect": "NoSchedule"}]}, (), 1),
        ({"taints": [{"key": "npu", "effect": "NoExecute"}]}, ("tainted",), 0),
        ({"taints": [{"key": "other", "effect": "PreferNoSchedule"}]}, (), 1),
        ({"cordoned": True, "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]},
         ("cordoned",), 0),
        ({"conditions": {"DiskPressure": "True"}}, ("disk-pressure",), 0),
        ({"conditions": {"MemoryPressure": "True"}}, ("memory-pressure",), 1),
    ],
    ids=["cordoned", "not-ready", "tainted", "tolerated", "other-effect", "preference", "once", "disk", "memory"],
)  # fmt: skip
def test_what_keeps_jobs_away_from_a_node_is_named_and_nothing_fits_there(
    more: Json, problems: tuple[str, ...], fits: int
) -> None:
    found = glance(node_json("n1", **more), pod_json("a", "n1", 1))
    row = only(found)
    assert (row.problems, row.cards, row.free, held_cards(row)) == (problems, 8, 7, 1)
    assert (found.fits() or {})[NPU]["4"] == fits


def test_unwell_cards_come_from_what_the_device_plugin_writes() -> None:
    found = glance(node_json("n1"))
    found.apply(HEALTH, "ADDED", health("n1", Unhealthy="Ascend910-3", NetworkUnhealthy="Ascend910-3,Ascend910-5"))
    assert (only(found).unhealthy, only(found).problems) == (2, ("unhealthy-cards",))
    found.apply(HEALTH, "MODIFIED", health("n1", Unhealthy="", Fault='[{"fault_level": "x"}]'))
    assert (only(found).unhealthy, only(found).problems) == (0, ())
    found.apply(HEALTH, "ADDED", health("n1", Unhealthy="Ascend910-3"))
    found.keep_only(HEALTH, "", {"kube-system/kubeadm-config"})
    assert only(found).unhealthy == 0


@pytest.mark.parametrize(
    "told", ["", "{", "[]", '{"DeviceInfo": 3}', '{"DeviceInfo": {"DeviceList": {"a-Unhealthy": 7}}}']
)
def test_a_health_note_that_nobody_understands_says_nothing(told: str) -> None:
    strange = health("n1")
    strange.data.told = told
    found = glance(node_json("n1"))
    found.apply(HEALTH, "ADDED", strange)
    assert only(found).unhealthy == 0


@pytest.mark.parametrize(
    ("notes", "ids"),
    [
        ({"huawei.com/AscendReal": "Ascend910-1,Ascend910-0", "huawei.com/Ascend910": "Ascend910-6,Ascend910-7"},
         (0, 1)),
        ({"huawei.com/Ascend910": "Ascend910-6, Ascend910-7"}, (6, 7)),
        ({"ascend.kubectl.kubernetes.io/ascend-910-configuration":
          '{"pod_name":"a","devices":[{"device_id":"2","device_ip":"x"},{"device_id":"3"}]}'}, (2, 3)),
        ({"huawei.com/AscendReal": "Ascend910-1"}, None),
        ({"huawei.com/AscendReal": "Ascend910-2c-100-1_0,Ascend910-2c-101-1_0"}, None),
        ({"ascend.kubectl.kubernetes.io/ascend-910-configuration": "not json"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_card_ids_are_told_where_a_note_names_as_many_as_are_held(notes: Json, ids: tuple[int, ...] | None) -> None:
    assert card_ids(read_pod(pod_json("a", "n1", 2, annotations=notes)).metadata.annotations, 2) == ids


def test_where_all_ids_are_known_rings_are_counted_as_they_are() -> None:
    def two(name: str, ids: str) -> Json:
        return pod_json(name, "n1", 2, annotations={"huawei.com/AscendReal": ids})

    broken = glance(node_json("n1"), two("a", "Ascend910-0,Ascend910-1"), two("b", "Ascend910-4,Ascend910-5"))
    assert (broken.fits() or {})[NPU] == {"1": 4, "2": 2, "4": 0, "8": 0, "nodes_of_8": 0}
    unknown = glance(node_json("n1"), two("a", "Ascend910-0,Ascend910-1"), pod_json("b", "n1", 2))
    assert (unknown.fits() or {})[NPU] == {"1": 4, "2": 2, "4": 1, "8": 0, "nodes_of_8": 0}


def test_what_fits_is_counted_for_every_device_that_a_node_has() -> None:
    found = glance(
        node_json("n1"), node_json("n2"), node_json("g1", resource=NVIDIA), pod_json("a", "g1", 3, resource=NVIDIA)
    )
    assert found.fits() == {
        NPU: {"1": 16, "2": 8, "4": 4, "8": 2, "nodes_of_8": 2},
        GPU: {"1": 5, "2": 2, "4": 1, "8": 0, "nodes_of_8": 0},
    }
    assert [(row.name, row.device) for row in found.rows()] == [("g1", GPU), ("n1", NPU), ("n2", NPU)]


def test_a_node_with_two_kinds_of_cards_is_told_twice_and_one_without_is_told_too() -> None:
    both = node_json("n1", labels={"kubernetes.io/arch": "amd64"}, resource=NVIDIA)
    for where in ("capacity", "allocatable"):
        both["status"][where]["example.org/card"] = "2"
    devices = {**DEVICES, "other": DEVICES[GPU].__class__(resource="example.org/card")}
    found = Glance("k8s", devices)
    found.apply(NODES, "ADDED", read_node(both))
    found.apply(NODES, "ADDED", read_node(node_json("plain", 0)))
    rows = [(row.name, row.device, row.cards, row.free) for row in found.rows()]
    assert rows == [("n1", GPU, 8, 8), ("n1", "other", 2, 2), ("plain", None, 0, 0)]


def test_without_the_right_to_see_nodes_only_own_pods_are_known_and_nothing_is_free() -> None:
    found = glance(pod_json("a", "n1", 3, job="abcdefghij"), pod_json("b", "n2", 0), sees_nodes=False, sees_all=False)
    assert [(row.name, row.ready, row.device, row.cards, row.free) for row in found.rows()] == [
        ("n1", None, NPU, None, None),
        ("n2", None, None, None, None),
    ]
    assert found.rows()[0].held_by == (
        Holding(owner="alice", job="abcdefghij", namespace="team-a", pod="a", cards=3, cpu=0.25),
    )
    assert found.fits() is None and found.offers(NPU) == []


def test_without_the_right_to_see_all_pods_nothing_is_said_to_be_free() -> None:
    row = only(found := glance(node_json("n1"), pod_json("a", "n1", 3), sees_all=False))
    assert (row.ready, row.cards, row.free, row.free_cpu, held_cards(row)) == (True, 8, None, None, 3)
    assert found.fits() is None


def test_what_did_not_change_is_the_same_object() -> None:
    found = glance(node_json("n1"), node_json("n2"), pod_json("a", "n1", 3))
    before = found.rows()
    assert found.rows() is before
    found.apply(PODS, "MODIFIED", read_pod(pod_json("a", "n1", 3, version=2, deleted=True)))
    assert found.rows() is before  # it is told to go, and holds what it held
    found.apply(PODS, "MODIFIED", read_pod(pod_json("a", "n1", 3, version=3, phase="Succeeded")))
    assert [row.free for row in found.rows()] == [8, 8] and found.rows()[1] is before[1]


def test_the_list_of_one_namespace_leaves_the_pods_of_others_alone() -> None:
    found = glance(node_json("n1"), pod_json("a", "n1", 1), pod_json("a", "n1", 2, namespace="team-b", uid="b"))
    found.keep_only("pods:team-b", "", set())
    assert [one.namespace for one in only(found).held_by] == ["team-a"]


def test_news_of_a_pod_from_before_are_not_believed() -> None:
    found = glance(node_json("n1"), pod_json("a", "n1", 3, version=9))
    found.apply(PODS, "MODIFIED", read_pod(pod_json("a", "n1", 3, version=5, phase="Succeeded")))
    assert only(found).free == 5
    found.apply(PODS, "DELETED", read_pod(pod_json("a", "n1", 3, version=8, uid="the one before")))
    assert only(found).free == 5
