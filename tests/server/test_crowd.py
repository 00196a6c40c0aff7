"""Many at once: a thousand submissions, two servers and a command line on one state folder."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

Ask = Callable[..., Awaitable[HTTPResponse]]
TWO_BOARDS = {"device": "huawei_npu_arm64", "devices": 8, "nodes": 2}  # more than there are, so none of them starts


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    return {**jp_server_config, "LocalEngine": {"devices": {"huawei_npu_arm64": 8}}}


@pytest.mark.timeout(300)
async def test_a_thousand_posts_at_once_are_a_thousand_jobs(
    ask: Ask, script: Callable[[str], str], state_dir: Path
) -> None:
    """Each is sent twice under its submission id, as a client does that lost the first answer."""
    spec = {"script": script(""), **TWO_BOARDS}
    patience = {"connect_timeout": 250, "request_timeout": 250}  # tornado's client sends ten at a time
    bodies = [{**spec, "submission_id": str(number % 1000)} for number in range(2000)]
    answers = await asyncio.gather(*(ask("jobs", "POST", body, **patience) for body in bodies))
    assert {answer.code for answer in answers} <= {200, 201}
    assert sum(answer.code == 201 for answer in answers) == 1000
    ids = {json.loads(answer.body)["id"] for answer in answers}
    listed = {job["id"] for job in json.loads((await ask("jobs")).body)}
    assert (len(ids), listed) == (1000, ids)
    await asyncio.to_thread(shutil.rmtree, state_dir)  # their supervisor ends when it finds nothing left


async def test_a_command_line_beside_the_server_sees_and_stops_its_job(
    submitted: Callable[..., Awaitable[dict[str, Any]]],
    until: Callable[..., Awaitable[dict[str, Any]]],
    state_dir: Path,
) -> None:
    job = await submitted("import time\nprint('up', flush=True)\ntime.sleep(600)")
    await until(job["id"], "running")
    listed = await command_line(state_dir, "jobs", "--json")
    assert [(one["id"], one["phase"]) for one in json.loads(listed)] == [(job["id"], "running")]
    await command_line(state_dir, "stop", job["id"][:9])
    assert (await until(job["id"], "stopped"))["explanation"]["code"] == "stopped-by-user"


async def command_line(state: Path, *words: str) -> str:
    """`aiarts` without a server, on the same folder."""
    code = "import sys; from jupyter_aiarts.cli import main; sys.exit(main(sys.argv[1:]))"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, *words, env={"AIARTS_STATE_DIR": str(state)}, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode()
