"""`aiarts doctor path`: which step fails, with the part of the path that is to blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_aiarts.kernel.doctor import check_path


def verdict(path: str) -> tuple[bool, str]:
    report = check_path(path)
    return report["ok"], report["checks"][-1]["message"]


@pytest.fixture(autouse=True)
def files(nothing_around: Path) -> None:
    (nothing_around / "train.py").write_text("pass")
    (nothing_around / "run").write_text("#!/bin/sh\n")
    (nothing_around / "good").write_text("#!/bin/sh\n")
    (nothing_around / "bad").write_text("#!/no/such/interpreter -x\n")
    (nothing_around / "windows").write_bytes(b"#!/bin/sh\r\n")
    for name in ("good", "bad", "windows"):
        (nothing_around / name).chmod(0o755)
    (nothing_around / "link.py").symlink_to("train.py")
    (nothing_around / "broken.py").symlink_to("gone.py")


@pytest.mark.parametrize(
    ("path", "fine", "said"),
    [
        ("train.py", True, "python3 runs it"),
        ("link.py", True, "python3 runs it"),
        (".", True, "folder you can read"),
        ("good", True, "/bin/sh exists"),
        ("tarin.py", False, "it has 'train.py'"),
        ("nowhere/deep/x.py", False, "has no 'nowhere'"),
        ("broken.py", False, "link to gone.py, which does not exist"),
        ("run", False, "chmod +x run"),
        ("bad", False, "/no/such/interpreter does not exist"),
        ("windows", False, "Windows line break"),
    ],
)
def test_a_start_file_is_checked_as_the_launcher_will_use_it(path: str, fine: bool, said: str) -> None:
    ok, message = verdict(path)
    assert ok is fine and said in message
