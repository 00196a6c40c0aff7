"""What every door does with kernels: named by folder, name or kernel; told in words; repaired; orphans cleaned up."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
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
    assert (
        orphan.kind == "gone" and codes(orphan) == ["environment-gone"] and orphan.problems[0].title == "环境已不存在"
    )
    said = [line async for line in book.repair(str(one.spec))]
    assert "removed" in said[0]
    assert [each for each in await book.all() if each.spec == one.spec] == []


async def test_a_kernel_whose_folder_is_still_there_is_never_removed(
    book: KernelBook, home: Path, tmp_path: Path
) -> None:
    """Its records may be lost, or a disk may have failed for a moment."""
    path = make_conda(home / "miniconda3/envs/train")
    one = await book.register("train", "global")
    (path / "conda-meta").rename(path / "lost")
    for lang, title in (("en", "No environment is seen"), ("zh", "看不到环境")):
        [shown] = [each for each in await book.all(lang) if each.spec == one.spec]
        assert shown.kind == "unmarked" and codes(shown) == ["environment-gone"] and title in shown.problems[0].title
    with pytest.raises(BadRequest, match="no environment is seen in it"):
        async for _ in book.repair(str(one.spec)):
            pass
    await book.tend(tmp_path / "kernels.json")
    assert (tmp_path / "shared" / str(one.spec)).is_dir()


async def test_ones_own_and_everybodys_are_written_again_together_and_removed_one_by_one(
    book: KernelBook, home: Path, tmp_path: Path
) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    one = await book.register("train", "global")
    await book.register("train", "user")
    places = [tmp_path / "shared" / str(one.spec), tmp_path / "data/kernels" / str(one.spec)]
    for place in places:
        (place / "start.sh").write_text("old")
    assert [line async for line in book.repair("train")] == [f"{one.spec}: written again."] * 2
    assert [place.joinpath("start.sh").read_text() == "old" for place in places] == [False, False]
    for scope in ("user", "global"):
        [shown] = [each for each in await book.all() if each.path == str(env)]
        assert (shown.registered, (await book.unregister("train")).scope) == (scope, scope)
    assert [place.exists() for place in places] == [False, False]


async def test_one_whose_folder_was_moved_and_linked_is_not_gone(book: KernelBook, home: Path) -> None:
    make_conda(home / "miniconda3/envs/train")
    one = await book.register("train", "user")
    (home / "miniconda3").rename(home / "data")
    (home / "miniconda3").symlink_to(home / "data")
    [shown] = [each for each in await book.all() if each.name == "train"]
    assert (shown.spec, shown.path) == (one.spec, str(home / "data/envs/train"))
    said = [line async for line in book.repair(str(one.spec))]
    assert said and not any("gone" in line for line in said)
    assert one.spec in [spec for each in await book.all() for spec in each.specs]


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


async def test_a_failed_install_says_which_command_and_what_it_said(book: KernelBook, home: Path) -> None:
    path = make_conda(home / "miniconda3/envs/train", ("python-3.11.4-h1", "pip-24.0-py_0"))
    program(path / "bin/python", b"#!/bin/sh\necho Looking\necho 'ERROR: no network' >&2\nexit 1\n")
    lines = []
    with pytest.raises(AiartsError) as caught:
        async for line in book.repair("train"):
            lines.append(line)
    assert lines == ["Looking", "ERROR: no network"]
    assert "no network" in str(caught.value) and "-m pip install" in caught.value.hint


async def test_an_installer_nobody_listens_to_any_more_is_ended(book: KernelBook, home: Path, tmp_path: Path) -> None:
    path = make_conda(home / "miniconda3/envs/train", ("python-3.11.4-h1", "pip-24.0-py_0"))
    program(path / "bin/python", f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\necho begun\nexec sleep 1000\n'.encode())
    lines = book.repair("train")
    assert await anext(lines) == "begun"
    await lines.aclose()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_names_that_are_no_text_break_nobodys_list(book: KernelBook, home: Path, tmp_path: Path) -> None:
    """The list has everybody's environments; anybody may call folders and packages as they like."""
    bad = os.fsdecode(b"\xff")
    make_conda(home / "miniconda3/envs" / bad)
    env = make_conda(home / "miniconda3/envs/train")
    (env / f"conda-meta/pytorch-{bad}-0.json").touch()
    (env / "share/jupyter/kernels" / bad).mkdir(parents=True)
    (env / "share/jupyter/kernels/ir").mkdir()
    (env / "share/jupyter/kernels/ir/kernel.json").write_text('{"argv": ["R"], "display_name": "\\ud800"}')
    (env / "pyvenv.cfg").write_bytes(b"version = \xff\n")
    one = await book.register("train", "global")
    for number, mark in enumerate(['"\\ud800"', '"\\udcff"', "[1]"]):
        (tmp_path / f"shared/theirs-{number}").mkdir()
        said = f'{{"display_name": {mark}, "metadata": {{"jupyter_aiarts": {{"prefix": {mark}}}}}}}'
        (tmp_path / f"shared/theirs-{number}/kernel.json").write_text(said)
    listed = await book.all()
    assert json.loads(msgspec.json.encode(listed))
    assert [each.spec for each in listed if each.path == str(env)] == [one.spec]
    for which in (bad, f"{home}/miniconda3/envs/{bad}", "a\0b", "/a\0b", "\ud800"):
        with pytest.raises(NotFound):
            await book.doctor(which)


@pytest.mark.parametrize("prefix", ["/x\0", "", "x", "/\udcff\0"])
async def test_a_mark_that_names_no_path_breaks_nobodys_list(
    book: KernelBook, home: Path, tmp_path: Path, prefix: str
) -> None:
    """Anybody may write into a shared folder that all may, with the name that ours would have."""
    env = make_conda(home / "miniconda3/envs/train")
    name = f"aiarts-x-{hashlib.sha256(os.fsencode(prefix)).hexdigest()[:8]}"
    (tmp_path / "shared" / name).mkdir(parents=True)
    mark = {"display_name": "x", "argv": [], "metadata": {"jupyter_aiarts": {"prefix": prefix}}}
    (tmp_path / "shared" / name / "kernel.json").write_text(json.dumps(mark))
    listed = await book.all()
    assert str(env) in [one.path for one in listed] and name not in [one.spec for one in listed]


async def test_two_hundred_environments_are_registered_and_listed(
    book: KernelBook, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        make_conda(home / f"miniconda3/envs/env-{number}")
    await book.tend(tmp_path / "kernels.json")
    asked: list[str] = []
    real = os.path.realpath
    monkeypatch.setattr("os.path.realpath", lambda path, **more: asked.append(path) or real(path, **more))
    listed: list[str] = []
    scan = os.scandir
    monkeypatch.setattr("os.scandir", lambda path: listed.append(str(path)) or scan(path))
    mine = [one for one in await book.all() if one.path.startswith(str(home))]
    assert len([one for one in mine if one.registered == "global" and not one.problems]) == 200
    assert len({one.spec for one in mine}) == 200
    assert len(asked) < 2000  # as many as there are, not as many times as many
    assert len([path for path in listed if path.startswith(str(home))]) < 20  # none that is an environment itself
