"""Environments as kernels over REST and from the command line: registered for all, and known to Jupyter at once."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import AsyncHTTPClient, HTTPResponse

from jupyter_aiarts.cli import main
from jupyter_aiarts.errors import Unavailable
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.transport import HttpTransport
from jupyter_aiarts.server import kernels
from jupyter_aiarts.server.app import AiartsApp
from tests.kernelspecs.conftest import make_conda

Ask = Callable[..., Awaitable[HTTPResponse]]


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment in a home of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return make_conda(tmp_path / "home/miniconda3/envs/train")


async def test_register_list_and_unregister(ask: Ask, train: Path) -> None:
    answer = await ask("kernels/register", "POST", {"which": str(train), "scope": "user"})
    one = json.loads(answer.body)
    assert (answer.code, one["registered"]) == (200, "user")
    listed = {each["path"]: each for each in json.loads((await ask("kernels")).body)}
    assert listed[str(train)]["spec"] == one["spec"]
    assert (await ask("kernels/unregister", "POST", {"which": one["spec"]})).code == 200
    assert (await ask("kernels/unregister", "POST", {"which": one["spec"]})).code == 404


@pytest.mark.parametrize("body", [{}, {"which": 7}, {"which": "x", "scope": "all"}, {"which": "x", "more": 1}, []])
async def test_a_wrong_body_is_a_400(ask: Ask, body: object) -> None:
    assert (await ask("kernels/register", "POST", body)).code == 400


@pytest.mark.parametrize(("how", "said"), [({"params": {"lang": "zh"}}, "没有叫"), ({}, "No environment")])
async def test_a_refusal_speaks_the_readers_language(ask: Ask, train: Path, how: dict[str, object], said: str) -> None:
    answer = await ask("kernels/register", "POST", {"which": "nobody"}, **how)
    assert (answer.code, said in json.loads(answer.body)["message"]) == (404, True)


@pytest.mark.parametrize("act", ["register", "doctor", "repair"])
@pytest.mark.parametrize(("how", "said"), [({"params": {"lang": "zh"}}, "完整路径"), ({}, "whole path")])
async def test_a_relative_folder_is_refused_since_nobody_knows_whose_it_is(
    ask: Ask, act: str, how: dict[str, object], said: str
) -> None:
    answer = await ask(f"kernels/{act}", "POST", {"which": "./venv"}, **how)
    assert (answer.code, said in json.loads(answer.body)["hint"]) == (400, True)


async def test_a_repair_is_told_line_by_line(ask: Ask, train: Path) -> None:
    (train / "conda-meta/ipykernel-6.29.0-py_0.json").rename(train / "conda-meta/pip-24.0-py_0.json")
    python = train / "bin/python"
    python.unlink()
    python.write_text("#!/bin/sh\necho one\necho two\nexit 1\n")
    python.chmod(0o755)
    answer = await ask("kernels/repair", "POST", {"which": str(train)})
    lines = [json.loads(line) for line in answer.body.decode().splitlines()]
    assert [line.get("line") for line in lines] == ["one", "two", None]
    assert "pip install" in lines[-1]["error"]["hint"]
    assert (await ask("kernels/repair", "POST", {"which": "nobody"})).code == 404


async def test_an_installer_that_is_silent_ends_with_whoever_waited_for_it(
    train: Path,
    tmp_path: Path,
    jp_serverapp: ServerApp,
    jp_http_port: int,
    jp_base_url: str,
    http_server_client: AsyncHTTPClient,
) -> None:
    """Found in the browser: nothing was written, so nothing noticed that nobody reads, and pip went on for good."""
    (train / "conda-meta/ipykernel-6.29.0-py_0.json").rename(train / "conda-meta/pip-24.0-py_0.json")
    python = train / "bin/python"
    python.unlink()
    python.write_text(f'#!/bin/sh\necho $$ > "{tmp_path}/new" && mv "{tmp_path}/new" "{tmp_path}/pid"\nsleep 1000\n')
    python.chmod(0o755)
    body = json.dumps({"which": str(train)})
    head = (
        f"POST {jp_base_url}aiarts/kernels/repair HTTP/1.1",
        "Host: localhost",
        f"Authorization: token {jp_serverapp.identity_provider.token}",
        f"Content-Length: {len(body)}",
    )
    _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
    writer.write(("\r\n".join(head) + "\r\n\r\n" + body).encode())

    async def until(is_so: Callable[[], bool]) -> None:
        while not is_so():
            await asyncio.sleep(0.05)

    await asyncio.wait_for(until((tmp_path / "pid").exists), 20)
    child = Path("/proc", (tmp_path / "pid").read_text().strip())
    assert child.exists()
    writer.close()
    await asyncio.wait_for(until(lambda: not child.exists()), 20)


async def test_an_installer_that_is_silent_for_long_is_not_taken_for_dead(
    train: Path,
    jp_serverapp: ServerApp,
    jp_http_port: int,
    jp_base_url: str,
    http_server_client: AsyncHTTPClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Solving takes minutes without a word, and clients and proxies give up a stream that is silent for one."""
    monkeypatch.setattr(kernels, "SIGN_OF_LIFE", 0.1)
    (train / "conda-meta/ipykernel-6.29.0-py_0.json").rename(train / "conda-meta/pip-24.0-py_0.json")
    python = train / "bin/python"
    python.unlink()
    python.write_text(f'#!/bin/sh\necho begun\nsleep 9\ntouch "{train}/conda-meta/ipykernel-6.29.0-py_0.json"\n')
    python.chmod(0o755)
    url = f"http://127.0.0.1:{jp_http_port}{jp_base_url}"
    client = Client(HttpTransport(url, jp_serverapp.identity_provider.token, timeout=8))
    assert await asyncio.to_thread(lambda: list(client.repair_kernel(str(train)))) == [{"line": "begun"}]
    assert (train / "conda-meta/ipykernel-6.29.0-py_0.json").exists()


INSTALLER = """#!/bin/sh
trap 'echo cleaned > "{room}/cleaned"; exit 1' INT
echo begun
echo $$ > "{room}/new" && mv "{room}/new" "{room}/pid"
while :; do sleep 0.05; done
"""


async def test_a_server_that_stops_ends_its_installers_and_lets_them_clean_up(
    app: AiartsApp, train: Path, tmp_path: Path
) -> None:
    """Nothing else would end one: it has a session of its own, and breaks when it next writes to nobody."""
    (train / "conda-meta/ipykernel-6.29.0-py_0.json").rename(train / "conda-meta/pip-24.0-py_0.json")
    (train / "bin/python").unlink()
    (train / "bin/python").write_text(INSTALLER.format(room=tmp_path))
    (train / "bin/python").chmod(0o755)
    lines: list[str] = []

    async def listen() -> None:
        async with aclosing(app.kernels.repair(str(train))) as said:
            async for line in said:
                lines.append(line)

    listening = asyncio.ensure_future(listen())
    while not (tmp_path / "pid").exists():
        await asyncio.sleep(0.02)
    book = app.kernels
    await asyncio.wait_for(app.stop_extension(), 30)
    assert (tmp_path / "cleaned").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    with pytest.raises(Unavailable, match="stops"):
        await listening
    with pytest.raises(Unavailable, match="stops"):  # nor is another begun
        async for _ in book.repair(str(train)):
            pass
    assert lines == ["begun"]


async def test_one_to_which_nobody_listens_at_this_moment_is_ended_too(
    app: AiartsApp, train: Path, tmp_path: Path
) -> None:
    """As while its last line is on the way to a slow page."""
    (train / "conda-meta/ipykernel-6.29.0-py_0.json").rename(train / "conda-meta/pip-24.0-py_0.json")
    (train / "bin/python").unlink()
    (train / "bin/python").write_text(INSTALLER.format(room=tmp_path))
    (train / "bin/python").chmod(0o755)
    said = app.kernels.repair(str(train))
    assert await anext(said) == "begun"
    while not (tmp_path / "pid").exists():
        await asyncio.sleep(0.02)
    await asyncio.wait_for(app.stop_extension(), 30)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    with pytest.raises(Unavailable, match="stops"):
        await anext(said)


def test_the_command_line_does_the_same_without_a_server(
    train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("AIARTS_SERVER", raising=False)
    assert main(["kernels", "register", "train", "--user"]) == 0
    assert "for you" in capsys.readouterr().out
    assert main(["kernels"]) == 0
    assert "train" in capsys.readouterr().out
    assert main(["kernels", "doctor", "nobody"]) == 3
    assert main(["kernels", "register"]) == 2
    assert main(["kernels", "unregister", "train"]) == 0
