"""`openapi.json` describes what a real server answers, and no request makes it fail."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.server.openapi import document
from jupyter_aiarts.server.routes import ROUTES

Ask = Callable[..., Awaitable[HTTPResponse]]
CHECKS = [not_a_server_error, response_schema_conformance, content_type_conformance, status_code_conformance]
OPERATIONS = [(f"/{route.path}", operation.verb) for route in ROUTES for operation in route.operations]
TOKEN = "for-this-test-alone"
STARTERS = ("script", "command")  # a random one would really be run
SIZES = ("nodes", "devices")  # a job that is edited may be run again: not with ten thousand launchers
MOST = 2


class Server(NamedTuple):
    """A Jupyter server of its own, and a finished job in it."""

    url: str
    job_id: str


def test_every_route_and_verb_is_described() -> None:
    paths = document("/aiarts")["paths"]
    assert [(path, verb) for path, item in paths.items() for verb in item if verb != "parameters"] == OPERATIONS
    assert all(item[verb]["summary"] for path, item in paths.items() for verb in item if verb != "parameters")


def test_every_reference_leads_somewhere() -> None:
    described = document("/aiarts")
    text = json.dumps(described)
    names = {part.partition('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert names <= described["components"]["schemas"].keys()


async def test_it_is_served(ask: Ask) -> None:
    answer = await ask("openapi.json")
    assert answer.code == 200
    assert json.loads(answer.body)["servers"] == [{"url": "/a%40b/aiarts"}]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real server process on the loopback."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "train.py").write_text("print('hello')\n")
    with (folder / "server.log").open("w") as log, started(folder, log) as process:
        try:
            url = f"{address_of(folder, process)}aiarts"
            job = call(url, "jobs", {"script": str(folder / "train.py")})
            follow(url, job["id"])
            yield Server(url, job["id"])
        finally:
            process.terminate()
            process.wait(timeout=30)


def started(folder: Path, log: IO[str]) -> subprocess.Popen[bytes]:
    """The process; extensions that others enabled in this environment stay off."""
    others = (
        "jupyterlab",
        "jupyter_lsp",
        "notebook_shim",
        "jupyter_resource_usage",
        "jupyter_server_terminals",
    )
    extensions = {"jupyter_aiarts": True, **dict.fromkeys(others, False)}
    settings = {
        "ServerApp.root_dir": folder,
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": 0,
        "ServerApp.jpserver_extensions": extensions,
        "IdentityProvider.token": TOKEN,
    }
    options = [f"--{name}={value}" for name, value in settings.items()]
    homes = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    environ = {**os.environ, **homes, "AIARTS_STATE_DIR": str(folder / "state")}
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", *options]
    return subprocess.Popen(command, env=environ, stderr=log)


def address_of(folder: Path, process: subprocess.Popen[bytes]) -> str:
    """Where the server listens, as it writes itself when it does."""
    told = folder / f"RUNTIME/jpserver-{process.pid}.json"
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return str(json.loads(told.read_text())["url"])
        time.sleep(0.05)
    raise AssertionError("the server did not start")


def call(url: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return dict(json.load(answer))


def follow(url: str, job_id: str) -> None:
    """Wait for the job's end, which is the end of its log."""
    request = urllib.request.Request(f"{url}/jobs/{job_id}/logs?follow=1", headers={"Authorization": f"token {TOKEN}"})
    with urllib.request.urlopen(request) as answer:
        answer.read()


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "verb"), OPERATIONS)
def test_random_requests_are_answered_as_described(server: Server, path: str, verb: str, mode: GenerationMode) -> None:
    operation = schemathesis.openapi.from_dict(document("/aiarts"))[path][verb.upper()]
    # The finished job stays: deleting it is tried on ids that do not exist.
    known = {"job_id": server.job_id} if "{job_id}" in path and verb != "delete" else None

    # Without shrinking: a found fault is told at once, not after minutes.
    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask_and_check(case: schemathesis.Case[Any]) -> None:
        harmless(case)
        if known and mode is GenerationMode.POSITIVE:
            case.path_parameters = {**(case.path_parameters or {}), **known}
        answer = case.call(base_url=server.url, headers={"Authorization": f"token {TOKEN}"}, timeout=20)
        case.validate_response(answer, checks=CHECKS)

    ask_and_check()


def harmless(case: schemathesis.Case[Any]) -> None:
    """Nothing that was drawn at random is ever run: it is tried out, and an edit keeps its start file."""
    if case.operation.path == "/jobs" and case.method == "POST":
        case.query = {**(case.query or {}), "dry_run": "1"}
    elif isinstance(case.body, dict):
        case.body = {key: value for key, value in case.body.items() if key not in STARTERS and not is_large(key, value)}


def is_large(key: str, value: object) -> bool:
    return key in SIZES and isinstance(value, (int, float)) and value > MOST
