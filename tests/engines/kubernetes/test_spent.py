"""Running time and restarts are counted over replaced pods: nothing twice, nothing forgotten, whoever looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.phase import Facts
from jupyter_aiarts.engines.kubernetes.seen import Pod, Trouble
from jupyter_aiarts.engines.kubernetes.spent import Count, Spent, news
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec
from tests.engines.kubernetes.engines import laboratory

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

EVICTED = Trouble(disrupted="EvictionByEvictionAPI")


def pod(name: str, minute: int, *, words: dict[str, Any] | None = None, **more: Any) -> Pod:
    """Node 0's pod, made at this minute and started half a minute later."""
    message = None if words is None else json.dumps({"attempt": 1, "result": "stopped", "ended": "", **words})
    at = f"2026-08-01T10:{minute:02d}"
    made: dict[str, Any] = {"index": 0, "phase": "Running", "created": f"{at}:00Z", "started": f"{at}:30Z", **more}
    return Pod(name=name, message=message, **made)


def facts(*pods: Pod, spent: Spent | str | None = None, spec: dict[str, Any] | None = None, **notes: str) -> Facts:
    annotations = {f"jupyter-aiarts/{name}": text for name, text in notes.items()}
    if spent is not None:
        annotations["jupyter-aiarts/spent"] = spent if isinstance(spent, str) else msgspec.json.encode(spent).decode()
    metadata = {"name": "j", "namespace": "n", "uid": "u", "annotations": annotations}
    job = msgspec.convert({"metadata": metadata, "spec": {}, "status": {}}, JobObject)
    asked = JobSpec(name="j", cluster="k8s", **(spec or {"max_hours": 1.0}))
    return Facts(job=job, spec=asked, runs={1: job}, pods=pods)


def test_nothing_is_written_while_nothing_was_replaced_or_nothing_is_limited() -> None:
    gone = pod("a", 0, phase="Failed", exit_code=75, ended="2026-08-01T10:05:30Z")
    assert news(facts(pod("a", 0))) is None
    assert news(facts(gone, spec={"max_hours": None})) is None
    assert news(facts(gone, intent="stop")) is None
    ended = pod("a", 0, phase="Failed", exit_code=1, ended="2026-08-01T10:05:30Z", deleted="2026-08-01T11:00:00Z")
    assert news(facts(ended)) is None  # the end of the job, tidied up by somebody
    assert news(facts(pod("a", 0, started=None, deleted="2026-08-01T10:05:00Z"))) is None


def test_a_launchers_own_word_counts_and_without_one_the_pods_times() -> None:
    told = news(facts(pod("a", 0, phase="Failed", exit_code=75, words={"running_seconds": 42.5, "restarts": 1})))
    assert told is not None and told.after == Count(42.5, 1)
    silent = news(facts(pod("a", 0, phase="Failed", trouble=EVICTED, ended="2026-08-01T10:05:30Z")))
    assert silent is not None and silent.after == Count(300.0)
    other = pod("a", 0, phase="Failed", exit_code=75, ended="2026-08-01T10:01:00Z", words={"attempt": 7})
    mistaken = news(facts(other))
    assert mistaken is not None and mistaken.after == Count(30.0)


def test_what_is_learned_later_of_the_same_pod_replaces_what_was_thought() -> None:
    going = pod("a", 0, deleted="2026-08-01T10:02:30Z")
    first = news(facts(going))
    assert first is not None and first.after == Count(120.0)
    assert news(facts(going, spent=first)) is None
    gone = pod("a", 0, phase="Failed", exit_code=75, deleted="2026-08-01T10:02:30Z", words={"running_seconds": 90})
    second = news(facts(gone, spent=first))
    assert second is not None and second.after == Count(90)
    assert news(facts(gone, spent=second)) is None


def test_pods_add_up_in_their_order_and_an_older_one_is_not_counted_again() -> None:
    first = pod("a", 0, phase="Failed", trouble=EVICTED, ended="2026-08-01T10:05:30Z")
    second = pod("b", 10, phase="Failed", trouble=EVICTED, ended="2026-08-01T10:11:30Z")
    both = news(facts(first, second))
    assert both is not None and both.after == Count(360.0)
    assert news(facts(first, pod("c", 20), spent=both)) is None  # the second one has gone, the first is still shown
    third = pod("c", 20, phase="Failed", exit_code=75, words={"running_seconds": 400})  # with what it was told
    told = news(facts(first, third, spent=both))
    assert told is not None and told.after == Count(400)


def test_another_attempt_begins_anew_and_damage_costs_no_more_than_it_said() -> None:
    gone = pod("a", 0, phase="Failed", trouble=EVICTED, ended="2026-08-01T10:05:30Z")
    old = Spent(attempt=1, pod=("2026-08-01T09:00:00Z", "z"), after=Count(999.0))
    found = news(facts(gone, spent=old, attempt="2"))
    assert found is not None and (found.attempt, found.after) == (2, Count(300.0))
    damaged = news(facts(gone, spent="{"))
    assert damaged is not None and damaged.after == Count(300.0)


@pytest.mark.cluster
async def test_an_evicted_job_has_only_the_time_that_was_left(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        source = "import time\nfor second in range(600): print(second, 's', flush=True); time.sleep(1)"
        job = await lab.submit(source, max_hours=30 / 3600)
        await lab.printed(job.id, "7 s")
        first = lab.pods()[0]["metadata"]
        evict(cluster, lab.namespace, first["name"])
        ended = await lab.until(job.id)
        assert (ended.phase, ended.cause.code) == (Phase.FAILED, "time-limit")
        last = max(lab.pods(), key=lambda one: str(one["metadata"]["creationTimestamp"]))
        assert last["metadata"]["uid"] != first["uid"]
        words = json.loads(last["status"]["containerStatuses"][0]["state"]["terminated"]["message"])
        assert 30 <= words["running_seconds"] < 34  # with the seven seconds and more that the first pod ran


def evict(cluster: Cluster, namespace: str, name: str) -> None:
    """As a drain of its node would."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    cluster.kubectl("create", "--raw", path, "-f", "-", input=json.dumps(body))
