"""A notebook's own kernel that holds cards and does nothing with them is told of; nothing runs where none can."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPResponse

from jupyter_aiarts import holdwatch
from jupyter_aiarts.holding import CLOCK_DRIFT
from jupyter_aiarts.model.times import now, seconds_between
from jupyter_aiarts.server.app import AiartsApp

from .conftest import Printed

Ask = Callable[..., Awaitable[HTTPResponse]]
Listen = Callable[[], Awaitable[Any]]
Run = Callable[[dict[str, Any], str], Awaitable[None]]
Open = Callable[..., Awaitable[dict[str, Any]]]
TABLE = Path(__file__).parent.parent / "launcher/usage/npu_smi/10_910B4_26.0_wide_five_columns.txt"


def table(pid: int, busy: str = "0 ") -> str:
    """Two cards, of which the second is held by this process of ours."""
    return TABLE.read_text().replace("| 71 ", f"| {busy} ").replace("| 412   ", f"| {pid:<6}")


@pytest_asyncio.fixture
async def opened(jp_serverapp: ServerApp, jp_fetch: Ask, app: AiartsApp) -> AsyncIterator[Open]:
    """Open a notebook with a real kernel; its session, with the kernel's process as `pid`."""

    async def start(path: str = "work/train.ipynb") -> dict[str, Any]:
        wanted = {"path": path, "type": "notebook", "name": "", "kernel": {"name": "python3"}}
        session = json.loads((await jp_fetch("api", "sessions", method="POST", body=json.dumps(wanted))).body)
        return {**session, "pid": jp_serverapp.kernel_manager.get_kernel(session["kernel"]["id"]).provisioner.pid}

    yield start
    await jp_serverapp.kernel_manager.shutdown_all(now=True)


async def told(stream: Any, count: int) -> list[dict[str, Any]]:
    """The next word about so many idle kernels."""
    while True:
        message = json.loads(await asyncio.wait_for(stream.read_message(), 60))
        kernels = message.get("kernels" if message["type"] == "idle" else "idle")
        if kernels is not None and len(kernels) == count:
            return list(kernels)


async def until(is_so: Callable[[], bool]) -> None:
    async def wait() -> None:
        while not is_so():
            await asyncio.sleep(0.02)

    await asyncio.wait_for(wait(), 60)


async def test_a_kernel_whose_cards_do_nothing_is_told_of_until_it_is_shut_down(
    ask: Ask, listen: Listen, opened: Open, jp_fetch: Ask, said: Printed
) -> None:
    session = await opened()
    said.write_text(table(session["pid"]))
    stream = await listen()
    await ask("usage")
    [kernel] = await told(stream, 1)
    since = kernel.pop("idle_since")
    named = {"id": session["kernel"]["id"], "name": "train.ipynb", "path": "work/train.ipynb"}
    assert kernel == {**named, "cards": 1, "memory_mb": 27140} and since.endswith("Z")
    [known] = json.loads(await (await listen()).read_message())["idle"]  # who comes later hears it with all jobs
    assert known == {**kernel, "idle_since": since}
    await jp_fetch("api", "sessions", session["id"], method="DELETE")
    await told(stream, 0)


@pytest.fixture
def run(jp_serverapp: ServerApp) -> Run:
    """Run a cell in a notebook's kernel as a page that has just come does; without one, what comes by itself: a page's
    questions, an extension's about the kernel's memory, and code that it runs silently."""

    async def execute(session: dict[str, Any], cell: str) -> None:
        client = jp_serverapp.kernel_manager.get_kernel(session["kernel"]["id"]).client()
        client.start_channels()
        await client.wait_for_ready(timeout=60)
        if cell:
            await client.execute(cell, reply=True)
        else:
            client.control_channel.send(client.session.msg("usage_request"))
            await client.get_control_msg(timeout=60)
            await client.execute("1", silent=True, reply=True)
        client.stop_channels()

    return execute


async def test_a_cell_that_was_over_before_the_next_look_was_work_and_a_page_that_comes_is_none(
    ask: Ask, listen: Listen, opened: Open, run: Run, said: Printed
) -> None:
    session = await opened()
    said.write_text(table(session["pid"]))
    stream = await listen()
    await ask("usage")
    [first] = await told(stream, 1)
    await until(lambda: seconds_between(first["idle_since"], now()) > CLOCK_DRIFT)
    await run(session, "")
    said.write_text(table(session["pid"]).replace("27140", "27141"))  # another look, which is told of
    [kernel] = await told(stream, 1)
    assert (kernel["memory_mb"], kernel["idle_since"]) == (27141, first["idle_since"])
    await run(session, "1 + 1")
    [kernel] = await told(stream, 1)
    assert kernel["idle_since"] > first["idle_since"]


async def test_what_a_kernel_started_counts_for_it(
    ask: Ask,
    listen: Listen,
    opened: Open,
    run: Run,
    said: Printed,
    tmp_path: Path,
) -> None:
    """As with `!python train.py`, or the workers of a loader."""
    session = await opened()
    line = f"(sleep 600 & echo $! > '{tmp_path}/pid'; wait)"
    await run(session, f"import subprocess; child = subprocess.Popen({line!r}, shell=True)")
    await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip() != "")
    said.write_text(table(int((tmp_path / "pid").read_text())))
    stream = await listen()
    await ask("usage")
    [kernel] = await told(stream, 1)
    assert kernel["id"] == session["kernel"]["id"]


async def test_cards_that_work_and_programs_of_nobody_here_are_no_news(
    ask: Ask, listen: Listen, opened: Open, app: AiartsApp, said: Printed
) -> None:
    session = await opened()
    said.write_text(table(session["pid"], busy="71"))
    stream = await listen()
    await ask("usage")
    seen = []
    while len(seen) < 3:
        message = json.loads(await asyncio.wait_for(stream.read_message(), 60))
        assert message["type"] != "idle" and "idle" not in message
        seen += [message] if message["type"] == "usage" else []
        said.write_text(table(session["pid"], busy="71") if len(seen) < 2 else table(1))


async def test_sessions_are_not_asked_for_at_every_look_that_a_page_causes(
    ask: Ask, listen: Listen, opened: Open, said: Printed, jp_serverapp: ServerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is read from a database, on the event loop, and a notebook's name is mostly what it was a second ago."""
    monkeypatch.setattr(holdwatch, "PERIOD", 600.0)  # longer than this takes on the slowest machine
    session = await opened()
    asked: list[None] = []
    listed = jp_serverapp.session_manager.list_sessions
    monkeypatch.setattr(jp_serverapp.session_manager, "list_sessions", lambda: (asked.append(None), listed())[1])
    said.write_text(table(session["pid"]))
    stream = await listen()
    await ask("usage")
    await told(stream, 1)
    for memory in ("27141", "27142"):  # two more looks, which are told of
        said.write_text(table(session["pid"]).replace("27140", memory))
        [kernel] = await told(stream, 1)
        assert (kernel["memory_mb"], kernel["name"]) == (int(memory), "train.ipynb")
    assert len(asked) == 1


async def test_while_nobody_looks_one_look_is_taken_in_a_while(
    listen: Listen, opened: Open, said: Printed, app: AiartsApp
) -> None:
    """Nobody asks for usage here."""
    session = await opened()
    said.write_text(table(session["pid"]))
    await told(await listen(), 1)
    service = await app.service()
    machine = service.machine()
    await until(lambda: not machine.is_looking)  # it does not go on by itself
    assert said.runs == 1 and holdwatch.PERIOD >= 60
    assert app._holding is not None and app._holding.is_watching
    assert machine.said("en") is None  # nor is it told to anybody else


async def test_without_cards_there_is_no_timer_however_many_kernels_live(opened: Open, app: AiartsApp) -> None:
    service = await app.service()
    watch = app._holding
    assert watch is not None
    await until(lambda: not watch.is_watching)
    assert service._usage is None  # without a kernel not even one look
    await opened()
    await until(lambda: service._usage is not None and service._usage._last is not None)
    await until(lambda: not watch.is_watching)


async def test_a_kernel_that_comes_later_is_noticed_and_the_last_one_to_go_takes_the_timer_along(
    ask: Ask, listen: Listen, opened: Open, jp_fetch: Ask, app: AiartsApp, said: Printed
) -> None:
    said.write_text(table(1))
    stream = await listen()
    session = await opened()
    said.write_text(table(session["pid"]))
    await ask("usage")
    await told(stream, 1)
    await jp_fetch("api", "sessions", session["id"], method="DELETE")
    await told(stream, 0)
    watch = app._holding
    await until(lambda: watch is not None and not watch.is_watching)


async def test_a_look_that_fails_is_in_the_log_and_the_next_one_is_taken(
    ask: Ask, listen: Listen, opened: Open, said: Printed, app: AiartsApp, jp_serverapp: ServerApp,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """Another extension's manager of sessions may raise anything."""
    session = await opened()
    failed = asyncio.Event()

    async def broken() -> None:
        failed.set()
        raise RuntimeError("database is locked")

    with monkeypatch.context() as patched:
        patched.setattr(jp_serverapp.session_manager, "list_sessions", broken)
        said.write_text(table(session["pid"]))
        stream = await listen()
        await ask("usage")
        await asyncio.wait_for(failed.wait(), 60)
    [kernel] = await told(stream, 1)
    assert kernel["name"] == "train.ipynb" and "database is locked" in caplog.text
