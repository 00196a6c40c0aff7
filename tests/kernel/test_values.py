"""Spec files: JSON always, YAML where PyYAML is there, and a sentence for everything else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jupyter_aiarts.kernel import grammar, values, verbs
from jupyter_aiarts.kernel.errors import WrongUsage


def test_options_win_over_the_file_and_maps_grow_together(nothing_around: Path) -> None:
    (nothing_around / "job.yaml").write_text("name: 训练\ndevices: 2\nparams: {lr: 0.1, flag: null}\nargs: [a]\n")
    given = grammar.parse(["submit", "--file", "job.yaml", "--devices", "4", "-p", "lr=1", "--", "b"]).options
    assert verbs.spec_from(given) == {
        "name": "训练",
        "devices": 4,
        "params": {"lr": "1", "flag": None},
        "args": ["b"],
    }


def test_json_needs_no_yaml(nothing_around: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conda environment's kernel may have nothing but the standard library."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    (nothing_around / "job.json").write_text('{"name": "x"}')
    assert values.read_spec("job.json") == {"name": "x"}
    (nothing_around / "job.yml").write_text("name: x")
    with pytest.raises(WrongUsage, match="needs PyYAML") as caught:
        values.read_spec("job.yml")
    assert "pip install pyyaml" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"{", "is not JSON"),
        ("a.json", b"[1]", "holds no spec"),
        ("a.yaml", b"- 1", "holds no spec"),
        ("a.yaml", b"a: [", "is not YAML"),
        ("a.yaml", b"a: !!python/object/apply:os.system [id]", "is not YAML"),
        ("a.json", b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_bad_file_is_said_in_one_sentence(nothing_around: Path, name: str, content: bytes, said: str) -> None:
    (nothing_around / name).write_bytes(content)
    with pytest.raises(WrongUsage, match=said):
        values.read_spec(name)


def test_a_missing_file_says_why() -> None:
    with pytest.raises(WrongUsage, match=r"nowhere\.json cannot be read: No such file"):
        values.read_spec("nowhere.json")


def test_a_post_job_body_is_passed_on_as_it_is(nothing_around: Path) -> None:
    """The server maps the old platform's body; mixing in options would make neither."""
    (nothing_around / "old.json").write_text('{"jobName": "a", "vcName": "v"}')
    assert verbs.spec_from(grammar.parse(["submit", "-f", "old.json"]).options) == {
        "jobName": "a",
        "vcName": "v",
    }
    with pytest.raises(WrongUsage, match="PostJob body"):
        verbs.spec_from(grammar.parse(["submit", "-f", "old.json", "--devices", "2"]).options)
