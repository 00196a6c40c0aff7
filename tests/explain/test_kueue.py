"""Kueue's reasons for holding a job back: what is missing, what never will be there, and who switched a queue off."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.causes import queue_cause
from jupyter_aiarts.engines.kubernetes.seen import Condition, Workload
from jupyter_aiarts.explain import explain
from jupyter_aiarts.explain.rules import root
from tests.explain.speaking import check_hostile, check_linear, check_pieces, form, heard, spec

SET = "couldn't assign flavors to pod set main: "
BUSY = SET + "insufficient unused quota for {} in flavor {}, {} more needed"
LARGE = SET + (
    "insufficient quota for {} in flavor {}, previously considered podsets requests ({}) + current podset request ({}) "
    "> maximum capacity ({})"
)


def workload(**conditions: tuple[str, str, str]) -> Workload:
    found = [Condition(type=kind, status=one[0], reason=one[1], message=one[2]) for kind, one in conditions.items()]
    return Workload(name="job-train", queue="team", active=True, conditions=tuple(found))


def told(**conditions: tuple[str, str, str]) -> tuple[str, str, str]:
    """Through the engine, as a workload comes."""
    cause = queue_cause(workload(**conditions))
    assert cause is not None
    found = root(cause)
    return found.code, found.form, explain(cause).why


@pytest.mark.parametrize(
    ("said", "part"),
    [
        (BUSY.format("cpu", "default-flavor", "9"), "9 more of cpu (default-flavor)"),
        (BUSY.format("memory", "spot", "6Gi"), "6.0 GiB more of memory (spot)"),
        (BUSY.format("cpu", "default", "100m"), "0.1 more of cpu"),
        (BUSY.format("memory", "default", "1500M"), "1.4 GiB more of memory"),
        (SET + "insufficient unused quota in cohort for nvidia.com/gpu in flavor a, 2 more needed", "2 more of nvidia"),
        (BUSY.format("nvidia.com/gpu", "a", "8") + ", " + BUSY.format("nvidia.com/gpu", "b", "2"), "2 more of nvidia"),
    ],
)
def test_a_busy_quota_says_how_much_has_to_come_free(said: str, part: str) -> None:
    assert form("quota-exceeded", said) == ("quota-exceeded", "queue-busy")
    assert part in heard("quota-exceeded", said, queue="team").why
    check_pieces("quota-exceeded", said, {"never-fits"} if "," in part else set())


@pytest.mark.parametrize(
    ("said", "asks", "part", "patch"),
    [
        (LARGE.format("nvidia.com/gpu", "a", "16", "8", "16"), spec(), "24 of nvidia.com/gpu", None),
        (
            LARGE.format("nvidia.com/gpu", "a", "0", "16", "6"),
            spec(device="nvidia_gpu_amd64", devices=8, nodes=2, kind="distributed"),
            "at most 6",
            {"devices": 3},
        ),
        (
            LARGE.format("huawei.com/Ascend910", "a", "0", "8", "7"),
            spec(device="huawei_npu_arm64", devices=8),
            "at most 7",
            {"devices": 4},
        ),
        (LARGE.format("memory", "a", "0", "64Gi", "48Gi"), spec(nodes=3), "at most 48.0 GiB", {"memory_gb": 16.0}),
        (LARGE.format("cpu", "a", "0", "4", "500m"), spec(), "at most 0.5", {"cpu": 0.5}),
        (
            SET + "insufficient quota for cpu in flavor a, request > maximum capacity (9 > 8)",
            spec(nodes=1),
            "9 of cpu",
            {"cpu": 8.0},
        ),
        (LARGE.format("example.com/licence", "a", "0", "2", "1"), spec(devices=8), "2 of example.com/licence", None),
    ],
)
def test_more_than_the_queue_will_ever_have_is_said_with_what_would_fit(
    said: str, asks: Any, part: str, patch: dict[str, Any] | None
) -> None:
    found = heard("quota-exceeded", said, asks=asks, queue="team")
    assert found.code == "never-fits" and part in found.why
    assert next((one.patch for one in found.actions if one.patch), None) == patch


def test_a_flavor_that_is_busy_is_waited_for_though_another_is_too_small() -> None:
    both = LARGE.format("cpu", "small", "0", "9", "8") + ", " + BUSY.format("cpu", "large", "3").removeprefix(SET)
    assert form("quota-exceeded", both) == ("quota-exceeded", "queue-busy")


@pytest.mark.parametrize(
    ("conditions", "code", "name"),
    [
        ({}, "queue-position", "queue-untried"),
        ({"QuotaReserved": ("False", "Inadmissible", "LocalQueue team is inactive")}, "queue-inactive", "queue-off"),
        ({"QuotaReserved": ("False", "Inadmissible", "ClusterQueue a is inactive")}, "queue-inactive", "queue-off"),
        (
            {"QuotaReserved": ("False", "Inadmissible", "LocalQueue team doesn't exist")},
            "queue-inactive",
            "queue-missing",
        ),
        (
            {"QuotaReserved": ("False", "Inadmissible", "ClusterQueue a doesn't exist")},
            "queue-inactive",
            "queue-unconnected",
        ),
        (
            {
                "Evicted": ("True", "ClusterQueueStopped", "The ClusterQueue is stopped"),
                "QuotaReserved": ("False", "Pending", "The ClusterQueue is stopped"),
            },
            "queue-inactive",
            "queue-stopped",
        ),
        (
            {"Evicted": ("True", "LocalQueueStopped", "The LocalQueue is stopped")},
            "queue-inactive",
            "queue-stopped",
        ),
        (
            {"Evicted": ("True", "PodsReadyTimeout", "Exceeded the PodsReady timeout team-a/job-train-67543")},
            "evicted",
            "not-ready-in-time",
        ),
        (
            {
                "QuotaReserved": (
                    "False",
                    "WaitingForPodsReady",
                    "waiting for all admitted workloads to be in PodsReady condition",
                )
            },
            "queue-position",
            "queue-waits-start",
        ),
        (
            {"QuotaReserved": ("False", "Pending", "Workload no longer fits after processing another workload")},
            "quota-exceeded",
            "queue-lost-race",
        ),
        (
            {
                "QuotaReserved": (
                    "False",
                    "Pending",
                    BUSY.format("cpu", "a", "1") + ". Pending the preemption of 1 workload(s)",
                )
            },
            "quota-exceeded",
            "queue-busy",
        ),
        (
            {"QuotaReserved": ("False", "Pending", "Pending the preemption of 2 workload(s)")},
            "queue-position",
            "queue-preempting",
        ),
        (
            {"QuotaReserved": ("False", "Pending", SET + "resource nvidia.com/gpu unavailable in ClusterQueue")},
            "never-fits",
            "queue-lacks",
        ),
        ({"QuotaReserved": ("False", "Pending", "The workload is deactivated")}, "queue-inactive", "workload-off"),
        (
            {"QuotaReserved": ("False", "Pending", SET + "flavor arm doesn't match node affinity")},
            "never-fits",
            "queue-other-nodes",
        ),
        (
            {"QuotaReserved": ("False", "Pending", SET + "untolerated taint {gpu true NoSchedule <nil>} in flavor a")},
            "never-fits",
            "queue-other-nodes",
        ),
        (
            {"QuotaReserved": ("False", "Pending", 'topology "rack" doesn\'t allow to fit any of 2 pod(s)')},
            "queue-position",
            "",
        ),
        (
            {"QuotaReserved": ("False", "Inadmissible", "Workload namespace doesn't match ClusterQueue selector")},
            "queue-inactive",
            "queue-not-for-namespace",
        ),
        ({"QuotaReserved": ("False", "Pending", "something that is new in the next version")}, "queue-position", ""),
    ],
)
def test_each_reason_of_kueue_has_its_own_words(conditions: dict[str, Any], code: str, name: str) -> None:
    found = told(**conditions)
    assert found[:2] == (code, name)
    assert "unknown" not in found[2]


def test_an_eviction_that_is_over_explains_nothing() -> None:
    over = ("False", "QuotaReserved", "Previously: Exceeded the PodsReady timeout")
    busy = ("False", "Pending", BUSY.format("cpu", "a", "1"))
    assert told(Evicted=over, QuotaReserved=busy)[1] == "queue-busy"


def test_who_sees_the_place_in_the_queue_is_told_that() -> None:
    assert form("queue-position", queue="team", ahead=3) == ("queue-position", "")


def test_hostile_words_break_nothing_and_take_no_longer() -> None:
    check_hostile(("quota-exceeded", "queue-position", "queue-inactive", "preempted", "evicted"))
    for text in ("insufficient unused quota for ", "insufficient quota for a in flavor ", "LocalQueue "):
        check_linear("quota-exceeded", text)
