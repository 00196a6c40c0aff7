"""From objects of a real cluster to a phase and its cause; without evidence it says less, never another thing."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.attempts import resumed
from jupyter_aiarts.engines.kubernetes.phase import STUCK
from jupyter_aiarts.engines.local.records import Settled
from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.job import Attempt
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.times import parse, text_of

from .recording import FAILURE, summary
from .replay import Json, cases, decoded, load, picture_of, record_of

EXPECTED = {
    "deleted": (Phase.RUNNING, "stopping"),
    "evicted": (Phase.STARTING, "evicted"),
    "evicted-back": (Phase.RUNNING, "running"),
    "failed": (Phase.FAILED, "exit-code"),
    "failed-init": (Phase.FAILED, "start-file-missing"),
    "failed-one-of-two": (Phase.FAILED, "exit-code"),
    "failed-silent": (Phase.FAILED, "unknown"),
    "half-placed": (Phase.STARTING, "no-node-fits"),
    "image-backoff": (Phase.STARTING, "image-not-found"),
    "image-bad-name": (Phase.STARTING, "image-not-found"),
    "image-never": (Phase.STARTING, "image-not-found"),
    "image-no-access": (Phase.STARTING, "image-no-access"),
    "image-no-format": (Phase.FAILED, "image-user-permission"),
    "image-no-host": (Phase.STARTING, "image-unreachable"),
    "image-no-python": (Phase.FAILED, "image-no-python"),
    "image-not-found": (Phase.STARTING, "image-not-found"),
    "image-not-https": (Phase.STARTING, "image-not-https"),
    "image-refused": (Phase.STARTING, "image-unreachable"),
    "image-wrong-arch": (Phase.STARTING, "image-wrong-arch"),
    "launcher-killed": (Phase.LOST, "launcher-lost"),
    "left-and-replaced": (Phase.QUEUED, "waiting-for-peers"),
    "limit-range": (Phase.QUEUED, "policy-refused"),
    "mount-claim": (Phase.QUEUED, "mount-missing"),
    "mount-configmap": (Phase.STARTING, "mount-missing"),
    "mount-host-path": (Phase.STARTING, "mount-missing"),
    "no-node-fits": (Phase.QUEUED, "no-node-fits"),
    "node-lost": (Phase.STARTING, "node-lost"),
    "node-unready": (Phase.STARTING, "node-lost"),
    "not-as-root": (Phase.STARTING, "policy-refused"),
    "out-of-memory": (Phase.FAILED, "out-of-memory"),
    "pause-asked": (Phase.RUNNING, "stopping"),
    "pause-done": (Phase.PAUSED, "paused-by-user"),
    "pod-security": (Phase.QUEUED, "policy-refused"),
    "preempted": (Phase.STARTING, "preempted"),
    "preempted-waiting": (Phase.QUEUED, "preempted"),
    "queue-admitted": (Phase.RUNNING, "running"),
    "queue-inactive": (Phase.QUEUED, "queue-inactive"),
    "queue-none": (Phase.QUEUED, "queue-inactive"),
    "queue-preempted": (Phase.QUEUED, "preempted"),
    "queue-quota": (Phase.QUEUED, "quota-exceeded"),
    "queue-stopped": (Phase.STOPPED, "stopped-by-user"),
    "queue-too-much": (Phase.QUEUED, "quota-exceeded"),
    "quota-refused": (Phase.QUEUED, "quota-exceeded"),
    "running-one-ended": (Phase.RUNNING, "running"),
    "running-two-nodes": (Phase.RUNNING, "running"),
    "secret-missing": (Phase.STARTING, "mount-missing"),
    "stop-asked": (Phase.RUNNING, "stopping"),
    "stop-done": (Phase.STOPPED, "stopped-by-user"),
    "stop-unplaced": (Phase.STOPPED, "stopped-by-user"),
    "succeeded": (Phase.SUCCEEDED, "succeeded"),
    "succeeded-two-nodes": (Phase.SUCCEEDED, "succeeded"),
}
NEUTRAL = {"unknown", "exit-code", "queued", "queue-position", "starting", "running", "ending", "stopping"}
"""Codes that say where a job is and claim nothing about why."""

ALSO_TRUE = {("preempted-waiting", "no-node-fits"), ("queue-preempted", "quota-exceeded")}
"""Two causes at once: what was done to it, and why it waits now, which the first answer has as evidence."""


def test_every_recording_is_in_the_table() -> None:
    assert cases() == sorted(EXPECTED)


@pytest.mark.parametrize("case", EXPECTED)
def test_what_was_recorded_is_told(case: str) -> None:
    record = record_of(load(case))
    assert (record.phase, record.cause.code) == EXPECTED[case]


@pytest.mark.parametrize("case", EXPECTED)
def test_every_cause_reads_in_both_languages(case: str) -> None:
    cause = record_of(load(case)).cause
    for lang in ("en", "zh"):
        said = explain(cause, lang, "abcdefghij")
        assert said.title != explain(type(cause)(code="no-such-code"), lang).title or cause.code == "unknown"
        assert "unknown" not in said.why and "未知" not in said.why


@pytest.mark.parametrize("case", EXPECTED)
def test_taking_evidence_away_gives_the_same_cause_or_less(case: str) -> None:
    code = EXPECTED[case][1]
    for what, content in with_less(load(case)):
        found = record_of(content).cause.code
        assert found == code or found in NEUTRAL or (case, found) in ALSO_TRUE, what


def with_less(content: Json) -> Iterator[tuple[str, Json]]:
    """The recording without one thing after the other: a pod, a list, a condition, a state, a sentence."""
    for kind in ("pods", "events", "workloads"):
        yield f"no {kind}", {**content, kind: []}
        for number in range(len(content[kind])):
            yield f"no {kind}[{number}]", {**content, kind: content[kind][:number] + content[kind][number + 1 :]}
    for kind in ("jobs", "pods", "workloads"):
        for number, item in enumerate(content[kind]):
            status = item.get("status", {})
            for key in [key for key in status if key not in ("phase", "qosClass")]:
                yield f"no {key} of {kind}[{number}]", _without(content, kind, number, key)
            for place in range(len(status.get("conditions", []))):
                less = copy.deepcopy(content)
                del less[kind][number]["status"]["conditions"][place]
                yield f"no {status['conditions'][place]['type']} of {kind}[{number}]", less


def _without(content: Json, kind: str, number: int, key: str) -> Json:
    less = copy.deepcopy(content)
    del less[kind][number]["status"][key]
    return less


@pytest.mark.parametrize("what", ["secret", "configmap"])
def test_a_mount_that_is_only_late_is_a_start_like_any_other_until_it_lasts(what: str) -> None:
    """A kubelet that is busy says so of many new pods, and mounts them seconds later."""
    content = load("mount-configmap")
    made = parse(content["pods"][0]["metadata"]["creationTimestamp"])
    for event in content["events"]:
        event["message"] = (
            f'MountVolume.SetUp failed for volume "aiarts-job" : failed to sync {what} cache: '
            "timed out waiting for the condition"
        )
        event["lastTimestamp"] = text_of(made + timedelta(seconds=5))
    assert (record_of(content).phase, record_of(content).cause.code) == (Phase.STARTING, "starting")
    for event in content["events"]:
        event["lastTimestamp"] = text_of(made + timedelta(seconds=70))
    assert record_of(content).cause.code == "unknown"


def test_a_job_that_is_deleted_is_never_queued_again_when_its_last_pod_has_gone() -> None:
    content = load("deleted")
    assert record_of(content).phase is Phase.RUNNING
    content["pods"] = []
    content["jobs"][0]["status"].update(active=0, ready=0, terminating=0)
    record = record_of(content)
    assert (record.phase, record.cause.code) == (Phase.STOPPED, "stopped-by-user")


# -- time ----------------------------------------------------------------------------------------------------------


def test_a_pod_that_should_be_gone_for_half_a_minute_is_stuck_and_not_before() -> None:
    content = load("node-lost")
    due = parse(content["pods"][0]["metadata"]["deletionTimestamp"])
    early, late = (text_of(due + timedelta(seconds=STUCK + more)) for more in (-1, 0))
    assert record_of(content, early).cause.code == "node-lost"
    stuck = record_of(content, late).cause
    assert (stuck.code, stuck.values["node"]) == ("pod-stuck", "node-b")
    picture = picture_of(content, early)
    picture.settle()
    assert picture.next_look() == pytest.approx(1, abs=0.01)


def test_a_stuck_pod_of_a_stopped_job_is_said_to_be_stuck() -> None:
    content = load("node-lost")
    _annotate(content, intent="stop")
    content["jobs"][0]["spec"]["suspend"] = True
    due = parse(content["pods"][0]["metadata"]["deletionTimestamp"])
    assert record_of(content).cause.code == "stopping"
    assert record_of(content, text_of(due + timedelta(seconds=STUCK))).cause.code == "pod-stuck"


def test_times_are_those_of_the_first_container_and_of_the_end() -> None:
    running = record_of(load("running-two-nodes"))
    starts = [
        pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
        for pod in load("running-two-nodes")["pods"]
    ]
    assert (running.started, running.ended) == (min(starts).replace("Z", ".000000Z"), None)
    done = record_of(load("succeeded-two-nodes"))
    assert done.ended == load("succeeded-two-nodes")["jobs"][0]["status"]["completionTime"].replace("Z", ".000000Z")
    assert record_of(load("image-no-format")).started is None  # containerd says 1970 of what never started


# -- summaries -----------------------------------------------------------------------------------------------------


def _annotate(content: Json, **notes: str) -> None:
    marks = content["jobs"][0]["metadata"]["annotations"]
    marks.update({names.PREFIX + key: value for key, value in notes.items()})


def test_a_kept_summary_tells_the_cause_after_the_pods_are_gone() -> None:
    content = load("failed-silent")
    _annotate(content, summary=json.dumps(summary("failed", first_failure=FAILURE)))
    content["jobs"][0]["metadata"]["creationTimestamp"] = "2026-11-16T05:00:00Z"
    content["pods"] = []
    record = record_of(content)
    assert (record.phase, record.cause.code, record.cause.evidence) == (
        Phase.FAILED,
        "exit-code",
        ("ValueError: no data",),
    )
    assert (record.started, record.ended) == ("2026-11-16T05:00:01.000000Z", "2026-11-16T05:00:02.500000Z")
    assert [(rank.rank, rank.exit_code) for rank in record.ranks] == [(0, 3)]


def test_a_summary_of_an_earlier_attempt_tells_when_it_began_and_nothing_else() -> None:
    content = load("running-two-nodes")
    _annotate(content, summary=json.dumps(summary("stopped")), attempt="2")
    content["jobs"][0]["metadata"]["creationTimestamp"] = "2026-11-16T05:00:00Z"
    record = record_of(content)
    assert (record.phase, record.started) == (Phase.RUNNING, "2026-11-16T05:00:01.000000Z")


def test_a_run_that_was_resumed_says_when_it_ran_before_and_since_when_it_runs_again() -> None:
    content = load("running-two-nodes")
    before = {"queued": "2026-11-16T01:00:00Z", "started": "2026-11-16T01:00:10Z", "ended": "2026-11-16T01:10:00Z"}
    told = json.dumps([before, {"queued": "2026-11-16T04:00:00Z"}])
    _annotate(content, summary=json.dumps(summary("stopped")), attempt="2", attempts=told)
    first, second = record_of(content).attempts
    assert (first, second.queued) == (Attempt(**before), "2026-11-16T04:00:00Z")
    assert second.started == record_of(load("running-two-nodes")).started
    assert record_of(load("running-two-nodes")).attempts == ()


@pytest.mark.parametrize("told", [None, "", "{", "[]", "null"])
def test_when_a_resumed_run_paused_is_not_known_where_nobody_wrote_it_down(told: str | None) -> None:
    content = load("running-two-nodes")
    _annotate(content, attempt="2", **({} if told is None else {"attempts": told}))
    first, second = record_of(content).attempts
    assert (first.ended, second.queued) == (None, None)
    assert second.started is not None


def test_each_resume_adds_to_what_is_written_down() -> None:
    content = load("pause-done")
    record = record_of(content)
    seen = Settled(phase=record.phase, cause=record.cause, started=record.started, ended=record.ended)
    text = resumed(picture_of(content).facts(record.id), seen, "2036-01-01T00:00:00Z")
    _annotate(content, attempt="2", attempts=text)
    again = resumed(picture_of(content).facts(record.id), seen, "2036-01-02T00:00:00Z")
    first, second, third = json.loads(again)
    assert (first.get("started"), first["ended"]) == (record.started, record.ended)
    assert (second["queued"], third) == ("2036-01-01T00:00:00Z", {"queued": "2036-01-02T00:00:00Z"})


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"result": "failed"}', "Killed\n", "\ufffd\u0000"])
def test_last_words_that_are_no_summary_are_passed_over(text: str) -> None:
    content = load("failed-silent")
    content["pods"][0]["status"]["containerStatuses"][0]["state"]["terminated"]["message"] = text
    _annotate(content, summary=text)
    assert record_of(content).cause.code == "unknown"


def test_the_end_is_told_before_the_job_controller_has_counted() -> None:
    for case, phase in (("succeeded", Phase.SUCCEEDED), ("failed", Phase.FAILED), ("failed-one-of-two", Phase.FAILED)):
        content = load(case)
        content["jobs"][0]["status"] = {"active": 1, "ready": 0}
        assert record_of(content).phase is phase


def test_one_node_that_succeeded_is_not_yet_success() -> None:
    content = load("running-one-ended")
    first = next(pod for pod in content["pods"] if pod["metadata"]["labels"][names.INDEX] == "0")
    first["status"]["containerStatuses"][0]["state"]["terminated"]["message"] = json.dumps(summary("succeeded"))
    assert record_of(content).phase is Phase.RUNNING


def test_memory_that_ran_out_elsewhere_does_not_explain_the_first_failure() -> None:
    content = load("failed-one-of-two")
    for pod in content["pods"]:
        ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
        ended["reason"] = "OOMKilled" if pod["metadata"]["labels"][names.INDEX] == "0" else "Error"
    assert record_of(content).cause.code == "exit-code"
    for pod in content["pods"]:
        ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
        ended["reason"] = "OOMKilled" if pod["metadata"]["labels"][names.INDEX] == "1" else "Error"
    found = record_of(content).cause
    assert (found.code, found.evidence) == ("out-of-memory", ("ValueError: no data",))


def test_a_node_killed_for_memory_with_its_launcher_is_to_blame_where_the_first_failure_only_missed_it() -> None:
    """As version 2 of cgroups does it: no last words, and peers whose connections broke."""
    content = load("failed-one-of-two")
    lost = {"node": 1, "rank": 1, "exit_code": 1, "signal": None, "last_lines": ["ConnectionResetError: [Errno 104] x"]}
    for pod in content["pods"]:
        ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
        if pod["metadata"]["labels"][names.INDEX] == "0":
            ended.update(reason="OOMKilled", exitCode=137, message="")
    _annotate(content, summary=json.dumps(summary("failed", first_failure=lost)))
    found = record_of(content).cause
    [other] = found.values["others"]
    assert (found.code, other["node"], other["signal"], other["oom_scope"]) == ("exit-code", 0, "SIGKILL", "container")
    assert explain(found).code == "out-of-memory"


@pytest.mark.parametrize(
    ("result", "phase", "code"),
    [
        ("time-limit", Phase.FAILED, "time-limit"),
        ("meeting-failed", Phase.LOST, "waiting-for-peers"),
        ("lost", Phase.LOST, "launcher-lost"),
        ("stopped", Phase.LOST, "launcher-lost"),
    ],
)
def test_a_failed_job_is_explained_by_its_launchers_result(result: str, phase: Phase, code: str) -> None:
    content = load("failed-silent")
    _annotate(content, summary=json.dumps(summary(result)))
    record = record_of(content)
    assert (record.phase, record.cause.code) == (phase, code)


def test_a_job_that_failed_because_it_was_stopped_is_stopped() -> None:
    content = load("failed-silent")
    _annotate(content, summary=json.dumps(summary("stopped")), intent="stop")
    assert record_of(content).phase is Phase.STOPPED


# -- what cannot be seen -------------------------------------------------------------------------------------------


def test_where_pods_cannot_be_seen_the_jobs_own_count_tells_that_it_runs() -> None:
    content = {**load("running-two-nodes"), "pods": []}
    assert record_of(content).phase is Phase.RUNNING


def test_a_stop_is_not_over_while_the_job_counts_pods_that_cannot_be_seen() -> None:
    content = {**load("stop-asked"), "pods": []}
    content["jobs"][0]["status"]["terminating"] = 1
    assert record_of(content).cause.code == "stopping"


def test_a_pause_is_over_with_its_last_pod_also_before_the_job_controller_has_counted() -> None:
    content = load("pause-asked")
    content["jobs"][0]["status"]["terminating"] = 1
    picture = picture_of(content)
    for pod in content["pods"]:
        picture.apply("pods", "DELETED", decoded("pods", pod))
    (record,) = picture.records()
    assert (record.phase, record.cause.code) == (Phase.PAUSED, "paused-by-user")


def test_a_stop_under_kueue_is_not_over_while_its_workload_may_start_it() -> None:
    content = load("queue-quota")
    _annotate(content, intent="stop")
    record = record_of(content)
    assert (record.phase, record.cause.code) == (Phase.QUEUED, "stopping")
    content["workloads"][0]["spec"]["active"] = False
    assert record_of(content).phase is Phase.STOPPED


def test_an_old_refusal_does_not_explain_a_later_start() -> None:
    content = load("quota-refused")
    content["jobs"][0]["status"]["startTime"] = text_of(parse(content["provenance"]["at"]) + timedelta(hours=1))
    assert record_of(content).cause.code == "queued"


# -- ranks ---------------------------------------------------------------------------------------------------------


def test_ranks_of_running_nodes_are_one_per_node_or_one_per_card() -> None:
    content = load("running-two-nodes")
    assert [(one.rank, one.node, one.phase, one.devices) for one in record_of(content).ranks] == [
        (0, 0, Phase.RUNNING, None),
        (1, 1, Phase.RUNNING, None),
    ]
    short = json.loads(content["jobs"][0]["metadata"]["annotations"][names.SHORT])
    _annotate(content, spec=json.dumps({**short, "processes": "card", "devices": 2}))
    assert [(one.rank, one.node) for one in record_of(content).ranks] == [(0, 0), (1, 0), (2, 1), (3, 1)]


def test_without_a_summary_each_nodes_own_words_tell_its_exit_codes() -> None:
    content = load("failed-one-of-two")
    first = next(pod for pod in content["pods"] if pod["metadata"]["labels"][names.INDEX] == "0")
    del first["status"]["containerStatuses"][0]["state"]["terminated"]["message"]
    record = record_of(content)
    assert [(one.rank, one.exit_code) for one in record.ranks] == [(1, 3)]
