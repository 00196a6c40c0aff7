"""What nodes do to pods: short of something, emptied, shut down, cards lost; victim and culprit are told apart."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.causes import disruption_of, pod_cause
from jupyter_aiarts.engines.kubernetes.seen import Pod, Trouble
from jupyter_aiarts.explain import explain
from jupyter_aiarts.explain.rules import root
from jupyter_aiarts.model.cause import Cause
from tests.explain.speaking import JOB, Json, check_hostile, check_linear, form, heard, told_by

SAID = told_by("node")


def cause_of(trouble: dict[str, Any]) -> Cause:
    pod = Pod(name="p", index=0, phase="Failed", node="node-a", trouble=Trouble(**trouble))
    cause = disruption_of(pod) or pod_cause(pod, (), "image")
    assert cause is not None
    return cause


@pytest.mark.parametrize("row", SAID)
def test_what_a_node_did_is_told(row: Json) -> None:
    cause = cause_of(row["trouble"])
    found = root(cause)
    assert (found.code, found.form) == (row["code"], row["form"])
    heard(cause.code, *cause.evidence, **cause.values)


def test_a_small_user_of_a_full_disk_is_not_blamed_for_it() -> None:
    found = explain(cause_of(SAID[0]["trouble"]), "en", JOB)
    assert "used 104.3 MiB and had reserved 0 B" in found.why and "does not mean that it filled the disk" in found.why


@pytest.mark.parametrize(("limit", "asked"), [("1Gi", 2.0), ("512Mi", 1.0), ("64Mi", 0.125), ("1G", 1.863)])
def test_shared_memory_is_offered_twice_of_what_was_too_little(limit: str, asked: float) -> None:
    found = heard("evicted", f'Usage of EmptyDir volume "dshm" exceeds the limit "{limit}".', node="node-a")
    assert found.actions[0].patch == {"shm_gb": asked}
    assert found.actions[0].command == f"aiarts edit {JOB} shm_gb={asked:g}"


def test_without_its_words_an_eviction_is_an_eviction() -> None:
    for text in ("", "Evicted", "节点资源不足：内存", "Der Knoten hatte zu wenig Speicher"):
        assert form("evicted", text, node="a") == ("evicted", "")


def test_queues_that_take_jobs_back_are_not_nodes() -> None:
    assert form("evicted", "Exceeded the PodsReady timeout ns/a", queue="team")[1] == "not-ready-in-time"


def test_hostile_words_break_nothing_and_take_no_longer() -> None:
    check_hostile(("evicted", "node-lost", "unknown"))
    for text in ("low on resource: a", 'EmptyDir volume "a', "OutOf", "The node had condition: ["):
        check_linear("evicted", text)
