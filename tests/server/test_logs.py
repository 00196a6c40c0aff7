"""Logs over REST: pages, following, text, bytes, and never silence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import pytest
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.server import logs

Ask = Callable[..., Awaitable[HTTPResponse]]
Submit = Callable[..., Awaitable[dict[str, Any]]]
Body = Callable[[HTTPResponse], Any]

COUNT = "import sys\nfor n in range(50): print('line', n)\nprint('oops', file=sys.stderr)\n"
WAITS = """
import pathlib, time
print("one", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("two")
"""


@pytest.fixture
async def finished(submitted: Submit, until: Submit) -> dict[str, Any]:
    job = await submitted(COUNT)
    return await until(job["id"], "succeeded")


async def test_a_page_has_the_shape_of_log_lines(ask: Ask, body: Body, finished: dict[str, Any]) -> None:
    lines = body(await ask(f"jobs/{finished['id']}/logs", params={"stream": "stdout"}))
    assert [line["text"] for line in lines] == [f"line {number}" for number in range(50)]
    assert set(lines[0]) == {"seq", "t", "node", "rank", "stream", "text"}


async def test_pages_go_back_and_forth_by_cursors(ask: Ask, body: Body, finished: dict[str, Any]) -> None:
    path = f"jobs/{finished['id']}/logs"
    last = body(await ask(path, params={"tail": 10, "stream": "stdout"}))
    before = body(await ask(path, params={"before": last[0]["seq"], "limit": 10, "stream": "stdout"}))
    assert [line["text"] for line in before] == [f"line {number}" for number in range(30, 40)]
    after = body(await ask(path, params={"after": before[-1]["seq"], "stream": "stdout"}))
    assert [line["text"] for line in after] == [line["text"] for line in last]


async def test_lines_can_be_searched(ask: Ask, body: Body, finished: dict[str, Any]) -> None:
    path = f"jobs/{finished['id']}/logs"
    assert [line["text"] for line in body(await ask(path, params={"grep": "line 4[0-2]"}))] == [
        "line 40",
        "line 41",
        "line 42",
    ]
    nothing = await ask(path, params={"grep": "absent"})
    assert body(nothing) == []
    assert "X-Aiarts-No-Log" not in nothing.headers
    assert (await ask(path, params={"grep": "("})).code == 400
    assert (await ask(path, params={"grep": "(", "follow": "1"})).code == 400


WRONG = (
    {"tail": "-1"},
    {"rank": "x"},
    {"stream": "stdin"},
    {"format": "html"},
    {"before": "junk"},
    {"after": "junk", "follow": "1"},
    {"before": "junk", "follow": "1"},
    {"run": "0"},
    {"follow": "maybe"},
    {"format": "raw"},
)


async def test_a_bad_query_is_400(ask: Ask, finished: dict[str, Any]) -> None:
    answers = [await ask(f"jobs/{finished['id']}/logs", params=params) for params in WRONG]
    assert [answer.code for answer in answers] == [400] * len(WRONG)


async def test_a_run_that_never_was_is_404(ask: Ask, body: Body, finished: dict[str, Any]) -> None:
    for params in ({"run": 7}, {"run": 7, "follow": "1"}, {"run": 7, "format": "text"}):
        answer = await ask(f"jobs/{finished['id']}/logs", params=params)
        assert (answer.code, body(answer)["code"]) == (404, "run-not-found")


async def test_text_is_plain_and_a_download_is_whole(ask: Ask, finished: dict[str, Any]) -> None:
    path = f"jobs/{finished['id']}/logs"
    page = await ask(path, params={"format": "text", "rank": 0, "tail": 2, "stream": "stdout"})
    assert page.body == b"line 48\nline 49\n"
    assert page.headers["Content-Type"].startswith("text/plain")
    whole = await ask(path, params={"format": "text", "rank": 0, "tail": 2, "stream": "stdout", "download": "1"})
    assert whole.body == b"".join(b"line %d\n" % number for number in range(50))
    assert whole.headers["Content-Disposition"].startswith("attachment")
    assert "sandbox" in whole.headers["Content-Security-Policy"]


async def test_raw_is_the_bytes_as_a_file(ask: Ask, submitted: Submit, until: Submit) -> None:
    job = await submitted("import sys\nsys.stdout.buffer.write(b'<script>\\xff\\r\\n')\n")
    await until(job["id"], "succeeded")
    params = {"format": "raw", "rank": 0, "stream": "stdout"}
    answer = await ask(f"jobs/{job['id']}/logs", params=params)
    assert answer.body == b"<script>\xff\r\n"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"].startswith("attachment")


async def test_following_tells_lines_as_they_come_and_ends_with_the_run(
    ask: Ask, submitted: Submit, until: Submit, jp_root_dir: Any
) -> None:
    job = await submitted(WAITS)
    await until(job["id"], "running")
    seen: list[str] = []
    first = asyncio.Event()

    def hear(chunk: bytes) -> None:
        seen.extend(json.loads(line)["text"] for line in chunk.splitlines())
        if "one" in seen:
            first.set()

    following = asyncio.ensure_future(
        ask(f"jobs/{job['id']}/logs", params={"follow": "1"}, streaming_callback=hear, request_timeout=60)
    )
    await first.wait()
    assert "two" not in seen
    (jp_root_dir / "go").touch()
    answer = await following
    assert answer.code == 200
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert seen[-2:] == ["one", "two"]


async def test_a_log_that_is_empty_says_why(ask: Ask, body: Body, submitted: Submit, until: Submit) -> None:
    job = await submitted("pass")
    await until(job["id"], "succeeded")
    path = f"jobs/{job['id']}/logs"
    page = await ask(path)
    assert body(page) == []
    assert unquote(page.headers["X-Aiarts-No-Log"])
    followed = await ask(path, params={"follow": "1"})
    (line,) = map(json.loads, followed.body.splitlines())
    assert (line["stream"], line["seq"]) == ("aiarts", "")
    assert line["text"] == unquote(page.headers["X-Aiarts-No-Log"])
    for form in ({"format": "text", "download": "1"}, {"format": "raw", "rank": "0", "stream": "stdout"}):
        answer = await ask(path, params=form)
        assert (answer.body, answer.headers["X-Aiarts-No-Log"]) == (b"", page.headers["X-Aiarts-No-Log"])


async def test_a_follower_that_goes_is_forgotten(
    submitted: Submit, until: Submit, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> None:
    job = await submitted(WAITS)
    await until(job["id"], "running")
    reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
    lines = [
        f"GET {jp_base_url}aiarts/jobs/{job['id']}/logs?follow=1 HTTP/1.1",
        f"Host: 127.0.0.1:{jp_http_port}",
        f"Authorization: {jp_auth_header['Authorization']}",
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    assert b"200" in await reader.readline()
    pumps = [task for task in asyncio.all_tasks() if "LogsHandler._pump" in repr(task.get_coro())]
    assert len(pumps) == 1
    writer.close()
    await writer.wait_closed()
    await asyncio.wait(pumps)


async def test_a_follower_of_a_quiet_log_hears_at_once_that_somebody_answers(
    ask: Ask, body: Body, submitted: Submit, until: Submit, jp_root_dir: Any
) -> None:
    job = await submitted(WAITS)
    await until(job["id"], "running")
    path = f"jobs/{job['id']}/logs"
    while not (lines := body(await ask(path))):
        await asyncio.sleep(0.05)
    answered, seen = asyncio.Event(), bytearray()
    following = asyncio.ensure_future(
        ask(
            path,
            params={"follow": "1", "after": lines[-1]["seq"]},
            header_callback=lambda line: answered.set() if " 200 " in line else None,
            streaming_callback=seen.extend,
            request_timeout=60,
        )
    )
    await asyncio.wait_for(answered.wait(), 10)
    assert not seen
    (jp_root_dir / "go").touch()
    await following
    assert json.loads(seen.splitlines()[0])["text"] == "two"


async def test_a_quiet_log_says_that_it_lives_before_a_proxy_takes_it_for_dead(
    ask: Ask, body: Body, submitted: Submit, until: Submit, jp_root_dir: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert logs.SIGN_OF_LIFE < 60  # where ingress-nginx and AWS's load balancers end an answer
    monkeypatch.setattr(logs, "SIGN_OF_LIFE", 0.05)
    job = await submitted(WAITS)
    await until(job["id"], "running")
    path = f"jobs/{job['id']}/logs"
    while not (lines := body(await ask(path))):
        await asyncio.sleep(0.05)
    heard = asyncio.Queue[bytes]()
    following = asyncio.ensure_future(
        ask(
            path,
            params={"follow": "1", "after": lines[-1]["seq"]},
            streaming_callback=heard.put_nowait,
            request_timeout=60,
        )
    )
    assert [(await asyncio.wait_for(heard.get(), 10)).strip() for _ in range(3)] == [b"", b"", b""]
    (jp_root_dir / "go").touch()
    assert (await following).code == 200
    told = b"".join(heard.get_nowait() for _ in range(heard.qsize()))
    assert [json.loads(line)["text"] for line in told.splitlines() if line] == ["two"]


async def test_the_npu_drivers_log_is_another_source(ask: Ask, body: Body, finished: dict[str, Any]) -> None:
    answer = await ask(f"jobs/{finished['id']}/logs", params={"source": "npu", "tail": 5})
    assert (answer.code, body(answer)) == (200, [])
    assert "uses no NPU" in unquote(answer.headers["X-Aiarts-No-Log"])
    chinese = await ask(f"jobs/{finished['id']}/logs", params={"source": "npu", "lang": "zh"})
    assert "未使用 NPU" in unquote(chinese.headers["X-Aiarts-No-Log"])
    for name, value in {"follow": "1", "grep": "x", "format": "text", "before": "00"}.items():
        refused = await ask(f"jobs/{finished['id']}/logs", params={"source": "npu", name: value})
        assert refused.code == 400 and name in body(refused)["message"]
    assert (await ask(f"jobs/{finished['id']}/logs", params={"source": "disk"})).code == 400
    assert (await ask(f"jobs/{finished['id']}/logs", params={"source": "npu", "rank": 9})).code in (400, 404)
