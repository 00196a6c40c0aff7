"""Jobs over REST: statuses, shapes, moves, and what is refused."""

from __future__ import annotations

import base64
import json
import re
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.server.asking import MAX_BODY, MAX_CALLER
from jupyter_aiarts.server.base import translate

Ask = Callable[..., Awaitable[HTTPResponse]]
Submit = Callable[..., Awaitable[dict[str, Any]]]
Body = Callable[[HTTPResponse], Any]
FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"

JOB_KEYS = {
    "id",
    "name",
    "cluster",
    "phase",
    "run",
    "created",
    "started",
    "ended",
    "owner",
    "spec",
    "explanation",
    "ranks",
}
LISTED_SPEC = {"kind", "device", "devices", "nodes", "image", "queue", "priority", "script"}


async def test_post_answers_201_with_the_job_and_where_it_is(
    ask: Ask, script: Callable[[str], str], body: Body, jp_base_url: str
) -> None:
    answer = await ask("jobs", "POST", {"script": script("print(1)")})
    assert answer.code == 201
    job = body(answer)
    assert job.keys() >= JOB_KEYS
    location = urlsplit(answer.headers["Location"]).path
    assert location.endswith(f"/aiarts/jobs/{job['id']}")
    found = await ask(f"jobs/{job['id']}")
    assert found.code == 200
    assert body(found)["name"] == job["name"] == "train"
    assert body(found)["spec"]["workdir"]


async def test_a_list_holds_the_short_spec(ask: Ask, submitted: Submit, body: Body) -> None:
    job = await submitted()
    (listed,) = body(await ask("jobs"))
    assert listed["id"] == job["id"]
    assert set(listed["spec"]) == LISTED_SPEC


async def test_a_list_is_narrowed_by_its_query(ask: Ask, submitted: Submit, body: Body) -> None:
    ids = [(await submitted(FOREVER, name=name))["id"] for name in ("alpha", "beta", "gamma")]
    everything = [job["id"] for job in body(await ask("jobs"))]
    assert sorted(everything) == sorted(ids)
    assert [job["id"] for job in body(await ask("jobs", params={"limit": 2}))] == everything[:2]
    rest = body(await ask("jobs", params={"after": everything[0]}))
    assert [job["id"] for job in rest] == everything[1:]
    assert [job["name"] for job in body(await ask("jobs", params={"q": "bet"}))] == ["beta"]
    assert body(await ask("jobs", params={"owner": "nobody-here"})) == []
    assert body(await ask("jobs", params={"phase": "lost"})) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", "0"), ("limit", "-1"), ("limit", "x"), ("limit", "9" * 40), ("limit", "٣")],
)
async def test_a_bad_query_is_400_and_named(ask: Ask, body: Body, name: str, value: str) -> None:
    answer = await ask("jobs", params={name: value})
    assert answer.code == 400
    assert body(answer)["code"] == "bad-request"
    assert body(answer)["message"].startswith(f"{name}=")


async def test_a_phase_that_does_not_exist_is_400_and_the_phases_are_named(ask: Ask, body: Body) -> None:
    answer = await ask("jobs", params={"phase": "done"})
    assert answer.code == 400
    assert "succeeded" in body(answer)["hint"]


async def test_a_dry_run_says_what_would_be_and_submits_nothing(
    ask: Ask, script: Callable[[str], str], body: Body
) -> None:
    answer = await ask("jobs", "POST", {"script": script("print(1)")}, params={"dry_run": "1"})
    assert answer.code == 200
    assert body(answer).keys() >= {"spec", "explanation", "fits"}
    assert body(await ask("jobs")) == []


async def test_a_known_submission_is_200_and_another_spec_409(
    ask: Ask, script: Callable[[str], str], body: Body
) -> None:
    spec = {"script": script("print(1)"), "submission_id": "mine-1"}
    first, again = await ask("jobs", "POST", spec), await ask("jobs", "POST", spec)
    assert (first.code, again.code) == (201, 200)
    assert body(first)["id"] == body(again)["id"]
    other = await ask("jobs", "POST", {**spec, "args": ["else"]})
    assert other.code == 409
    assert body(other)["code"] == "submission-conflict"
    assert len(body(await ask("jobs"))) == 1


async def test_every_problem_of_a_spec_is_told_with_its_key(ask: Ask, body: Body) -> None:
    answer = await ask("jobs", "POST", {"scrpt": "x.py", "nodes": 0, "priority": "high"})
    assert answer.code == 400
    error = body(answer)
    assert error["code"] == "invalid-spec"
    assert {problem["key"] for problem in error["problems"]} >= {"scrpt", "nodes", "priority"}
    assert all(problem["message"] for problem in error["problems"])


async def test_patch_changes_the_spec_of_the_next_run(ask: Ask, submitted: Submit, until: Submit, body: Body) -> None:
    job = await submitted()
    await until(job["id"], "succeeded")
    answer = await ask(f"jobs/{job['id']}", "PATCH", {"name": "renamed", "args": ["--x"]})
    assert answer.code == 200
    assert body(answer)["spec"]["args"] == ["--x"]
    assert body(await ask(f"jobs/{job['id']}"))["name"] == "renamed"
    wrong = await ask(f"jobs/{job['id']}", "PATCH", {"nodes": "many"})
    assert (wrong.code, body(wrong)["code"]) == (400, "invalid-spec")


async def test_moves_answer_with_the_job_and_a_wrong_one_is_409(
    ask: Ask, submitted: Submit, until: Submit, body: Body
) -> None:
    job = await submitted(FOREVER)
    await until(job["id"], "running")
    early = await ask(f"jobs/{job['id']}/rerun", "POST")
    assert (early.code, body(early)["code"]) == (409, "wrong-phase")
    assert body(early)["hint"]
    stop = await ask(f"jobs/{job['id']}/stop", "POST", {})
    assert stop.code == 200
    assert body(stop)["id"] == job["id"]
    await until(job["id"], "stopped")
    rerun = await ask(f"jobs/{job['id']}/rerun", "POST")
    assert (rerun.code, body(rerun)["run"]) == (200, 2)
    await until(job["id"], "running")
    assert (await ask(f"jobs/{job['id']}/pause", "POST")).code == 200
    await until(job["id"], "paused")
    assert (await ask(f"jobs/{job['id']}/resume", "POST")).code == 200
    await until(job["id"], "running")


async def test_delete_is_204_without_a_body_and_the_job_is_gone(ask: Ask, submitted: Submit, until: Submit) -> None:
    job = await submitted()
    await until(job["id"], "succeeded")
    answer = await ask(f"jobs/{job['id']}", "DELETE")
    assert (answer.code, answer.body) == (204, b"")
    assert (await ask(f"jobs/{job['id']}")).code == 404
    assert (await ask(f"jobs/{job['id']}", "DELETE")).code == 404


@pytest.mark.parametrize(
    "job_id",
    [
        "zzzzzzzzzz",
        "nope",
        "A123456789",
        "a12345678",
        "a1234567890",
        "..%2f..%2fetc",
        "%2e%2e",
        "a123456789%0a",
        "*",
        "a12345678%00",
    ],
)
@pytest.mark.parametrize(("method", "part"), [("GET", ""), ("GET", "/logs"), ("DELETE", ""), ("POST", "/stop")])
async def test_what_is_no_job_is_404(
    http_server_client: Any,
    jp_base_url: str,
    jp_auth_header: dict[str, str],
    job_id: str,
    method: str,
    part: str,
) -> None:
    answer = await http_server_client.fetch(
        f"{jp_base_url}aiarts/jobs/{job_id}{part}",
        method=method,
        headers=dict(jp_auth_header),
        raise_error=False,
        allow_nonstandard_methods=True,
    )
    assert answer.code == 404
    assert json.loads(answer.body)["code"] == "job-not-found"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "object"),
        ('"x"', "object"),
        ("NaN", "JSON"),
        ('{"name": "\\ud800"}', "JSON"),
        ("[" * 100_000, "JSON"),
    ],
)
async def test_a_body_that_is_no_object_is_400(ask: Ask, body: Body, text: str, word: str) -> None:
    answer = await ask("jobs", "POST", text, headers={"Content-Type": "application/json"})
    assert answer.code == 400
    assert word in body(answer)["message"]


async def test_a_large_body_is_413(ask: Ask, body: Body) -> None:
    answer = await ask("jobs", "POST", {"name": "x" * MAX_BODY})
    assert (answer.code, body(answer)["code"]) == (413, "too-large")


async def test_another_media_type_is_415(ask: Ask, body: Body) -> None:
    answer = await ask("jobs", "POST", "name: x", headers={"Content-Type": "application/yaml"})
    assert (answer.code, body(answer)["code"]) == (415, "unsupported-media-type")


async def test_a_dlc_params_file_comes_as_plain_text(ask: Ask, body: Body) -> None:
    params = "name=from-dlc\nworker_count=1\ncommand=echo hello\nworker_image=registry.example/image:1\n"
    answer = await ask(
        "jobs", "POST", params, headers={"Content-Type": "text/plain; charset=utf-8"}, params={"dry_run": "1"}
    )
    assert answer.code == 200, answer.body
    assert body(answer)["spec"]["name"] == "from-dlc"


async def test_an_unknown_verb_is_405_with_those_there_are(ask: Ask, body: Body) -> None:
    answer = await ask("jobs", "DELETE")
    assert (answer.code, body(answer)["code"]) == (405, "method-not-allowed")
    assert answer.headers["Allow"] == "GET, POST"


@pytest.mark.parametrize("path", ["nothing", "jobs/a123456789/nothing", "clusters", "jobs/a/b/c"])
async def test_an_unknown_route_is_a_404_that_lists_the_routes(ask: Ask, body: Body, path: str) -> None:
    answer = await ask(path)
    assert (answer.code, body(answer)["code"]) == (404, "no-such-route")
    assert "jobs/{job_id}/logs" in body(answer)["hint"]


async def test_answers_are_never_cached_or_shown_as_pages(ask: Ask) -> None:
    answer = await ask("jobs")
    assert answer.headers["Cache-Control"] == "no-store"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Etag" not in answer.headers


async def test_secrets_appear_in_no_answer(
    ask: Ask, script: Callable[[str], str], submitted: Submit, until: Submit, body: Body
) -> None:
    secret = "hunter2-very-secret"
    spec = {"secret_env": {"API_TOKEN": secret}}
    job = await submitted(**spec)
    await until(job["id"], "succeeded")
    paths = ["jobs", *(f"jobs/{job['id']}{part}" for part in ("", "/env", "/explain", "/events", "/logs"))]
    answers = [await ask(path) for path in paths]
    answers.append(await ask("jobs", "POST", {"script": script("0"), **spec}, params={"dry_run": "1"}))
    answers.append(await ask("jobs", "POST", {"script": script("0"), "nodes": "x", **spec}))
    answers.append(await ask(f"jobs/{job['id']}", "PATCH", {"secret_env": {"API_TOKEN": secret + "2"}}))
    assert [answer.code for answer in answers] == [200] * 7 + [400, 200]
    assert not any(secret.encode() in answer.body for answer in answers)
    assert body(answers[2])["API_TOKEN"] is None
    assert body(answers[1])["spec"]["secret_env"] == {"API_TOKEN": None}


async def test_a_damaged_job_is_told_without_a_traceback(
    ask: Ask, body: Body, state_dir: Path, submitted: Submit, until: Submit
) -> None:
    job = await submitted()
    await until(job["id"], "succeeded")
    (state_dir / "jobs" / job["id"] / "job.json").write_bytes(b"\xff not json")
    for path in (f"jobs/{job['id']}", f"jobs/{job['id']}/env", "jobs"):
        answer = await ask(path)
        assert answer.code < 500
        assert b"Traceback" not in answer.body
        assert b"not json" not in answer.body


def test_a_mistake_of_ours_says_nothing_of_itself() -> None:
    status, told = translate(RuntimeError("the password is hunter2"), 500)
    assert (status, told["code"]) == (500, "internal")
    assert "hunter2" not in json.dumps(told)


async def test_env_explanation_and_events_have_their_shapes(
    ask: Ask, submitted: Submit, until: Submit, body: Body
) -> None:
    job = await submitted(env={"COLOUR": "blue"})
    await until(job["id"], "succeeded")
    env = body(await ask(f"jobs/{job['id']}/env", params={"rank": 0, "run": 1}))
    assert env["COLOUR"] == "blue"
    assert env["DLWS_JOB_ID"] == job["id"]
    explanation = body(await ask(f"jobs/{job['id']}/explain"))
    assert explanation.keys() >= {"code", "title", "why", "evidence", "actions"}
    events = body(await ask(f"jobs/{job['id']}/events"))
    assert all(event.keys() >= {"t", "type", "reason", "message", "object"} for event in events)
    told = [event["message"] for event in body(await ask(f"jobs/{job['id']}/events", params={"lang": "zh"}))]
    assert len(told) == len(events)
    assert not [text for text in told if not re.search("[\u4e00-\u9fff]", text)], "what we did is told in Chinese"
    missing = await ask(f"jobs/{job['id']}/env", params={"run": 9})
    assert (missing.code, body(missing)["code"]) == (404, "run-not-found")


async def test_sentences_come_in_the_language_asked_for(ask: Ask, submitted: Submit, until: Submit, body: Body) -> None:
    job = await submitted("raise SystemExit(3)")
    await until(job["id"], "failed")
    path = f"jobs/{job['id']}/explain"
    english = body(await ask(path))["why"]
    chinese = body(await ask(path, params={"lang": "zh"}))["why"]
    by_header = body(await ask(path, headers={"Accept-Language": "zh-CN,zh;q=0.9"}))["why"]
    query_wins = body(await ask(path, params={"lang": "en"}, headers={"Accept-Language": "zh-CN"}))["why"]
    assert english == query_wins != chinese == by_header


BAD_CALLERS: tuple[Any, ...] = (
    [],
    {"python": 1},
    {"environ": []},
    {"environ": {"PATH": 1}},
    {"environ": {"PATH": "a\0b"}},
)


def caller_header(said: Any) -> dict[str, str]:
    return {"X-Aiarts-Caller": base64.b64encode(json.dumps(said).encode()).decode()}


async def test_the_callers_python_and_few_variables_reach_the_job(
    ask: Ask, script: Callable[[str], str], until: Submit, body: Body, tmp_path: Path
) -> None:
    python = tmp_path / "own env" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nMARK=mine exec {sys.executable} "$@"\n')
    python.chmod(stat.S_IRWXU)
    text = "import os\nprint(os.environ['MARK'], os.environ['LC_TEST'], os.environ.get('NOT_MINE'))\n"
    said: dict[str, Any] = {
        "python": str(python),
        "environ": {"PATH": "/usr/bin:/bin", "LC_TEST": "yes", "NOT_MINE": "no"},
    }
    answer = await ask("jobs", "POST", {"script": script(text)}, headers=caller_header(said))
    assert answer.code == 201
    await until(body(answer)["id"], "succeeded")
    lines = body(await ask(f"jobs/{body(answer)['id']}/logs"))
    assert [line["text"] for line in lines] == ["mine yes None"]


@pytest.mark.parametrize(
    "header",
    [
        "not base64!",
        "bm90IGpzb24=",
        "A" * (MAX_CALLER + 4),
        *(caller_header(said)["X-Aiarts-Caller"] for said in BAD_CALLERS),
    ],
)
async def test_a_caller_that_cannot_be_read_is_400(ask: Ask, body: Body, header: str) -> None:
    answer = await ask("jobs", "POST", {}, headers={"X-Aiarts-Caller": header})
    assert (answer.code, body(answer)["code"]) == (400, "bad-request")
    assert "X-Aiarts-Caller" in body(answer)["message"]


async def test_a_job_of_this_machine_has_nothing_for_kubectl(
    ask: Ask, script: Callable[[str], str], body: Body
) -> None:
    answer = await ask("jobs", "POST", {"script": script("print(1)")}, params={"dry_run": "1", "manifest": "1"})
    assert (answer.code, body(answer)["code"]) == (400, "bad-request")
    assert "kubectl" in body(answer)["message"] and "cluster" in body(answer)["hint"]
    plain = await ask("jobs", "POST", {"script": script("print(1)")}, params={"dry_run": "1"})
    assert plain.code == 200 and "manifest" not in body(plain)


@pytest.mark.parametrize("asking", [{"params": {"lang": "zh"}}, {"headers": {"Accept-Language": "zh-CN,zh;q=0.9"}}])
async def test_problems_come_in_the_language_of_the_request(ask: Ask, body: Body, asking: dict[str, Any]) -> None:
    answer = await ask("jobs", "POST", {"script": "a.py", "nodes": 0}, **asking)
    assert answer.code == 400
    [problem] = body(answer)["problems"]
    assert problem == {"key": "nodes", "message": body(answer)["message"]}
    assert "必须是" in problem["message"] and "修改" in body(answer)["hint"]
