"""A kernel that its environment no longer offers is told as that, in the list and by the doctor; `repair` mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_aiarts.kernelbook import KernelBook
from jupyter_aiarts.model.environment import ShownKernel

from .conftest import make_conda
from .test_own_kernels import R, brought

IPYKERNEL = "conda-meta/ipykernel-6.29.0-py_0.json"


@pytest.fixture
def env(home: Path) -> Path:
    """One with ipykernel and a kernel of R."""
    path = make_conda(
        home / "miniconda3/envs/train", ("python-3.11.4-h1", "ipykernel-6.29.0-py_0", "r-irkernel-1.3-h0")
    )
    brought(path, "ir", R)
    (path / "bin/R").write_text("#!/bin/sh\n")
    (path / "bin/R").chmod(0o755)
    return path


async def listed(book: KernelBook) -> ShownKernel:
    [one] = [one for one in await book.all() if one.name == "train"]
    return one


def codes(one: ShownKernel) -> list[str]:
    return [problem.code for problem in one.problems]


async def repaired(book: KernelBook) -> list[str]:
    return [line async for line in book.repair("train")]


async def test_pythons_kernel_without_ipykernel_is_told_though_r_has_its_own(book: KernelBook, env: Path) -> None:
    await book.register("train", "user")
    (env / IPYKERNEL).rename(env / "conda-meta/pip-24.0-py_0.json")
    (env / "bin/python").unlink()
    (env / "bin/python").write_text(f'#!/bin/sh\necho installing\ntouch "{env}/{IPYKERNEL}"\n')
    (env / "bin/python").chmod(0o755)
    assert codes(await listed(book)) == codes(await book.doctor("train")) == ["ipykernel-missing"]
    said = await repaired(book)
    assert said[0] == "installing" and len(said) == 3 and all("written again" in line for line in said[1:])
    assert codes(await listed(book)) == []


async def test_an_environment_whose_r_alone_is_a_kernel_needs_no_ipykernel(book: KernelBook, env: Path) -> None:
    (env / IPYKERNEL).unlink()
    one = await book.register("train", "user")
    assert (len(one.specs), codes(await listed(book)), codes(await book.doctor("train"))) == (1, [], [])


@pytest.mark.parametrize("scopes", [("user",), ("global",), ("user", "global")])
async def test_rs_kernel_whose_package_was_removed_is_told_and_repair_removes_it(
    book: KernelBook, env: Path, scopes: tuple[str, ...]
) -> None:
    for scope in scopes:
        one = await book.register("train", scope)
    (env / "conda-meta/r-irkernel-1.3-h0.json").unlink()
    (env / "share/jupyter/kernels/ir/kernel.json").unlink()
    shown = await listed(book)
    assert codes(shown) == ["environment-gone"] and "ir" in shown.problems[0].title
    assert shown.problems[0].actions[0].command == f"aiarts kernels unregister {one.specs[1]}"
    assert "environment-gone" in codes(await book.doctor("train"))
    said = await repaired(book)
    assert [line for line in said if "removed" in line] == [f"{one.specs[1]}: removed, because ir is gone."] * len(
        scopes
    )
    assert (codes(await listed(book)), (await listed(book)).specs) == ([], (one.specs[0],) * len(scopes))


async def test_one_that_only_cannot_be_read_is_not_called_gone(book: KernelBook, env: Path) -> None:
    await book.register("train", "user")
    (env / "conda-meta/r-irkernel-1.3-h0.json").unlink()
    (env / "share/jupyter/kernels/ir/kernel.json").write_text("{")
    assert codes(await listed(book)) == []
    assert not [line for line in await repaired(book) if "removed" in line]


async def test_the_last_kernel_of_an_environment_goes_without_a_word_about_what_it_lacks(
    book: KernelBook, env: Path
) -> None:
    """There is nothing left of which a kernel could be made."""
    (env / IPYKERNEL).unlink()
    (env / "bin/python").unlink()
    (env / "conda-meta/python-3.11.4-h1.json").unlink()
    for folder in (env / "lib").iterdir():
        (folder / "site-packages").rmdir()
        folder.rmdir()
    await book.register("train", "user")
    (env / "conda-meta/r-irkernel-1.3-h0.json").unlink()
    (env / "share/jupyter/kernels/ir/kernel.json").unlink()
    assert "environment-gone" in codes(await listed(book))
    assert len(await repaired(book)) == 1
    assert (await listed(book)).specs == ()
