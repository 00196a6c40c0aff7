"""The local engine on a folder of its own, and a look at the processes that belong to it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from jupyter_aiarts.engines.base import Engine
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import Settings
from tests.engines.closing import closed_after

Processes = Callable[[str], list[int]]


@pytest_asyncio.fixture
async def engine(state_dir: Path) -> AsyncIterator[Engine]:
    """The local engine alone; eight declared cards, as everywhere."""
    async for one in closed_after(open_local(state_dir, Settings(devices={"huawei_npu_arm64": 8}, cpus=16))):
        yield one


@pytest.fixture
def processes(state_dir: Path) -> Processes:
    """The pids of this state folder's `supervisor`, `launcher`s or `rank`s."""

    def find(kind: str) -> list[int]:
        found = []
        for name in os.listdir("/proc"):
            if name.isdecimal() and _kind(int(name), state_dir) == kind:
                found.append(int(name))
        return found

    return find


def _kind(pid: int, state: Path) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return ""
    if b"jupyter_aiarts.engines.local" in words and os.fsencode(state) in words:
        return "supervisor"
    if any(word.startswith(os.fsencode(state) + b"/") for word in words):
        return "launcher"
    return "rank" if b"AIARTS_POD_ENV=" + os.fsencode(state) in environ else ""
