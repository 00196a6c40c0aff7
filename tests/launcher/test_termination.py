"""The termination message is whole JSON of at most 4096 bytes, whatever there is to say."""

import json
from typing import Any

import pytest

from jupyter_aiarts.launcher.termination import LIMIT, message


def summary(**changes: Any) -> dict[str, Any]:
    return {
        "schema": 1, "attempt": 1, "restarts": 0, "result": "failed", "started": None, "ended": "2026-11-16T01:02:03Z",
        "running_seconds": 1.5, "first_failure": None, "problem": None, "ranks": [], **changes,
    }  # fmt: skip


def failure(lines: list[str]) -> dict[str, Any]:
    return {"node": 1, "rank": 9, "exit_code": 1, "signal": None, "last_lines": lines}


def ranks(count: int, failed: int = 0) -> list[dict[str, Any]]:
    return [
        {"rank": rank, "node": rank // 8, "exit_code": int(rank == failed), "devices": [rank % 8]}
        for rank in range(count)
    ]


def test_what_fits_is_left_as_it_is() -> None:
    document = summary(first_failure=failure(["训练 failed", "x"]), ranks=ranks(8))
    assert json.loads(message(document)) == document


@pytest.mark.parametrize(
    "line", ["x" * 500, "训" * 500, '"' * 500, "\x00\x1b" * 250, "\udcff" * 500, "🚂" * 500, "\\" * 500]
)
def test_long_lines_are_cut_and_the_last_ones_kept(line: str) -> None:
    lines = [f"{number:02d} {line}"[:500] for number in range(20)]
    octets = message(summary(first_failure=failure(lines), ranks=ranks(8)))
    assert len(octets) <= LIMIT
    told = json.loads(octets.decode("utf-8"))
    assert told["first_failure"]["exit_code"] == 1
    assert told["first_failure"]["last_lines"][-1].startswith("19 ")
    assert len(told["ranks"]) == 8


def test_of_many_ranks_those_that_failed_are_kept() -> None:
    told = json.loads(message(summary(ranks=ranks(1000, failed=777), first_failure=failure(["x" * 500] * 20))))
    assert 777 in [rank["rank"] for rank in told["ranks"]]
    assert told["ranks_left_out"] + len(told["ranks"]) == 1000


def other(rank: int, lines: list[str]) -> dict[str, Any]:
    return {**failure(lines), "rank": rank}


@pytest.mark.parametrize("line", ["x" * 300, "训" * 300, "\x00" * 300])
def test_of_later_failures_less_is_told_before_anything_else_is_cut(line: str) -> None:
    first = failure([f"{number:02d} of the first" for number in range(20)])
    others = [other(number, [f"{n} {line}"[:300] for n in range(5)]) for number in range(8)]
    octets = message(summary(first_failure=first, others=others, ranks=ranks(16)))
    assert len(octets) <= LIMIT
    told = json.loads(octets.decode("utf-8"))
    assert (told["first_failure"], len(told["ranks"])) == (first, 16)
    assert [one["rank"] for one in told["others"]] == list(range(len(told["others"])))
    assert told["others"][0]["exit_code"] == 1


def test_the_lines_of_the_first_failure_come_before_any_word_of_later_ones() -> None:
    first = failure(["x" * 170] * 20)
    told = json.loads(message(summary(first_failure=first, others=[other(2, ["y"] * 5)] * 8, ranks=ranks(4))))
    assert told["first_failure"] == first
    assert "others" not in told or not any(one["last_lines"] for one in told["others"])


def test_the_result_is_told_even_when_nothing_else_fits() -> None:
    problem = {"code": "c" * 5000, "message": "m" * 5000, "hint": "h" * 5000}
    for document in (
        summary(problem=problem),
        summary(problem=dict.fromkeys(problem, "\x00" * 5000), first_failure=failure(["\x00" * 500] * 20)),
        summary(first_failure=failure(["\x00" * 500] * 20), others=[other(1, ["\x00" * 300] * 5)] * 8),
        {"schema": 1, "node": 3, "result": "failed", "ranks": ranks(500), "message": "m" * 9000},
    ):
        octets = message(document)
        assert len(octets) <= LIMIT
        assert json.loads(octets)["result"] == "failed"
