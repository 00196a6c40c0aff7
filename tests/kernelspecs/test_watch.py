"""New environments are noticed within seconds while somebody looks, and become kernels by themselves where wished."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from jupyter_aiarts import kernelbook, kernelwatch
from jupyter_aiarts.kernelbook import Deed, KernelBook, KernelSettings
from jupyter_aiarts.kernelspecs.tending import stale
from jupyter_aiarts.kernelwatch import KernelWatch
from jupyter_aiarts.model.environment import Registered

from .conftest import make_conda

SOON = 20.0  # seconds that a busy machine is given


class Heard:
    """What a watch tells."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.deeds: list[Deed] = []

    async def next(self) -> None:
        await asyncio.wait_for(self.news.wait(), SOON)
        self.news.clear()


@pytest.fixture
def settings(tmp_path: Path) -> KernelSettings:
    return KernelSettings(directory=str(tmp_path / "shared"))


@pytest.fixture
def book(home: Path, tmp_path: Path, settings: KernelSettings, monkeypatch: pytest.MonkeyPatch) -> KernelBook:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(kernelwatch, "PERIOD", 0.05)
    return KernelBook(settings, environ={})


@pytest_asyncio.fixture
async def watching(book: KernelBook, tmp_path: Path) -> AsyncIterator[Callable[[bool], tuple[KernelWatch, Heard]]]:
    made: list[KernelWatch] = []

    def begin(auto: bool = False) -> tuple[KernelWatch, Heard]:
        heard = Heard()
        memory = tmp_path / "state/kernels.json" if auto else None
        made.append(KernelWatch(book, heard.news.set, heard.deeds.append, memory))
        return made[-1], heard

    yield begin
    for one in made:
        await one.aclose()


Watching = Callable[..., tuple[KernelWatch, Heard]]


async def test_an_environment_that_comes_or_goes_is_told(home: Path, watching: Watching) -> None:
    watch, heard = watching()
    await watch.look()
    assert not heard.news.is_set()
    env = make_conda(home / "miniconda3/envs/train")
    await heard.next()
    shutil.rmtree(env)
    await heard.next()


async def test_one_that_is_named_in_a_list_is_told(home: Path, watching: Watching) -> None:
    env = make_conda(home / "odd/place")
    (home / ".conda").mkdir()
    watch, heard = watching()
    await watch.look()
    (home / ".conda/environments.txt").write_text(f"{env}\n")
    await heard.next()


async def test_one_that_a_new_condarc_names_is_told(
    home: Path, watching: Watching, book: KernelBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though nothing else changed for long."""
    monkeypatch.setattr(kernelbook, "FRESH", 0.0)
    make_conda(home / "odd/place")
    watch, heard = watching()
    await watch.look()
    while await book.has_news():  # the first look makes the marks
        pass
    (home / ".condarc").write_text(f"envs_dirs: ['{home}/odd']\n")
    await heard.next()


async def test_one_that_is_still_being_made_is_told_when_it_is_one(home: Path, watching: Watching) -> None:
    """conda makes the folder first and its records later, which the folder above does not show."""
    envs = home / "miniconda3/envs"
    envs.mkdir(parents=True)
    watch, heard = watching()
    await watch.look()
    (envs / "train").mkdir()
    await asyncio.sleep(0.3)
    assert not heard.news.is_set()
    shutil.copytree(make_conda(home / "elsewhere"), envs / "train", dirs_exist_ok=True, symlinks=True)
    await heard.next()


async def test_a_kernel_that_another_process_registers_is_told(
    home: Path, tmp_path: Path, watching: Watching, settings: KernelSettings
) -> None:
    make_conda(home / "miniconda3/envs/train")
    watch, heard = watching()
    await watch.look()
    await KernelBook(settings, environ={}).register("train", "global")
    await heard.next()


async def test_while_nothing_changes_environments_themselves_are_not_looked_at(
    home: Path, book: KernelBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_conda(home / "miniconda3/envs/train")
    monkeypatch.setattr(kernelbook, "FRESH", 0.0)
    looks = []
    whole = book._look
    monkeypatch.setattr(book, "_look", lambda: looks.append(1) or whole())
    for _ in range(20):
        assert not await book.has_news()
    assert len(looks) <= 3  # the first one makes the marks, the second may see that they are there now


async def test_nobody_looks_and_nothing_runs(watching: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernelwatch, "WATCHED", 0.1)
    watch, _ = watching()
    await watch.look()
    assert watch._task is not None
    await asyncio.wait_for(asyncio.shield(watch._task), SOON)


# -- by itself -----------------------------------------------------------------------------------------------------


async def test_new_environments_become_kernels_and_are_told(home: Path, book: KernelBook, watching: Watching) -> None:
    watch, heard = watching(auto=True)
    await watch.look()
    env = make_conda(home / "miniconda3/envs/训练 'a'")
    make_conda(home / "miniconda3/envs/plain", ("python-3.11.4-h1",))
    await heard.next()
    while not [deed for deed in heard.deeds if deed.path == str(env)]:
        await heard.next()
    [deed] = [deed for deed in heard.deeds if deed.path.startswith(str(home))]
    assert (deed.action, deed.path, deed.scope, deed.problem) == ("register-kernel", str(env), "global", "")
    shown = {one.name: one.registered for one in await book.all() if one.path.startswith(str(home))}
    assert shown == {"训练 'a'": "global", "plain": None}


async def test_what_was_unregistered_stays_so_and_what_is_made_anew_is_new(
    home: Path, book: KernelBook, tmp_path: Path
) -> None:
    memory = tmp_path / "state/kernels.json"
    env = make_conda(home / "miniconda3/envs/train")
    (home / "miniconda3/envs/.conda_envs_dir_test").touch()
    mine = lambda deeds: [(deed.action, deed.problem) for deed in deeds if deed.path == str(env)]  # noqa: E731
    assert mine(await book.tend(memory)) == [("register-kernel", "")]
    await book.unregister("train")
    assert mine(await book.tend(memory)) == []
    shutil.rmtree(env)
    assert mine(await book.tend(memory)) == []
    make_conda(env)
    assert mine(await book.tend(memory)) == [("register-kernel", "")]
    assert str(env) in json.loads(memory.read_text())


async def test_a_kernel_whose_environment_was_removed_goes_with_a_word(
    home: Path, book: KernelBook, tmp_path: Path
) -> None:
    memory = tmp_path / "state/kernels.json"
    env = make_conda(home / "miniconda3/envs/train")
    (home / "miniconda3/envs/.conda_envs_dir_test").touch()
    await book.tend(memory)
    shutil.rmtree(env)
    [deed] = [deed for deed in await book.tend(memory) if deed.path == str(env)]
    assert (deed.action, deed.problem) == ("unregister-kernel", "")
    assert [one.name for one in await book.all() if one.path == str(env)] == []


def test_an_environment_on_a_disk_that_is_away_is_not_taken_for_removed(tmp_path: Path) -> None:
    (tmp_path / "mount").mkdir()
    kernels = [
        Registered(spec="a", display_name="", folder="", prefix=str(tmp_path / "mount/train"), scope="global"),
        Registered(spec="b", display_name="", folder="", prefix=str(tmp_path / "not/mounted/envs/x"), scope="global"),
    ]
    assert stale(kernels) == []
    (tmp_path / "mount/other").mkdir()
    assert [one.spec for one in stale(kernels)] == ["a"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_an_environment_of_somebody_else_is_not_made_a_kernel_by_itself(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, book: KernelBook
) -> None:
    env = make_conda(home / "miniconda3/envs/theirs")
    os.chown(env, 65534, 65534)
    memory = tmp_path / "state/kernels.json"
    assert [deed for deed in await book.tend(memory) if deed.path == str(env)] == []
    named = KernelBook(KernelSettings(directory=str(tmp_path / "shared"), folders=(str(env.parent),)), environ={})
    assert [deed.problem for deed in await named.tend(memory) if deed.path == str(env)] == [""]


async def test_what_cannot_be_written_is_told_once_and_tried_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watching: Watching
) -> None:
    """A shared folder in whose place there is a file: nobody can write there, not even root."""
    (tmp_path / "shared").write_text("")
    (tmp_path / "data").write_text("")
    make_conda(home / "miniconda3/envs/train")
    watch, heard = watching(auto=True)
    await watch.look()
    for number in range(3):
        make_conda(home / f"miniconda3/envs/more-{number}", ())
        await heard.next()
    assert [bool(deed.problem) for deed in heard.deeds if deed.path.endswith("/train")] == [True]
    (tmp_path / "shared").unlink()
    make_conda(home / "miniconda3/envs/last", ())
    while not [deed for deed in heard.deeds if deed.path.endswith("/train") and not deed.problem]:
        await heard.next()
