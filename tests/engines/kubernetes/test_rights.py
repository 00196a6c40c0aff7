"""What a user may not do is said before it is tried, with what to ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from jupyter_aiarts.engines.kubernetes import rights
from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.rights import Rights
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from jupyter_aiarts.errors import NotAllowed
from tests.cluster.cluster import Cluster

from .standins import Gate, rewritten

pytestmark = pytest.mark.cluster

Ask = Callable[[str], Awaitable[Rights]]


@pytest_asyncio.fixture
async def rights_of(cluster: Cluster) -> AsyncIterator[Ask]:
    opened: list[Api] = []

    async def ask(user: str) -> Rights:
        opened.append(await Api.open(ClusterSettings(name="k8s", kubeconfig=str(cluster.kubeconfig(user)))))
        return Rights(opened[-1])

    yield ask
    for api in opened:
        await api.aclose()


async def test_the_cluster_says_who_we_are(rights_of: Ask) -> None:
    assert await (await rights_of("alice")).whoami() == "alice"
    assert await (await rights_of("nobody")).whoami() == "nobody"


@pytest.mark.parametrize(
    ("user", "namespace", "group", "resource", "sub", "verb", "allowed"),
    [
        ("alice", "team-a", "batch", "jobs", "", "create", True),
        ("alice", "team-a", "", "pods", "proxy", "get", True),
        ("noproxy", "team-a", "", "pods", "proxy", "get", False),
        ("alice", "team-b", "batch", "jobs", "", "list", False),
        ("bob", "team-b", "batch", "jobs", "", "list", True),
        ("nobody", "team-a", "", "pods", "", "list", False),
    ],
)
async def test_each_user_may_do_what_its_role_says(
    rights_of: Ask, user: str, namespace: str, group: str, resource: str, sub: str, verb: str, allowed: bool
) -> None:
    assert await (await rights_of(user)).may(verb, resource, namespace, group, sub) is allowed


async def test_a_refusal_names_user_verb_thing_and_place_and_what_to_ask_for(rights_of: Ask) -> None:
    with pytest.raises(NotAllowed) as caught:
        await (await rights_of("noproxy")).require("get", "pods", "team-a", subresource="proxy")
    assert str(caught.value) == (
        "The user “noproxy” may not get pods/proxy in the namespace “team-a” of the cluster “k8s”."
    )
    assert caught.value.hint == "Ask its admin for the role aiarts-user in “team-a”, or at least for get on pods/proxy."
    await (await rights_of("alice")).require("get", "pods", "team-a", subresource="proxy")


async def test_an_answer_is_kept_for_a_minute_and_asked_anew_after_that(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Gate(cluster.kubeconfig("alice")).open() as gate:
        config = rewritten(cluster.kubeconfig("alice"), tmp_path / "gate", {"server": gate.url})
        api = await Api.open(ClusterSettings(name="k8s", kubeconfig=str(config)))
        asking = Rights(api)
        for _ in range(3):
            assert await asking.may("list", "jobs", "team-a", "batch")
            assert await asking.whoami() == "alice"
        assert len(gate.asked) == 2
        asking.forget()
        await asking.may("list", "jobs", "team-a", "batch")
        assert len(gate.asked) == 3
        monkeypatch.setattr(rights, "KEPT", -1.0)
        await asking.may("list", "jobs", "team-a", "batch")
        assert len(gate.asked) == 4
        for _ in range(3):
            assert not await asking.may("list", "jobs", "team-b", "batch")
        assert len(gate.asked) == 5  # a no as well, but only for seconds
        monkeypatch.setattr(rights, "KEPT_NO", -1.0)
        assert not await asking.may("list", "jobs", "team-b", "batch")
        assert len(gate.asked) == 6
        await api.aclose()
