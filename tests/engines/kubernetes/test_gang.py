"""Who gives way when jobs hold parts of what others need, and who will never be whole: from recorded objects."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from msgspec import structs

from jupyter_aiarts.engines.kubernetes import gang, names
from jupyter_aiarts.engines.kubernetes.phase import Facts
from jupyter_aiarts.model.phase import Phase

from .replay import Json, cases, load, picture_of, record_of


def facts_of(case: str | Json) -> Facts:
    picture = picture_of(load(case) if isinstance(case, str) else case)
    (record,) = picture.records()
    return picture.facts(record.id)


def half_placed(created: str = "2026-01-01T00:00:00Z", uid: str = "u1", **short: Any) -> Facts:
    """The recorded half-placed job as another one."""
    facts = facts_of("half-placed")
    facts.job.metadata.creation_timestamp, facts.job.metadata.uid = created, uid
    return structs.replace(facts, spec=structs.replace(facts.spec, **short))


@pytest.mark.parametrize("case", cases())
def test_of_all_recorded_jobs_one_alone_is_half_placed(case: str) -> None:
    assert gang.is_half_placed(facts_of(case)) is (case == "half-placed")


@pytest.mark.parametrize("intent", ["stop", "pause", "delete"])
def test_a_job_that_is_to_end_gives_way_to_nobody(intent: str) -> None:
    content = load("half-placed")
    content["jobs"][0]["metadata"]["annotations"][names.INTENT] = intent
    assert not gang.is_half_placed(facts_of(content))


def test_the_older_one_goes_first_and_only_one_of_two_gives_way() -> None:
    old, young = half_placed("2026-01-01T00:00:00Z", "b"), half_placed("2026-01-01T00:00:01Z", "a")
    assert gang.ahead(young, [young, old]) is old
    assert gang.ahead(old, [young, old]) is None


def test_a_higher_priority_goes_before_age() -> None:
    old, urgent = half_placed("2026-01-01T00:00:00Z"), half_placed("2026-01-02T00:00:00Z", "u2", priority=9)
    assert gang.ahead(old, [old, urgent]) is urgent
    assert gang.ahead(urgent, [old, urgent]) is None


def test_of_two_that_were_made_in_the_same_second_every_server_picks_the_same() -> None:
    one, other = half_placed(uid="a"), half_placed(uid="b")
    assert [gang.ahead(one, [one, other]), gang.ahead(other, [other, one])] == [None, one]


def test_jobs_that_need_different_devices_do_not_wait_for_each_other() -> None:
    old, young = half_placed(device="nvidia_gpu_amd64"), half_placed("2026-01-02T00:00:00Z", device="huawei_npu_arm64")
    assert gang.ahead(young, [old, young]) is None


def test_a_job_that_gave_way_is_queued_and_names_the_other() -> None:
    content = copy.deepcopy(load("half-placed"))
    content["jobs"][0]["spec"]["suspend"] = True
    content["jobs"][0]["metadata"]["annotations"][names.GIVES_WAY] = "a123456789"
    content["pods"] = []
    record = record_of(content)
    assert (record.phase, record.cause.code, record.cause.values) == (Phase.QUEUED, "gives-way", {"to": "a123456789"})
    assert gang.gives_way(facts_of(content))
    content["jobs"][0]["metadata"]["annotations"][names.INTENT] = "stop"
    assert not gang.gives_way(facts_of(content)), "what its owner wants counts more"


# -- the first node failed for good ----------------------------------------------------------------------------------


def first_failed(case: str) -> Json:
    """A recorded job of two nodes, as if its node 0 had ended with a code of its own."""
    content = copy.deepcopy(load(case))
    content["jobs"][0]["status"]["failedIndexes"] = "0"
    return content


def test_late_nodes_of_a_job_without_its_first_one_are_called_off() -> None:
    assert gang.is_forsaken(facts_of(first_failed("half-placed")))
    content = first_failed("half-placed")
    content["pods"] = [pod for pod in content["pods"] if pod["spec"].get("nodeName")]
    assert gang.is_forsaken(facts_of(content)), "one is to be made again"


def test_nodes_that_ran_with_the_first_one_end_by_themselves() -> None:
    assert not gang.is_forsaken(facts_of(first_failed("running-two-nodes")))


@pytest.mark.parametrize("failed", ["", "1", "10", "1-3", "10,20"])
def test_only_the_first_node_is_missed_by_all(failed: str) -> None:
    content = first_failed("half-placed")
    content["jobs"][0]["status"]["failedIndexes"] = failed
    assert not gang.is_forsaken(facts_of(content))


@pytest.mark.parametrize("case", cases())
def test_no_recorded_job_is_called_off_for_nothing(case: str) -> None:
    assert not gang.is_forsaken(facts_of(case))


def test_a_job_that_was_called_off_has_failed_and_is_not_queued() -> None:
    content = first_failed("failed-one-of-two")
    content["jobs"][0]["status"]["conditions"] = []
    content["jobs"][0]["spec"]["suspend"] = True
    record = record_of(content)
    assert (record.phase, record.cause.code) == (Phase.FAILED, "exit-code")
