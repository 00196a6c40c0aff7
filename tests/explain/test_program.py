"""A failed program's last lines: what it lacked or ran into, said with what can be done about it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.explain import explain
from jupyter_aiarts.explain.rules import root
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Explanation
from jupyter_aiarts.model.spec import JobSpec

VARIATIONS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("variations.json").read_text(encoding="utf-8"))
"""Wordings that the rules were not written from: other versions, libraries, paths and orders of lines."""

SPEC = JobSpec(cluster="k8s", memory_gb=20.0, shm_gb=8.0)


def failed(*lines: str, exit_code: int = 1, signal: str | None = None, **more: Any) -> Cause:
    """What an engine says of a rank that ended so."""
    values = {"rank": 0, "node": 0, "exit_code": exit_code, "signal": signal, "restarts": 0, **more}
    return Cause(code="exit-code", values=values, evidence=tuple(lines))


def said(cause: Cause, spec: JobSpec | None = SPEC, lang: str = "en") -> Explanation:
    return explain(cause, lang, "abcdefghij", spec)


@pytest.mark.parametrize("row", VARIATIONS, ids=lambda row: row["said"][-50:])
def test_wordings_that_were_not_in_the_table(row: dict[str, Any]) -> None:
    found = root(failed(*row["said"].split("\n"), exit_code=row["exit_code"], signal=row.get("signal")), SPEC)
    assert found.code in row["codes"]
    assert found.form == row.get("form", found.form)


# -- actions do something --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "patch", "command"),
    [
        ("OSError: [Errno 28] No space left on device: '/dev/shm/x'", {"shm_gb": 16.0}, "shm_gb=16"),
        ("MemoryError", {"memory_gb": 40.0}, "memory_gb=40"),
        ("RuntimeError: DataLoader worker (pid 1) is killed by signal: Killed.", {"memory_gb": 40.0}, "memory_gb=40"),
        ("RuntimeError: CUDA error: device-side assert triggered", {"env": {"CUDA_LAUNCH_BLOCKING": "1"}}, "env.CUDA"),
    ],
)
def test_a_change_is_twice_of_what_was_there_or_a_switch(line: str, patch: dict[str, Any], command: str) -> None:
    action = said(failed(line)).actions[0]
    assert action.patch == patch
    assert (
        action.command is not None and action.command.startswith("aiarts edit abcdefghij") and command in action.command
    )


def test_without_the_job_s_numbers_no_number_is_made_up() -> None:
    for line in ("MemoryError", "OSError: [Errno 28] No space left on device: '/dev/shm/x'"):
        assert all(action.patch is None for action in said(failed(line), None).actions)


def test_this_machine_s_shared_memory_is_not_the_job_s_to_change() -> None:
    here = said(failed("RuntimeError: out of shared memory"), JobSpec(cluster="local", shm_gb=8.0))
    assert here.code == "shared-memory-full" and [action.patch for action in here.actions] == [None, None]


def test_a_container_s_out_of_memory_offers_twice_of_what_it_had() -> None:
    told = said(Cause(code="out-of-memory", values={"node": 1}))
    assert (told.title, told.actions[0].patch) == ("Out of memory on node 1", {"memory_gb": 40.0})


def test_a_time_that_was_up_can_be_doubled() -> None:
    assert said(Cause(code="time-limit", values={"hours": 1.5})).actions[0].patch == {"max_hours": 3.0}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_missing_package_comes_with_its_line(lang: str) -> None:
    told = said(failed("ModuleNotFoundError: No module named 'yaml'"), lang=lang)
    assert told.actions[0].command == "pip install pyyaml"
    told = said(failed("ImportError: libGL.so.1: cannot open shared object file: No such file or directory"), lang=lang)
    lines = [action.command for action in told.actions]
    assert lines == ["pip install opencv-python-headless", "apt-get install -y libgl1"]


def test_a_name_from_the_log_is_one_word_of_a_command() -> None:
    told = said(failed("FileNotFoundError: [Errno 2] No such file or directory: '/data/a b; rm -rf x'"))
    assert told.actions[0].command == "aiarts doctor path '/data/a b; rm -rf x'"


# -- ranks -----------------------------------------------------------------------------------------------------------


def test_the_rank_to_blame_is_named_where_the_first_only_waited() -> None:
    other = {"rank": 3, "node": 1, "exit_code": 1, "signal": None, "lines": ["MemoryError"]}
    wait = {"rank": 2, "node": 0, "exit_code": 1, "signal": None, "lines": ["RuntimeError: Connection reset by peer"]}
    told = root(failed("EI0002: The wait execution of the Notify register times out.", others=[wait, other]), SPEC)
    assert (told.code, told.values["rank"], told.values["node"]) == ("out-of-memory", 3, 1)
    assert told.evidence == ("MemoryError",)


def test_a_rank_that_fails_by_itself_is_not_replaced_by_a_later_one() -> None:
    other = {"rank": 3, "node": 1, "exit_code": 1, "signal": None, "lines": ["MemoryError"]}
    assert root(failed("ValueError: x", others=[other]), SPEC).values["error"] == "ValueError"


def test_without_another_word_the_consequence_is_told_as_one() -> None:
    other = {"rank": 3, "node": 1, "exit_code": 1, "signal": None, "lines": ["RuntimeError: Connection reset by peer"]}
    told = said(failed("EI0006: Getting socket times out.", others=[other]))
    assert told.code == "hccl-timeout" and "not the one to blame" in told.why


def test_a_rank_that_was_killed_and_could_not_say_anything_is_named_before_those_who_lost_it() -> None:
    other = {"rank": 2, "node": 1, "exit_code": 137, "signal": "SIGKILL", "lines": []}
    told = said(failed("ConnectionResetError: [Errno 104] Connection reset by peer", others=[other]))
    assert told.code == "exit-code" and "Rank 2 was killed by SIGKILL" in told.title
    asked = {**other, "signal": "SIGTERM"}
    assert "2" not in said(failed("ConnectionResetError: [Errno 104] Connection reset by peer", others=[asked])).title


# -- evidence and strange input --------------------------------------------------------------------------------------


def test_the_deciding_line_stands_first_and_harmless_ones_are_left_out() -> None:
    noise = "2024-03-30 14:29:58.66: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on."
    told = said(failed(noise, "step 1", "ModuleNotFoundError: No module named 'x'", "bye"))
    assert told.evidence == ["ModuleNotFoundError: No module named 'x'", "step 1", "bye"]


def test_kills_without_a_witness_are_not_called_out_of_memory() -> None:
    assert root(failed("step 1", exit_code=137, signal="SIGKILL"), SPEC).code == "exit-code"
    assert root(failed("step 1", exit_code=137, signal="SIGKILL", oom_kills=2), SPEC).code == "out-of-memory"
    assert root(failed("step 1", exit_code=1, oom_kills=2), SPEC).code == "exit-code"


@pytest.mark.parametrize(
    "line",
    ["a" * 500, " " * 500, "(" * 500, "Error: " * 70, "No module named " * 30, "/" * 500, "'/" * 250, "[" * 500,
     ": " * 250, "EI0004 Reason:[" * 33, "lib" * 166 + ".so", "1 GiB " * 80, "\x1b[" * 250, "\\r'" * 160],
)  # fmt: skip
def test_hostile_lines_take_no_time_and_break_nothing(line: str) -> None:
    cause = failed(*[line] * 20, others=[{"rank": 1, "lines": [line] * 20}, None, {}])
    said(cause)
    began = time.process_time()
    told = said(cause)
    assert time.process_time() - began < 0.05
    assert told.code
