"""A kernel whose environment is gone is named by all that a list shows of it, and by what its start says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from jupyter_aiarts.errors import BadRequest, NotFound
from jupyter_aiarts.kernel.kernels import kernels_text
from jupyter_aiarts.kernel.terminal import Style
from jupyter_aiarts.kernelbook import KernelBook

from .conftest import make_conda
from .test_own_kernels import R, brought


async def left(book: KernelBook, env: Path) -> str:
    """The kernel that an environment leaves behind."""
    one = await book.register(str(env), "global")
    shutil.rmtree(env)
    return str(one.spec)


@pytest.mark.parametrize("by", ["name", "folder", "spec"])
@pytest.mark.parametrize("act", ["unregister", "repair"])
async def test_it_is_removed_by_whatever_the_list_shows_of_it(
    book: KernelBook, home: Path, tmp_path: Path, by: str, act: str
) -> None:
    env = make_conda(home / "miniconda3/envs/训练 it's")
    brought(env, "ir", R)
    spec = await left(book, env)
    which = {"name": env.name, "folder": str(env), "spec": spec}[by]
    assert [problem.code for problem in (await book.doctor(which)).problems] == ["environment-gone"]
    if act == "unregister":
        await book.unregister(which)
    else:
        assert all("removed" in line for line in [line async for line in book.repair(which)])
    kept = [name for name in os.listdir(tmp_path / "shared") if not name.startswith(".")]
    assert len(kept) == (1 if by == "spec" else 0)  # by its own name it is that one alone


async def test_two_of_one_name_are_told_apart_by_their_kernels(book: KernelBook, home: Path) -> None:
    specs = [await left(book, make_conda(home / root / "envs/train")) for root in ("miniconda3", "miniforge3")]
    with pytest.raises(BadRequest) as caught:
        await book.unregister("train")
    assert all(spec in str(caught.value) for spec in specs)
    await book.unregister(str(home / "miniconda3/envs/train"))
    assert (await book.unregister("train")).spec == specs[1]


async def test_one_that_is_there_comes_before_one_that_is_gone(book: KernelBook, home: Path) -> None:
    await left(book, make_conda(home / "miniconda3/envs/train"))
    there = make_conda(home / "miniforge3/envs/train")
    assert (await book.doctor("train")).path == str(there)


async def test_no_job_runs_in_one_that_is_gone_because_of_its_name(book: KernelBook, home: Path) -> None:
    """Its folder may be somebody else's tomorrow."""
    await left(book, make_conda(home / "miniconda3/envs/train"))
    with pytest.raises(NotFound, match="is gone"):
        await book.folder_of("train")


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_the_list_shows_the_kernels_own_name(book: KernelBook, home: Path, lang: str) -> None:
    spec = await left(book, make_conda(home / "miniconda3/envs/train"))
    text = kernels_text(msgspec.to_builtins(await book.all(lang)), Style(lang=lang))
    assert spec in text


@pytest.mark.parametrize("name", ["train", "it's {x} 训练", "-rf $(x)"])
@pytest.mark.parametrize("how", ["gone", "script"])
async def test_what_a_start_that_fails_advises_can_be_typed_and_means_that_kernel(
    book: KernelBook, home: Path, tmp_path: Path, name: str, how: str
) -> None:
    """Also where another environment has the same name."""
    env, twin = make_conda(home / "miniconda3/envs" / name), make_conda(home / "miniforge3/envs" / name)
    one = await book.register(str(env), "global")
    if how == "gone":
        shutil.rmtree(env)
    else:
        (env / "etc/conda/activate.d").mkdir(parents=True)
        (env / "etc/conda/activate.d/licence.sh").write_text("exit 3\n")
    words = ["/bin/sh", str(tmp_path / "shared" / str(one.spec) / "start.sh"), "python", "kernel.py"]
    said = subprocess.run(words, capture_output=True, text=True, timeout=60).stderr
    [line] = re.findall(r": (aiarts kernels doctor .*)$", said, re.MULTILINE)
    which = shlex.split(line)[3:]
    assert which == [one.spec]
    examined = await book.doctor(which[0])
    assert examined.path == str(env) != str(twin)
    if how == "gone":
        assert [problem.code for problem in examined.problems] == ["environment-gone"]
