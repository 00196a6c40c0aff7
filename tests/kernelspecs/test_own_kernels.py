"""Kernels that an environment brings itself (R, Julia) are registered beside its Python and start activated."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from jupyter_aiarts.errors import BadRequest, NotAllowed
from jupyter_aiarts.kernelbook import KernelBook, KernelSettings
from jupyter_aiarts.kernelspecs.install import SAME_FOR_ALL

from .conftest import make_conda
from .test_start import said, started

R = {
    "argv": ["R", "--slave", "-e", "IRkernel::main()", "--args", "{connection_file}"],
    "display_name": "R",
    "language": "R",
    "env": {"R_SAYS": "{odd}"},
    "interrupt_mode": "signal",
}


def brought(env: Path, name: str, spec: Any) -> None:
    """A kernelspec as an environment's packages leave it."""
    folder = env / "share/jupyter/kernels" / name
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(spec if isinstance(spec, str) else json.dumps(spec))


async def test_both_are_registered_shown_as_one_and_removed_together(
    book: KernelBook, home: Path, tmp_path: Path
) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    brought(env, "ir", R)
    one = await book.register("train", "global")
    assert len(one.specs) == 2 and one.spec == one.specs[0] and one.kernels == ("ir",)
    found = KernelSpecManager(kernel_dirs=[str(tmp_path / "shared")]).get_all_specs()
    assert {name: spec["spec"]["language"] for name, spec in found.items() if name in one.specs} == {
        one.specs[0]: "python",
        one.specs[1]: "R",
    }
    spec = found[one.specs[1]]["spec"]
    assert spec["display_name"] == "R – train (conda)" and spec["env"] == {"R_SAYS": "{odd}"}
    assert (tmp_path / "shared" / one.specs[1] / "logo-svg.svg").read_text().startswith("<svg")
    await book.unregister(one.specs[1])
    assert [each.specs for each in await book.all() if each.name == "train"] == [(one.specs[0],)]
    await book.register("train", "global")
    await book.unregister("train")
    assert os.listdir(tmp_path / "shared") == []


async def test_an_environment_without_python_has_its_own_alone_and_nothing_is_wrong_with_it(
    book: KernelBook, home: Path
) -> None:
    env = make_conda(home / "miniconda3/envs/r", ("r-base-4.3.1-h2",))
    (env / "bin/python").unlink()
    for folder in (env / "lib").iterdir():
        (folder / "site-packages").rmdir()
        folder.rmdir()
    brought(env, "ir", R)
    one = await book.register("r", "user")
    assert (one.python, len(one.specs), one.problems) == (None, 1, ())
    [problem] = (await book.doctor("r")).problems
    assert (problem.code, problem.title) == ("python-gone", "The program of its kernel ir is not there")
    (env / "bin").mkdir(exist_ok=True)
    (env / "bin/R").write_text("#!/bin/sh\n")
    (env / "bin/R").chmod(0o755)
    assert (await book.doctor("r")).problems == ()


BROKEN = ["{", "[]", '{"argv": "R"}', '{"argv": []}', '{"argv": ["R"], "env": 7}', '{"display_name": "R"}']


@pytest.mark.parametrize("text", BROKEN)
async def test_a_broken_one_is_passed_over(book: KernelBook, home: Path, text: str) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    brought(env, "ir", text)
    assert len((await book.register("train", "user")).specs) == 1


async def test_a_pipe_in_its_place_holds_nobody_up(book: KernelBook, home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/r", ("r-base-4.3.1-h2",))
    (env / "share/jupyter/kernels/ir").mkdir(parents=True)
    os.mkfifo(env / "share/jupyter/kernels/ir/kernel.json")
    (env / "bin/python").unlink()
    for folder in (env / "lib").iterdir():
        (folder / "site-packages").rmdir()
        folder.rmdir()
    with pytest.raises(BadRequest, match="no Python"):
        await book.register("r", "user")


async def test_it_starts_activated_by_its_own_words(book: KernelBook, home: Path, tmp_path: Path) -> None:
    """A program called R in the environment that is a kernel of Python, for want of an R; found by PATH alone."""
    env = make_conda(home / "miniconda3/envs/训练 {x}")
    program = env / "bin/R"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ipykernel_launcher -f "$5"\n')
    program.chmod(0o755)
    brought(env, "ir", R)
    one = await book.register("训练 {x}", "global")
    specs = KernelSpecManager(kernel_dirs=[str(tmp_path / "shared")])
    manager = AsyncKernelManager(kernel_name=one.specs[1], kernel_spec_manager=specs)
    client = await started(manager, tmp_path)
    try:
        line = "import os; print(os.environ['CONDA_PREFIX'], os.environ['R_SAYS'])"
        assert await said(client, line) == f"{env} {{odd}}"
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


async def test_kernels_that_were_registered_into_an_environment_are_not_its_own(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Jupyter's own images, where the shared folder is the base environment's."""
    base = make_conda(home / "miniconda3")
    make_conda(base / "envs/train")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    book = KernelBook(KernelSettings(directory=str(base / "share/jupyter/kernels")), environ={})
    train = await book.register("train", "global")
    for _ in range(2):
        one = await book.register("miniconda3", "global")
        assert (len(one.specs), one.kernels) == (1, ())
    assert sorted(os.listdir(base / "share/jupyter/kernels")) == sorted([str(train.spec), str(one.spec)])


LEFT = [{"argv": ["{python}", "-m", "ipykernel_launcher"]}, {"argv": ["/another/bin/python", "-m", "ipykernel"]}, {}]


@pytest.mark.parametrize("spec", LEFT)
async def test_what_only_looks_like_a_kernel_does_not_hide_that_ipykernel_is_missing(
    book: KernelBook, home: Path, tmp_path: Path, spec: dict[str, list[str]]
) -> None:
    """As `ipykernel install --prefix` of another environment leaves one, and removing ipykernel its own."""
    env = make_conda(home / "miniconda3/envs/train", ("python-3.11.4-h1",))
    brought(env, "left", json.loads(json.dumps(spec).replace("{python}", f"{env}/bin/python")))
    [one] = [one for one in await book.all() if one.name == "train"]
    assert (one.kernels, [problem.code for problem in one.problems]) == ((), ["ipykernel-missing"])
    await book.tend(tmp_path / "kernels.json")
    assert [one.registered for one in await book.all() if one.name == "train"] == [None]


async def test_a_second_kernel_of_its_python_is_kept_where_ipykernel_is(book: KernelBook, home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    brought(env, "spark", {"argv": [f"{env}/bin/python", "-m", "ipykernel_launcher"], "env": {"SPARK_HOME": "/s"}})
    assert len((await book.register("train", "user")).specs) == 2


async def test_where_one_is_refused_none_is_registered(book: KernelBook, home: Path, tmp_path: Path) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    brought(env, "ir", R)
    one = await book.register("train", "global")
    await book.unregister("train")
    (tmp_path / "shared" / one.specs[1]).mkdir()
    with pytest.raises(BadRequest, match="not ours"):
        await book.register("train", "global")
    assert os.listdir(tmp_path / "shared") == [one.specs[1]]


async def test_a_disk_that_is_full_at_the_second_leaves_none_of_them(
    book: KernelBook, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought(make_conda(home / "miniconda3/envs/train"), "ir", R)
    copied, copy = [], shutil.copyfile

    def full(source: object, target: object) -> object:
        copied.append(target)
        if len(copied) > len(SAME_FOR_ALL):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        return copy(source, target)

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(NotAllowed, match="Nothing was changed"):
        await book.register("train", "user")
    assert os.listdir(tmp_path / "data/kernels") == []


OTHERS = [
    ("{other}/bin/python", 1),  # `ipykernel install --sys-prefix --name other`
    ("{env}/lib/R/bin/R", 2),
    ("{link}/envs/train/lib/R/bin/R", 2),
    ("/bin/sh", 2),
    ("R", 2),
]


@pytest.mark.parametrize(("program", "kernels"), OTHERS)
async def test_a_kernel_of_another_environment_is_not_this_ones(
    book: KernelBook, home: Path, program: str, kernels: int
) -> None:
    env, other = make_conda(home / "miniconda3/envs/train"), make_conda(home / "miniconda3/envs/other")
    (home / "link").symlink_to(home / "miniconda3")
    (env / "lib/R/bin").mkdir(parents=True)
    brought(env, "ir", {**R, "argv": [program.format(env=env, other=other, link=home / "link"), "{connection_file}"]})
    assert len((await book.register("train", "user")).specs) == kernels


async def test_a_kernel_of_ours_under_another_name_is_not_an_environments_own(book: KernelBook, home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    brought(env, "mine", {**R, "metadata": {"jupyter_aiarts": {"prefix": "/else"}}})
    assert len((await book.register("train", "user")).specs) == 1
