"""What the launchers of a cluster's job say of themselves: brought by the stream of their log, never asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from jupyter_aiarts.engines.jobuse import usage_of
from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.door import PodFacts
from jupyter_aiarts.engines.kubernetes.npulog import npu_log
from jupyter_aiarts.engines.kubernetes.picture import Picture
from jupyter_aiarts.engines.kubernetes.said import LONGEST, RING_WAIT, Said, said_of
from jupyter_aiarts.engines.local.records import NodeStatus
from jupyter_aiarts.engines.notes import MOST
from jupyter_aiarts.engines.npulog import Gap, NpuPage
from jupyter_aiarts.explain import explain
from jupyter_aiarts.launcher import leader
from jupyter_aiarts.launcher.ascend.lastlog import NAME
from jupyter_aiarts.model.job import Progress
from jupyter_aiarts.model.phase import Phase

from .archiving import JOB, WAITING, begin, end, serving, stand_in, until
from .replay import Json, load, picture_of

NPU = "huawei_npu_arm64"


def running(case: str = "running-two-nodes") -> tuple[Picture, str, str, Json]:
    """A recorded job, its id, the name of node 0's pod, and what it was made from."""
    content = load(case)
    picture = picture_of(content)
    first = next(pod for pod in content["pods"] if pod["metadata"]["name"].split("-")[-2] == "0")
    return picture, content["jobs"][0]["metadata"]["labels"][names.JOB], first["metadata"]["name"], content


def waits(pod: str, **changes: Any) -> dict[int, Said]:
    said = Said(pod=pod, attempt=1, code=RING_WAIT, message="waiting for the ring controller to complete it")
    return {0: msgspec.structs.replace(said, **changes)}


# -- the phase -------------------------------------------------------------------------------------------------------


def test_while_the_ring_controller_is_waited_for_the_job_is_starting_and_says_so() -> None:
    assert RING_WAIT == leader.RING_WAIT
    picture, job_id, pod, content = running()
    picture.hear(job_id, 1, waits(pod))
    record = picture.record(job_id)
    assert (record.phase, record.cause.code) == (Phase.STARTING, "ring-controller-wait")
    assert {rank.phase for rank in record.ranks} == {Phase.STARTING}
    for lang in ("en", "zh"):
        shown = explain(record.cause, lang, job_id)
        assert f"rings-config-{content['jobs'][0]['metadata']['name']}" in shown.why
        assert shown.evidence == ["waiting for the ring controller to complete it"]
    picture.hear(job_id, 1, {0: Said(pod=pod, attempt=1, notes=("the ranks waited 3 s",))})
    record = picture.record(job_id)
    assert (record.phase, record.cause.code, record.notes[-1]) == (
        Phase.RUNNING, "running", "Node 0: the ranks waited 3 s",
    )  # fmt: skip


@pytest.mark.parametrize(
    "changes", [{"pod": "the-one-before"}, {"attempt": 2}, {"code": "my-own-code"}, {"code": None}], ids=str
)
def test_words_of_another_time_or_of_strangers_change_nothing(changes: dict[str, Any]) -> None:
    picture, job_id, pod, _ = running()
    before = picture.record(job_id)
    picture.hear(job_id, 1, waits(**{"pod": pod, **changes}))
    assert picture.record(job_id) == before


@pytest.mark.parametrize("case", ["stop-asked", "pause-asked", "succeeded-two-nodes"])
def test_whoever_ends_waits_for_nothing(case: str) -> None:
    picture, job_id, pod, _ = running(case)
    before = picture.record(job_id)
    picture.hear(job_id, 1, waits(pod))
    assert picture.record(job_id) == before


def test_a_job_that_is_gone_hears_nothing_and_one_with_nothing_to_say_costs_nothing() -> None:
    picture, job_id, pod, _ = running()
    picture.hear("a000000000", 1, waits(pod))
    picture.hear(job_id, 7, waits(pod))
    assert not picture.has_heard(job_id, 1) and picture.drain().jobs == picture.records()
    picture.hear(job_id, 1, {node: Said(pod=pod, attempt=1) for node in range(2)})
    assert picture.has_heard(job_id, 1) and picture.facts(job_id).said == {}
    assert picture.drain().jobs == ()


def test_a_launcher_that_talks_too_much_is_cut_short() -> None:
    status = NodeStatus(
        node=0, attempt=1, phase="running", since="t", notes=("x" * 100_000,) * 1000, message="y" * 99999
    )
    said = said_of(status)
    assert len(said.notes) == MOST and len(said.notes[0]) == len(said.message or "") == LONGEST


# -- the stream ------------------------------------------------------------------------------------------------------


def write_slog(root: Path, folder: str, *texts: str) -> None:
    place = root / "var/log/npu/slog" / folder
    place.mkdir(parents=True, exist_ok=True)
    lines = [f"[ERROR] HCCL(4711,python):2026-11-16-08:00:00.123.456 [hccl.cc:42]{text}\n" for text in texts]
    (place / f"{folder}_20261116080000123.log").write_text("".join(lines))


def npu_plan() -> dict[str, Any]:
    return {"device": NPU, "cards": 1, "devices": [[0]], "rank_table": "v1.0"}


async def test_notes_come_with_the_log_and_cost_no_question(tmp_path: Path) -> None:
    heard: list[tuple[PodFacts, NodeStatus]] = []
    async with stand_in() as cluster, serving(cluster, tmp_path, heard=lambda *one: heard.append(one)) as server:
        pod = begin(cluster, tmp_path, WAITING, **npu_plan())
        server.keep()
        await until(lambda: any(status.notes for _, status in heard), "a note")
        assert {facts.name for facts, _ in heard} == {"p"}
        (pod.root / "go").touch()
        await end(pod, server)
        assert {what for what, _, _ in cluster.asked} == {"v1/log"}
        kept = await server.archive.beside("team", JOB, 1, "status.json", NodeStatus)
    assert kept[0].notes == heard[-1][1].notes and "no IP address is known for card 0" in str(kept[0].notes)


async def test_the_drivers_errors_are_kept_after_the_pod_newest_first_and_bounded(tmp_path: Path) -> None:
    async with stand_in() as cluster, serving(cluster, tmp_path) as server:
        texts = [f"{number:04} " + "x" * 1900 for number in range(1000)]
        write_slog(tmp_path / "p", "device-0", *texts)
        pod = begin(cluster, tmp_path, "print('done')", **npu_plan())
        server.keep()
        await end(pod, server)
        (path,) = (tmp_path / "state").glob(f"**/node-0/{NAME}")
        assert 200 * 1024 < path.stat().st_size <= 260 * 1024
        kept = await server.archive.beside("team", JOB, 1, NAME, NpuPage)
        found = await npu_log(server.archive, [pod.facts()], (), kept)
    assert found.gaps == () and "] 0999 " in found.lines[-1].text.replace("42]", "42] ")
    assert {line.stream for line in found.lines} == {"npu"}


async def test_a_launcher_that_was_killed_kept_nothing_and_this_is_said(tmp_path: Path) -> None:
    async with stand_in() as cluster, serving(cluster, tmp_path) as server:
        pod = begin(cluster, tmp_path, WAITING, **npu_plan())
        server.keep()
        await until(lambda: b"waiting" in pod.written(), "the first line")
        pod.kill()
        kept = await server.archive.beside("team", JOB, 1, NAME, NpuPage)
        found = await npu_log(server.archive, [pod.facts()], (), kept)
        assert (found.lines, found.gaps) == ((), (Gap("gone", node=0),))
        nobody = await npu_log(server.archive, [pod.facts(phase="Pending")], (), {})
        assert nobody.gaps == (Gap("not-started"),)


async def test_what_somebody_else_wrote_there_is_no_answer(tmp_path: Path) -> None:
    async with stand_in() as cluster, serving(cluster, tmp_path) as server:
        folder = server.archive.log_folder("team", JOB, 1) / "node-0"
        folder.mkdir(parents=True)
        for content in ("", "{", "[]", json.dumps({"lines": [1], "place": "", "problem": ""}), '{"problem": "mine"}'):
            (folder / NAME).write_text(content)
            assert await server.archive.beside("team", JOB, 1, NAME, NpuPage) == {}
        (folder / NAME).unlink()
        (folder / NAME).symlink_to("/etc/passwd")
        assert await server.archive.beside("team", JOB, 1, NAME, NpuPage) == {}


# -- usage -----------------------------------------------------------------------------------------------------------

TABLE = Path(__file__).parents[2] / "launcher/usage/npu_smi/08_310_23.0_hugepages.txt"


async def test_what_a_pods_cards_do_comes_with_its_log_and_stays_when_the_pod_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool is asked in the pod, some seconds after the start; nobody asks the pod for what it says."""
    tool = tmp_path / "tools/npu-smi"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\ncat "{TABLE}"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    heard: list[NodeStatus] = []
    async with stand_in() as cluster, serving(cluster, tmp_path, heard=lambda _, said: heard.append(said)) as server:
        pod = begin(cluster, tmp_path, WAITING, **npu_plan())
        server.keep()
        await until(lambda: bool(heard) and any(one.cards for one in usage_of(heard[-1:])), "a look at the cards")
        (pod.root / "go").touch()
        await end(pod, server)
        assert {what for what, _, _ in cluster.asked} == {"v1/log"}
        kept = await server.archive.beside("team", JOB, 1, "status.json", NodeStatus)
    [node] = usage_of(kept.values())
    [card] = node.cards
    assert (node.node, card.id, card.name, card.memory_used_mb) == (0, 0, "310", 577.0)


# -- idle cards ------------------------------------------------------------------------------------------------------

EARLY, LATE = "2026-11-16T08:00:00.000000Z", "2026-11-16T09:00:00.000000Z"


def test_a_job_is_idle_since_the_last_of_its_nodes_is_and_only_if_all_are() -> None:
    picture, job_id, _, _ = running()
    picture.hear(job_id, 1, {0: Said(pod="", attempt=1, idle_since=EARLY)})
    assert picture.record(job_id).idle_since is None, "of the other node nothing is known"
    picture.hear(job_id, 1, {1: Said(pod="", attempt=1, idle_since=LATE)})
    assert picture.record(job_id).idle_since == LATE
    picture.hear(job_id, 1, {0: Said(pod="", attempt=1)})
    assert picture.record(job_id).idle_since is None, "a card of node 0 works again"


@pytest.mark.parametrize("said", ["soon", "", "9" * 5000, "2026-11-16"])
def test_what_is_no_time_is_not_told_as_one(said: str) -> None:
    status = NodeStatus(node=0, attempt=1, phase="running", since=EARLY, idle_since=said)
    assert said_of(status).idle_since is None


# -- progress --------------------------------------------------------------------------------------------------------


def test_how_far_a_job_is_is_its_first_launchers_word_and_that_of_this_attempt() -> None:
    picture, job_id, _, _ = running()
    far = Progress("epoch 3/10", 0.3)
    picture.hear(job_id, 1, {1: Said(pod="", attempt=1, progress=far)})
    assert picture.record(job_id).progress is None
    picture.hear(job_id, 1, {0: Said(pod="", attempt=1, progress=far)})
    assert picture.record(job_id).progress == far
    picture.hear(job_id, 1, {0: Said(pod="", attempt=7, progress=far)})
    assert picture.record(job_id).progress is None


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), float("inf")])
def test_progress_is_bounded_in_words_and_number(share: float) -> None:
    status = NodeStatus(node=0, attempt=1, phase="running", since=EARLY, progress=Progress("x" * 5000, 0.5))
    assert said_of(status).progress == Progress("x" * 60, 0.5)
    assert said_of(structs.replace(status, progress=Progress("x", share))).progress is None
