"""The archive as the engine uses it: what it starts, ends, keeps, finds again and forgets."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from jupyter_aiarts.engines.kubernetes import lacks, shelf
from jupyter_aiarts.engines.kubernetes.archive import Archive
from jupyter_aiarts.engines.kubernetes.door import PodFacts
from jupyter_aiarts.engines.kubernetes.lacks import Lack
from jupyter_aiarts.errors import JobNotFound, RunNotFound

from .archiving import (
    CHATTY,
    JOB,
    WAITING,
    Server,
    StandIn,
    begin,
    end,
    held_bytes,
    known_token,
    serving,
    until,
)

# -- keeping -------------------------------------------------------------------------------------------------------


async def test_nothing_is_asked_or_written_before_a_pod_runs(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    server.archive.keep([])
    server.archive.keep([PodFacts(namespace="team", job=JOB, run=1, node=0, name="p", phase="Pending")])
    await asyncio.sleep(0)
    assert (apiserver.asked, list((tmp_path / "state").iterdir())) == ([], [])
    assert await server.archive.complete(JOB, 1, 0)
    assert server.texts() == []


async def test_nobody_else_may_look_into_the_archive(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    pod = begin(apiserver, tmp_path, CHATTY)
    server.keep()
    await end(pod, server)
    for folder, _, files in os.walk(tmp_path / "state"):
        assert os.stat(folder).st_mode & 0o777 == 0o700, folder
        assert {os.stat(f"{folder}/{name}").st_mode & 0o777 for name in files} <= {0o600}, folder


async def test_a_log_that_is_complete_is_never_asked_for_again(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    """Not by this server, and not by the next one."""
    pod = begin(apiserver, tmp_path, CHATTY)
    server.keep()
    await end(pod, server)
    apiserver.asked.clear()
    server.keep()
    async with serving(apiserver, tmp_path) as second:
        await second.until_done()
        assert (await second.archive.source("team", JOB, 1)).complete
    assert apiserver.asked == []


async def test_nodes_are_mirrored_side_by_side_and_read_as_one_log(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    for node in range(4):
        script = f"for n in range(50): print('node {node} says', n)"
        begin(apiserver, tmp_path, script + WAITING, f"p{node}").node = node
    server.keep()
    for node in range(4):
        await until(lambda node=node: b"waiting" in held_bytes(server.run, node, node=node))
    assert await server.archive.complete(JOB, 1, 10)
    assert len(server.texts()) == 4 * 51


async def test_complete_waits_for_what_is_not_held_yet(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    apiserver.is_proxy_broken = True
    begin(apiserver, tmp_path, CHATTY + WAITING)
    server.keep()
    await until(lambda: len(apiserver.asked) > 1)
    assert not await server.archive.complete(JOB, 1, 0.05)
    assert await server.archive.complete(JOB, 2, 0)
    waiting = asyncio.create_task(server.archive.complete(JOB, 1, 30))
    apiserver.is_proxy_broken = False
    assert await waiting
    await server.until_held(b"waiting for go\n")


async def test_another_job_under_the_same_id_has_its_own_log(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    """Ids made from a `submission_id` come back after their job was deleted."""
    first = begin(apiserver, tmp_path, "print('first')")
    server.keep()
    await end(first, server)
    del apiserver.pods["p"]
    second = begin(apiserver, tmp_path, "print('second')" + WAITING, "q")
    server.archive.keep([second.facts(job_uid="job-2")])
    await server.until_held(b"second\n")
    assert b"first" not in held_bytes(server.run)
    assert not (server.run / "summary.json").exists()


async def test_a_pod_that_went_away_while_no_server_looked_is_told_about(apiserver: StandIn, tmp_path: Path) -> None:
    first = begin(apiserver, tmp_path, "print('first')" + WAITING)
    async with serving(apiserver, tmp_path) as server:
        server.keep()
        await server.until_held(b"waiting for go\n")
    first.kill()
    del apiserver.pods["p"]
    sentence = Lack(lacks.WENT_AWAY, "p").said()
    async with serving(apiserver, tmp_path) as server:
        server.keep()
        assert (await server.archive.source("team", JOB, 1)).missing == (Lack(lacks.WENT_AWAY, "p"),)
        second = begin(apiserver, tmp_path, "print('second')" + WAITING, "q")
        server.keep()
        await server.until_held(b"second\nwaiting for go\n")
        assert server.texts() == ["first", "waiting for go", f"… {sentence} …", "second", "waiting for go"]
        (second.root / "go").touch()
        await end(second, server)
        assert server.source() == {"source": "launcher", "complete": False, "missing": [sentence]}


# -- several servers -----------------------------------------------------------------------------------------------


async def test_of_two_servers_one_mirrors_and_the_other_takes_over(
    server: Server, apiserver: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "TAKE_OVER", 0.1)
    pod = begin(apiserver, tmp_path, "print('begun')" + WAITING)
    facts = msgspec.json.encode(pod.facts()).decode()
    words = [str(Path(__file__).with_name("mirroring.py")), str(tmp_path / "kubeconfig"), str(tmp_path / "state")]
    other = subprocess.Popen([sys.executable, *words, facts])
    try:
        await server.until_held(b"waiting for go\n")
        asked = len(apiserver.asked)
        server.keep()
        assert await server.archive.complete(JOB, 1, 5), "the other one has it all"
        assert len(apiserver.asked) == asked
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    await until(lambda: len(apiserver.asked) > asked, "our own connection")
    (pod.root / "go").touch()
    await end(pod, server)
    assert held_bytes(server.run) == pod.written()
    assert server.source()["complete"] is True


# -- jobs of others ------------------------------------------------------------------------------------------------


async def test_a_job_of_somebody_else_is_mirrored_while_somebody_looks(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    pod = begin(apiserver, tmp_path, "print('mine')" + WAITING)
    await until(lambda: pod.written().endswith(b"waiting for go\n"))  # one who looks once has what is there by then
    assert await server.archive.fetch_once(lambda: [pod.facts()], 10)
    folder = server.archive.log_folder("team", JOB, 1)
    await until(lambda: held_bytes(folder) == b"mine\nwaiting for go\n")
    assert ".looked" in folder.parts
    asked = len(apiserver.asked)
    (pod.root / "go").touch()
    async with server.archive.lease(lambda: [pod.facts()]):
        await until(lambda: held_bytes(folder).endswith(b"went on\n"))
        assert len(apiserver.asked) == asked + 1
    assert held_bytes(folder) == b"mine\nwaiting for go\nwent on\n"
    await until(lambda: not server.archive._shelves)


async def test_variables_of_somebody_elses_job_do_not_hide_its_log(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    pod = begin(apiserver, tmp_path, "print('mine')" + WAITING)
    async with server.archive.lease(lambda: [pod.facts()]):
        folder = tmp_path / "state/clusters/k8s/.looked/team" / JOB / "run-1"
        await until(lambda: held_bytes(folder).startswith(b"mine\n"))
        assert (await server.archive.environment("team", JOB, 1, 0))["RANK_ID"] == "0"
    assert server.archive.log_folder("team", JOB, 1) == folder


async def test_looking_at_an_own_job_opens_no_second_connection(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    pod = begin(apiserver, tmp_path, WAITING)
    server.keep()
    await server.until_held(b"waiting for go\n")
    asked = len(apiserver.asked)
    async with server.archive.lease(lambda: [pod.facts()]):
        assert await server.archive.complete(JOB, 1, 5)
    assert (len(apiserver.asked), server.archive.log_folder("team", JOB, 1)) == (asked, server.run)
    (pod.root / "go").touch()
    await end(pod, server)


async def test_what_nobody_looks_at_for_a_day_goes(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    looked = tmp_path / "state/clusters/k8s/.looked/team/b123456789/run-1/node-0"
    looked.mkdir(parents=True)
    pod = begin(apiserver, tmp_path, WAITING)
    for path in (looked.parents[1], looked):
        os.utime(path, (1, 1))
    async with server.archive.lease(lambda: [pod.facts()]):
        assert not looked.exists()


# -- a log mount ---------------------------------------------------------------------------------------------------


async def test_a_log_mount_that_this_server_sees_is_read_and_not_copied(apiserver: StandIn, tmp_path: Path) -> None:
    mount = tmp_path / "mount"
    pod = begin(apiserver, tmp_path, "print('hello')", folder=str(mount / JOB / "run-1"))
    async with serving(apiserver, tmp_path, log_path=mount) as server:
        server.archive.keep([pod.facts(lasting=True)])
        await asyncio.to_thread(pod.finish)
        server.archive.keep([pod.facts(lasting=True)])
        folder = server.archive.log_folder("team", JOB, 1)
        assert folder == mount / JOB / "run-1"
        assert held_bytes(folder) == b"hello\n"
        assert apiserver.asked == []
        await server.archive.forget(JOB)
        assert not (mount / JOB).exists()


async def test_a_log_mount_that_this_server_does_not_see_after_all_is_copied(
    apiserver: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path that was configured is other storage, or may not be read by this server's user."""
    monkeypatch.setattr(shelf, "APPEARS", 0.5)
    pod = begin(apiserver, tmp_path, "print('hello')" + WAITING, folder=str(tmp_path / "mount" / JOB / "run-1"))
    async with serving(apiserver, tmp_path, log_path=tmp_path / "another") as server:
        server.archive.keep([pod.facts(lasting=True)])
        await server.until_held(b"hello\n")
        (pod.root / "go").touch()
        await asyncio.to_thread(pod.finish)
        server.archive.keep([pod.facts(lasting=True)])
        await until(lambda: not server.archive._shelves)
        assert held_bytes(server.archive.log_folder("team", JOB, 1)).endswith(b"went on\n")


# -- variables -----------------------------------------------------------------------------------------------------


async def test_variables_outlive_the_pod(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    pod = begin(apiserver, tmp_path, WAITING, env={"MINE": "a b\nc"})
    server.keep()
    await server.until_held(b"waiting for go\n")
    pod.kill()
    apiserver.pods.clear()
    await server.until_done()
    async with serving(apiserver, tmp_path) as later:
        assert (await later.archive.environment("team", JOB, 1, 0))["MINE"] == "a b\nc"
        with pytest.raises(RunNotFound, match="no environment for rank 1"):
            await later.archive.environment("team", JOB, 1, 1)
        with pytest.raises(JobNotFound):
            await later.archive.environment("team", "../../x", 1, 0)


async def test_variables_of_a_log_mount_are_asked_for_and_kept(apiserver: StandIn, tmp_path: Path) -> None:
    pod = begin(apiserver, tmp_path, WAITING, env={"MINE": "yes"}, folder=str(tmp_path / "mount" / JOB / "run-1"))
    async with serving(apiserver, tmp_path, log_path=tmp_path / "mount") as server:
        server.archive.keep([pod.facts(lasting=True)])
        await until(lambda: b"waiting" in held_bytes(server.archive.log_folder("team", JOB, 1)))
        await until(lambda: pod.listens)
        assert (await server.archive.environment("team", JOB, 1, 0))["MINE"] == "yes"
        assert {what for what, _, _ in apiserver.asked} == {"v1/environment"}
        pod.kill()
        server.archive.keep([])
        assert (await server.archive.environment("team", JOB, 1, 0))["MINE"] == "yes"


async def test_the_rank_table_is_asked_for_and_kept(server: Server, apiserver: StandIn, tmp_path: Path) -> None:
    pod = begin(apiserver, tmp_path, WAITING, device="huawei_npu_arm64", cards=2, devices=[[0, 1]])
    server.keep()
    await server.until_held(b"waiting for go\n")
    table = await server.archive.rank_table("team", JOB, 1)
    assert [card["rank_id"] for card in json.loads(table)["server_list"][0]["device"]] == ["0", "1"]
    pod.kill()
    apiserver.pods.clear()
    await server.until_done()
    assert await server.archive.rank_table("team", JOB, 1) == table
    with pytest.raises(RunNotFound, match="no rank table: none of its pods runs any more"):
        await server.archive.rank_table("team", JOB, 2)


# -- forgetting ----------------------------------------------------------------------------------------------------


async def test_a_forgotten_job_leaves_nothing_and_stays_forgotten(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    begin(apiserver, tmp_path, CHATTY + WAITING)
    server.keep()
    await server.until_held(b"line 100 ")
    await server.archive.forget(JOB)
    assert list((tmp_path / "state/clusters/k8s/team").iterdir()) == []
    apiserver.asked.clear()
    server.keep()
    await asyncio.sleep(0)
    assert (server.archive._shelves, apiserver.asked) == ({}, [])
    await server.archive.forget(JOB)
    with pytest.raises(JobNotFound):
        await server.archive.forget("../x")


async def test_an_archive_that_is_deleted_under_a_mirror_ends_it(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    """Another server of the same owner deleted the job."""
    begin(apiserver, tmp_path, CHATTY + WAITING + CHATTY)
    server.keep()
    await server.until_held(b"line 100 ")
    async with serving(apiserver, tmp_path) as other:
        await other.archive.forget(JOB)
    (apiserver.pods["p"].root / "go").touch()
    await until(lambda: not server.archive._shelves)
    assert list((tmp_path / "state/clusters/k8s/team").iterdir()) == []


@pytest.mark.parametrize("name", ["../x", "..", ".", "a/b", "arn:aws:eks:x:1:cluster/y", "训练"])
async def test_a_clusters_name_is_one_folder(apiserver: StandIn, tmp_path: Path, name: str) -> None:
    async with serving(apiserver, tmp_path) as server:
        archive = Archive(server.archive._door._api, tmp_path / "state", name, known_token)
        folder = archive.log_folder("team", JOB, 1)
        assert folder.parents[3] == tmp_path / "state" / "clusters"
        assert ".." not in folder.parts
        await archive.aclose()


async def test_damaged_bookkeeping_costs_no_more_than_it_said(
    server: Server, apiserver: StandIn, tmp_path: Path
) -> None:
    pod = begin(apiserver, tmp_path, "print('hello')" + WAITING)
    folder = server.run / "node-0"
    folder.mkdir(parents=True)
    for name in ("pods.json", "status.json", "source.json", "env.0.json"):
        (folder / name).write_bytes(b"\x00{")
    server.keep()
    await server.until_held(b"waiting for go\n")
    (pod.root / "go").touch()
    await end(pod, server)
    assert held_bytes(server.run) == pod.written()
    assert json.loads((folder / "source.json").read_text())["complete"] is True
