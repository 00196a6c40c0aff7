"""A pod's log, copied while it runs: every byte once, whatever breaks."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from jupyter_aiarts.engines.kubernetes import lacks, mirror
from jupyter_aiarts.engines.kubernetes.lacks import Lack
from jupyter_aiarts.engines.logs import LogQuery, open_log
from tests.bench.memory import peak

from .archiving import (
    CHATTY,
    JOB,
    WAITING,
    Pod,
    Server,
    StandIn,
    begin,
    end,
    held_bytes,
    stamps_of,
    until,
)

STREAMS = ("stdout", "stderr")


# -- all is well ---------------------------------------------------------------------------------------------------


async def test_a_finished_log_is_the_launchers_to_the_byte(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    pod = begin(apiserver, tmp_path, CHATTY)
    server.keep()
    await end(pod, server)
    for stream in STREAMS:
        assert held_bytes(server.run, stream=stream) == pod.written(stream=stream) != b""
        theirs = pod.root / "aiarts/run/node-0/log/0"
        assert stamps_of(server.run / "node-0/log/0", stream) == stamps_of(theirs, stream)
    assert server.source() == {"source": "launcher", "complete": True, "missing": []}
    assert len(server.texts()) == 22000
    assert json.loads((server.run / "summary.json").read_text())["result"] == "succeeded"
    assert json.loads((server.run / "node-0/status.json").read_text())["phase"] == "ended"
    assert {what for what, _, _ in apiserver.asked} == {"v1/log"}


async def test_every_rank_of_a_node_has_its_log_and_its_variables(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    script = "import os, sys\nprint('I am', os.environ['RANK'])\nprint('oh', file=sys.stderr)"
    plan = {"device": "nvidia_gpu_amd64", "cards": 2, "processes": "card", "devices": [[0, 1]], "framework": "pytorch"}
    pod = begin(apiserver, tmp_path, script + WAITING, **plan)
    server.archive.keep([pod.facts(ranks=(0, 1))])
    await until(lambda: held_bytes(server.run, 1).endswith(b"waiting for go\n"))
    (pod.root / "go").touch()
    await asyncio.to_thread(pod.finish)
    server.archive.keep([pod.facts(ranks=(0, 1))])
    await until(lambda: not server.archive._shelves)
    for rank in (0, 1):
        assert held_bytes(server.run, rank) == f"I am {rank}\nwaiting for go\nwent on\n".encode()
        assert held_bytes(server.run, rank, "stderr") == b"oh\n"
        variables = await server.archive.environment("team", JOB, 1, rank)
        assert variables["RANK"] == str(rank)
    assert {what for what, _, _ in apiserver.asked} == {"v1/log"}


async def test_the_log_can_be_read_while_it_grows(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    pod = begin(apiserver, tmp_path, CHATTY)
    server.keep()
    follower = open_log(server.run).follow(LogQuery(after="0.0.0.0.0"))
    texts: list[str] = []
    while not any("line 19999" in text for text in texts[-50:]):
        texts += [line.text for line in await asyncio.to_thread(follower.step, False)]
        await asyncio.sleep(0.01)
    await end(pod, server)
    texts += [line.text for line in follower.step(True)]
    assert [text.split()[1] for text in texts if text.startswith("line")] == [str(n) for n in range(20000)]
    assert [text for text in texts if text.startswith("error")] == [f"error {n}" for n in range(0, 20000, 10)]


# -- connections that break ----------------------------------------------------------------------------------------


async def test_connections_that_break_at_random_lose_and_double_nothing(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    chance = random.Random(4)
    apiserver.cut_after = lambda: chance.randrange(1, 200_000)
    pod = begin(apiserver, tmp_path, CHATTY + WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    assert len(apiserver.asked) > 10
    apiserver.cut_after = lambda: None
    apiserver.cut_all()
    again = len(apiserver.asked)
    await until(lambda: len(apiserver.asked) > again)
    (pod.root / "go").touch()
    await end(pod, server)
    written = {stream: pod.written(stream=stream) for stream in STREAMS}
    assert {stream: held_bytes(server.run, stream=stream) for stream in STREAMS} == written
    assert server.source()["complete"] is True


async def test_a_launcher_that_says_nothing_any_more_is_asked_again(
    server: Server, apiserver: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "SILENCE", 0.3)
    pod = begin(apiserver, tmp_path, WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    count = len(apiserver.asked)
    await until(lambda: len(apiserver.asked) > count + 1, "another connection")
    (pod.root / "go").touch()
    await server.until_held(b"went on\n")
    assert held_bytes(server.run) == b"waiting for go\nwent on\n"


async def test_a_server_killed_in_the_middle_goes_on_where_it_was(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    """Three servers are killed at any moment; what they held is not asked for again."""
    apiserver.pause = 0.02
    pod = begin(apiserver, tmp_path, CHATTY.replace("20000", "50000") + WAITING)
    facts = msgspec.json.encode(pod.facts()).decode()
    command = [
        sys.executable,
        str(Path(__file__).with_name("mirroring.py")),
        str(tmp_path / "kubeconfig"),
        str(tmp_path / "state"),
    ]
    sizes = []
    for _ in range(3):
        before = len(held_bytes(server.run))
        child = subprocess.Popen([*command, facts])
        await until(lambda before=before: len(held_bytes(server.run)) > before + 100_000)
        child.send_signal(signal.SIGKILL)
        await asyncio.to_thread(child.wait)
        sizes.append({stream: len(held_bytes(server.run, stream=stream)) for stream in STREAMS})
        apiserver.asked.clear()
    apiserver.pause = 0.0
    server.keep()
    await server.until_held(b"waiting for go\n")
    place = {f"0.{stream}.{size}" for stream, size in sizes[-1].items()}
    assert set(apiserver.asked[0][2]["at"].split(",")) == place
    (pod.root / "go").touch()
    await end(pod, server)
    written = {stream: pod.written(stream=stream) for stream in STREAMS}
    assert {stream: held_bytes(server.run, stream=stream) for stream in STREAMS} == written


# -- pods that come and go -----------------------------------------------------------------------------------------


async def test_a_replaced_pod_continues_the_nodes_log(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    """Asked to leave, it says its last words; its successor begins at byte 0 of a folder of its own."""
    first = begin(apiserver, tmp_path, "import sys\nprint('first', file=sys.stderr)" + WAITING, "p")
    server.keep()
    await server.until_held(b"waiting for go\n")
    assert first.process is not None
    first.process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(first.finish)
    second = begin(apiserver, tmp_path, "import sys\nprint('second', file=sys.stderr)" + WAITING, "q")
    server.keep()
    await until(lambda: held_bytes(server.run).count(b"waiting for go\n") == 2)
    (second.root / "go").touch()
    del apiserver.pods["p"]
    await end(second, server)
    assert held_bytes(server.run) == b"waiting for go\nwaiting for go\nwent on\n"
    assert held_bytes(server.run, stream="stderr") == b"first\nsecond\n"
    assert server.source() == {"source": "launcher", "complete": True, "missing": []}


async def test_a_launcher_whose_folder_lasts_is_not_copied_twice(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    lasting = {"folder": str(tmp_path / "mount")}
    first = begin(apiserver, tmp_path, "print('first')" + WAITING, "p", **lasting)
    server.archive.keep([first.facts(lasting=True)])
    await server.until_held(b"waiting for go\n")
    first.kill()
    del apiserver.pods["p"]
    second = begin(apiserver, tmp_path, "print('second')" + WAITING, "q", **lasting)
    server.archive.keep([second.facts(lasting=True)])
    await server.until_held(b"second\nwaiting for go\n")
    (second.root / "go").touch()
    await asyncio.to_thread(second.finish)
    await until(lambda: not server.archive._shelves)
    assert held_bytes(server.run) == b"first\nwaiting for go\nsecond\nwaiting for go\nwent on\n"


async def test_a_pod_that_vanishes_leaves_a_mark_and_a_sentence(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    pod = begin(apiserver, tmp_path, CHATTY + WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    pod.kill()
    del apiserver.pods["p"]
    apiserver.cut_all()
    await server.until_done()
    source = server.source()
    assert source["complete"] is False
    assert source["missing"] == [Lack(lacks.WENT_AWAY, "p").said()]
    assert server.texts().count(f"… {Lack(lacks.WENT_AWAY, 'p').said()} …") == 1
    assert held_bytes(server.run) == pod.written()


async def test_a_pod_that_never_printed_and_ended_is_complete(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    pod = begin(apiserver, tmp_path, "import time; time.sleep(0.5)")
    server.keep()
    await end(pod, server)
    assert (server.texts(), server.source()["complete"]) == ([], True)


# -- gaps, times, disks --------------------------------------------------------------------------------------------


def frames(*items: bytes | dict[str, object]) -> bytes:
    """An answer of a launcher."""
    lines = [{"type": "log", "id": "x", "node": 0}, *items]
    return b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)


def chunk(at: int, t: int, data: bytes) -> bytes:
    return json.dumps({"rank": 0, "stream": "stdout", "at": at, "t": t, "n": len(data)}).encode() + b"\n" + data


async def answered(server: Server, apiserver: StandIn, said: bytes) -> None:
    """A launcher says this and has ended."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=said + b'{"type":"end"}\n')

    apiserver.instead = answer
    apiserver.pods["p"] = Pod(Path("/nowhere"), "p")
    await server.until_done()


async def test_what_the_launcher_dropped_is_a_gap_with_its_reason(server: Server, apiserver: StandIn) -> None:
    drop = {"type": "drop", "rank": 0, "stream": "stdout", "from": 4, "to": 1004, "reason": "limit"}
    last = {"type": "drop", "rank": 0, "stream": "stdout", "from": 1008, "to": 1010, "reason": "disk-full"}
    await answered(server, apiserver, frames(chunk(0, 10, b"one\n"), drop, chunk(1004, 20, b"two\n"), last))
    assert server.texts() == [
        "one", "… 1,000 bytes dropped here: log limit reached …", "two", "… 2 bytes dropped here: disk full …",
    ]  # fmt: skip


async def test_bytes_that_come_again_are_not_doubled_and_a_leap_is_a_gap(server: Server, apiserver: StandIn) -> None:
    said = frames(chunk(0, 10, b"one\n"), chunk(0, 10, b"one\ntwo\n"), chunk(2, 10, b"e\n"), chunk(100, 20, b"three\n"))
    await answered(server, apiserver, said)
    assert server.texts() == ["one", "two", "… 92 bytes dropped here …", "three"]


async def test_what_a_run_took_is_kept_after_its_pod_and_another_form_is_passed_over(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    past = {"cards": {"times": [], "series": {}}, "ranks": {"times": [7.5], "series": {"0 cpu": [0.5]}},
            "network": {"times": [7.5], "series": {"received": [8.0], "sent": [9.0]}}}  # fmt: skip
    wrong = {**past, "cards": {"times": [1.0], "series": {"0 memory": []}}}
    told = [{"type": "usage", **one} for one in (past, wrong, {"cards": 7})]
    await answered(server, apiserver, frames(chunk(0, 10, b"one\n"), *told))
    [kept] = tmp_path.rglob("usage.json")
    assert json.loads(kept.read_text()) == past and server.texts() == ["one"]


async def test_times_never_go_back(server: Server, apiserver: StandIn) -> None:
    await answered(server, apiserver, frames(chunk(0, 50, b"one\n"), chunk(4, 20, b"two\n"), chunk(8, 60, b"three\n")))
    assert server.texts() == ["one", "two", "three"]
    assert stamps_of(server.run / "node-0/log/0") == [(0, 50), (8, 60)]


async def test_a_launcher_cannot_fill_the_disk_with_ranks(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    def said(rank: int) -> bytes:
        return b'{"rank":%d,"stream":"stdout","at":0,"t":1,"n":4}\nabcd' % rank

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=frames(*(said(rank) for rank in range(500, 600))))

    apiserver.instead = answer
    begin(apiserver, tmp_path, WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    assert len(list((server.run / "node-0" / "log").iterdir())) <= 17
    assert server.source()["source"] == "kubelet"


@pytest.fixture
def small_state(tmp_path: Path) -> Iterator[Path]:
    """A state folder on a disk of 512 KiB."""
    state = tmp_path / "state"
    state.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "none", str(state)]
    if os.geteuid() != 0 or subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("this user may not mount a disk")
    yield state
    subprocess.run(["umount", "-l", str(state)], check=True)


async def test_a_full_disk_is_told_about_and_copied_to_when_it_has_room(
    small_state: Path, server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    filler = small_state / "filler"
    filler.write_bytes(b"x" * 300 * 1024)
    pod = begin(apiserver, tmp_path, "for n in range(40000): print('%07d' % n)" + WAITING)
    server.keep()

    def is_told() -> bool:
        return (server.run / "node-0/source.json").exists() and "No space left" in str(server.source()["missing"])

    await until(is_told)
    assert "No space left" in str((await server.archive.source("team", JOB, 1)).missing)
    assert not await server.archive.complete(JOB, 1, 0.1)
    filler.unlink()
    await server.until_held(b"waiting for go\n")
    (pod.root / "go").touch()
    await end(pod, server)
    assert held_bytes(server.run) == pod.written()
    assert server.source() == {"source": "launcher", "complete": True, "missing": []}


async def test_a_flood_costs_no_memory(server: Server, apiserver: StandIn) -> None:
    """400 MB as fast as they come, into a log of at most 64 MB."""
    part = b"".join(chunk(n * 65536, n + 1, b"x" * 65535 + b"\n") for n in range(16))
    one = len(part)

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(frames())
        for n in range(400):
            await response.write(
                b"".join(chunk((16 * n + k) * 65536, 16 * n + k + 1, b"x" * 65535 + b"\n") for k in range(16))
            )
        await response.write(b'{"type":"end"}\n')
        return response

    server.archive._limit = 64 << 20
    apiserver.instead = answer
    apiserver.pods["p"] = Pod(Path("/nowhere"), "p")
    Path("/proc/self/clear_refs").write_text("5")  # an earlier test may have raised the peak above all that comes
    before = peak()
    tracemalloc.start()
    begun = time.monotonic()
    await server.until_done()
    seconds = time.monotonic() - begun
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 40 << 20, most
    assert peak() - before < 100 << 20, "what is freed must go back, too"
    assert sum(path.stat().st_size for path in (server.run / "node-0/log/0").iterdir()) <= 64 << 20
    assert seconds < 60, f"{400 * one / seconds / 1e6:.0f} MB/s"
