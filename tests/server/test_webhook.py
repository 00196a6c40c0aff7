"""The admin's webhook: told of ends and long waits, in the form of its chat program, and a nuisance to nobody."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from traitlets import TraitError

from jupyter_aiarts.model.cluster import Node
from jupyter_aiarts.model.job import ListedJob, ListedSpec
from jupyter_aiarts.model.news import News
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.server.app import AiartsApp
from jupyter_aiarts.server.reporting import Guard, Reporter
from jupyter_aiarts.server.webhook import WAITING, Webhook, body_for, check_url, set_by_user

Submit = Callable[..., Awaitable[dict[str, Any]]]
NEWS = News(happened="done", job="abcdefghij", name="resnet", cluster="local", owner="alice", text="done")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
BROKEN = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
REFUSED = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Room:
    """A chat program: keeps what it is sent, and answers as it is told, None being never."""

    def __init__(self, *answers: bytes | None) -> None:
        self.answers = list(answers)
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.url = ""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        fields = dict(line.lower().split(": ", 1) for line in head.splitlines() if ": " in line)
        self.heard.put_nowait(json.loads(await reader.readexactly(int(fields["content-length"]))))
        answer = self.answers.pop(0) if self.answers else OK
        if answer is None:
            await reader.read()  # until the other side gives up
        else:
            writer.write(answer)
        writer.close()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Room]:
        async with await asyncio.start_server(self._serve, "127.0.0.1", 0) as server:
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook/secret-key"
            yield self


async def sent(room: Room, *news: News, seconds: float = 5.0) -> list[dict[str, Any]]:
    """What arrives in a room when this is sent to it."""
    hook = Webhook(room.url, logging.getLogger("aiarts.test"), pause=0.01, seconds=seconds)
    for one in news:
        hook.send(one)
    assert hook._sending is not None
    await hook._sending
    await hook.aclose()
    return [room.heard.get_nowait() for _ in range(room.heard.qsize())]


async def test_a_message_that_was_not_taken_is_told_again_and_then_no_more() -> None:
    async with Room(BROKEN, BROKEN).open() as room:
        assert [one["text"] for one in await sent(room, NEWS)] == ["done", "done", "done"]


async def test_after_three_tries_it_is_given_up_with_a_line_that_does_not_show_the_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Room(BROKEN, BROKEN, BROKEN).open() as room:
        assert len(await sent(room, NEWS)) == 3
    assert "The webhook on 127.0.0.1 was not told of job abcdefghij: HTTP status 503." in caplog.text
    assert "secret-key" not in caplog.text


async def test_a_refusal_is_not_repeated() -> None:
    async with Room(REFUSED).open() as room:
        assert len(await sent(room, NEWS)) == 1


async def test_a_room_that_hangs_costs_three_tries_and_the_next_message_arrives() -> None:
    async with Room(None, None, None).open() as room:
        told = await sent(room, NEWS, msgspec.structs.replace(NEWS, text="next"), seconds=2.0)
    assert [one["text"] for one in told] == ["done", "done", "done", "next"]


async def test_a_redirect_is_not_followed() -> None:
    async with Room().open() as inner:
        move = f"HTTP/1.1 302 Found\r\nLocation: {inner.url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        async with Room(move.encode()).open() as outer:
            assert len(await sent(outer, NEWS)) == 1
        assert inner.heard.empty()


async def test_what_waits_for_a_slow_room_is_bounded() -> None:
    many = [msgspec.structs.replace(NEWS, text=str(number)) for number in range(WAITING + 50)]
    async with Room().open() as room:
        told = await sent(room, *many)
    assert [one["text"] for one in told] == [one.text for one in many[50:]]


@pytest.mark.parametrize(
    ("host", "body"),
    [
        ("open.feishu.cn", {"msg_type": "text", "content": {"text": "done"}}),
        ("oapi.dingtalk.com", {"msgtype": "text", "text": {"content": "done"}}),
        ("hooks.slack.com", {"text": "done"}),
        ("evil-slack.com.example.org", {"text": "done", "happened": "done", "job": "abcdefghij", "name": "resnet",
                                        "cluster": "local", "owner": "alice"}),
    ],
)  # fmt: skip
def test_every_chat_program_gets_its_own_form(host: str, body: dict[str, Any]) -> None:
    assert body_for(host, NEWS) == body


@pytest.mark.parametrize(
    "url", ["https://hooks.slack.com/x", "http://127.0.0.1:9/x", "http://[::1]/x", "http://localhost/"]
)
def test_https_and_this_machine_are_allowed(url: str) -> None:
    assert check_url(url) == url


@pytest.mark.parametrize(
    "url",
    ["http://hooks.slack.com/x", "ftp://x/y", "hooks.slack.com", "", "https://", "https://me:pw@x/", "file:///etc/passwd",
     "http://127.0.0.1.example.org/", "http://localhost.example.org/"],
)  # fmt: skip
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="webhook_url"):
        check_url(url)


@pytest.mark.parametrize(
    ("texts", "arguments", "where"),
    [
        ({}, {}, None),
        ({"jupyter_server_config.py": "c.AiartsApp.state_dir = 'x'"}, {"state_dir": "x"}, None),
        ({}, {"webhook_url": "https://x"}, "the command line"),
        ({"jupyter_server_config.py": "c.AiartsApp.webhook_url = 'x'"}, {}, "jupyter_server_config.py"),
    ],
)
def test_a_user_who_sets_it_is_found_out(texts: dict[str, str], arguments: dict[str, Any], where: str | None) -> None:
    assert set_by_user(texts, arguments) == where


# -- what is news ------------------------------------------------------------------------------------------------


def listed(phase: Phase, job_id: str = "abcdefghij", owner: str = "alice") -> ListedJob:
    created = "2026-01-01T00:00:00Z"
    spec = ListedSpec(kind="regular", device="cpu", devices=0, nodes=1, priority=5)
    return ListedJob(id=job_id, name="n", cluster="c", phase=phase, run=1, created=created, owner=owner, spec=spec)


def message(kind: str, *jobs: ListedJob) -> bytes:
    return msgspec.json.encode({"type": kind, "jobs": jobs})


class Clock:
    """Time as the test moves it."""

    at = "2026-01-01T00:00:00Z"

    def __call__(self) -> str:
        return self.at


async def test_what_was_there_before_and_what_is_somebody_elses_is_no_news() -> None:
    told: list[News] = []
    reporter = Reporter(told.append, lambda cluster, owner: owner == "alice")
    reporter.take(message("snapshot", listed(Phase.FAILED), listed(Phase.RUNNING, "bbbbbbbbbb")))
    reporter.take(message("jobs", listed(Phase.FAILED)))
    reporter.take(message("jobs", listed(Phase.FAILED, "cccccccccc", owner="bob")))
    assert told == []
    reporter.take(message("jobs", listed(Phase.SUCCEEDED, "bbbbbbbbbb"), listed(Phase.LOST, "dddddddddd")))
    assert [(one.job, one.happened) for one in told] == [("bbbbbbbbbb", "done"), ("dddddddddd", "failed")]


async def test_a_job_that_waits_too_long_is_told_of_once_and_again_when_it_is_queued_again() -> None:
    told: list[News] = []
    clock = Clock()
    reporter = Reporter(told.append, lambda cluster, owner: True, patience=600, clock=clock)
    reporter.take(message("snapshot", listed(Phase.QUEUED)))
    clock.at = "2026-01-01T00:09:59Z"
    reporter.take(message("jobs", listed(Phase.QUEUED)))
    assert told == []
    clock.at = "2026-01-01T00:10:01Z"
    reporter.take(message("jobs", listed(Phase.QUEUED)))
    reporter.take(message("jobs", listed(Phase.QUEUED)))
    assert [one.text for one in told] == ["alice's job “n” (abcdefghij, c) has been waiting for 10 minutes: queued"]
    reporter.take(message("jobs", listed(Phase.RUNNING)))
    reporter.take(message("jobs", listed(Phase.QUEUED)))  # preempted, say: its waiting begins now
    assert len(told) == 1
    clock.at = "2026-01-01T00:20:02Z"
    reporter.take(message("jobs", listed(Phase.QUEUED)))
    assert len(told) == 2
    reporter.close()


async def test_the_timer_alone_tells_of_a_wait_and_there_is_none_without_one() -> None:
    told: asyncio.Queue[News] = asyncio.Queue()
    reporter = Reporter(told.put_nowait, lambda cluster, owner: True, patience=0.05)
    reporter.take(message("snapshot", listed(Phase.RUNNING)))
    assert reporter._timer is None
    reporter.take(message("jobs", listed(Phase.QUEUED)))
    assert (await asyncio.wait_for(told.get(), 10)).happened == "waiting"
    assert reporter._timer is None


async def test_a_removed_job_is_forgotten() -> None:
    told: list[News] = []
    reporter = Reporter(told.append, lambda cluster, owner: True, patience=600, clock=Clock())
    reporter.take(message("snapshot", listed(Phase.QUEUED)))
    reporter.take(b'{"type":"removed","ids":["abcdefghij"]}')
    assert (reporter._timer, told) == (None, [])


# -- on a server -------------------------------------------------------------------------------------------------


async def test_a_job_of_a_real_server_is_told_of_when_it_fails(app: AiartsApp, submitted: Submit) -> None:
    async with Room().open() as room:
        app.webhook_url = room.url
        job = await submitted("raise SystemExit(3)", name="<!channel> boom")
        heard = await asyncio.wait_for(room.heard.get(), 60)
    assert (heard["happened"], heard["job"], heard["name"]) == ("failed", job["id"], "‹!channel› boom")


async def test_one_that_the_user_set_is_not_used_and_the_log_says_so(
    app: AiartsApp, submitted: Submit, until: Submit, caplog: pytest.LogCaptureFixture
) -> None:
    (Path(app.config_dir) / "jupyter_server_config.py").write_text("c.AiartsApp.webhook_url = 'http://127.0.0.1:1/'")
    async with Room().open() as room:
        app.webhook_url = room.url
        job = await submitted("raise SystemExit(3)")
        await until(job["id"], "failed")
        assert room.heard.empty()
    assert "only taken from the admin's configuration, not from jupyter_server_config.py" in caplog.text


def test_a_wrong_address_is_refused_when_it_is_set(app: AiartsApp) -> None:
    with pytest.raises(TraitError, match="https"):
        app.webhook_url = "http://hooks.slack.com/x"


async def test_nodes_are_looked_at_again_and_again_and_only_news_of_them_are_told() -> None:
    told: asyncio.Queue[News] = asyncio.Queue()
    looks = iter([(), ("not-ready",), ("not-ready",), ()])

    async def look() -> list[Node]:
        problems = next(looks, ())
        return [Node(cluster="lab", name="a", ready=True, device=None, cards=0, free=0, problems=problems)]

    guard = Guard(look, told.put_nowait, period=0)
    guard.start()
    first, second = await asyncio.wait_for(told.get(), 10), await asyncio.wait_for(told.get(), 10)
    guard.close()
    assert [first.happened, second.happened] == ["node-unwell", "node-well"]
    assert next(looks, None) is None and told.empty()


async def test_a_server_that_guards_nodes_looks_at_its_own_machine_without_a_word(
    app: AiartsApp, submitted: Submit, until: Submit
) -> None:
    async with Room().open() as room:
        app.webhook_url, app.webhook_nodes = room.url, True
        job = await submitted("print('well')")
        await until(job["id"], "succeeded")
        heard = await asyncio.wait_for(room.heard.get(), 60)
    assert (heard["happened"], "node" in heard) == ("done", False)
