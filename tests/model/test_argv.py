"""Arguments are data: what a spec says is what the process gets, in that order."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.model.argv import path_arguments, render_arguments
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.spec import JobSpec, Scalar

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
scalars = st.one_of(
    texts,
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)


def test_args_come_first_then_params_in_order() -> None:
    spec = JobSpec(
        args=["pos", "--x"],
        params={
            "z": 1,
            "a": None,
            "list": ["u", 2, True],
            "none": [],
            "on": True,
            "off": False,
            "lr": 1e-05,
            "f": 2.0,
        },
    )
    assert render_arguments(spec) == [
        "pos", "--x", "--z", "1", "--a", "--list", "u", "--list", "2", "--list", "true",
        "--on", "true", "--off", "false", "--lr", "1e-05", "--f", "2.0",
    ]  # fmt: skip


def test_hostile_text_is_left_alone() -> None:
    hostile = [
        "$(whoami)",
        "`id`",
        "; rm -rf /",
        "a'b\"c",
        "line\nbreak",
        "${RANK_ID}",
        "$${",
        "中文",
        "",
        " ",
    ]
    spec = JobSpec(args=hostile, params={text or "e": text for text in hostile})
    assert render_arguments(spec)[: len(hostile)] == hostile
    assert render_arguments(spec)[len(hostile) + 1 :: 2] == hostile


def test_paths_are_passed_only_when_asked_for() -> None:
    both = JobSpec(data_path="/d", output_path="/o ${X}")
    assert path_arguments(both) == []
    assert path_arguments(msgspec.structs.replace(both, pass_paths=True)) == [
        "--data_path",
        "/d",
        "--output_path",
        "/o ${X}",
    ]
    assert path_arguments(JobSpec(output_path="/o", pass_paths=True)) == ["--output_path", "/o"]
    assert path_arguments(JobSpec(pass_paths=True)) == []


@given(st.lists(texts, max_size=5), st.dictionaries(texts.filter(bool), scalars, max_size=5))
def test_every_argument_can_be_found_again(args: list[str], params: dict[str, Scalar]) -> None:
    """Read and rendered, nothing is lost, joined, split or reordered; numbers are what JSON reads back."""
    rendered = render_arguments(read_spec({"script": "t.py", "args": args, "params": params}).spec)
    assert rendered[: len(args)] == args
    keys, values = rendered[len(args) :: 2], rendered[len(args) + 1 :: 2]
    assert keys == [f"--{key}" for key in params]
    for text, value in zip(values, params.values(), strict=True):
        assert (text if isinstance(value, str) else json.loads(text)) == value
