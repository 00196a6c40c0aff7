"""`jobs/{id}/ranktable`: the table the ranks were started with, and what the doctor says of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

Ask = Callable[..., Awaitable[HTTPResponse]]
Submit = Callable[..., Awaitable[dict[str, Any]]]
Body = Callable[[HTTPResponse], Any]

NPU = "huawei_npu_arm64"


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    """This machine as if it had a board."""
    return {**jp_server_config, "LocalEngine": {"devices": {NPU: 8}, "cpus": 4}}


@pytest.fixture
async def trained(submitted: Submit, until: Submit) -> dict[str, Any]:
    """A job that printed its table and ended."""
    text = "import os\nprint(open(os.environ['RANK_TABLE_FILE']).read())\n"
    job = await submitted(text, device=NPU, devices=2)
    return await until(job["id"], "succeeded", "failed")


async def test_the_table_of_a_run_is_told_as_it_is_as_rows_and_with_a_verdict(
    ask: Ask, trained: dict[str, Any], body: Body
) -> None:
    told = body(await ask(f"jobs/{trained['id']}/ranktable", params={"run": 1}))
    lines = body(await ask(f"jobs/{trained['id']}/logs"))
    assert json.loads("".join(line["text"] for line in lines)) == json.loads(told["text"])
    assert [(card["rank"], card["device"]) for card in told["cards"]] == [(0, 0), (1, 1)]
    assert told["ok"] and all(check["ok"] for check in told["checks"]) and told["findings"] == []
    assert "1 server, 2 cards" in told["checks"][0]["message"]
    chinese = body(await ask(f"jobs/{trained['id']}/ranktable", params={"lang": "zh"}))
    assert chinese["checks"][0]["message"] != told["checks"][0]["message"]


async def test_what_somebody_wrote_into_the_file_is_told_with_what_to_do(
    ask: Ask, trained: dict[str, Any], body: Body, state_dir: Path
) -> None:
    [file] = (state_dir / "jobs" / trained["id"]).rglob("hccl.json")
    table = json.loads(file.read_text())
    table["server_list"][0]["device"][1]["rank_id"] = "0"
    file.write_text(json.dumps(table))
    told = body(await ask(f"jobs/{trained['id']}/ranktable"))
    assert not told["ok"] and told["findings"][0]["cure"]
    assert [check["ok"] for check in told["checks"]] == [False] * len(told["findings"])
    for junk in (b"", b"\xff<b>not a table</b>", b"[" * 100_000, b"null"):
        file.write_bytes(junk)
        told = body(await ask(f"jobs/{trained['id']}/ranktable"))
        assert (told["ok"], told["cards"]) == (False, [])


async def test_a_job_without_a_table_says_so(ask: Ask, submitted: Submit, until: Submit, body: Body) -> None:
    job = await submitted()
    await until(job["id"], "succeeded")
    answer = await ask(f"jobs/{job['id']}/ranktable")
    assert (answer.code, body(answer)["code"]) == (404, "run-not-found")
    assert "no rank table" in body(answer)["message"] and body(answer)["hint"]
    assert (await ask(f"jobs/{job['id']}/ranktable", params={"run": 9})).code == 404
