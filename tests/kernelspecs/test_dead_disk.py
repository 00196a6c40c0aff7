"""A disk that does not answer keeps environments from being listed, says so, and holds up nothing else."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_aiarts import kernelthreads, kernelwatch
from jupyter_aiarts.errors import Unavailable
from jupyter_aiarts.kernelbook import KernelBook
from jupyter_aiarts.kernelwatch import KernelWatch

from .conftest import make_conda

ASKERS = 50


class Disk:
    """One that hangs whoever looks at it, as a hard-mounted export of a dead server does."""

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.asked = threading.Event()
        self.waiting = 0


@pytest.fixture
def disk(home: Path, book: KernelBook, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """Somebody's list names an environment there."""
    monkeypatch.setattr(kernelthreads, "PATIENCE", 0.3)
    make_conda(home / "miniconda3/envs/train")
    (home / ".conda").mkdir()
    (home / ".conda/environments.txt").write_text("/net/dead/envs/x\n")
    dead, real = Disk(), os.path.realpath

    def hanging(path: str, **more: bool) -> str:
        if str(path).startswith("/net/dead"):
            dead.waiting += 1
            dead.asked.set()
            dead.answers.wait()
        return real(path, **more)

    monkeypatch.setattr("os.path.realpath", hanging)
    yield dead
    dead.answers.set()


async def test_whoever_asks_is_told_and_the_servers_other_threads_are_free(book: KernelBook, disk: Disk) -> None:
    told = await asyncio.gather(*(book.all() for _ in range(ASKERS)), return_exceptions=True)
    assert {type(one) for one in told} == {Unavailable}
    assert "does not answer" in str(told[0]) and "没有响应" in told[0].as_dict("zh")["message"]  # type: ignore[union-attr]
    for act in (book.register("train", "user"), book.doctor("train"), book.folder_of("train"), book.has_news()):
        with pytest.raises(Unavailable):
            await act
    ours = [one for one in threading.enumerate() if one.name.startswith("aiarts-kernels")]
    assert len(ours) <= 8
    await asyncio.wait_for(asyncio.gather(*(asyncio.to_thread(os.getpid) for _ in range(ASKERS))), 20)


async def test_when_it_answers_again_all_is_as_before(
    book: KernelBook, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Unavailable):
        await book.all()
    monkeypatch.setattr(kernelthreads, "PATIENCE", 60.0)
    disk.answers.set()
    assert "train" in [one.name for one in await book.all()]


async def test_a_watch_says_so_once_and_goes_on(
    book: KernelBook, disk: Disk, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kernelwatch, "PERIOD", 0.01)
    looks, news, several = [], asyncio.Event(), asyncio.Event()
    look = book.has_news

    async def counted() -> bool:
        looks.append(1)
        if len(looks) > 5:
            several.set()
        return await look()

    monkeypatch.setattr(book, "has_news", counted)
    watch = KernelWatch(book, news.set, lambda deed: None)
    try:
        await asyncio.wait_for(watch.look(), 60)
        await asyncio.wait_for(several.wait(), 60)
        assert len([one for one in caplog.records if "does not answer" in one.getMessage()]) == 1
        monkeypatch.setattr(kernelthreads, "PATIENCE", 60.0)
        disk.answers.set()
        await book.all()
        seen = len(looks)
        while len(looks) < seen + 2:  # one may have begun before
            await asyncio.sleep(0.01)
        make_conda(home / "miniconda3/envs/more")
        await asyncio.wait_for(news.wait(), 60)
    finally:
        await watch.aclose()
