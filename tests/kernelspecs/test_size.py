"""How large an environment is: told when asked, files with several names once, and looking can be ended."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from jupyter_aiarts.kernelbook import KernelBook, KernelSettings
from jupyter_aiarts.kernelspecs import size

from .conftest import make_conda


def test_what_its_files_take_is_counted_once_and_links_are_not_followed(tmp_path: Path) -> None:
    env = make_conda(tmp_path / "train")
    (env / "lib/big.so").write_bytes(b"x" * 1_000_000)
    os.link(env / "lib/big.so", env / "lib/same.so")
    (env / "lib/circle").symlink_to(env)
    (tmp_path / "outside").write_bytes(b"x" * 5_000_000)
    (env / "lib/out").symlink_to(tmp_path / "outside")
    found = size.size_of(str(env), threading.Event())
    assert found.complete and 1_000_000 <= found.bytes < 2_000_000


def test_looking_ends_when_nobody_waits_or_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3000):
        (tmp_path / str(number)).touch()
    told = threading.Event()
    told.set()
    assert not size.size_of(str(tmp_path), told).complete
    monkeypatch.setattr(size, "SECONDS", 0.0)
    assert not size.size_of(str(tmp_path), threading.Event()).complete


async def test_whoever_waits_no_more_ends_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_conda(home / "miniconda3/envs/train")
    monkeypatch.setenv("HOME", str(home))
    begun, ended = threading.Event(), threading.Event()

    def slow(path: str, cancelled: threading.Event) -> None:
        begun.set()
        assert cancelled.wait(30)
        ended.set()

    monkeypatch.setattr(size, "size_of", slow)
    asked = asyncio.ensure_future(KernelBook(KernelSettings(), environ={}).size("train"))
    assert await asyncio.to_thread(begun.wait, 30)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert await asyncio.to_thread(ended.wait, 30)
