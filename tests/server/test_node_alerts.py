"""Pages of an admin's server are told of nodes that are not well; others are not, and nothing is asked for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.model.cluster import Node
from jupyter_aiarts.model.news import MOST_UNWELL, Unwell, by_cluster
from jupyter_aiarts.server.app import AiartsApp
from jupyter_aiarts.server.reporting import Guard
from tests.engines.kubernetes.glancing import may_read_what_the_plugin_writes, write_health

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

Ask = Callable[..., Awaitable[HTTPResponse]]
Listen = Callable[[], Awaitable[Any]]
RESOURCE = "huawei.com/Ascend910"


async def told(stream: Any, there: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The clusters by name, as the first health message says them of which this is true."""

    async def read() -> dict[str, Any]:
        while True:
            message = json.loads(await stream.read_message())
            clusters = {one["name"]: one for one in message.get("clusters", ())}
            if clusters and there(clusters):
                return clusters

    return await asyncio.wait_for(read(), 60)


async def test_each_change_of_what_is_wrong_reaches_open_pages_and_those_that_open_later(
    app: AiartsApp, ask: Ask, listen: Listen
) -> None:
    service, stream = await app.service(), await listen()
    looks: asyncio.Queue[tuple[str, ...]] = asyncio.Queue()

    async def look() -> list[Node]:
        problems = await looks.get()
        return [Node(cluster="local", name="a", ready=True, device=None, cards=0, free=0, problems=problems)]

    def note(known: Unwell) -> None:
        noted.append(known)
        service.note_nodes(by_cluster(known))

    noted: list[Unwell] = []
    guard = Guard(look, lambda news: None, period=0, note=note)
    guard.start()
    said = []
    for problems in ([()], [("cordoned",), ("disk-pressure", "not-ready")], [()]):
        for one in problems:
            looks.put_nowait(one)
        # Read before the next change: who reads slowly is told the last of several.
        said.append((await told(stream, lambda clusters: True))["local"]["unwell"])
    assert said == [[], [{"node": "a", "problems": ["disk-pressure", "not-ready"]}], []]
    assert len(noted) == 3  # that an admin keeps pods away is nothing that is wrong
    looks.put_nowait(("unhealthy-cards",))
    unwell = [{"node": "a", "problems": ["unhealthy-cards"]}]
    await told(stream, lambda clusters: clusters["local"]["unwell"] == unwell)
    assert json.loads((await ask("health")).body)["clusters"][0]["unwell"] == unwell
    guard.close()


async def test_a_server_on_which_nobody_asked_for_it_guards_nothing(app: AiartsApp, ask: Ask) -> None:
    assert "unwell" not in json.loads((await ask("health")).body)["clusters"][0]
    assert app._report is None


def test_of_a_thousand_nodes_without_power_as_many_are_named_as_somebody_would_read() -> None:
    dark = {("lab", f"n{number:04}"): frozenset({"not-ready"}) for number in range(1000)}
    assert len(by_cluster(dark)["lab"]) == MOST_UNWELL


@pytest.mark.cluster
@pytest.mark.timeout(180)
class TestOnACluster:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any], cluster: Cluster) -> dict[str, Any]:
        """An admin's server that sees the nodes of one cluster and may not see those of another; it has no webhook."""
        board = {"huawei_npu_arm64": {"resource": RESOURCE, "node_selector": {}}}
        jp_server_config["AiartsApp"]["webhook_nodes"] = True
        jp_server_config["AiartsApp"]["clusters"] = {
            name: {"kubeconfig": str(cluster.kubeconfig(user)), "namespaces": ["team-a"], "devices": board}
            for name, user in {"lab": "viewer", "blind": "alice"}.items()
        }
        return jp_server_config

    async def test_cards_that_break_are_told_to_who_may_see_nodes_and_to_nobody_else(
        self, cluster: Cluster, ask: Ask, listen: Listen
    ) -> None:
        with may_read_what_the_plugin_writes(cluster, "viewer"):
            stream = await listen()
            clusters = await guarded(ask)
            assert clusters["lab"]["unwell"] == [] and "unwell" not in clusters["blind"]
            write_health(cluster, "node-a", Unhealthy="Ascend910-3")
            clusters = await told(stream, lambda clusters: clusters["lab"].get("unwell"))
            assert clusters["lab"]["unwell"] == [{"node": "node-a", "problems": ["unhealthy-cards"]}]
            assert "unwell" not in clusters["blind"]
            write_health(cluster, "node-a", Unhealthy="")
            await told(stream, lambda clusters: clusters["lab"].get("unwell") == [])


async def guarded(ask: Ask) -> dict[str, Any]:
    """The clusters by name, once the server has looked at the nodes for the first time."""
    while True:
        health = json.loads((await ask("health", request_timeout=60)).body)
        clusters = {one["name"]: one for one in health["clusters"]}
        if "unwell" in clusters["lab"]:
            return clusters
        await asyncio.sleep(0.1)
