"""`aiarts doctor path` beyond this machine: what the server says about pods; without clusters nothing is added."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.doctor_path import lines_of, places_text
from jupyter_aiarts.kernel.errors import Unreachable
from jupyter_aiarts.kernel.terminal import Style

NASTY = "/data/\x1b]0;title\x07\u202egnp"


@pytest.fixture(autouse=True)
def files(nothing_around: Path) -> Path:
    (nothing_around / "train.py").write_text("pass")
    return nothing_around


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_without_clusters_it_says_what_it_always_said(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "path", "train.py"]) == 0
    assert said(capsys) == ["ok  train.py exists", "ok  you can read it", "ok  python3 runs it"]
    assert main(["doctor", "path", "trian.py"]) == 1
    assert said(capsys)[0] == f"NO  {files} has no 'trian.py'; it has 'train.py'"


def test_a_name_that_only_looks_the_same_is_written_out(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "path", "Train.py"]) == 1
    assert said(capsys)[-1] == f"    write instead: {files}/train.py"
    assert main(["doctor", "path", "train.py ", "--lang", "zh"]) == 1
    assert said(capsys)[-1].startswith("    请改写为：")


def test_asked_about_a_cluster_its_answer_decides(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "path", "train.py", "--cluster", "local"]) == 0
    assert any("pods of local see it" in line for line in said(capsys))
    assert main(["doctor", "path", "gone.py", "--cluster", "local", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["checks"], report["path"]) == (False, [], f"{files}/gone.py")
    assert main(["doctor", "path", "train.py", "--cluster", "nowhere"]) == 3


def test_the_json_keeps_its_keys_and_has_more(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "path", "train.py", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"path", "ok", "checks", "views", "reasons", "write"} == set(report) and report["ok"] is True


def test_the_map_itself_is_shown_where_no_path_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "path"]) == 0
    assert said(capsys)[0].split()[:2] == ["CLUSTER", "PLACE"]


@pytest.mark.parametrize(
    "words", [["ranktable"], ["ranktable", "x.json", "--cluster", "lab"], ["path", "x", "--rank", "3"]]
)
def test_what_belongs_to_the_other_doctor_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", *words]) == 2


def test_a_server_that_is_away_takes_nothing_from_what_this_machine_knows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def away(*_: Any, **__: Any) -> Any:
        raise Unreachable("It does not answer.")

    monkeypatch.setattr(Client, "places", away)
    assert main(["doctor", "path", "train.py"]) == 0
    assert main(["doctor", "path", "train.py", "--cluster", "lab"]) == 5


def test_what_others_named_is_shown_as_text() -> None:
    view = {"where": "pod", "visible": None, "message": NASTY}
    lines = lines_of({"views": [view], "reasons": [{"message": NASTY}], "write": NASTY}, Style())
    place = {"cluster": "lab", "name": NASTY, "here": None, "pod": NASTY, "kind": "nfs", "source": NASTY}
    assert lines[0].startswith("??  ")
    assert all("\x1b" not in text and "\u202e" not in text for text in (*lines, places_text([place], Style(lang="zh"))))
