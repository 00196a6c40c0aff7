"""Whoever asks about the machine gets an answer or the reason, whatever becomes of the looking."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
import threading
from pathlib import Path
from threading import current_thread
from types import SimpleNamespace

import msgspec
import pytest

from jupyter_aiarts import usage
from jupyter_aiarts.devices import lookout
from jupyter_aiarts.devices.ascend import AscendProbe
from jupyter_aiarts.devices.host import HostProbe
from jupyter_aiarts.model.usage import Usage
from jupyter_aiarts.usage import UsageWatch
from tests.at_once import write_at_once

from .driver import Driver, Gpu


def broken() -> None:
    raise ZeroDivisionError("what is seen cannot be put together")


async def test_many_who_ask_at_once_get_the_same_look() -> None:
    watch = UsageWatch(["/"])
    seen = await asyncio.gather(*(watch.latest() for _ in range(5)))
    assert len({id(one) for one in seen}) == 1
    await watch.aclose()


async def test_a_glance_is_one_look_that_nobody_else_hears_of() -> None:
    heard: list[None] = []
    watch = UsageWatch(["/"], lambda: heard.append(None))
    seen = await watch.glance()
    assert seen.host.memory_total
    while watch.is_looking:
        await asyncio.sleep(0.01)
    assert (heard, watch.said("en")) == ([], None)
    shown = await watch.latest()
    assert json.loads(watch.said("en") or b"")["t"] == shown.t
    assert len(watch.history.lines(600).times) == 2 and len(heard) == 1
    await watch.aclose()


async def test_a_day_is_kept_of_the_looks_that_were_taken_whether_or_not_a_page_was_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such as those that are taken each minute while a kernel lives: who comes back sees what was meanwhile."""
    watch = UsageWatch(["/"])
    noon = 1_800_000_000.0
    for minute in range(4):
        monkeypatch.setattr(usage, "time", SimpleNamespace(time=lambda at=noon + 60 * minute: at))
        assert (await watch.glance()).host.memory_total
        while watch.is_looking:
            await asyncio.sleep(0.01)
    lines = watch.history.lines(86400)
    assert lines.times == [noon, noon + 60, noon + 120]
    assert all(value for value in lines.series["memory"])
    await watch.aclose()


async def test_who_comes_while_a_glance_waits_for_a_slow_tool_does_not_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "npu-smi"
    tool.write_text(f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\nexec sleep 1000\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(lookout, "SLOW", 600.0)
    watch = UsageWatch(["/"])
    glance = asyncio.create_task(watch.glance())
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        await asyncio.sleep(0.02)
    try:
        assert watch.may_have_cards  # nobody has said that there are none
        seen = await asyncio.wait_for(watch.latest(), 30)
        assert seen is await glance and seen.host.memory_total and watch.said("en")
    finally:
        await watch.aclose()
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


async def test_looking_that_ends_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookout, "now", broken)
    watch = UsageWatch(["/"])
    answers = await asyncio.wait_for(asyncio.gather(*(watch.latest() for _ in range(3)), return_exceptions=True), 30)
    assert [type(one) for one in answers] == [ZeroDivisionError] * 3
    monkeypatch.undo()
    assert (await asyncio.wait_for(watch.latest(), 30)).host.memory_total  # who asks later is not told of it any more
    await watch.aclose()


async def test_whoever_comes_just_when_looking_ends_gets_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookout, "PATIENCE", 30.0)
    monkeypatch.setattr(usage, "WATCHED", 0.06)
    watch = UsageWatch(["/"])
    for _ in range(20):  # looks end 50 ms after they began, between these and at the same time
        assert (await asyncio.wait_for(watch.latest(), 30)).host.memory_total
        await asyncio.sleep(0.055)
    await watch.aclose()


async def test_a_look_is_encoded_apart_from_the_event_loop_for_those_who_read_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoders: list[str] = []
    encode = msgspec.json.encode
    monkeypatch.setattr(msgspec.json, "encode", lambda one: (encoders.append(current_thread().name), encode(one))[1])
    looked = asyncio.Queue[bytes | None]()
    watch = UsageWatch(["/"], lambda: looked.put_nowait(watch.said("zh")))
    await watch.latest()
    told = [json.loads(await asyncio.wait_for(looked.get(), 30) or b"") for _ in range(3)]
    assert [one["t"] for one in told] == sorted({one["t"] for one in told})
    assert encoders[:3] == [current_thread().name, "aiarts-lookout", "aiarts-lookout"]
    await watch.aclose()


async def test_kinds_of_cards_that_are_not_here_are_not_searched_for_every_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(lookout, "PERIOD", 0.01)
    looks: list[str] = []
    look = AscendProbe.look
    monkeypatch.setattr(AscendProbe, "look", lambda probe: (looks.append(probe.name), look(probe))[1])
    enough = asyncio.Semaphore(0)
    watch = UsageWatch(["/"], enough.release)
    assert (await watch.latest()).devices == ()
    for _ in range(5):
        await asyncio.wait_for(enough.acquire(), 30)
    assert looks == ["npu-smi"]
    await watch.aclose()


async def test_a_tool_that_hangs_delays_nothing_and_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own numbers are there within the patience of a look; the tool is ended with the test."""
    tool = tmp_path / "npu-smi"
    tool.write_text(f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\nexec sleep 1000\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(lookout, "SILENT", 1.5)  # longer than what is well takes on a machine that is busy
    monkeypatch.setattr(lookout, "PATIENCE", 2.0)
    watch = UsageWatch(["/"])
    began = asyncio.get_running_loop().time()
    seen = await asyncio.wait_for(watch.latest(), 30)
    assert asyncio.get_running_loop().time() - began < 5
    assert seen.host.memory_total and seen.devices == ()
    assert silence(seen) == ["probe-silent"]
    [problem] = json.loads(watch.said("zh") or b"")["problems"]
    assert problem["code"] == "probe-silent" and watch.said("zh") is watch.said("zh")
    await watch.aclose()
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


async def test_numbers_of_a_machine_that_does_not_answer_any_more_become_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with a kernel file that hangs: what was seen long ago is not shown as if it were now."""
    monkeypatch.setattr(lookout, "SILENT", 0.3)
    monkeypatch.setattr(lookout, "FORGOTTEN", 0.5)
    watch = UsageWatch(["/"])
    while (await watch.latest()).host.memory_total is None:  # a first look may be without it on a machine that is slow
        await asyncio.sleep(0.05)
    go_on, look = threading.Event(), HostProbe.look
    monkeypatch.setattr(HostProbe, "look", lambda probe: (go_on.wait(60), look(probe))[1])

    async def until_unknown() -> None:
        while (await watch.latest()).host.memory_total is not None:
            await asyncio.sleep(0.05)

    try:
        await asyncio.wait_for(until_unknown(), 30)
        seen = await watch.latest()
        said = [one.code for one in seen.silent if one.probe == "host"]  # others may be late, too
        assert (seen.host.cpu, said) == (None, ["probe-silent"])
        assert seen.host.disks  # others are still told
    finally:
        go_on.set()
    await watch.aclose()


async def test_a_card_that_disappears_is_a_gap_in_its_line_and_nothing_else_changes() -> None:
    driver = Driver(Gpu(busy=30), Gpu(busy=60))
    driver.load()
    try:
        watch = UsageWatch(["/"])
        first = await watch.latest()
        driver.gpus[1].lost = True
        while (await watch.latest()) is first:
            await asyncio.sleep(0.05)
        seen = await watch.latest()
        assert [(card.id, card.utilization) for card in seen.devices] == [(0, 30.0), (1, None)]
        lines = watch.history.lines(600).series
        assert lines["gpu 1 utilization"][-1] is None and lines["gpu 0 utilization"][-1] == 30.0
        await watch.aclose()
    finally:
        driver.unload()


async def test_a_card_that_its_tool_does_not_list_any_more_is_told_as_gone_until_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = (Path(__file__).parent.parent / "launcher/usage/npu_smi/15_health_alarm_critical_unknown.txt").read_text()
    lines = table.splitlines(keepends=True)
    second = next(place for place, line in enumerate(lines) if line.startswith("| 1 "))
    tool = tmp_path / "npu-smi"
    tool.write_text(f'#!/bin/sh\ncat "{tmp_path}/said"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    said = tmp_path / "said"
    said.write_text(table)
    watch = UsageWatch(["/"])

    async def until(health: str) -> None:
        while [(card.id, card.health) for card in (await watch.latest()).devices][1] != (1, health):
            await asyncio.sleep(0.05)

    await asyncio.wait_for(until("alarm"), 30)
    write_at_once(said, "".join(lines[:second] + lines[second + 2 :]))
    await asyncio.wait_for(until("gone"), 30)
    gone = (await watch.latest()).devices[1]
    assert (gone.name, gone.utilization, gone.memory_used_mb, gone.programs) == (gone.name, None, None, None)
    write_at_once(said, table)
    await asyncio.wait_for(until("alarm"), 30)
    await watch.aclose()


async def test_a_card_that_disappears_between_two_single_looks_is_told_as_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scraper's looks are like that; it is not to hear that a series ends and nothing else."""
    table = (Path(__file__).parent.parent / "launcher/usage/npu_smi/15_health_alarm_critical_unknown.txt").read_text()
    lines = table.splitlines(keepends=True)
    second = next(place for place, line in enumerate(lines) if line.startswith("| 1 "))
    tool = tmp_path / "npu-smi"
    tool.write_text(f'#!/bin/sh\ncat "{tmp_path}/said"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    watch = UsageWatch(["/"])

    async def health(said: str) -> list[str | None]:
        (tmp_path / "said").write_text(said)
        seen = await watch.glance()
        while watch.is_looking:
            await asyncio.sleep(0.01)
        return [card.health for card in seen.devices]

    assert await health(table) == ["ok", "alarm", "critical", "unknown"]
    fewer = "".join(lines[:second] + lines[second + 2 :])
    assert await health(fewer) == ["ok", "gone", "critical", "unknown"]
    watch._lookout._looked_at -= 2 * lookout.REMEMBERED  # nobody looked for hours: it may have been taken out
    assert await health(fewer) == ["ok", "critical", "unknown"]
    await watch.aclose()


async def test_a_tool_that_is_slow_is_awaited_and_no_card_is_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither before its first answer nor when the last one is of hours ago."""
    slow_tool(tmp_path, monkeypatch)
    monkeypatch.setattr(lookout, "PATIENCE", 0.1)
    watch = UsageWatch(["/"])
    try:
        seen = await watch.latest()
        assert (seen.devices, silence(seen)) == ((), ["probe-pending"])
        while not (tmp_path / "waiting").exists():
            await asyncio.sleep(0.02)
        (tmp_path / "go").touch()
        await asyncio.wait_for(told_of(watch, 2), 30)
        (tmp_path / "go").unlink()
        (tmp_path / "waiting").unlink()
        while not (tmp_path / "waiting").exists():  # by the next look
            await watch.latest()
            await asyncio.sleep(0.02)
        seen_before = watch._lookout._cards[1].last
        assert seen_before is not None
        seen_before.at -= 7200
        await asyncio.wait_for(told_of(watch, 0), 30)
        assert silence(await watch.latest()) == ["probe-pending"]
    finally:
        (tmp_path / "go").touch()
        await watch.aclose()


def silence(seen: Usage) -> list[str]:
    """What is said of `npu-smi`; others may be slow, too, on a machine that is busy."""
    return [one.code for one in seen.silent if one.probe == "npu-smi"]


def slow_tool(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An `npu-smi` that tells of two cards once there is a file `go`."""
    table = Path(__file__).parents[1] / "launcher/usage/npu_smi/01_910A_23.0_narrow_warning.txt"
    tool = folder / "npu-smi"
    wait = f'while [ ! -e "{folder}/go" ]; do touch "{folder}/waiting"; sleep 0.02; done'
    tool.write_text(f'#!/bin/sh\n{wait}\nexec cat "{table}"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


async def told_of(watch: UsageWatch, least: int) -> None:
    """Wait for a look that tells of so many cards, or of none for 0."""
    while bool((await watch.latest()).devices) is not (least > 0):
        await asyncio.sleep(0.02)


async def test_a_machine_is_told_of_though_the_servers_own_folder_was_removed_and_nothing_is_written_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)  # as in a program that has asked for no temporary file yet
    before = (tmp_path / "temporary").stat().st_mtime_ns
    paths = usage.usual_paths()
    assert str(tmp_path / "temporary") in paths and (tmp_path / "temporary").stat().st_mtime_ns == before
    monkeypatch.setattr(lookout, "PATIENCE", 30.0)
    watch = UsageWatch(paths)
    assert (await asyncio.wait_for(watch.latest(), 30)).host.disks
    await watch.aclose()


@pytest.mark.parametrize("name", ["aiarts-lookout", "aiarts-host"])
async def test_a_machine_that_has_no_thread_left_is_looked_at_when_it_has_one_again(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == name:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(lookout, "PATIENCE", 30.0)
    watch = UsageWatch(["/"])
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            await asyncio.wait_for(watch.latest(), 30)
    assert (await asyncio.wait_for(watch.latest(), 30)).host.memory_total
    await watch.aclose()
