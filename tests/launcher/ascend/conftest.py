"""What tables are made from, and the tools of a driver that is not here."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.ascend.table import Server, seated

SAMPLES = Path(__file__).parent / "hccn"
Stand = Callable[..., str]


def servers(nodes: int = 1, cards: Sequence[int] = range(8), ips: bool = True) -> "list[Server]":
    """Nodes 10.0.0.1, 10.0.0.2 … with these cards each."""
    return seated(
        [
            (f"10.0.0.{node + 1}", [(card, f"192.168.{card}.{node + 1}" if ips else "") for card in cards], f"w-{node}")
            for node in range(nodes)
        ]
    )


@pytest.fixture
def stand_in(tmp_path: Path) -> Stand:
    """Write a program in place of a driver's tool; answers with its path."""

    def write(source: str, name: str = "hccn_tool", kind: str = "sh") -> str:
        folder = tmp_path / "tools"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(f"#!{sys.executable if kind == 'python' else '/bin/sh'}\n{source}\n")
        path.chmod(0o755)
        return str(path)

    return write


@pytest.fixture(scope="session")
def old_python() -> str:
    """The oldest Python at hand, as `test_oldest_python` finds it."""
    found = os.environ.get("AIARTS_OLD_PYTHON") or shutil.which("pypy3")
    assert found, "no old Python: install Debian's `pypy3`, or name a CPython 3.6 or 3.7 in AIARTS_OLD_PYTHON"
    return found
