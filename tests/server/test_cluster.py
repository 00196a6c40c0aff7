"""A server with a configured cluster: the same routes, the same answers, beside `local`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.engines.kubernetes import link

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

Ask = Callable[..., Awaitable[HTTPResponse]]
Listen = Callable[[], Awaitable[Any]]
SPEC = {"cluster": "lab", "image": "registry.local/aiarts-test:1", "cpu": 0.25, "memory_gb": 0.25, "grace_seconds": 1}


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    with cluster.namespace() as name:
        yield name


@pytest.fixture
def jp_server_config(
    jp_server_config: dict[str, Any], cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The server of the other tests, with a cluster that answers and one that is nowhere."""
    monkeypatch.setattr(link, "FIRST_LOOK", 60.0)  # the one that is nowhere fails at once: nobody waits for it
    kubeconfig = str(cluster.kubeconfig("alice"))
    jp_server_config["AiartsApp"]["clusters"] = {
        "lab": {"kubeconfig": kubeconfig, "namespaces": [namespace]},
        "away": {"kubeconfig": "/no/such/kubeconfig"},
        "wrong": {"kubeconfig": kubeconfig, "name_spaces": []},
    }
    return jp_server_config


async def test_every_cluster_is_told_of_its_machines_and_one_that_is_away_holds_nobody_up(ask: Ask) -> None:
    page = json.loads((await ask("cluster")).body)
    assert "local" in {one["cluster"] for one in page["nodes"]}
    said = {one["name"]: [unknown["code"] for unknown in one["unknown"]] for one in page["clusters"]}
    assert said["local"] == [] and said["lab"] == ["cards-not-visible"] and len(said["away"]) == 1
    assert (await ask("cluster", params={"cluster": "away"})).code == 503


async def told(stream: Any) -> dict[str, Any]:
    message = await asyncio.wait_for(stream.read_message(), 60)
    assert message is not None, "the stream ended"
    return dict(json.loads(message))


async def test_a_job_is_submitted_followed_and_explained_on_a_cluster_over_rest(
    cluster: Cluster, ask: Ask, listen: Listen, script: Callable[[str], str]
) -> None:
    stream = await listen()
    answer = await ask("jobs", "POST", {**SPEC, "script": script("print('from a pod')")})
    job = json.loads(answer.body)
    assert (answer.code, job["cluster"], job["owner"]) == (201, "lab", "alice")
    while True:
        message = await told(stream)
        phases = [one["phase"] for one in message.get("jobs", []) if one["id"] == job["id"]]
        if "succeeded" in phases:
            break
    log = await ask(f"jobs/{job['id']}/logs", params={"format": "text"}, request_timeout=60)
    assert log.body.decode() == "[0] from a pod\n"
    assert json.loads((await ask(f"jobs/{job['id']}/explain")).body)["code"] == "succeeded"
    assert json.loads((await ask("jobs", params={"mine": "1"})).body)[0]["id"] == job["id"]
    assert (await ask(f"jobs/{job['id']}", "DELETE")).code == 204


async def test_health_names_every_cluster_and_a_wrong_one_is_left_out(ask: Ask) -> None:
    clusters = {one["name"]: one for one in json.loads((await ask("health", request_timeout=60)).body)["clusters"]}
    assert set(clusters) == {"local", "lab", "away"}
    assert clusters["lab"]["stale_since"] is clusters["local"]["stale_since"] is None
    assert clusters["away"]["stale_since"] is not None


async def test_a_cluster_that_is_away_is_a_503_with_the_reason(ask: Ask) -> None:
    answer = await ask("jobs", "POST", {**SPEC, "cluster": "away", "command": "true"}, request_timeout=60)
    body = json.loads(answer.body)
    assert (answer.code, body["code"]) == (503, "cluster-unreachable")
    assert "/no/such/kubeconfig" in body["message"]


async def test_a_dry_run_says_what_would_be_shipped_and_makes_nothing(
    cluster: Cluster, ask: Ask, namespace: str, script: Callable[[str], str], jp_root_dir: Path
) -> None:
    (jp_root_dir / "helper.py").write_text("x = 1")
    raw = {**SPEC, "script": script("import helper\nprint(helper.x)")}
    found = json.loads((await ask("jobs", "POST", raw, params={"dry_run": "1"}, request_timeout=60)).body)
    assert found["fits"] is None  # what is free nobody told alice
    assert "Shipped with the job: helper.py, train.py." in found["notes"]
    assert cluster.kubectl("-n", namespace, "get", "jobs,configmaps", "-l", "jupyter-aiarts/job", "-o", "name") == ""


async def test_credentials_reach_no_answer(cluster: Cluster, ask: Ask, script: Callable[[str], str]) -> None:
    token = yaml.safe_load(cluster.kubeconfig("alice").read_text())["users"][0]["user"]["token"]
    job = json.loads((await ask("jobs", "POST", {**SPEC, "script": script("print(1)")}, request_timeout=60)).body)
    secret = json.loads(cluster.kubectl("get", "secrets", "-A", "-l", f"jupyter-aiarts/job={job['id']}", "-o", "json"))
    own = secret["items"][0]["data"]["token"]
    for path in ("jobs", "health", f"jobs/{job['id']}", f"jobs/{job['id']}/events", f"jobs/{job['id']}/explain"):
        body = (await ask(path, request_timeout=60)).body.decode()
        assert token not in body and own not in body
    await ask(f"jobs/{job['id']}", "DELETE")
