"""What is wrong with a spec as a whole: keys that do not agree or do not exist, and all of it at once."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.checking import MAX_PROBLEMS
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.spec import JobSpec

from .told import NPU, problems, read


@pytest.mark.parametrize(
    ("given", "key", "message"),
    [
        ({}, "script", "There is nothing to run: give script a start file, or command a shell line."),
        (
            {"script": "a", "command": "b"},
            "command",
            "script and command are both given, and a job has one start. Remove one of them.",
        ),
        (
            {"command": "b", "args": ["x"]},
            "args",
            "args belongs to script and cannot be passed to command. Write it into the command line.",
        ),
        (
            {"command": "b", "params": {"x": 1}},
            "params",
            "params belongs to script and cannot be passed to command. Write it into the command line.",
        ),
        (
            {"script": "a", "kind": "distributed"},
            "nodes",
            "A distributed job runs on two or more nodes. Set nodes to 2 or more, or kind to regular.",
        ),
        (
            {"script": "a", "kind": "regular", "nodes": 2},
            "kind",
            "A regular job has one node, and nodes is 2. Set kind to distributed, or nodes to 1.",
        ),
        (
            {"script": "a", "device": NPU, "devices": 3},
            "devices",
            "A job on huawei_npu_arm64 takes 0, 1, 2, 4 or 8 cards, because a board has two rings of four, "
            "and devices is 3.",
        ),
        (
            {"script": "a", "device": NPU, "devices": 4, "nodes": 2},
            "devices",
            "A distributed job on huawei_npu_arm64 takes 8 cards per node, and devices is 4.",
        ),
    ],
)
def test_keys_must_agree_with_each_other(given: dict[str, Any], key: str, message: str) -> None:
    assert problems(given) == {key: message}


def test_two_names_of_one_key_must_agree() -> None:
    assert read(queue="a", vc="a").queue == "a"
    found = problems({"script": "t.py", "queue": "a", "vc": "b"})
    assert found == {"vc": "vc is another name of queue, which is given with another value."}


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("scirpt", "script"),
        ("Devices", "devices"),
        ("max-hours", "max_hours"),
        ("memory", "memory_gb"),
        ("gpus", "devices"),
        ("cmd", "command"),
        ("replicas", "nodes"),
        ("workspace-id", "workspace_id"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(key: str, meant: str) -> None:
    assert problems({"script": "a", key: 1}) == {key: f"There is no key {key} in a job spec. Did you mean {meant}?"}


def test_an_unknown_key_far_from_all_is_told_what_there_is() -> None:
    found = problems({"script": "a", "qqqqqqqq": 1})["qqqqqqqq"]
    assert found == f"There is no key qqqqqqqq in a job spec. The keys are {', '.join(JobSpec.__struct_fields__)}."


@pytest.mark.parametrize("key", ["a\x00b", "x" * 10_000, "line\nbreak", 7, None, ("a",)])
def test_a_hostile_key_makes_a_short_printable_problem(key: Any) -> None:
    (named,) = problems({"script": "a", key: 1})
    assert named.isprintable()
    assert len(named) <= 100


def test_all_problems_come_at_once() -> None:
    """One from every stage of the reading: key, type, limit, secret, rule."""
    found = problems(
        {
            "scrip": "a",
            "devices": "x",
            "cpu": -1,
            "env": {"RANK_ID": "1", "1A": "x", "OK": []},
            "secret_env": {"S": None},
            "image_pull_secret": {"registry": "r"},
            "mounts": [{"source": "../a", "target": "b"}, {"target": "/c"}],
            "kind": "distributed",
        }
    )
    assert sorted(found) == [
        "cpu",
        "devices",
        "env.1A",
        "env.OK",
        "env.RANK_ID",
        "image_pull_secret.password",
        "image_pull_secret.username",
        "mounts[0].source",
        "mounts[0].target",
        "mounts[1].source",
        "nodes",
        "scrip",
        "script",
        "secret_env.S",
    ]


def test_a_flood_of_problems_is_cut_and_counted() -> None:
    with pytest.raises(InvalidSpec) as caught:
        read_spec({"script": "a", "args": [None] * 5_000})
    assert len(caught.value.problems) == MAX_PROBLEMS + 1
    assert caught.value.problems[-1] == {"key": "", "message": "There are 4900 more problems like these."}


@pytest.mark.parametrize("raw", [[], "text", 5, None, True])
def test_what_is_no_object_is_no_spec(raw: Any) -> None:
    assert list(problems(raw)) == [""]
