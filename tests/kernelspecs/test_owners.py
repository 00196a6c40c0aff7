"""Whose an environment is: what others could have put there is run by nobody but them, and made a kernel by nobody."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_aiarts.errors import NotAllowed
from jupyter_aiarts.kernelbook import KernelBook
from jupyter_aiarts.kernelspecs.owner import as_owner, owner_of

from .conftest import make_conda

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
MALLORY, BOB = 64001, 64002


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder that everybody may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def give(uid: int, *paths: Path) -> None:
    for path in paths:
        for one in (path, *path.rglob("*")):
            os.chown(one, uid, uid, follow_symlinks=False)


def filled_by_mallory(path: Path) -> Path:
    """A folder of root's that everybody may write, as /tmp is one, with somebody's environment in it."""
    path.mkdir()
    path.chmod(0o1777)
    (path / "bin").mkdir()
    (path / "lib/python3.11/site-packages/ipykernel").mkdir(parents=True)
    (path / "pyvenv.cfg").write_text("version = 3.11.4\n")
    (path / "bin/python").write_text(f'#!/bin/sh\ntouch "{path}/ran-as-$(id -u)"\n')
    (path / "bin/python").chmod(0o755)
    give(MALLORY, *path.iterdir())
    return path


async def test_what_everybody_may_write_is_not_roots_though_root_owns_the_folder(
    book: KernelBook, home: Path, room: Path, tmp_path: Path
) -> None:
    scratch = filled_by_mallory(room / "scratch")
    (home / ".conda").mkdir()
    (home / ".conda/environments.txt").write_text(f"{scratch}\n")
    assert [deed for deed in await book.tend(tmp_path / "kernels.json") if deed.path == str(scratch)] == []
    with pytest.raises(NotAllowed, match="can be written by others"):
        await book.doctor(str(scratch))
    assert [path.name for path in scratch.iterdir() if path.name.startswith("ran-as")] == []


async def test_root_installs_nothing_where_everybody_may_write(book: KernelBook, room: Path) -> None:
    scratch = filled_by_mallory(room / "scratch")
    (scratch / "lib/python3.11/site-packages/ipykernel").rmdir()
    (scratch / "lib/python3.11/site-packages/pip-24.0.dist-info").mkdir()
    await book.register(str(scratch), "user")
    with pytest.raises(NotAllowed, match="can be written by others"):
        async for _ in book.repair(str(scratch)):
            pass
    assert [path.name for path in scratch.iterdir() if path.name.startswith("ran-as")] == []


@pytest.mark.parametrize("part", ["bin", "bin/python", "conda-meta", "lib"])
def test_one_part_that_is_somebodys_makes_it_theirs(room: Path, part: str) -> None:
    env = make_conda(room / "train")
    assert owner_of(str(env)) == (0, 0)
    os.chown(env / part, MALLORY, MALLORY, follow_symlinks=False)
    assert owner_of(str(env)) == (MALLORY, MALLORY)
    assert as_owner(str(env), {})[0]["user"] == MALLORY


GIVEN = ("lib/{python}", "lib/{python}/site-packages", "etc/conda", "etc/conda/activate.d", "etc/conda/activate.d/a.sh")


@pytest.mark.parametrize("part", GIVEN)
@pytest.mark.parametrize("is_link", [False, True])
def test_what_of_roots_environment_was_given_to_somebody_makes_it_theirs(room: Path, part: str, is_link: bool) -> None:
    """So that they may install into it: what root then ran of it would be theirs."""
    env = make_conda(room / "train")
    (env / "etc/conda/activate.d").mkdir(parents=True)
    (env / "etc/conda/activate.d/a.sh").write_text("")
    given = env / part.format(python=next((env / "lib").iterdir()).name)
    if is_link:
        given.rename(room / "elsewhere")
        given.symlink_to(room / "elsewhere")
    assert owner_of(str(env)) == (0, 0)
    os.chown(given, BOB, BOB)
    assert owner_of(str(env)) == (BOB, BOB)
    assert as_owner(str(env), {})[0]["user"] == BOB


@pytest.mark.parametrize("above", ["bobs", "bobs/miniconda3", "bobs/miniconda3/envs"])
def test_what_is_roots_in_somebodys_folder_is_theirs(room: Path, above: str) -> None:
    """An admin's `sudo conda create` in a user's installation: its owner can put another folder in its place."""
    env = make_conda(room / "bobs/miniconda3/envs/train")
    assert owner_of(str(env)) == (0, 0)
    os.chown(room / above, BOB, BOB)
    assert owner_of(str(env)) == (BOB, BOB)


@pytest.mark.parametrize("of", ["link", "folder"])
def test_a_python_that_is_led_to_by_somebodys_link_is_theirs(room: Path, of: str) -> None:
    env = make_conda(room / "train")
    (room / "bobs").mkdir()
    (room / "bobs/python").symlink_to("/bin/sh")
    (env / "bin/python").unlink()
    (env / "bin/python").symlink_to("../../bobs/python")
    assert owner_of(str(env)) == (0, 0)
    os.chown(room / ("bobs" if of == "folder" else "bobs/python"), BOB, BOB, follow_symlinks=False)
    assert owner_of(str(env)) == (BOB, BOB)


def test_a_folder_that_a_group_of_people_may_write_to_makes_what_is_in_it_nobodys(room: Path) -> None:
    env = make_conda(room / "data/train")
    os.chown(room / "data", 0, 100)
    (room / "data").chmod(0o2775)
    assert owner_of(str(env)) is None
    (room / "data").chmod(0o3775)  # what is not theirs they cannot replace there
    assert owner_of(str(env)) == (0, 0)


async def test_root_runs_no_conda_of_somebody_elses(book: KernelBook, room: Path) -> None:
    env = make_conda(room / "miniconda3/envs/train", ("python-3.11.4-h1",))
    (room / "miniconda3/bin").mkdir()
    conda = room / "miniconda3/bin/conda"
    conda.write_text(f'#!/bin/sh\ntouch "{room}/ran"\n')
    conda.chmod(0o755)
    os.chown(conda, BOB, BOB)
    with pytest.raises(NotAllowed, match="bin/conda can be written by others"):
        async for _ in book.repair(str(env)):
            pass
    assert not (room / "ran").exists()


def test_root_lends_what_is_needed_to_reach_a_mirror_and_no_secret(room: Path) -> None:
    env = make_conda(room / "train")
    give(MALLORY, env)
    lent = {"PATH": "/bin", "LC_ALL": "C", "https_proxy": "http://proxy:3128", "PIP_INDEX_URL": "https://mirror/simple"}
    kept = {"JUPYTER_TOKEN": "x", "AWS_SECRET_ACCESS_KEY": "x", "http_proxy": "http://me:word@proxy", "HOME": "/root"}
    assert as_owner(str(env), {**lent, **kept})[1] == lent


def test_what_two_people_own_is_nobodys(room: Path) -> None:
    env = make_conda(room / "train")
    give(MALLORY, env)
    give(BOB, env / "bin")
    assert owner_of(str(env)) is None


@pytest.mark.parametrize(("mode", "group", "is_roots"), [(0o775, 0, True), (0o775, 100, False), (0o777, 0, False)])
def test_a_group_that_is_not_roots_may_not_write_to_what_is_roots(
    room: Path, mode: int, group: int, is_roots: bool
) -> None:
    env = make_conda(room / "train")
    os.chown(env / "bin", 0, group)
    (env / "bin").chmod(mode)
    assert (owner_of(str(env)) == (0, 0)) == is_roots


def test_ones_own_is_ones_own_with_the_umask_of_a_group(room: Path) -> None:
    """Many systems give each person a group of their own, and let it write."""
    env = make_conda(room / "train")
    give(MALLORY, env)
    env.chmod(0o775)
    assert owner_of(str(env)) == (MALLORY, MALLORY)


KERNEL = {"argv": ["R"], "display_name": "R", "language": "R", "env": {"API_KEY": "secret"}}


@pytest.mark.parametrize("linked", ["file", "folder"])
@pytest.mark.parametrize("of", [BOB, 0])
async def test_root_copies_no_secret_out_of_a_link(
    book: KernelBook, room: Path, tmp_path: Path, linked: str, of: int
) -> None:
    """Everybody reads a kernel for everybody; whoever owns the environment may link to what only root reads."""
    closed = room / "closed"
    (closed / "ir").mkdir(parents=True)
    (closed / "ir/kernel.json").write_text(json.dumps(KERNEL))
    give(of, closed)
    closed.chmod(0o700)
    env = make_conda(room / "train")
    kernels = env / "share/jupyter/kernels"
    kernels.mkdir(parents=True)
    if linked == "folder":
        (kernels / "ir").symlink_to(closed / "ir")
    else:
        (kernels / "ir").mkdir()
        (kernels / "ir/kernel.json").symlink_to(closed / "ir/kernel.json")
    give(MALLORY, env)
    await book.register(str(env), "global")
    assert [path for path in (tmp_path / "shared").rglob("kernel.json") if "secret" in path.read_text()] == []


@pytest.mark.parametrize("of", [MALLORY, 0])
async def test_root_registers_the_kernels_that_an_environment_has_itself(book: KernelBook, room: Path, of: int) -> None:
    env = make_conda(room / "train")
    give(MALLORY, env)
    (env / "share/jupyter/kernels/ir").mkdir(parents=True)
    (env / "share/jupyter/kernels/ir/kernel.json").write_text(json.dumps(KERNEL))
    give(of, env / "share")
    assert len((await book.register(str(env), "global")).specs) == 2
