"""A list comes whole and in pieces, however the API server sends it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from jupyter_aiarts.engines.kubernetes import listing
from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.listing import Cutter
from jupyter_aiarts.engines.kubernetes.objects import PodObject
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from jupyter_aiarts.errors import ClusterUnreachable
from tests.cluster.cluster import Cluster

from .standins import Gate, rewritten
from .test_client import serving, settings_for

Json = dict[str, Any]
HOSTILE = ('},{"metadata":', '"items":[', '\\"},{\\"metadata\\":{', "训练 }]}", '"continue":"no"')


def pod(number: int) -> Json:
    """Its texts look like what stands between items."""
    labels = {f"k{at}": text for at, text in enumerate(HOSTILE)}
    return {"metadata": {"name": f"p{number:04}", "labels": labels}, "status": {"message": HOSTILE[number % 5]}}


def written(items: list[Json], more: str = "") -> bytes:
    """As the API server writes a list: without spaces, and its items last."""
    metadata = {"resourceVersion": "7", "continue": more} if more else {"resourceVersion": "7"}
    listed = {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items}
    return json.dumps(listed, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def pieces(text: bytes, size: int) -> list[Json]:
    """What a cutter makes of a text that comes in parts of this size."""
    cutter = Cutter()
    found = [cutter.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return [json.loads(one) for one in (*found, cutter.rest()) if one is not None]


@pytest.mark.parametrize("size", [1, 7, 64, 1000, 100_000])
@pytest.mark.parametrize("count", [0, 1, 2, 60])
def test_pieces_are_whole_lists_with_every_item_once(size: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "CUT", 700)
    items = [pod(number) for number in range(count)]
    found = pieces(written(items), size)
    assert [one for piece in found for one in piece["items"]] == items
    assert all(piece["metadata"] == {"resourceVersion": "7"} for piece in found)
    assert len(found) > 5 if count == 60 and size < 100_000 else found


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"metadata": {}, "items": [pod(1), pod(2), pod(3)]}, indent=2).encode(),
        json.dumps({"items": [pod(1), pod(2), pod(3)], "metadata": {}}, separators=(",", ":")).encode(),
        json.dumps([pod(1), pod(2), pod(3)], separators=(",", ":")).encode(),
    ],
    ids=["spaces", "metadata last", "no list"],
)
def test_what_is_written_otherwise_is_left_in_one_piece(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "CUT", 100)
    assert pieces(text, 50) == [json.loads(text)]


async def names(api: Api, **kwargs: Any) -> list[list[str]]:
    return [[item.metadata.name for item in page.items] async for page in api.pages("/pods", PodObject, **kwargs)]


async def test_a_server_that_sends_pages_although_asked_for_its_memory_is_asked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE", 2)
    asked: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(dict(request.query))
        at = int(request.query.get("continue", "0"))
        return web.Response(body=written([pod(at), pod(at + 1)], str(at + 2) if at < 4 else ""))

    async with serving(answer) as url:
        api = await Api.open(settings_for(tmp_path, url))
        assert await names(api, from_memory=True) == [["p0000", "p0001"], ["p0002", "p0003"], ["p0004", "p0005"]]
        await api.aclose()
    first, memory = {"limit": "2"}, {"limit": "2", "resourceVersion": "0"}
    assert asked == [first, memory, {"limit": "2", "continue": "2"}, {"limit": "2", "continue": "4"}]


async def test_a_short_list_is_never_from_memory(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=written([] if "resourceVersion" in request.query else [pod(1)]))

    async with serving(answer) as url:
        api = await Api.open(settings_for(tmp_path, url))
        assert await names(api, from_memory=True) == [["p0001"]]
        await api.aclose()


async def test_the_next_page_is_asked_for_while_this_one_still_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second page ends only when the third was asked for; one that waits for all of it would wait for ever."""
    third = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        at = int(request.query.get("continue", "0"))
        text = written([pod(at)], str(at + 1) if at < 2 else "")
        if at == 2:
            third.set()
        out = web.StreamResponse()
        await out.prepare(request)
        await out.write(text[:200])
        if at == 1:
            await third.wait()
        await out.write(text[200:])
        return out

    async with serving(answer) as url:  # type: ignore[arg-type]
        api = await Api.open(settings_for(tmp_path, url))
        assert await asyncio.wait_for(names(api), 20) == [["p0000"], ["p0001"], ["p0002"]]
        await api.aclose()


@pytest.mark.parametrize("from_memory", [False, True])
@pytest.mark.parametrize("body", [b'{"items": [', b"<html>Log in</html>", b'{"items": 3}', written([pod(1)])[:-9]])
async def test_what_is_no_list_is_said_to_be_none(body: bytes, from_memory: bool, tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body)

    async with serving(answer) as url:
        api = await Api.open(settings_for(tmp_path, url))
        with pytest.raises(ClusterUnreachable, match="does not speak as an API server does"):
            await names(api, from_memory=from_memory)
        await api.aclose()


@pytest.mark.cluster
async def test_a_long_list_from_memory_is_one_answer_cut_into_pieces_and_has_what_pages_have(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "CUT", 20_000)
    monkeypatch.setattr(listing, "PAGE", 20)
    async with Gate(cluster.kubeconfig("admin")).open() as gate:
        config = rewritten(cluster.kubeconfig("admin"), tmp_path / "admin", {"server": gate.url})
        api = await Api.open(ClusterSettings(name="test", kubeconfig=str(config)))
        with cluster.namespace() as namespace:
            for number in range(60):
                made = {"kind": "Pod", "metadata": {"name": f"p{number:02}"}, "spec": waiting()}
                await api.create(f"/api/v1/namespaces/{namespace}/pods", made)
            where = f"/api/v1/namespaces/{namespace}/pods"
            await until_remembered(api, where, 60)
            before = len(gate.asked)
            kept = [[item.metadata.name for item in page.items] async for page in pages(api, where, True)]
            assert len(kept) > 1 and len(gate.asked) == before + 2
            paged = [[item.metadata.name for item in page.items] async for page in pages(api, where, False)]
            assert [len(page) for page in paged] == [20, 20, 20]
            assert [name for page in kept for name in page] == [name for page in paged for name in page]
        await api.aclose()


def pages(api: Api, where: str, from_memory: bool) -> Any:
    return api.pages(where, PodObject, from_memory=from_memory)


async def until_remembered(api: Api, where: str, count: int) -> None:
    """Until the API server has heard from etcd of what it has written there."""
    while sum([len(page.items) async for page in pages(api, where, True)]) < count:
        await asyncio.sleep(0.05)


def waiting() -> Json:
    """A pod that no scheduler takes."""
    return {"schedulerName": "nobody", "containers": [{"name": "main", "image": "none"}]}
