"""What the picture shows follows what was seen: nothing doubled, nothing left over, nothing half made."""

from __future__ import annotations

import copy
import gc
import json
import tracemalloc

import msgspec
import pytest

from jupyter_aiarts.engines.base import Change
from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.objects import EVENTS, JOBS, PODS, WORKLOADS, JobObject, PodObject
from jupyter_aiarts.engines.kubernetes.picture import Picture
from jupyter_aiarts.engines.kubernetes.runs import MOST_NOTICES
from jupyter_aiarts.errors import JobNotFound
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec

from .replay import Json, decoded, load, picture_of


def one_job(case: str = "running-two-nodes") -> tuple[Picture, str, Json]:
    """A picture of one recorded job, its id, and what it was made from."""
    content = load(case)
    picture = picture_of(content)
    return picture, content["jobs"][0]["metadata"]["labels"][names.JOB], content


def run_of(content: Json, number: int, **labels: str) -> Json:
    """The Job of another run of the same job."""
    job = copy.deepcopy(content["jobs"][0])
    job["metadata"]["labels"].update({names.RUN: str(number), **labels})
    job["metadata"].update(name=f"{job['metadata']['name'][:-2]}-{number}", uid=f"uid-{number}")
    return job


def newer(item: Json, by: int = 1000) -> Json:
    changed = copy.deepcopy(item)
    changed["metadata"]["resourceVersion"] = str(int(item["metadata"]["resourceVersion"]) + by)
    return changed


def test_while_nothing_changes_records_are_the_same_objects() -> None:
    picture, job_id, content = one_job()
    before = picture.records()
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, newer(content["jobs"][0])))
    assert picture.records() is before
    assert picture.record(job_id) is before[0]


def test_an_edit_by_another_server_replaces_what_was_learned_and_nothing_else_does() -> None:
    picture, job_id, content = one_job()
    whole = msgspec.structs.replace(picture.record(job_id).spec, env={"A": "b"}, workdir="/work")
    picture.learn(job_id, 1, whole)
    job = newer(content["jobs"][0])
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, job))
    assert picture.record(job_id).spec is whole
    notes = job["metadata"]["annotations"]
    notes[names.SHORT] = json.dumps({**json.loads(notes[names.SHORT]), "name": "renamed"})
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, newer(job)))
    assert (picture.record(job_id).spec.name, picture.record(job_id).spec.workdir) == ("renamed", None)


def test_a_job_says_on_which_machines_it_is_and_many_say_it_with_one_object() -> None:
    picture, job_id, content = one_job()
    nodes = sorted({pod["spec"]["nodeName"] for pod in content["pods"]})
    assert picture.record(job_id).machines == tuple(nodes)
    again, _, _ = one_job()
    assert len(nodes) == 2 and again.record(job_id).machines is picture.record(job_id).machines


def test_a_change_is_told_once_and_so_is_the_end() -> None:
    picture, job_id, content = one_job()
    assert [record.id for record in picture.drain().jobs] == [job_id]
    assert picture.drain() == Change()
    picture.apply(JOBS, "DELETED", decoded(JOBS, content["jobs"][0]))
    assert picture.drain() == Change(removed=(job_id,))
    assert picture.records() == ()
    with pytest.raises(JobNotFound):
        picture.record(job_id)


def test_nothing_is_left_of_a_deleted_job() -> None:
    picture, _, content = one_job("quota-refused")
    picture.apply(JOBS, "DELETED", decoded(JOBS, content["jobs"][0]))
    picture.records()
    assert picture._spaces == {content["jobs"][0]["metadata"]["namespace"]: {}}


def test_what_a_new_list_does_not_have_is_gone() -> None:
    picture, job_id, content = one_job()
    namespace = picture.namespace_of(job_id)
    one = decoded(PODS, content["pods"][0])
    picture.replace(PODS, namespace, [one])
    assert [pod.name for pod in picture.pods(job_id)] == [one.metadata.name]
    picture.replace(JOBS, namespace, [])
    assert picture.records() == ()


def test_a_list_of_one_namespace_says_nothing_about_another() -> None:
    picture, job_id, _ = one_job()
    for kind in (JOBS, PODS, WORKLOADS, EVENTS):
        picture.replace(kind, "elsewhere", [])
    assert picture.record(job_id).phase is Phase.RUNNING


def test_a_run_that_is_being_made_is_hidden_and_found_by_the_sweep() -> None:
    picture, job_id, content = one_job()
    making = run_of(content, 2, **{names.CREATING: "true"})
    picture.apply(JOBS, "ADDED", decoded(JOBS, making))
    assert (picture.record(job_id).run, sorted(picture.runs(job_id))) == (1, [1])
    assert [job.name for job in picture.creating()] == [making["metadata"]["name"]]
    del making["metadata"]["labels"][names.CREATING]
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, newer(making)))
    assert (picture.record(job_id).run, sorted(picture.runs(job_id)), picture.creating()) == (2, [1, 2], [])


@pytest.mark.parametrize("words", [None, "", "{", '{"attempt":1,"result":"failed","ended":"soon","started":"now"}'])
def test_earlier_runs_say_when_they_ran_as_far_as_their_jobs_are_still_there(words: str | None) -> None:
    content = load("succeeded")
    picture, first = Picture("k8s"), content["jobs"][0]
    job_id = first["metadata"]["labels"][names.JOB]
    if words is not None:
        first["metadata"]["annotations"][names.SUMMARY] = words
    for item in (first, run_of(content, 2, **{names.CREATING: "true"}), run_of(content, 3)):
        picture.apply(JOBS, "ADDED", decoded(JOBS, item))
    [span] = picture.record(job_id).earlier
    assert span.started <= span.ended
    if words is not None:  # nobody's words, or nonsense: the controller's count
        status = first["status"]
        assert (span.started[:19], span.ended[:19]) == (status["startTime"][:19], status["completionTime"][:19])
    picture.apply(JOBS, "DELETED", decoded(JOBS, first))
    assert picture.record(job_id).earlier == ()


def test_the_newest_run_is_shown_and_an_earlier_one_when_that_is_gone() -> None:
    picture, job_id, content = one_job()
    second = run_of(content, 2)
    second["metadata"]["creationTimestamp"] = "2030-01-01T00:00:00Z"
    picture.apply(JOBS, "ADDED", decoded(JOBS, second))
    record = picture.record(job_id)
    assert (record.run, record.created[:4]) == (2, "2026")  # a job is as old as its first run
    assert len(picture.pods(job_id, 1)) == 2 and picture.pods(job_id) == ()
    picture.apply(JOBS, "DELETED", decoded(JOBS, second))
    assert (picture.record(job_id).run, picture.record(job_id).phase) == (1, Phase.RUNNING)


def test_an_older_state_that_comes_late_is_passed_over() -> None:
    picture, job_id, content = one_job()
    stopped = newer(content["jobs"][0])
    stopped["metadata"]["annotations"][names.INTENT] = "stop"
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, stopped))
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, content["jobs"][0]))
    assert picture.record(job_id).cause.code == "stopping"


def test_a_job_made_again_under_the_same_name_has_nothing_of_the_other() -> None:
    picture, job_id, content = one_job()
    again = copy.deepcopy(content["jobs"][0])
    again["metadata"]["uid"] = "another"
    again["status"] = {}
    picture.apply(JOBS, "ADDED", decoded(JOBS, again))
    assert (picture.record(job_id).phase, picture.pods(job_id)) == (Phase.QUEUED, ())
    picture.apply(JOBS, "DELETED", decoded(JOBS, content["jobs"][0]))  # the late word about the other one
    assert picture.record(job_id).phase is Phase.QUEUED


def test_a_copy_in_another_namespace_shows_when_the_first_is_gone() -> None:
    picture, job_id, content = one_job()
    other = copy.deepcopy(content["jobs"][0])
    other["metadata"].update(namespace="copy", uid="copy")
    picture.apply(JOBS, "ADDED", decoded(JOBS, other))
    assert len(picture.records()) == 1
    picture.apply(JOBS, "DELETED", decoded(JOBS, content["jobs"][0]))
    assert picture.namespace_of(job_id) == "copy"
    assert [record.id for record in picture.drain().jobs] == [job_id]


@pytest.mark.parametrize(
    "labels",
    [{names.JOB: "Not-an-id"}, {names.JOB: "a/../../b1"}, {names.RUN: "0"}, {names.RUN: "-1"}, {names.RUN: "x"}],
)
def test_an_object_that_only_looks_like_ours_is_left_alone(labels: dict[str, str]) -> None:
    content = load("running-two-nodes")
    for item in (*content["jobs"], *content["pods"]):
        item["metadata"]["labels"].update(labels)
    assert picture_of(content).records() == ()


def test_a_damaged_annotation_is_shown_as_such_and_hides_nobody() -> None:
    content = load("running-two-nodes")
    content["jobs"][0]["metadata"]["annotations"][names.SHORT] = '{"name": 3'
    (record,) = picture_of(content).records()
    assert (record.cause.code, record.spec.name) == ("job-unreadable", "(unreadable)")


def test_the_short_spec_stands_until_the_full_one_is_learned_and_again_after_an_edit() -> None:
    picture, job_id, content = one_job()
    assert picture.record(job_id).spec.script == "/jobs/train.py"
    full = JobSpec(name="full", cluster="k8s", args=["--lr", "0.1"])
    picture.learn(job_id, 1, full)
    assert picture.record(job_id).spec is full
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, newer(content["jobs"][0])))
    assert picture.record(job_id).spec is full
    edited = newer(content["jobs"][0], 2000)
    edited["metadata"]["annotations"][names.HASH] = "another"
    picture.apply(JOBS, "MODIFIED", decoded(JOBS, edited))
    assert picture.record(job_id).spec.args == []


def test_what_was_done_to_a_pod_is_remembered_until_the_job_runs_again() -> None:
    picture, job_id, content = one_job("evicted")
    assert picture.record(job_id).cause.code == "evicted"
    gone = content["pods"][0]
    picture.apply(PODS, "DELETED", decoded(PODS, gone))
    record = picture.record(job_id)
    assert (record.phase, record.cause.code) == (Phase.QUEUED, "evicted")
    again = load("evicted-back")["pods"][0]
    picture.apply(PODS, "ADDED", decoded(PODS, again))
    back = picture.record(job_id)
    assert (back.phase, back.cause.code, back.started) == (Phase.RUNNING, "running", record.started)
    picture.apply(PODS, "DELETED", decoded(PODS, again))
    assert picture.record(job_id).cause.code == "queued"


def test_warnings_are_bounded_and_go_when_the_cluster_forgets_them() -> None:
    picture, job_id, content = one_job("quota-refused")
    first = content["events"][0]
    for number in range(100):
        item = copy.deepcopy(first)
        item["metadata"]["name"] = f"event-{number}"
        picture.apply(EVENTS, "ADDED", decoded(EVENTS, item))
    assert len(picture.facts(job_id).notices) == MOST_NOTICES
    picture.replace(EVENTS, picture.namespace_of(job_id), [])
    assert picture.record(job_id).cause.code == "queued"


def test_events_of_strangers_cost_nothing() -> None:
    picture, _, content = one_job("quota-refused")
    item = copy.deepcopy(content["events"][0])
    item["involvedObject"]["name"] = "somebody-elses-pod"
    picture.apply(EVENTS, "ADDED", decoded(EVENTS, item))
    assert len(picture.records()) == 1


def test_pods_and_workloads_that_come_before_their_job_wait_for_it() -> None:
    content = load("queue-quota")
    picture = Picture("k8s")
    for kind in (WORKLOADS, EVENTS, PODS, JOBS):
        assert picture.records() == ()
        for item in content[kind]:
            picture.apply(kind, "ADDED", decoded(kind, item))
    assert picture.records()[0].cause.code == "quota-exceeded"


def test_settling_can_be_done_in_pieces() -> None:
    content = load("running-two-nodes")
    picture = Picture("k8s")
    for number in range(50):
        job = copy.deepcopy(content["jobs"][0])
        job["metadata"]["labels"][names.JOB] = f"a{number:09}"
        picture.apply(JOBS, "ADDED", decoded(JOBS, job))
    assert picture.settle(0.0) is False
    assert len(picture.records()) == 50


def test_a_job_of_eight_nodes_costs_less_than_four_kilobytes() -> None:
    jobs, pods = many(300, 8)
    gc.collect()
    tracemalloc.start()
    picture = Picture("k8s")
    for text in jobs:
        picture.apply(JOBS, "ADDED", msgspec.json.decode(text, type=JobObject))
    for text in pods:
        picture.apply(PODS, "ADDED", msgspec.json.decode(text, type=PodObject))
    assert {record.phase for record in picture.records()} == {Phase.RUNNING}
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / len(jobs) < 4096, size / len(jobs)


def many(count: int, nodes: int) -> tuple[list[str], list[str]]:
    """The text of so many running jobs and their pods, each with names of its own."""
    content = load("running-two-nodes")
    jobs, pods = [], []
    for number in range(count):
        job_id = f"a{number:09}"
        job = copy.deepcopy(content["jobs"][0])
        name = f"train-resnet-{job_id}-1"
        job["metadata"].update(name=name, uid=f"0d5a9a29-93d4-4e83-8c3c-{number:012}")
        job["metadata"]["labels"][names.JOB] = job_id
        job["metadata"]["annotations"][names.HASH] = f"{number:064x}"
        short = {"name": f"train {number}", "nodes": nodes, "script": f"/home/alice/{number}/train.py"}
        job["metadata"]["annotations"][names.SHORT] = json.dumps({**short, "image": "registry.local/x:1"})
        job["spec"].update(parallelism=nodes, completions=nodes)
        jobs.append(json.dumps(job))
        for index in range(nodes):
            pod = copy.deepcopy(content["pods"][0])
            pod["metadata"].update(name=f"{name}-{index}-x{number % 1000:03}z", uid=f"p{number:035}")
            pod["metadata"]["labels"].update({names.JOB: job_id, names.INDEX: str(index)})
            start = f"2026-11-16T05:{number % 60:02}:{index:02}Z"
            pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = start
            pods.append(json.dumps(pod))
    return jobs, pods
