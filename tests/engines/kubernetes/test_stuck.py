"""What holds cards that nobody uses is found and named, whatever became of its job; everything else is left alone."""

from __future__ import annotations

import copy
from datetime import timedelta

import pytest

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.objects import JOBS
from jupyter_aiarts.engines.kubernetes.phase import STUCK
from jupyter_aiarts.engines.kubernetes.picture import Picture
from jupyter_aiarts.engines.kubernetes.stuck import stuck_of, unfinished
from jupyter_aiarts.engines.kubernetes.submit import ABANDONED
from jupyter_aiarts.model.cluster import Stuck
from jupyter_aiarts.model.times import parse, text_of

from .replay import Json, cases, decoded, load, picture_of


def due(content: Json) -> str:
    """When the pod of the lost node should have been gone."""
    (pod,) = [pod for pod in content["pods"] if pod["metadata"].get("deletionTimestamp")]
    moment: str = pod["metadata"]["deletionTimestamp"]
    return moment


def after(moment: str, seconds: float) -> str:
    return text_of(parse(moment) + timedelta(seconds=seconds))


def found(content: Json, now: str) -> list[Stuck]:
    picture = picture_of(content, now)
    picture.records()
    return stuck_of("k8s", picture.leaving(), now)


def test_a_pod_on_a_dead_node_is_named_with_its_cards_once_it_is_late_and_not_before() -> None:
    content = load("node-lost")
    assert found(content, after(due(content), STUCK - 1)) == []
    (one,) = found(content, after(due(content), STUCK + 1))
    job = content["jobs"][0]["metadata"]
    assert (one.kind, one.job, one.namespace, one.node) == (
        "pod-stuck",
        job["labels"][names.JOB],
        job["namespace"],
        "node-b",
    )
    assert one.pod is not None and one.name and parse(one.since) == parse(due(content))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, "keeps-cards"),
        ({"status": {"conditions": [{"type": "Failed", "status": "True"}]}}, "keeps-cards"),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "half-deleted"),
    ],
)
def test_what_became_of_its_job_is_said_and_a_release_is_offered_all_the_same(change: Json, kind: str) -> None:
    content = load("node-lost")
    job = content["jobs"][0]
    for key, part in change.items():
        job[key].update(part)
    now = after(due(content), STUCK + 1)
    assert [one.kind for one in found(content, now)] == [kind]
    (record,) = picture_of(content, now).records()
    assert record.is_stuck


def test_a_pod_of_an_earlier_run_still_counts() -> None:
    content = load("node-lost")
    again = copy.deepcopy(content["jobs"][0])
    again["metadata"]["labels"][names.RUN] = "2"
    again["metadata"].update(name=again["metadata"]["name"][:-1] + "2", uid="another")
    now = after(due(content), STUCK + 1)
    picture = picture_of(content, now)
    picture.apply(JOBS, "ADDED", decoded(JOBS, again))
    (record,) = picture.records()
    assert (record.run, record.is_stuck, len(stuck_of("k8s", picture.leaving(), now))) == (2, True, 1)


@pytest.mark.parametrize("case", [case for case in cases() if case != "node-lost"])
def test_nothing_else_that_was_ever_recorded_is_stuck_when_it_was_recorded(case: str) -> None:
    content = load(case)
    now: str = content["provenance"]["at"]
    assert found(content, now) == []
    assert not any(record.is_stuck for record in picture_of(content).records())


def test_what_a_crashed_submission_left_is_named_when_nobody_can_still_be_at_work_on_it() -> None:
    content = load("running-two-nodes")
    job = content["jobs"][0]
    job["metadata"]["labels"][names.CREATING] = "1"
    picture = Picture("k8s")
    picture.apply(JOBS, "ADDED", decoded(JOBS, job))
    created = job["metadata"]["creationTimestamp"]
    limit = ABANDONED.total_seconds()
    assert unfinished("k8s", picture.creating(), ABANDONED, after(created, limit - 1)) == []
    (one,) = unfinished("k8s", picture.creating(), ABANDONED, after(created, limit + 1))
    assert (one.kind, one.pod, one.cards, one.job) == ("unfinished", None, 0, job["metadata"]["labels"][names.JOB])
