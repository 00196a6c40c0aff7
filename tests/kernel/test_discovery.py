"""Finding the server: what was said wins, stale files are not believed, tokens go nowhere they do not
belong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.kernel.discovery import Endpoint, base_url, find_server


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    folder = tmp_path / "runtime"
    folder.mkdir()
    return folder


def write(folder: Path, pid: int, **more: Any) -> None:
    known = {"pid": pid, "url": "http://localhost:8888/base/", "token": "t", "base_url": "/base/", **more}
    (folder / f"jpserver-{pid}.json").write_text(json.dumps(known))


def find(folder: Path, **environ: str) -> Endpoint | None:
    return find_server(environ={"JUPYTER_RUNTIME_DIR": str(folder), **environ})


def test_a_kernel_finds_the_server_that_started_it(runtime: Path) -> None:
    write(runtime, os.getpid())
    found = find(runtime, JPY_PARENT_PID=str(os.getpid()))
    assert found == Endpoint("http://localhost:8888/base", "t", "JPY_PARENT_PID")


def test_a_terminal_finds_its_server_by_address(runtime: Path) -> None:
    """Jupyter tells terminals the address; the token is in the runtime file with that address."""
    write(runtime, os.getpid())
    write(runtime, os.getppid(), url="http://localhost:9999/", token="other")
    found = find(runtime, JUPYTER_SERVER_URL="http://localhost:8888/base/")
    assert found == Endpoint("http://localhost:8888/base", "t", "JUPYTER_SERVER_URL")


def test_the_file_of_a_dead_server_is_not_believed(runtime: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    write(runtime, gone.pid)
    assert find(runtime, JPY_PARENT_PID=str(gone.pid)) is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "{",
        '{"pid": 1, "url": "http://x/"}',
        '{"pid": PID}',
        '{"pid": PID, "url": "http+unix://s"}',
    ],
)
def test_a_file_that_says_nothing_usable_is_passed_over(runtime: Path, content: str) -> None:
    (runtime / f"jpserver-{os.getpid()}.json").write_text(content.replace("PID", str(os.getpid())))
    assert find(runtime, JPY_PARENT_PID=str(os.getpid())) is None


@pytest.mark.parametrize("pid", ["", "x", "../../etc", "-1"])
def test_a_strange_parent_is_no_parent(runtime: Path, pid: str) -> None:
    write(runtime, 1)
    assert find(runtime, JPY_PARENT_PID=pid) is None


def test_what_was_said_wins_over_what_is_around(runtime: Path) -> None:
    write(runtime, os.getpid())
    around = {
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JPY_PARENT_PID": str(os.getpid()),
        "AIARTS_SERVER": "http://env:1",
        "AIARTS_TOKEN": "e",
    }
    assert find_server("http://told:2", "x", around) == Endpoint("http://told:2", "x", "--server")
    assert find_server(environ=around) == Endpoint("http://env:1", "e", "AIARTS_SERVER")


def test_a_token_is_not_sent_to_another_server() -> None:
    environ = {"AIARTS_SERVER": "https://mine/base", "AIARTS_TOKEN": "secret"}
    other, same = (
        find_server("http://other", None, environ),
        find_server("https://mine/base/lab", None, environ),
    )
    assert other is not None and other.token == ""
    assert same is not None and same.token == "secret"
    alone = find_server("http://other", None, {"AIARTS_TOKEN": "secret"})
    assert alone is not None and alone.token == "secret"


@pytest.mark.parametrize(
    ("pasted", "url", "token"),
    [
        ("http://localhost:8888/lab?token=abc", "http://localhost:8888", "abc"),
        ("http://localhost:8888/user/x/lab/tree/a.ipynb", "http://localhost:8888/user/x", ""),
        ("https://hub/user/x/tree", "https://hub/user/x", ""),
        ("localhost:8888", "http://localhost:8888", ""),
    ],
)
def test_an_address_can_be_pasted_from_the_browser(pasted: str, url: str, token: str) -> None:
    found = find_server(pasted, None, {})
    assert found == Endpoint(url, token, "--server")
    assert base_url(pasted) == url


def test_a_hubs_variables_lead_to_the_single_user_server() -> None:
    hub = {
        "JUPYTERHUB_API_TOKEN": "h",
        "JUPYTERHUB_SERVICE_URL": "http://0.0.0.0:8888/user/x/",
        "JUPYTERHUB_SERVICE_PREFIX": "/user/x/",
    }
    assert find_server(environ=hub) == Endpoint("http://127.0.0.1:8888/user/x", "h", "JupyterHub")


def test_a_hubs_server_without_a_token_of_its_own_gets_the_hubs(runtime: Path) -> None:
    write(runtime, os.getpid(), token="")
    found = find(runtime, JPY_PARENT_PID=str(os.getpid()), JUPYTERHUB_API_TOKEN="h")
    assert found is not None and found.token == "h"


def test_nothing_around_is_an_answer(runtime: Path) -> None:
    assert find(runtime) is None
