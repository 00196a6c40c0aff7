"""Between a place and a start: who still fetches the image, who is up and waits, and what a node ended for good."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.objects import EVENTS, PULLS
from jupyter_aiarts.explain import LANGUAGES, explain
from jupyter_aiarts.model.phase import Phase

from .replay import Json, decoded, load, picture_of, record_of

IMAGE = "registry.local/aiarts-test:1"


def pulling(content: Json, pod: Json, at: str = "2026-11-16T05:11:20Z") -> Json:
    """The event that a kubelet writes when it begins to fetch an image."""
    name = pod["metadata"]["name"]
    return {
        "metadata": {"name": f"{name}.{len(content['events'])}", "namespace": pod["metadata"]["namespace"]},
        "involvedObject": {"kind": "Pod", "name": name},
        "type": "Normal",
        "reason": "Pulling",
        "message": f'Pulling image "{IMAGE}"',
        "lastTimestamp": at,
    }


@pytest.fixture
def creating() -> Json:
    """A pod that was placed and of which nothing was started; its old warning is about a ConfigMap."""
    return load("mount-configmap")


def test_a_node_that_fetches_the_image_is_named_and_older_warnings_are_not_believed(creating: Json) -> None:
    assert record_of(creating).cause.code == "mount-missing"
    creating["events"].append(pulling(creating, creating["pods"][0], "2026-11-16T09:00:00Z"))
    record = record_of(creating)
    assert (record.phase, record.cause.code) == (Phase.STARTING, "image-pulling")
    for lang in LANGUAGES:
        said = explain(record.cause, lang, record.id, record.spec)
        assert creating["pods"][0]["spec"]["nodeName"] in said.why and "2026-11-16T09:00:00" in said.why
        assert IMAGE in said.why and said.evidence == [f'Pulling image "{IMAGE}"']


def test_a_warning_after_the_pull_is_believed(creating: Json) -> None:
    creating["events"].append(pulling(creating, creating["pods"][0], "2026-11-16T05:00:00Z"))
    assert record_of(creating).cause.code == "mount-missing"


def test_a_pod_that_runs_fetches_nothing_whatever_was_said_before() -> None:
    content = load("running-two-nodes")
    content["events"] += [pulling(content, pod) for pod in content["pods"]]
    assert record_of(content).cause.code == "running"


def test_where_one_node_is_up_it_has_the_image() -> None:
    content = load("running-two-nodes")
    up, late = content["pods"]
    waits: Any = {"waiting": {"reason": "ContainerCreating"}}
    late["status"] |= {"phase": "Pending", "conditions": []}
    late["status"]["containerStatuses"][0] |= {"state": waits, "ready": False, "started": False}
    content["events"].append(pulling(content, late))
    record = record_of(content)
    assert (record.cause.code, record.cause.form) == ("image-pulling", "image-pulling-some")
    assert record.cause.values["pulling"] == late["spec"]["nodeName"]
    assert record.cause.values["having"] == up["spec"]["nodeName"]


def test_each_list_of_events_forgets_its_own_alone(creating: Json) -> None:
    pull = pulling(creating, creating["pods"][0], "2026-11-16T09:00:00Z")
    picture = picture_of(creating)
    picture.apply(PULLS, "ADDED", decoded(EVENTS, pull))
    (record,) = picture.records()
    space = picture.namespace_of(record.id)
    picture.replace(EVENTS, space, [])
    assert picture.record(record.id).cause.code == "image-pulling"
    picture.replace(PULLS, space, [])
    assert picture.record(record.id).cause.code == "starting"


def test_a_half_placed_job_tells_who_is_up_in_both_languages() -> None:
    record = record_of(load("half-placed"))
    assert record.cause.values["nodes"] == 2
    up = str(record.cause.values["up"])
    for lang in LANGUAGES:
        assert up in explain(record.cause, lang, record.id, record.spec).why


def test_a_job_of_one_node_has_no_others_that_wait() -> None:
    assert "up" not in record_of(load("no-node-fits")).cause.values


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ('Usage of EmptyDir volume "aiarts-shm" exceeds the limit "1Gi". ', "shared-memory-full"),
        ("The node was low on resource: memory. ", "evicted"),
    ],
)
def test_what_a_kubelet_ended_for_what_it_used_is_told_after_the_job_failed(message: str, code: str) -> None:
    """No disruption in the eyes of the Job's controller: the pod is not replaced, and the container says only 137."""
    content = copy.deepcopy(load("failed-silent"))
    status = content["pods"][0]["status"]
    status |= {"reason": "Evicted", "message": message}
    status["containerStatuses"][0]["state"]["terminated"] |= {"exitCode": 137, "reason": "Error"}
    record = record_of(content)
    assert (record.phase, explain(record.cause).code) == (Phase.LOST, code)
    del status["reason"]
    assert explain(record_of(content).cause).code == "launcher-lost"
