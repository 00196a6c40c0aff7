"""The API server is asked plainly, and everything it may answer, or fail to, has one meaning."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web

from jupyter_aiarts.engines.kubernetes import client, listing, paths, transport
from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.objects import JobObject, PodObject
from jupyter_aiarts.engines.kubernetes.refusals import (
    Busy,
    Contradicted,
    Expired,
    Forbidden,
    Missing,
    Refused,
    Unwell,
    refusal,
)
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from jupyter_aiarts.errors import AiartsError, ClusterUnreachable, Conflict, NotAllowed, NotFound
from tests.cluster.cluster import Cluster

from .standins import Gate, full_server, rewritten, status

cluster_test = pytest.mark.cluster


@pytest_asyncio.fixture
async def gate(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Gate]:
    async with Gate(cluster.kubeconfig("alice")).open() as opened:
        yield opened


@pytest_asyncio.fixture
async def api(cluster: Cluster, gate: Gate, tmp_path: Path) -> AsyncIterator[Api]:
    """Alice's way to the real cluster, through the gate."""
    config = rewritten(cluster.kubeconfig("alice"), tmp_path / "kubeconfig", {"server": gate.url})
    opened = await Api.open(ClusterSettings(name="test", kubeconfig=str(config)))
    yield opened
    await opened.aclose()


def times(count: int, answer: Callable[[], web.Response]) -> Callable[[web.Request], web.Response | None]:
    """A rule that refuses so many requests and then lets all through."""
    left = [count]

    def rule(request: web.Request) -> web.Response | None:
        left[0] -= 1
        return answer() if left[0] >= 0 else None

    return rule


# -- without a cluster ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind", "also", "shown"),
    [
        (400, Refused, AiartsError, 400),
        (401, Forbidden, NotAllowed, 403),
        (403, Forbidden, NotAllowed, 403),
        (404, Missing, NotFound, 404),
        (409, Contradicted, Conflict, 409),
        (410, Expired, Conflict, 409),
        (422, Refused, AiartsError, 400),
        (429, Busy, AiartsError, 503),
        (500, Unwell, ClusterUnreachable, 503),
        (504, Unwell, ClusterUnreachable, 503),
    ],
)
def test_each_status_is_one_kind_of_error(code: int, kind: type[Refused], also: type[Exception], shown: int) -> None:
    body = {"kind": "Status", "message": "no", "reason": "Because", "details": {"name": "x"}}
    error = refusal(code, json.dumps(body).encode(), 3.0)
    assert type(error) is kind and isinstance(error, also) and isinstance(error, Refused)
    assert (error.http, error.reason, error.message, error.retry_after) == (code, "Because", "no", 3.0)
    assert (error.details["name"], error.status, str(error)) == ("x", shown, "no")


@pytest.mark.parametrize("body", [b"", b"<html>Log in</html>", b"\xff\xfe", b"[]", b'{"message": 3}'])
def test_a_page_that_is_no_status_is_not_repeated(body: bytes) -> None:
    assert str(refusal(502, body)) == "The cluster answered with HTTP status 502."


def test_names_cannot_leave_their_place_in_a_path() -> None:
    assert paths.jobs("a/../b", "x?y#z") == "/apis/batch/v1/namespaces/a%2F..%2Fb/jobs/x%3Fy%23z"
    assert paths.pod_proxy("ns", "pod", 9410, "/v1/log") == "/api/v1/namespaces/ns/pods/pod:9410/proxy/v1/log"


async def test_a_server_that_refuses_the_connection_is_away_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    api = await Api.open(settings_for(tmp_path, f"http://127.0.0.1:{port}"))
    began = time.monotonic()
    with pytest.raises(ClusterUnreachable, match="“test” cannot be reached"):
        await api.raw("/version")
    assert time.monotonic() - began < 1
    await api.aclose()


async def test_a_server_that_lets_us_wait_is_not_tried_again_by_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "CONNECT", 1.0)
    with full_server() as port:
        api = await Api.open(settings_for(tmp_path, f"http://127.0.0.1:{port}"))
        with pytest.raises(ClusterUnreachable):
            await api.raw("/version")
        asking = asyncio.ensure_future(api.raw("/version"))
        for _ in range(10):  # turns of the loop, none of which waits for anything
            await asyncio.sleep(0)
        assert asking.done()
        with pytest.raises(ClusterUnreachable, match="does not answer"):
            await asking
        await api.aclose()


async def test_what_is_no_api_server_is_said_to_be_none(tmp_path: Path) -> None:
    async def login(request: web.Request) -> web.Response:
        return web.Response(text="<html>Log in</html>")

    async with serving(login) as url:
        api = await Api.open(settings_for(tmp_path, url))
        with pytest.raises(ClusterUnreachable, match="does not speak as an API server does"):
            await api.get("/version", dict)
        await api.aclose()


async def test_credentials_are_not_carried_along_by_a_redirect(tmp_path: Path) -> None:
    seen: list[str] = []

    async def bounce(request: web.Request) -> web.Response:
        seen.append(request.path)
        raise web.HTTPFound("/elsewhere")

    async with serving(bounce) as url:
        api = await Api.open(settings_for(tmp_path, url))
        with pytest.raises(Refused):
            await api.raw("/version")
        await api.aclose()
    assert seen == ["/version"]


# -- on the cluster ------------------------------------------------------------------------------------------------


@cluster_test
async def test_429_is_waited_out_as_long_as_the_server_says(
    api: Api, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.rule = times(2, lambda: status(429, "TooManyRequests", **{"Retry-After": "1"}))
    waits: list[float] = []
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds: (waits.append(seconds), sleep(seconds))[1])
    assert b"gitVersion" in await api.raw("/version")
    assert [1.0 <= seconds <= 1.2 for seconds in waits] == [True, True]  # a little apart from others who were told so
    assert len(gate.asked) == 3


@cluster_test
async def test_429_without_end_is_an_error_and_not_for_ever(
    api: Api, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LONGEST_WAIT", 0.01)
    gate.rule = times(1000, lambda: status(429, "TooManyRequests", **{"Retry-After": "3600"}))
    with pytest.raises(Busy):
        await api.raw("/version")
    assert len(gate.asked) == transport.TRIES


@cluster_test
async def test_401_with_the_same_credentials_is_said_and_not_repeated(api: Api, gate: Gate) -> None:
    await asyncio.sleep(0)
    gate.rule = times(1000, lambda: status(401, "Unauthorized"))
    with pytest.raises(Forbidden) as caught:
        await api.raw("/version")
    assert caught.value.http == 401
    assert len(gate.asked) <= 2


@cluster_test
async def test_objects_are_made_changed_and_removed(api: Api, cluster: Cluster) -> None:
    with cluster.namespace() as namespace:
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "1"}}
        assert (await api.create(client.configmaps(namespace), made, dry_run=True))["data"] == {"a": "1"}
        with pytest.raises(Missing):
            await api.get(client.configmaps(namespace, "one"), dict)
        uid = (await api.create(client.configmaps(namespace), made))["metadata"]["uid"]
        with pytest.raises(Contradicted) as caught:
            await api.create(client.configmaps(namespace), made)
        assert caught.value.reason == "AlreadyExists"
        place = client.configmaps(namespace, "one")
        assert (await api.patch(place, {"data": {"b": "2"}}))["data"] == {"a": "1", "b": "2"}
        change = [{"op": "remove", "path": "/data/a"}]
        assert (await api.patch(place, change, kind="json"))["data"] == {"b": "2"}
        with pytest.raises(Contradicted):
            await api.delete(place, uid="another")
        await api.delete(place, uid=uid, grace=0)
        with pytest.raises(Missing):
            await api.delete(place)


@cluster_test
async def test_a_refusal_by_the_cluster_says_who_may_not_do_what(api: Api) -> None:
    with pytest.raises(Forbidden, match='User "alice" cannot list resource "pods"') as caught:
        await api.get(client.pods("team-b"), dict)
    assert "aiarts-user" in caught.value.hint


@cluster_test
async def test_a_list_comes_in_pages_that_shrink_where_objects_are_large(
    cluster: Cluster, gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE", 40)
    monkeypatch.setattr(listing, "LARGEST", 30_000)
    config = rewritten(cluster.kubeconfig("admin"), tmp_path / "admin", {"server": gate.url})
    api = await Api.open(ClusterSettings(name="test", kubeconfig=str(config)))
    with cluster.namespace() as namespace, cluster.admin() as admin:
        for number in range(90):
            item = {"kind": "Secret", "metadata": {"name": f"s{number:02}"}, "stringData": {"x": "y" * 1000}}
            admin.create(item, namespace)
        pages = [page async for page in api.pages(client.secrets(namespace), JobObject)]
        assert [len(page.items) for page in pages] == [40, 20, 20, 10]
        assert len({item.name for page in pages for item in page.items}) == 90
        assert len(gate.asked) == 4
    await api.aclose()


@cluster_test
async def test_a_pod_log_is_streamed(api: Api, cluster: Cluster) -> None:
    with cluster.namespace() as namespace:
        cluster.kubectl(
            "run", "-n", namespace, "one", "--image=registry.local/aiarts-test:1", "--restart=Never",
            "--image-pull-policy=Never", "--", "sh", "-c", "echo hello; sleep 600",
        )  # fmt: skip
        cluster.kubectl("wait", "-n", namespace, "pod/one", "--for=condition=Ready", "--timeout=60s")
        async with api.stream(client.pod_log(namespace, "one"), follow="true") as response:
            assert await asyncio.wait_for(response.content.readline(), 10) == b"hello\n"


@cluster_test
async def test_what_a_reader_of_a_stream_does_wrong_stays_its_own_error(api: Api) -> None:
    with pytest.raises(FileNotFoundError):
        async with api.stream("/version"):
            Path("/no/such/file").read_text()


@cluster_test
async def test_a_watch_begins_with_opened_and_tells_what_happens(cluster: Cluster) -> None:
    api = await Api.open(ClusterSettings(name="test", kubeconfig=str(cluster.kubeconfig("alice"))))
    with cluster.namespace() as namespace:
        version = (await api.get(client.pods(namespace), dict))["metadata"]["resourceVersion"]
        seen = []
        async for delta in api.watch(client.pods(namespace), PodObject, version):
            seen.append((delta.kind, delta.object.metadata.name if delta.object else None))
            if delta.kind == "OPENED":
                cluster.kubectl("run", "-n", namespace, "one", "--image=none", "--restart=Never")
                cluster.kubectl("delete", "-n", namespace, "pod", "one", "--grace-period=0", "--force")
            if delta.kind == "DELETED":
                break
        assert (seen[0], seen[1], seen[-1]) == (("OPENED", None), ("ADDED", "one"), ("DELETED", "one"))
    await api.aclose()


# -- helpers -------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def serving(handler: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncIterator[str]:
    """Something that answers HTTP and is no API server."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def settings_for(folder: Path, server: str) -> ClusterSettings:
    """A cluster at this address, with a token that is good for nothing."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "worthless"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (folder / "settings.kubeconfig").write_text(json.dumps(content))
    return ClusterSettings(name="test", kubeconfig=str(folder / "settings.kubeconfig"))
