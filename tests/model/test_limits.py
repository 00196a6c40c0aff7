"""What no process can be given, or not that much of it, is said before anything starts."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.model.checking import MAX_STRING

from .told import problems, read


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"script": "a\0b"}, "script"),
        ({"args": ["ok", "a\0b"]}, "args[1]"),
        ({"params": {"a": "\0"}}, "params.a"),
        ({"params": {"a\0": "x"}}, 'params."a\\u0000"'),
        ({"env": {"A": "\0"}}, "env.A"),
        ({"workdir": "/\0"}, "workdir"),
    ],
)
def test_nul_is_refused_everywhere(given: dict[str, Any], key: str) -> None:
    found = problems({"script": "t.py", **given})
    assert list(found) == [key]
    assert "holds a NUL character" in found[key]


def test_half_a_character_is_refused() -> None:
    """It could not even be written into the answer."""
    found = problems({"script": "a", "args": ["\ud800"]})
    assert found == {"args[0]": "args[0] holds half a character (a lone surrogate), which cannot be written as UTF-8."}


def test_linux_limits_are_said_before_anything_starts() -> None:
    longest = "x" * (MAX_STRING - len("A="))
    assert read(env={"A": longest}).env == {"A": longest}
    told = (
        "bytes long, and Linux starts no process with an argument or a variable of more than 131,071 bytes, "
        "a variable's name included; put it into a file and pass the file's path."
    )
    assert problems({"script": "a", "env": {"A": longest + "x"}}) == {"env.A": f"env.A is 131,072 {told}"}
    assert problems({"script": "a", "env": {"A": "x" * 5_000_000}}) == {"env.A": f"env.A is 5,000,000 {told}"}
    assert problems({"script": "a", "args": ["", "é" * 70_000]}) == {"args[1]": f"args[1] is 140,000 {told}"}
    assert problems({"script": "a", "params": {"p": ["x", "y" * 131_072]}}) == {
        "params.p[1]": f"params.p[1] is 131,072 {told}"
    }
    assert problems({"command": "x" * 131_072}) == {"command": f"command is 131,072 {told}"}
    assert problems({"script": "a", "secret_env": {"S": "x" * 131_072}}) == {
        "secret_env.S": f"secret_env.S is 131,072 {told}"
    }


def test_the_sum_of_all_strings_is_limited_too() -> None:
    assert len(read(args=["x" * 1000] * 1500).args) == 1500
    found = problems({"script": "a", "args": ["x" * 1000] * 1600})
    assert found == {
        "args": "Arguments and variables are 1,614,409 bytes together, and at most 1,572,864 are allowed: "
        "Linux starts no process with many more. Put them into a file and pass the file's path."
    }


def test_twenty_thousand_arguments_are_fine() -> None:
    assert len(read(args=["-v"] * 20_000).args) == 20_000
