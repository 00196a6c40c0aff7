"""What this machine can know to be wrong is said when a job is submitted, all at once, each with its key."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local.checks import check_here, settle_spec
from jupyter_aiarts.engines.local.slots import Machine
from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.reading import read_spec

MACHINE = Machine(cpus=8, cards={"huawei_npu_arm64": 8})


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return Caller(owner="alice", python=sys.executable, environ={"PATH": os.environ["PATH"]}, folder=tmp_path)


def problems(caller: Caller, **raw: Any) -> dict[str, str]:
    """What is refused, by key."""
    reading = read_spec({"script": "train.py", **raw})
    settled = type(reading)(spec=settle_spec(reading.spec, caller, MACHINE), secrets=reading.secrets)
    try:
        check_here(settled, caller)
    except InvalidSpec as error:
        return {problem["key"]: problem["message"] for problem in error.problems}
    return {}


def make_script(folder: Path, name: str, text: str, mode: int = 0o755) -> str:
    (folder / name).write_text(text)
    (folder / name).chmod(mode)
    return name


def a_missing_file(folder: Path) -> str:
    return "nope.py"


def a_broken_link(folder: Path) -> str:
    (folder / "link.py").symlink_to("gone.py")
    return "link.py"


def a_folder(folder: Path) -> str:
    (folder / "pack").mkdir()
    return "pack"


def not_executable(folder: Path) -> str:
    return make_script(folder, "run", "#!/bin/sh\n", 0o644)


def wrong_interpreter(folder: Path) -> str:
    return make_script(folder, "run", "#!/usr/bin/nothing\n")


def windows_line_end(folder: Path) -> str:
    return make_script(folder, "run", "#!/bin/sh\r\n")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (a_missing_file, "not there"),
        (a_broken_link, "gone.py"),
        (a_folder, "directory"),
        (not_executable, "chmod"),
        (wrong_interpreter, "/usr/bin/nothing"),
        (windows_line_end, "Windows line end"),
    ],
)
def test_a_start_file_that_cannot_work_is_refused_with_the_reason(
    make: Callable[[Path], str], says: str, caller: Caller
) -> None:
    found = problems(caller, script=make(caller.folder))
    assert set(found) == {"script"}
    assert says in found["script"]


def test_a_start_file_one_may_not_read_is_refused(caller: Caller) -> None:
    """Asked as somebody who is not root: a forked process that gave up its rights, where the test has them."""
    name = make_script(caller.folder, "x.py", "", 0o000)
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os._exit(0 if "cannot be re" in problems(caller, script=name).get("script", "") else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_every_problem_is_told_at_once(caller: Caller) -> None:
    found = problems(
        caller, args=["${RANKS}"], params={"x": ["${NO}", "fine"]}, mounts=[{"source": "/nowhere", "target": "/data"}]
    )
    assert set(found) == {"script", "args", "params", "mounts[0].source"}


def test_a_working_folder_that_is_missing_is_refused(caller: Caller) -> None:
    make_script(caller.folder, "train.py", "")
    assert "No such file" in problems(caller, workdir="gone", script=str(caller.folder / "train.py"))["workdir"]


def test_links_are_followed_and_folders_fill_in(caller: Caller) -> None:
    make_script(caller.folder, "real.py", "import torch\n")
    (caller.folder / "train.py").symlink_to("real.py")
    spec = settle_spec(read_spec({"script": "train.py"}).spec, caller, MACHINE)
    assert (spec.framework, spec.workdir, problems(caller)) == ("pytorch", str(caller.folder), {})


def test_secret_and_plain_variables_may_be_named_in_arguments(caller: Caller) -> None:
    make_script(caller.folder, "train.py", "")
    assert problems(caller, args=["${MY_TOKEN}", "${X}", "${RANK_ID}"], env={"X": "1", "MY_TOKEN": "2"}) == {}


def test_ten_thousand_parameters_are_fine(caller: Caller) -> None:
    make_script(caller.folder, "train.py", "")
    assert problems(caller, params={f"p{number}": number for number in range(10_000)}) == {}


@pytest.mark.parametrize(
    ("raw", "cpu"),
    [
        ({}, 1),
        ({"cpu": 2.5}, 2.5),
        ({"nodes": 4}, 1),
        ({"nodes": 16}, 0.5),
        ({"device": "huawei_npu_arm64", "devices": 2}, 2),
    ],
)
def test_the_share_of_the_machine_is_filled_in_and_shown(raw: dict[str, Any], cpu: float, caller: Caller) -> None:
    spec = settle_spec(read_spec({"command": "true", **raw}).spec, caller, MACHINE)
    assert spec.cpu == cpu
    assert spec.memory_gb is not None
    assert (0 < spec.memory_gb <= 10 * cpu, spec.shm_gb) == (True, round(spec.memory_gb / 2, 1))
