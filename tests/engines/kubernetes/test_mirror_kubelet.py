"""A pod's log where its launcher cannot be asked, or is not to be believed: the kubelet's is followed instead."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from jupyter_aiarts.engines.kubernetes import lacks, mirror
from jupyter_aiarts.engines.kubernetes.kubelet_log import CUT
from jupyter_aiarts.engines.kubernetes.lacks import Lack

from .archiving import (
    CHATTY,
    JOB,
    WAITING,
    Server,
    StandIn,
    begin,
    end,
    held_bytes,
    until,
)

STREAMS = ("stdout", "stderr")


async def test_where_the_port_is_forbidden_the_kubelets_log_is_followed(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    apiserver.is_proxy_forbidden = True
    pod = begin(apiserver, tmp_path, CHATTY + WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    assert await server.archive.complete(JOB, 1, 10)
    (pod.root / "go").touch()
    await end(pod, server)
    assert sorted(held_bytes(server.run).splitlines()) == sorted(
        (pod.written() + pod.written(stream="stderr")).splitlines()
    )
    source = server.source()
    assert (source["source"], source["complete"]) == ("kubelet", False)
    (sentence,) = source["missing"]  # type: ignore[misc]
    assert "pods/proxy" in sentence and "stdout and stderr are not told apart" in sentence


async def test_the_kubelets_log_is_followed_over_broken_connections(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    apiserver.is_proxy_forbidden = True
    slow = CHATTY.replace("20000", "4000").replace("n % 500 == 0", "n % 50 == 0").replace("0.01", "0.1")
    pod = begin(apiserver, tmp_path, slow + WAITING)
    server.keep()
    held = [b""]
    while b"waiting for go\n" not in held[-1]:
        await until(lambda: len(held_bytes(server.run)) > len(held[-1]))
        held.append(held_bytes(server.run))
        apiserver.cut_all()
    assert len(held) > 5
    (pod.root / "go").touch()
    await end(pod, server)
    assert sorted(held_bytes(server.run).splitlines()) == sorted(
        (pod.written() + pod.written(stream="stderr")).splitlines()
    )


async def test_ranks_are_told_apart_in_the_kubelets_log(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    apiserver.is_proxy_forbidden = True
    plan = {"device": "nvidia_gpu_amd64", "cards": 2, "processes": "card", "devices": [[0, 1]], "framework": "pytorch"}
    pod = begin(apiserver, tmp_path, "import os\nfor n in range(100): print(os.environ['RANK'], n)", **plan)
    await asyncio.to_thread(pod.finish)
    server.archive.keep([pod.facts(ranks=(0, 1))])
    await until(lambda: server.archive._shelves == {})
    for rank in (0, 1):
        assert held_bytes(server.run, rank) == b"".join(b"%d %d\n" % (rank, n) for n in range(100))


async def test_what_was_printed_while_no_server_looked_is_fetched_once(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    """The port broke in the middle, the pod ended; only what is not held is taken from the kubelet."""
    pod = begin(apiserver, tmp_path, CHATTY + WAITING + CHATTY)
    server.keep()
    await server.until_held(b"waiting for go\n")
    apiserver.is_proxy_broken = True
    apiserver.cut_all()
    (pod.root / "go").touch()
    await end(pod, server)
    assert sorted(held_bytes(server.run).splitlines() + held_bytes(server.run, stream="stderr").splitlines()) == sorted(
        (pod.written() + pod.written(stream="stderr")).splitlines()
    )
    assert server.source() == {"source": "launcher", "complete": False, "missing": [Lack(lacks.REST, "p").said()]}
    count = len(apiserver.asked)
    server.keep()
    await server.until_done()
    assert len(apiserver.asked) == count


async def test_a_log_that_was_all_held_when_the_pod_ended_is_complete(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    pod = begin(apiserver, tmp_path, CHATTY + WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    apiserver.is_proxy_broken = True
    apiserver.cut_all()
    pod.kill()
    assert pod.copy is not None
    await asyncio.to_thread(pod.copy.ended.wait, 5)
    await server.until_done()
    assert held_bytes(server.run) == pod.written()
    assert server.source() == {"source": "launcher", "complete": True, "missing": []}


@pytest.mark.parametrize("kept", [0, 1000], ids=["an empty file", "the newest lines"])
async def test_what_the_kubelet_has_rotated_away_is_marked_as_missing(
    server: Server, apiserver: StandIn, tmp_path: Path, kept: int
) -> None:
    pod = begin(
        apiserver, tmp_path, "print('begun')" + WAITING + "time.sleep(1.1)\nfor n in range(5000): print('more', n)"
    )
    server.keep()
    await server.until_held(b"waiting for go\n")
    apiserver.is_proxy_broken = True
    apiserver.cut_all()
    (pod.root / "go").touch()
    await asyncio.to_thread(pod.finish)
    assert pod.copy is not None
    del pod.copy.lines[: len(pod.copy.lines) - kept]
    await server.until_done()
    more = [f"more {n}" for n in range(5000 - kept, 5000)]
    assert server.texts() == ["begun", "waiting for go", f"… {CUT} …", *more]
    assert server.source()["missing"] == [Lack(lacks.NO_REST, "p", CUT).said()]


async def test_a_port_that_is_never_reached_is_given_up_for_the_kubelet(
    server: Server, apiserver: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "UNREACHABLE", 0.5)
    apiserver.is_proxy_broken = True
    begin(apiserver, tmp_path, WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    assert "i/o timeout" in str(server.source()["missing"])


@pytest.mark.parametrize(
    "said",
    [
        b"<html>404</html>\n",
        b'{"rank":0,"stream":"stdout","at":0,"t":1,"n":4}\nabcd',
        b'{"type":"log","id":"x","node":7}\n',
        b'{"type":"log","id":"x","node":0}\n{"type":"log","id":"y","node":0}\n',
        b'{"type":"log","id":"x","node":0}\n{"type":"environment","rank":-1,"variables":{}}\n',
    ],
)
async def test_who_does_not_speak_as_a_launcher_does_is_not_believed(
    server: Server, apiserver: StandIn, tmp_path: Path, said: bytes
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=said)

    apiserver.instead = answer
    begin(apiserver, tmp_path, WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    assert server.source()["source"] == "kubelet"
    assert held_bytes(server.run) == b"waiting for go\n"
    assert sorted(path.name for path in (server.run / "node-0" / "log").iterdir()) == ["0"]
