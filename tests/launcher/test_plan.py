"""A plan is read whole or refused with the key and the value that are wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.launcher.plan import from_json, load, secrets
from jupyter_aiarts.launcher.problem import Refused

from .conftest import Run


def test_keys_of_a_later_version_are_left_alone(run: Run) -> None:
    assert from_json({**run.document, "rank_table": "v1.0"}).job == "a123456789"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"schema": 2}, "schema 1"),
        ({"nodes": "2"}, "nodes is '2', not int"),
        ({"nodes": True}, "nodes is True"),
        ({"nodes": 0}, "nodes is 0"),
        ({"processes": "both"}, "processes is 'both'"),
        ({"grants": []}, "grants has 0 entries for 1 nodes"),
        ({"devices": [[1]]}, "devices is"),
        ({"nodes": 2, "devices": [[], []], "grants": [{}, {}]}, "meeting is missing"),
        ({"args": ["a", 1]}, "args holds something"),
        ({"env": {"A": 1}}, "env is not an object of texts"),
        ({"start": {"kind": "perl", "path": "x", "line": None, "python": "p"}}, "start.kind is 'perl'"),
        ({"start": {"kind": "python", "path": None, "line": None, "python": "p"}}, "start.path is missing"),
        ({"start": {"kind": "command", "path": None, "line": None, "python": "p"}}, "start.line is missing"),
    ],
)
def test_wrong_values_are_named(run: Run, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        from_json({**run.document, **changes})


def test_every_missing_key_is_named(run: Run) -> None:
    for key in set(run.document) - {"schema"}:
        with pytest.raises(Refused, match=f"{key} is missing"):
            from_json({name: value for name, value in run.document.items() if name != key})


@pytest.mark.parametrize("content", [None, "{", "[]", '{"A": 1}'])
def test_unreadable_secrets_are_a_problem_without_their_content(tmp_path: Path, content: "str | None") -> None:
    path = tmp_path / "secrets.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(Refused) as caught:
        secrets(str(path))
    assert caught.value.problem.code == "secrets-unreadable"


def test_a_file_that_is_no_plan_is_a_problem(tmp_path: Path) -> None:
    for content in ("", "[1]", json.dumps({"schema": 1})):
        (tmp_path / "plan.json").write_text(content)
        with pytest.raises(Refused) as caught:
            load(str(tmp_path / "plan.json"))
        assert caught.value.problem.code == "plan-invalid"
    with pytest.raises(Refused):
        load(str(tmp_path / "absent.json"))
