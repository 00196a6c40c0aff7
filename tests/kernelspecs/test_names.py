"""Which environment a name means: one's own, then everybody's; somebody else's only by its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_aiarts import kernelbook
from jupyter_aiarts.errors import BadRequest
from jupyter_aiarts.kernelbook import KernelBook, KernelSettings

from .conftest import make_conda

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
ALICE = 64001


@pytest.fixture
def hers(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Her installation, with an environment in it; her home is one of this machine's."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(kernelbook, "homes", lambda everybody: [str(home), str(tmp_path / "alice")])
    root = tmp_path / "alice/miniconda3"
    for path in (root, root / "envs/torch"):
        make_conda(path)
    (root / "condabin").mkdir()
    for path in (root, *root.rglob("*")):
        os.chown(path, ALICE, ALICE, follow_symlinks=False)
    return root


@pytest.fixture
def book(hers: Path, tmp_path: Path) -> KernelBook:
    return KernelBook(KernelSettings(directory=str(tmp_path / "shared")), environ={})


async def test_ones_own_is_meant_though_a_neighbour_calls_hers_the_same(book: KernelBook, home: Path) -> None:
    mine = make_conda(home / "miniconda3/envs/torch")
    make_conda(home / "miniconda3")
    assert (await book.register("torch", "user")).path == str(mine)
    assert await book.folder_of("torch") == str(mine)
    assert await book.folder_of("miniconda3") == str(home / "miniconda3")


async def test_a_neighbours_is_used_only_where_its_folder_is_given(book: KernelBook, hers: Path) -> None:
    folder = str(hers / "envs/torch")
    for asked in (book.register("torch", "user"), book.folder_of("torch"), book.doctor("torch")):
        with pytest.raises(BadRequest) as caught:
            await asked
        assert folder in caught.value.hint and str(ALICE) in str(caught.value)
        assert folder in caught.value.as_dict("zh")["hint"]
    with pytest.raises(BadRequest):
        await anext(book.repair("torch"))
    assert (await book.size("torch")).path == folder
    assert await book.folder_of(folder) == folder


async def test_what_is_in_a_folder_that_the_admin_named_is_everybodys(hers: Path, tmp_path: Path) -> None:
    settings = KernelSettings(directory=str(tmp_path / "shared"), folders=(str(hers / "envs"),))
    assert await KernelBook(settings, environ={}).folder_of("torch") == str(hers / "envs/torch")


async def test_base_is_ones_own_installation(book: KernelBook, home: Path) -> None:
    make_conda(home / "miniforge3/envs/torch")
    base = make_conda(home / "miniforge3")
    (base / "condabin").mkdir()
    assert await book.folder_of("base") == str(base)
