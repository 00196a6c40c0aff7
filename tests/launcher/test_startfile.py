"""A start file that cannot work is explained before, or instead of, a cryptic exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import LAUNCHER, Run

# The interpreter of the tests may lie in root's home: it becomes nobody only after everything is imported.
AS_NOBODY = """
import ctypes, os, sys
sys.path.insert(0, sys.argv[1])
from jupyter_aiarts.launcher.runner import main
os.setgid(65534)
os.setuid(65534)
sys.exit(main(sys.argv[2:]))
"""


def problem(run: Run, path: Path, kind: str = "exec") -> dict[str, str]:
    run.plan(start={"kind": kind, "path": str(path), "line": None, "python": sys.executable})
    assert run.go() == 1
    assert run.summary["result"] == "failed"
    return dict(run.summary["problem"])


def test_missing(run: Run) -> None:
    (run.folder / "train2.py").touch()
    found = problem(run, run.folder / "train.py", "python")
    assert found["code"] == "start-file-missing"
    assert "train2.py" in found["hint"]


def test_missing_folder_says_where_the_path_stops_being_true(run: Run) -> None:
    found = problem(run, run.folder / "no" / "such" / "train.py", "shell")
    assert (found["code"], str(run.folder) in found["hint"]) == ("start-file-missing", True)


def test_broken_symlink_says_where_it_points(run: Run) -> None:
    (run.folder / "link.py").symlink_to("/nowhere/real.py")
    found = problem(run, run.folder / "link.py", "python")
    assert (found["code"], "/nowhere/real.py" in found["message"]) == ("start-file-broken-symlink", True)


def test_symlink_to_itself(run: Run) -> None:
    (run.folder / "link.py").symlink_to("link.py")
    assert problem(run, run.folder / "link.py", "python")["code"] == "start-file-broken-symlink"


def test_directory(run: Run) -> None:
    found = problem(run, run.folder, "python")
    assert (found["code"], "directory" in found["message"]) == ("start-file-missing", True)


def test_not_executable(run: Run) -> None:
    path = run.folder / "tool"
    path.write_text("#!/bin/sh\n")
    found = problem(run, path)
    assert (found["code"], found["hint"]) == ("start-file-not-executable", f"chmod +x {path}")


@pytest.mark.parametrize(
    ("first", "named"),
    [
        (b"#!/no/such/python\n", "/no/such/python"),
        (b"#!/usr/bin/env no-such-python\n", "no-such-python"),
        (b"#!/bin/sh\r\n", "Windows"),
        (b"#!/usr/bin/env sh\r\n", "Windows"),
        (b"#!\n", "nothing"),
    ],
)
def test_bad_interpreter(run: Run, first: bytes, named: str) -> None:
    path = run.folder / "tool"
    path.write_bytes(first + b"echo hi\n")
    path.chmod(0o755)
    found = problem(run, path)
    assert (found["code"], named in found["message"]) == ("start-file-bad-interpreter", True)


@pytest.mark.parametrize(
    "first", [b"#!/bin/sh\n", b"#! /bin/sh -e\n", b"#!/usr/bin/env sh\n", b"#!/usr/bin/env -S sh -e\n"]
)
def test_good_interpreters_are_left_alone(run: Run, first: bytes) -> None:
    path = run.folder / "tool"
    path.write_bytes(first + b"echo hi\n")
    path.chmod(0o755)
    run.plan(start={"kind": "exec", "path": str(path), "line": None, "python": ""})
    assert run.go() == 0
    assert run.log() == b"hi\n"


def test_an_executable_of_no_format(run: Run) -> None:
    path = run.folder / "tool"
    path.write_bytes(b"\x00\x01\x02")
    path.chmod(0o755)
    assert problem(run, path)["code"] == "start-file-bad-interpreter"


def test_a_python_that_is_not_there(run: Run) -> None:
    (run.folder / "x.py").touch()
    start = {"kind": "python", "path": str(run.folder / "x.py"), "line": None, "python": "/no/python"}
    assert run.plan(start=start).go() == 1
    assert run.summary["problem"]["code"] == "start-file-bad-interpreter"


def test_a_working_folder_that_is_not_there(run: Run) -> None:
    assert run.shell("true", workdir="/no/such/folder").go() == 1
    assert run.summary["problem"]["code"] == "workdir-missing"


def test_too_large_an_environment_names_the_limit(run: Run) -> None:
    assert run.shell("true", env={"BIG": "x" * 200_000}).go() == 1
    found = run.summary["problem"]
    assert (found["code"], "131072" in found["message"]) == ("environment-too-large", True)


def test_permission_denied(run: Run, tmp_path: Path) -> None:
    """Root may read everything, so the launcher runs as somebody else where the test is root."""
    path = tmp_path / "secret.py"
    path.touch(0o600)
    path.chmod(0)
    run.plan(start={"kind": "python", "path": str(path), "line": None, "python": "/usr/bin/python3"})
    if os.geteuid() == 0:
        tmp_path.chmod(0o777)
        for folder in [*tmp_path.parents][:2]:  # other tests' folders are there, too: to be entered, and no more
            folder.chmod(folder.stat().st_mode | 0o011)
        run.command = [sys.executable, "-c", AS_NOBODY, str(LAUNCHER.parents[1])]
    assert run.start(stderr=subprocess.DEVNULL).wait(20) == 1
    assert run.summary["problem"]["code"] == "permission-denied"
