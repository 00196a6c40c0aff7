"""What every door does with kernels: named by folder, name or kernel; told in words; repaired; orphans cleaned up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_aiarts.errors import AiartsError, BadRequest, NotFound
from jupyter_aiarts.kernelbook import KernelBook, KernelSettings

from .conftest import make_conda


@pytest.fixture
def book(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelBook:
    """A book over one home, whose kernels go to folders of the test."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    settings = KernelSettings(directory=str(tmp_path / "shared"))
    return KernelBook(settings, environ={})


def codes(one: object) -> list[str]:
    return [problem.code for problem in one.problems]  # type: ignore[attr-defined]


async def test_an_environment_is_registered_by_its_name_and_seen_as_such(book: KernelBook, home: Path) -> None:
    make_conda(home / "miniconda3/envs/训练")
    one = await book.register("训练", "global")
    assert one.registered == "global" and one.spec is not None
    [listed] = [each for each in await book.all() if each.name == "训练"]
    assert (listed.spec, listed.registered, listed.display_name, codes(listed)) == (
        one.spec,
        "global",
        "训练 (conda)",
        [],
    )


@pytest.mark.parametrize("by", ["name", "path", "spec"])
async def test_it_is_unregistered_by_whatever_names_it(book: KernelBook, home: Path, by: str) -> None:
    make_conda(home / "miniconda3/envs/train")
    one = await book.register("train", "user")
    await book.unregister({"name": one.name, "path": one.path, "spec": str(one.spec)}[by])
    assert [each.registered for each in await book.all() if each.name == "train"] == [None]


async def test_a_name_that_means_two_is_refused_with_both_paths(book: KernelBook, home: Path) -> None:
    for root in ("miniconda3", "miniforge3"):
        make_conda(home / root / "envs/train")
    with pytest.raises(BadRequest) as caught:
        await book.register("train", "user")
    assert "miniconda3" in str(caught.value) and "miniforge3" in str(caught.value)


@pytest.mark.parametrize("which", ["nobody", "/etc", "/no/such/folder", "../..", "a\0b", ""])
async def test_what_is_no_environment_is_not_found(book: KernelBook, which: str) -> None:
    with pytest.raises(NotFound):
        await book.register(which, "user")


async def test_a_venv_that_was_registered_is_listed_from_then_on(book: KernelBook, tmp_path: Path) -> None:
    path = tmp_path / "my venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True)
    await book.register(str(path), "user")
    assert str(path) in [one.path for one in await book.all()]


async def test_a_kernel_whose_environment_is_gone_is_told_and_repair_removes_it(book: KernelBook, home: Path) -> None:
    path = make_conda(home / "miniconda3/envs/train")
    one = await book.register("train", "global")
    shutil.rmtree(path)
    [orphan] = [each for each in await book.all("zh") if each.spec == one.spec]
    assert codes(orphan) == ["environment-gone"] and orphan.problems[0].title == "环境已不存在"
    said = [line async for line in book.repair(str(one.spec))]
    assert "removed" in said[0]
    assert [each for each in await book.all() if each.spec == one.spec] == []


async def test_what_its_files_tell_is_in_the_list(book: KernelBook, home: Path) -> None:
    make_conda(home / "miniconda3/envs/bare", ("python-3.11.4-h1",))
    broken = make_conda(home / "miniconda3/envs/broken")
    (broken / "bin/python").unlink()
    (broken / "bin/python").symlink_to("/gone/python")
    seen = {one.name: one for one in await book.all()}
    assert codes(seen["bare"]) == ["ipykernel-missing"]
    assert codes(seen["broken"]) == ["python-gone"] and "/gone/python" in seen["broken"].problems[0].evidence[0]


def program(path: Path, text: bytes) -> None:
    path.unlink()
    path.write_bytes(text)
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"#!/bin/sh\necho 'no libpython' >&2\nexit 3\n", "python-broken"),
        (b"\x7fELF\x02\x01\x01\x00" + bytes(8) + b"\x02\x00\xf3\x00" + bytes(100), "python-wrong-arch"),
        (
            b"#!/bin/sh\nprintf 'cv2\\tlibGL.so.1: cannot open shared object file: No such file or directory\\n'\n",
            "library-missing",
        ),
        (b"#!/bin/sh\nprintf 'ipykernel\\tNo module named ipykernel\\n'\n", "ipykernel-missing"),
    ],
)
async def test_a_doctor_asks_the_environments_own_python(book: KernelBook, home: Path, text: bytes, code: str) -> None:
    path = make_conda(home / "miniconda3/envs/train")
    program(path / "bin/python", text)
    one = await book.doctor("train")
    assert codes(one) == [code] and one.problems[0].title


async def test_a_python_that_hangs_is_not_waited_for(
    book: KernelBook, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jupyter_aiarts.kernelspecs import health

    monkeypatch.setattr(health, "SECONDS", 0.3)
    program(make_conda(home / "miniconda3/envs/train") / "bin/python", b"#!/bin/sh\nexec sleep 1000\n")
    assert codes(await book.doctor("train")) == ["python-hangs"]


async def test_a_failed_install_says_which_command_and_what_it_said(book: KernelBook, home: Path) -> None:
    path = make_conda(home / "miniconda3/envs/train", ("python-3.11.4-h1",))
    program(path / "bin/python", b"#!/bin/sh\necho Looking\necho 'ERROR: no network' >&2\nexit 1\n")
    lines = []
    with pytest.raises(AiartsError) as caught:
        async for line in book.repair("train"):
            lines.append(line)
    assert lines == ["Looking", "ERROR: no network"]
    assert "no network" in str(caught.value) and "-m pip install" in caught.value.hint


async def test_an_installer_nobody_listens_to_any_more_is_ended(book: KernelBook, home: Path, tmp_path: Path) -> None:
    path = make_conda(home / "miniconda3/envs/train", ("python-3.11.4-h1",))
    program(path / "bin/python", f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\necho begun\nexec sleep 1000\n'.encode())
    lines = book.repair("train")
    assert await anext(lines) == "begun"
    await lines.aclose()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_two_hundred_environments_are_listed(book: KernelBook, home: Path) -> None:
    for number in range(200):
        make_conda(home / f"miniconda3/envs/env-{number}")
    assert len([one for one in await book.all() if one.path.startswith(str(home))]) == 200
