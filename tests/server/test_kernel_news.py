"""New environments and kernels over the stream, those that the server registers by itself, and jobs that name one."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

from jupyter_aiarts import kernelwatch
from jupyter_aiarts.server.app import AiartsApp
from tests.kernelspecs.conftest import make_conda

Ask = Callable[..., Awaitable[HTTPResponse]]
Listen = Callable[[], Awaitable[Any]]


@pytest.fixture
def envs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the environments of this test's person are."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(kernelwatch, "PERIOD", 0.05)
    folder = tmp_path / "home/miniconda3/envs"
    folder.mkdir(parents=True)
    (folder / ".conda_envs_dir_test").touch()
    return folder


async def told(stream: Any, wanted: str = "kernels") -> list[str]:
    seen: list[str] = []
    while wanted not in seen:
        seen.append(json.loads(await asyncio.wait_for(stream.read_message(), 20))["type"])
    return seen


async def test_a_new_environment_is_told_to_whoever_looks(envs: Path, ask: Ask, listen: Listen) -> None:
    stream = await listen()
    await ask("kernels")
    env = make_conda(envs / "训练")
    await told(stream)
    assert str(env) in [one["path"] for one in json.loads((await ask("kernels")).body)]


async def test_registering_repairing_and_unregistering_are_told_at_once(envs: Path, ask: Ask, listen: Listen) -> None:
    make_conda(envs / "train")
    stream = await listen()
    for act in ("register", "repair", "unregister"):
        assert (await ask(f"kernels/{act}", "POST", {"which": "train", "scope": "user"})).code == 200
        await told(stream)


async def test_how_large_one_is(envs: Path, ask: Ask) -> None:
    env = make_conda(envs / "train")
    (env / "big").write_bytes(b"x" * 1_000_000)
    answer = json.loads((await ask("kernels/size", "POST", {"which": "train"})).body)
    assert answer["complete"] and answer["path"] == str(env) and answer["bytes"] >= 1_000_000
    assert (await ask("kernels/size", "POST", {"which": "nobody"})).code == 404


async def test_a_job_names_its_environment_by_the_kernels_name(
    envs: Path, ask: Ask, submitted: Callable[..., Awaitable[Any]], until: Callable[..., Awaitable[Any]]
) -> None:
    env = make_conda(envs / "train")
    (env / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    spec = json.loads((await ask("kernels/register", "POST", {"which": "train", "scope": "user"})).body)["spec"]
    for name in (spec, "train"):
        job = await submitted("import sys; print(sys.prefix)", environment=name)
        assert job["spec"].get("environment", str(env)) == str(env)
        await until(job["id"], "succeeded")
        lines = json.loads((await ask(f"jobs/{job['id']}/logs")).body)
        assert [line["text"] for line in lines] == [str(env)]
    refused = await ask("jobs", "POST", {"script": "train.py", "environment": "nobody"})
    assert refused.code == 400
    assert [problem["key"] for problem in json.loads(refused.body)["problems"]] == ["environment"]
    for name in ("nobody", "./nobody", str(envs)):
        body = {"script": "train.py", "environment": name}
        [problem] = json.loads((await ask("jobs", "POST", body, params={"lang": "zh"})).body)["problems"]
        assert "环境" in problem["message"] and "environment" not in problem["message"]


# -- by itself -----------------------------------------------------------------------------------------------------


class TestByItself:
    """With `Kernels.auto_register`."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any], envs: Path, tmp_path: Path) -> dict[str, Any]:
        make_conda(envs / "before")
        jp_server_config["Kernels"] = {"auto_register": True, "directory": str(tmp_path / "shared")}
        return jp_server_config

    async def test_environments_become_kernels_and_go_as_such_with_log_and_audit(
        self, envs: Path, app: AiartsApp, ask: Ask, listen: Listen, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, app.log.name)
        app.log.addHandler(caplog.handler)
        assert app.serverapp is not None
        await app._start_jupyter_server_extension(app.serverapp)  # as jupyter_server does once it runs
        stream = await listen()
        env = make_conda(envs / "later")
        while not [name for name in self.specs(tmp_path) if "later" in name]:
            await told(stream)
        assert [name.split("-")[1] for name in self.specs(tmp_path)] == ["before", "later"]
        shutil.rmtree(env)
        while [name for name in self.specs(tmp_path) if "later" in name]:
            await told(stream)
        assert "for everybody" in caplog.text and f"because {env} is gone" in caplog.text
        await app.stop_extension()
        lines = [json.loads(line) for line in (app.state / "audit.log").read_text().splitlines()]
        mine = [(line["action"], line["status"]) for line in lines if line["subject"] == str(env)]
        assert mine == [("register-kernel", 200), ("unregister-kernel", 200)]
        assert {line["user"] for line in lines} == {"auto_register"}

    def specs(self, tmp_path: Path) -> list[str]:
        home = str(tmp_path / "home")
        found = []
        for name in sorted(os.listdir(tmp_path / "shared")) if (tmp_path / "shared").exists() else ():
            text = tmp_path / "shared" / name / "kernel.json"
            if not name.startswith(".") and text.exists() and home in text.read_text():
                found.append(name)
        return found


async def test_without_the_setting_nothing_runs_and_nothing_is_registered(envs: Path, app: AiartsApp) -> None:
    make_conda(envs / "train")
    assert app._kernel_watch is None
