"""The path map over REST: which name a file has in pods, asked of a real server and its configuration."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

Ask = Callable[..., Awaitable[HTTPResponse]]
Body = Callable[[HTTPResponse], Any]
Submit = Callable[..., Awaitable[dict[str, Any]]]
FOREVER = "import time; time.sleep(600)"


@pytest.fixture
def nas(tmp_path: Path) -> Path:
    """What this server sees of a share that pods have at /work."""
    (tmp_path / "nas").mkdir()
    (tmp_path / "nas" / "train.py").write_text("pass")
    return tmp_path / "nas"


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], nas: Path, tmp_path: Path) -> dict[str, Any]:
    """A cluster that never answers: what the admin said about its storage is known all the same."""
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": "http://127.0.0.1:9"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x", "namespace": "team-a"}}],
        "users": [{"name": "x", "user": {"token": "x"}}],
    }  # fmt: skip
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    jp_server_config["LocalEngine"] = {"cpus": 2}
    jp_server_config["AiartsApp"]["clusters"] = {
        "lab": {
            "kubeconfig": str(tmp_path / "kubeconfig"),
            "default_mounts": [{"source": "nas:/export", "target": "/work", "path": str(nas), "read_only": True}],
            "places": [{"name": "public", "target": "/work/public"}],
        }
    }
    return jp_server_config


async def test_the_map_has_every_place_by_its_names(ask: Ask, body: Body, nas: Path) -> None:
    found = body(await ask("places", params={"cluster": "lab", "lang": "en"}))
    assert found["report"] is None
    names = {one["name"]: (one["pod"], one["here"], one["source"]) for one in found["places"]}
    assert names["default_mounts[0]"] == ("/work", str(nas), "nas:/export")
    assert names["public"] == ("/work/public", f"{nas}/public", "nas:/export/public")
    assert names["the run's own folder"] == ("/aiarts/run", None, "")


async def test_a_path_is_found_in_pods_and_in_chinese(ask: Ask, body: Body, nas: Path) -> None:
    path = str(nas / "train.py")
    report = body(await ask("places", params={"path": path, "cluster": "lab", "lang": "zh"}))["report"]
    assert (report["visible"], report["write"]) == (True, "/work/train.py")
    assert any("lab 的 Pod 中为 /work/train.py" in one["message"] for one in report["views"])
    everywhere = body(await ask("places", params={"path": path, "lang": "en"}))["report"]
    assert everywhere["visible"] is True and everywhere["reasons"] == []


async def test_spaces_around_a_path_are_not_lost_on_the_way(ask: Ask, body: Body, nas: Path) -> None:
    report = body(await ask("places", params={"path": f"{nas}/train.py ", "lang": "en"}))["report"]
    assert (report["visible"], report["reasons"][0]["code"]) == (False, "space")
    assert report["write"] == f"{nas}/train.py"


async def test_a_relative_path_is_meant_from_the_folder_that_is_named(ask: Ask, body: Body, nas: Path) -> None:
    params = {"path": "train.py", "folder": str(nas), "cluster": "lab", "lang": "en"}
    assert body(await ask("places", params=params))["report"]["write"] == "/work/train.py"


async def test_wrong_questions_are_refused(ask: Ask) -> None:
    assert (await ask("places", params={"cluster": "nowhere"})).code == 404
    assert (await ask("places", params={"path": "x" * 5000})).code == 400
    assert (await ask("places", params={"job": "x"})).code in (400, 404)
    assert (await ask("places", params={"job": "abcdefghij"})).code in (404, 503)


async def test_a_jobs_processes_see_a_path_from_its_own_folder(ask: Ask, body: Body, submitted: Submit) -> None:
    job = await submitted(FOREVER, name="first")
    params = {"path": job["spec"]["script"], "job": job["id"], "lang": "en"}
    report = body(await ask("places", params=params))["report"]
    assert report["visible"] is True and report["views"][-1]["message"].startswith("pods of local see it")


async def test_a_job_that_waits_is_told_when_it_is_expected_to_start(
    ask: Ask, body: Body, submitted: Submit, until: Submit
) -> None:
    """Held up by one with a time limit: a band. Held up by one without: none, and no made-up number."""
    first = await submitted(FOREVER, name="first", cpu=2, max_hours=1)
    await until(first["id"], "running")
    second = await submitted(FOREVER, name="second", cpu=2)
    told = body(await ask(f"jobs/{second['id']}/explain", params={"lang": "en"}))
    assert first["created"] < told["expected"]["earliest"] < told["expected"]["latest"]
    assert told["expected"]["basis"].startswith("0 jobs ahead of it and 1 that run have declared time limits")
    assert any(line.startswith("Expected to start between") for line in told["evidence"])
    chinese = body(await ask(f"jobs/{second['id']}/explain", params={"lang": "zh"}))
    assert any(line.startswith("预计在") for line in chinese["evidence"])
    third = await submitted(FOREVER, name="third", cpu=2)
    await asyncio.sleep(0)
    told = body(await ask(f"jobs/{third['id']}/explain", params={"lang": "en"}))
    assert "expected" not in told
