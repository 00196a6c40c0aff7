"""`aiarts run` as a process of its own, and what tests of it need to see."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.kernel import cards, npus

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def private_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Whatever a run leaves in the temporary folder would be seen here; nothing may."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for name in (*cards.GRANTS, *npus.VARIABLES, "NPU_IPS"):
        monkeypatch.delenv(name, raising=False)
    yield folder
    assert list(folder.iterdir()) == []


def start(*words: str, **more: Any) -> subprocess.Popen[bytes]:
    """The command as a process of its own, to be watched and interrupted."""
    command = [sys.executable, "-m", "jupyter_aiarts.cli", "run", *words]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, **more)


def marked(mark: str) -> list[int]:
    """The processes that carry a word of the test's in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes() and path.parent.name != str(os.getpid()):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def said(out: str, rank: int) -> list[str]:
    return [line[9:] for line in out.splitlines() if line.startswith(f"[rank {rank}] ")]


def read_until(process: subprocess.Popen[bytes], text: bytes, count: int = 1) -> bytes:
    """What came, as soon as `text` has come so often."""
    assert process.stdout is not None
    found = b""
    while found.count(text) < count:
        piece = os.read(process.stdout.fileno(), 65536)
        assert piece, f"it ended after {found!r}"
        found += piece
    return found
