"""The machines behind the jobs over REST: what this machine has, who holds it, and which cluster is meant."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

Ask = Callable[..., Awaitable[HTTPResponse]]
Body = Callable[[HTTPResponse], Any]

NPU = "huawei_npu_arm64"


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    """The server of the other tests, on a machine that is said to have a board."""
    jp_server_config["LocalEngine"] = {"devices": {NPU: 8}, "cpus": 16}
    return jp_server_config


async def test_a_job_holds_its_cards_and_the_rest_is_free(
    ask: Ask, body: Body, script: Callable[[str], str], until: Callable[..., Awaitable[Any]]
) -> None:
    spec = {"script": script("import time; time.sleep(60)"), "device": NPU, "devices": 4, "grace_seconds": 0}
    job = body(await ask("jobs", "POST", spec))
    plain = body(await ask("jobs", "POST", {"script": spec["script"], "cpu": 2, "grace_seconds": 0}))
    for one in (job, plain):
        await until(one["id"], "running")
    page = body(await ask("cluster"))
    (node,) = page["nodes"]
    assert (node["cluster"], node["device"], node["cards"], node["free"], node["missing"]) == ("local", NPU, 8, 4, 0)
    assert [(one["job"], one["cards"], one["ids"], one["cpu"]) for one in node["held_by"]] == [
        (job["id"], 4, [0, 1, 2, 3], 8.0),
        (plain["id"], 0, [], 2.0),
    ]
    assert (node["free_cpu"], node["free_memory_gb"]) == (6.0, None)
    assert page["fits"] == {NPU: {"1": 4, "2": 2, "4": 1, "8": 0, "nodes_of_8": 0}}
    for one in (job, plain):
        await ask(f"jobs/{one['id']}/stop", "POST")
        await until(one["id"], "stopped")
    assert body(await ask("cluster", params={"cluster": "local"}))["nodes"][0]["free"] == 8


@pytest.mark.parametrize(
    ("name", "status", "code"), [("lab", 404, "cluster-not-found"), ("x" * 300, 400, "bad-request")]
)
async def test_a_cluster_that_is_not_there_is_told_apart(
    ask: Ask, body: Body, name: str, status: int, code: str
) -> None:
    answer = await ask("cluster", params={"cluster": name})
    assert (answer.code, body(answer)["code"]) == (status, code)
