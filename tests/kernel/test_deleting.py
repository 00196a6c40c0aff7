"""What of a deleted job could not be removed is said by every door, in the server's words."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel import api
from tests.kernel.conftest import HttpPlace

JOB = {"id": "a123456789", "name": "train", "phase": "succeeded", "moves": ["delete"], "owner": "alice"}
STAYED = "2 files stayed in /日志/a123456789\u202e: ask an admin."


@pytest.fixture
def server(http: HttpPlace, monkeypatch: pytest.MonkeyPatch) -> HttpPlace:
    """A server that has one job, which it removes but for two files."""
    monkeypatch.setenv("AIARTS_SERVER", http.url)
    monkeypatch.setenv("AIARTS_TOKEN", "t")
    http.answer(200, JOB)  # whether there is a job of this id
    http.answer(200, JOB)
    http.answer(204, None, {"X-Aiarts-Left": quote(STAYED)})
    return http


def test_the_command_says_it_below_the_job_and_succeeds(server: HttpPlace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["delete", "a123456789", "--yes"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "Deleted train (a123456789)"
    assert second == STAYED.replace("\u202e", "\ufffd")  # a path may hold anything


def test_with_json_it_is_beside_the_ids(server: HttpPlace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["delete", "a123456789", "--yes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"deleted": ["a123456789"], "left": {"a123456789": STAYED}}


def test_the_language_asked_for_reaches_the_server(server: HttpPlace) -> None:
    assert main(["delete", "a123456789", "--yes", "--lang", "zh"]) == 0
    assert server.requests[-1]["method"] == "DELETE" and "lang=zh" in server.requests[-1]["path"]


def test_the_magic_shows_it(server: HttpPlace, shell: InteractiveShell) -> None:
    shown = repr(shell.run_line_magic("aiarts", "delete a123456789 --yes"))
    assert shown.startswith("Deleted train (a123456789)\n2 files stayed in /日志/a123456789")


def test_python_gets_it_from_delete(server: HttpPlace) -> None:
    client = api.connect()
    client.show("a123456789")
    assert api.Job(client, client.show("a123456789")).delete() == STAYED


def test_where_nothing_stayed_nothing_is_said(http: HttpPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIARTS_SERVER", http.url)
    http.answer(204)
    assert api.connect().delete("a123456789") is None
