"""A job whose place was taken says by whom, as far as that may be seen; from objects recorded on a real cluster."""

from __future__ import annotations

import json

import pytest

from jupyter_aiarts.engines.kubernetes.causes import is_taker_unknown
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


VICTIM, POD = "r71deef9bc", "train-r71deef9bc-1-0-zcmg7"
SAID = "Preempted by pod 1d111d7c-23f4-4be6-8a09-af1832a9bc33 on node node-a"


def scheduled(case: str) -> Picture:
    """The job that the scheduler preempted, and beside it the one for which it had to go."""
    content = load(case)
    taker = json.loads(json.dumps(content["jobs"][0]).replace(VICTIM, "taker00000").replace('"train', '"urgent'))
    taker["metadata"]["uid"] = TAKER
    return picture_of({**content, "jobs": [*content["jobs"], taker]})


@pytest.mark.parametrize("case", ["preempted", "preempted-waiting"])
def test_the_schedulers_event_names_who_took_the_place(case: str) -> None:
    picture = scheduled(case)
    space = picture.namespace_of(VICTIM)
    assert is_taker_unknown(picture.record(VICTIM).cause)
    picture.displace(space, POD, (space, "urgent-taker00000-1-0-abcde"), SAID)
    cause = picture.record(VICTIM).cause
    assert (cause.code, cause.values["by_id"], cause.values["node"]) == ("preempted", "taker00000", "node-a")
    assert SAID in cause.evidence and not is_taker_unknown(cause)
    assert "node-a" in explain(cause, "en").title and "quota" not in explain(cause, "en").why


@pytest.mark.parametrize(
    ("pod", "by"),
    [
        ("train-r71deef9bc-1-0-older", ("", "urgent-taker00000-1-0-abcde")),  # of an hour ago, about another pod
        ("somebody-elses", ("", "urgent-taker00000-1-0-abcde")),
        ("", ("", "")),
    ],
)
def test_old_news_and_news_of_others_say_nothing_about_a_job(pod: str, by: tuple[str, str]) -> None:
    picture = scheduled("preempted")
    before = picture.record(VICTIM)
    picture.displace(picture.namespace_of(VICTIM), pod, by, SAID)
    assert picture.record(VICTIM) is before


@pytest.mark.parametrize("by", [("", ""), ("elsewhere", "urgent-taker00000-1-0-abcde"), ("", "stranger")])
def test_whoever_cannot_be_seen_is_quoted_and_not_named(by: tuple[str, str]) -> None:
    picture = scheduled("preempted")
    picture.displace(picture.namespace_of(VICTIM), POD, by, SAID)
    cause = picture.record(VICTIM).cause
    assert "by" not in cause.values and cause.evidence[-1] == SAID
