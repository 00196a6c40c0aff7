"""A job whose place was taken says by whom, as far as that may be seen; from objects recorded on a real cluster."""

from __future__ import annotations

import json

import pytest

from jupyter_aiarts.engines.kubernetes.objects import JOBS
from jupyter_aiarts.engines.kubernetes.picture import DELETED, Picture
from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.cause import Cause
from tests.engines.kubernetes.replay import Json, decoded, load, picture_of

TAKER = "cdc71ef1-5347-4e28-8d9f-09bf16705d84"  # the Job that the recorded condition names
PATIENT = "r2053116bd"


def taker_job() -> Json:
    """That Job, made from the recorded one of the job that lost its place."""
    content = json.dumps(load("queue-preempted")["jobs"][0])
    made: Json = json.loads(content.replace(PATIENT, "taker00000").replace("queue-preempted", "urgent"))
    made["metadata"]["uid"] = TAKER
    made["metadata"]["namespace"] = "lab-w-queue-preempted"
    return made


def cause_in(picture: Picture) -> Cause:
    return picture.record(PATIENT).cause


def test_who_may_not_be_seen_is_named_by_the_queue_alone() -> None:
    cause = cause_in(picture_of(load("queue-preempted")))
    assert (cause.code, cause.values) == ("preempted", {"queue": "own", "by_job": TAKER, "by_queue": "lab-w"})
    for lang in ("en", "zh"):
        told = explain(cause, lang)
        assert told.code == "preempted"
        assert "lab-w" in told.why and TAKER not in told.title + told.why


def test_who_may_be_seen_is_named_and_stays_named_after_it_is_gone() -> None:
    content = load("queue-preempted")
    content["jobs"].append(taker_job())
    picture = picture_of(content)
    assert (cause_in(picture).values["by"], cause_in(picture).values["by_id"]) == ("urgent", "taker00000")
    for lang in ("en", "zh"):
        assert "urgent" in explain(cause_in(picture), lang).title
    before = picture.record(PATIENT)
    picture.apply(JOBS, DELETED, decoded(JOBS, taker_job()))
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, load("queue-preempted")["jobs"][0]))
    assert picture.record(PATIENT) is before


@pytest.mark.parametrize("message", [None, "", "Preempted to accommodate a workload", "JobUID: ; preemptor path: x"])
def test_words_that_say_less_give_less(message: str | None) -> None:
    content = load("queue-preempted")
    for condition in content["workloads"][0]["status"]["conditions"]:
        if condition["type"] == "Evicted":
            condition["message"] = message
    cause = cause_in(picture_of(content))
    assert (cause.code, cause.values) == ("preempted", {"queue": "own"})
    assert explain(cause, "en").title == "Its place was taken"


def test_a_queued_job_of_which_kueue_says_nothing_waits_for_kueue() -> None:
    content = load("queue-quota")
    content["workloads"] = []
    [record] = picture_of(content).records()
    assert (record.cause.code, record.cause.values) == ("queued", {"queue": "cards"})
    assert [explain(record.cause, lang).title for lang in ("en", "zh")] == ["Waiting for Kueue", "等待 Kueue"]
