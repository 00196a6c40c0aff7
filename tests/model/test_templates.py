"""Templates: explicit keys win, contradictions go, secrets never stay."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.templates import PRESETS, Template, apply_template, new_template

BASE = Template(
    name="base",
    spec={
        "script": "a.py",
        "args": ["x"],
        "params": {"lr": 1, "n": 2},
        "env": {"A": "1", "B": "2"},
        "kind": "distributed",
        "nodes": 2,
        "device": "nvidia_gpu_amd64",
        "devices": 4,
        "queue": "q",
    },
)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda one: one.name)
def test_every_preset_is_a_spec_and_can_be_saved(preset: Template) -> None:
    spec = read_spec(apply_template(preset, {"script": "t.py"})).spec
    assert spec.template == preset.name
    assert preset.preset
    assert preset.description.endswith(".")
    assert new_template(preset.name, preset.spec).spec == preset.spec


def test_the_presets_that_ship() -> None:
    assert list(PRESETS) == [
        "cpu-quick",
        "notebook",
        "gpu-1",
        "gpu-2-ranks",
        "npu-1",
        "npu-2",
        "npu-8",
        "npu-2x8",
    ]


@pytest.mark.parametrize(
    ("explicit", "changed", "gone"),
    [
        ({}, {}, []),
        ({"name": "n", "queue": "mine"}, {"name": "n", "queue": "mine"}, []),
        ({"vc": "mine"}, {"queue": "mine"}, []),
        ({"env": {"B": "3", "C": "4"}}, {"env": {"A": "1", "B": "3", "C": "4"}}, []),
        ({"params": {"lr": None}}, {"params": {"lr": None, "n": 2}}, []),
        ({"args": []}, {"args": []}, []),
        ({"command": "ls"}, {"command": "ls"}, ["script", "args", "params"]),
        ({"nodes": 1}, {"nodes": 1}, ["kind"]),
        ({"kind": "regular"}, {"kind": "regular"}, ["nodes"]),
        ({"device": "cpu"}, {"device": "cpu"}, ["devices"]),
        ({"device": "nvidia_gpu_amd64"}, {}, []),
        ({"devices": 1}, {"devices": 1}, []),
    ],
)
def test_explicit_keys_win(explicit: dict[str, Any], changed: dict[str, Any], gone: list[str]) -> None:
    expected = {**BASE.spec, **changed, "template": "base"}
    for key in gone:
        del expected[key]
    assert apply_template(BASE, explicit) == expected


def test_a_start_file_goes_before_the_command_of_a_template() -> None:
    template = Template(name="c", spec={"command": "ls"})
    assert apply_template(template, {"script": "a.py"}) == {"script": "a.py", "template": "c"}


def test_a_template_keeps_no_secret() -> None:
    login = {"registry": "r", "username": "u", "password": "hunter2"}
    raw = {
        "secret_env": {"S": "hunter2"},
        "env": {"HF_TOKEN": "hunter2", "A": 1},
        "image_pull_secret": login,
        "submission_id": "x",
        "template": "other",
        "vc": "q",
        "cpu": None,
    }
    assert new_template("mine", raw, "Words.") == Template(
        name="mine", spec={"env": {"A": "1"}, "queue": "q"}, preset=False, description="Words."
    )


def test_a_secret_in_a_damaged_template_is_not_applied() -> None:
    template = Template(name="old", spec={"secret_env": {"S": "v"}, "submission_id": "x", "cpu": 1})
    assert apply_template(template, {"script": "a"}) == {"script": "a", "cpu": 1, "template": "old"}


def test_a_bad_template_is_refused_with_every_problem() -> None:
    with pytest.raises(InvalidSpec) as caught:
        new_template("../x", {"devices": "many", "scirpt": "a"})
    assert [problem["key"] for problem in caught.value.problems] == ["name", "scirpt", "devices"]
