"""The same verbs through a real Jupyter server, found as a kernel and a terminal find it."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel import api
from jupyter_aiarts.kernel.errors import RequestFailed
from jupyter_aiarts.kernel.transport import HttpTransport

ROOT = Path(__file__).parents[2]
CONFIG = """
c.ServerApp.jpserver_extensions = {"jupyter_aiarts": True}
c.ServerApp.allow_root = True
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = 0
c.ServerApp.open_browser = False
c.ServerApp.base_url = "/some/base/"
c.IdentityProvider.token = "the-token"
"""


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A running server: what its runtime file says, and the folder that file is in."""
    place = tmp_path_factory.mktemp("jupyter")
    (place / "config.py").write_text(CONFIG)
    (place / "root").mkdir()
    environ = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "AIARTS", "JPY_"))},
        "HOME": str(place),
        "JUPYTER_RUNTIME_DIR": str(place / "runtime"),
        "JUPYTER_CONFIG_DIR": str(place / "config"),
        "JUPYTER_DATA_DIR": str(place / "data"),
        "AIARTS_STATE_DIR": str(place / "state"),
        "PYTHONPATH": str(ROOT),
    }
    command = [
        sys.executable,
        "-m",
        "jupyter_server",
        f"--config={place / 'config.py'}",
        f"--ServerApp.root_dir={place / 'root'}",
    ]
    with (
        open(place / "log", "wb") as log,
        subprocess.Popen(command, env=environ, stdout=log, stderr=log) as server,
    ):
        try:
            yield {**runtime_of(place, server), "folder": place / "runtime", "log": place / "log"}
        finally:
            server.terminate()


def runtime_of(place: Path, server: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What the server writes once it listens."""
    path = place / "runtime" / f"jpserver-{server.pid}.json"
    limit = time.monotonic() + 60
    while time.monotonic() < limit and server.poll() is None:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):  # not there, or being written just now
            known: dict[str, Any] = json.loads(path.read_text())
            return known
        time.sleep(0.05)
    raise AssertionError((place / "log").read_text())


@pytest.fixture
def inside(jupyter: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """As in a kernel that this server started."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(jupyter["folder"]))
    monkeypatch.setenv("JPY_PARENT_PID", str(jupyter["pid"]))
    return jupyter


def test_a_kernel_submits_follows_and_explains_through_its_server(inside: Any, script: Callable[..., str]) -> None:
    name = script("import os, sys; print(os.getcwd(), sys.argv[1:], sys.executable); sys.exit(4)")
    job = api.submit(name, args=["$(id)", "中 文\n"], name="在服务器上")
    told = [str(line) for line in job.logs(follow=True) if line.stream == "stdout"]
    assert told == [f"{os.getcwd()} {['$(id)', '中 文' + chr(10)]} {sys.executable}"]
    assert job.wait(30).phase == "failed"
    assert job.explain().code == "exit-code"
    assert api.connect().where == inside["url"].rstrip("/")


def test_a_terminal_of_the_server_finds_it_too(
    jupyter: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jupyter gives its terminals the address; the command line then speaks HTTP by itself."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(jupyter["folder"]))
    monkeypatch.setenv("JUPYTER_SERVER_URL", jupyter["url"])
    Path("t.py").write_text("print('over http')")
    assert main(["submit", "t.py", "--wait"]) == 0
    assert "over http\n" in capsys.readouterr().out


def test_refusals_arrive_whole(inside: Any, script: Callable[..., str]) -> None:
    client = api.connect()
    with pytest.raises(RequestFailed) as caught:
        client.submit({"script": script("pass"), "nodes": 0, "devcies": 1})
    assert {"nodes", "devcies"} <= {one["key"] for one in caught.value.problems}
    with pytest.raises(RequestFailed) as caught:
        client.show("zzzzzzzzzz")
    assert (caught.value.code, caught.value.exit_code) == ("job-not-found", 3)


def test_moves_templates_and_params_files_travel(inside: Any, script: Callable[..., str]) -> None:
    client = api.connect()
    waits = "import time; print('up', flush=True); time.sleep(60)"
    job = api.submit(script(waits), grace_seconds=1, name="mover")
    assert "up" in job.logs(follow=True)
    assert client.resolve("mover") == job.id
    assert job.stop().wait(30).phase == "stopped"
    assert job.edit(name="moved").name == "moved"
    assert job.rerun().run == 2
    assert "up" in job.logs(follow=True)
    job.stop().wait(30)
    job.delete()
    client.save_template("保存", {"nodes": 2}, "two")
    assert client.template("保存")["spec"]["nodes"] == 2
    client.delete_template("保存")
    done = api.Job(client, client.submit("name=dlc\nkind=PyTorchJob\nworker_count=1\ncommand=echo hi\n").job)
    assert list(done.wait(30).logs()) == ["hi"]
    assert client.health()["clusters"][0]["name"] == "local"


@pytest.mark.parametrize("token", ["", "wrong"])
def test_4_when_the_token_is_not_accepted(jupyter: dict[str, Any], token: str) -> None:
    transport = HttpTransport(jupyter["url"], token)
    with pytest.raises(RequestFailed) as caught:
        transport.request("GET", "jobs")
    transport.close()
    assert caught.value.exit_code == 4


def test_the_language_is_the_callers(inside: Any, script: Callable[..., str]) -> None:
    job = api.submit(script("raise SystemExit(2)")).wait(30)
    assert any("\u4e00" <= char <= "\u9fff" for char in api.connect(lang="zh").explain(job.id)["title"])


OLD_KERNEL = """
import pkgutil, sys
import jupyter_aiarts as aiarts, jupyter_aiarts.kernel as kernel
needs_ipython = {"magics", "completion"}
for module in pkgutil.iter_modules(kernel.__path__):
    if module.name not in needs_ipython:
        __import__("jupyter_aiarts.kernel." + module.name)
job = aiarts.submit("train.py", name="old").wait(60)
print(job.phase, [str(line) for line in job.logs()])
assert "msgspec" not in sys.modules
"""


def test_a_kernel_with_python_3_8_and_nothing_installed_submits_and_reads(
    inside: Any, script: Callable[..., str], old_kernel: str
) -> None:
    script("import sys; print(sys.version_info[:2] < (3, 10))")
    words = [old_kernel, "-W", "error", "-c", OLD_KERNEL]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout.decode().split(maxsplit=1)) == (0, ["succeeded", "['True']\n"])


@pytest.fixture
def old_kernel() -> str:
    """The oldest Python at hand that a kernel may have; Debian's pypy3 speaks 3.9."""
    pyenv = os.environ.get("PYENV_ROOT", f"{Path.home()}/.pyenv")
    found = [sorted(glob.glob(f"{pyenv}/versions/{name}.*/bin/python{name}")) for name in ("3.8", "3.9")]
    names = [*found[0], *found[1], *map(shutil.which, ("python3.8", "python3.9", "pypy3"))]
    usable = [name for name in names if name]
    assert usable, "no old Python: install Debian's `pypy3`, or a Python 3.8"
    return usable[0]
