"""Two users of one machine: what is registered for all starts for both, what is one's own is not the other's, and
nobody's files can hold the other up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.kernelspecs.places import places, present

from .conftest import make_conda

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
ALICE, BOB = 64001, 64002

ACT = """
import asyncio, json, os, pathlib, pwd, sys
uid, home, shared, act, which = int(sys.argv[1]), *sys.argv[2:]
os.environ.clear()
os.environ.update(HOME=home, PATH="/usr/bin:/bin", JUPYTER_DATA_DIR=home + "/data")
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.kernelbook import KernelBook, KernelSettings
import encodings.ascii, jupyter_aiarts.kernelspecs.installer, jupyter_aiarts.kernelspecs.tending, yaml
asyncio.run(KernelBook().all())  # what it imports may lie where only this user can read
known, above = pwd.getpwall(), os.path.dirname(home)
people = [pwd.struct_passwd((str(one), "x", one, one, "", f"{above}/{one}", "")) for one in (64001, 64002)]
pwd.getpwall = lambda: [*known, *people]  # two accounts more than this machine has
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
book = KernelBook(KernelSettings(directory=shared, folders=tuple(filter(None, [which if act == "list" else ""]))))
async def do():
    if act in ("global", "user"):
        return (await book.register(which, act)).spec
    if act == "tend":
        return [[deed.path, deed.scope, deed.problem] for deed in await book.tend(pathlib.Path(which))]
    if act == "unregister":
        return (await book.unregister(which)).spec
    if act == "repair":
        return [line async for line in book.repair(which)]
    return {one.path: [one.registered, [each.code for each in one.problems], one.kind] for one in await book.all()}
try:
    print(json.dumps(asyncio.run(do())))
except AiartsError as error:
    print(json.dumps({"error": str(error), "hint": error.hint}))
"""


class Machine:
    """A machine with two homes and a shared folder, below one that everybody may enter."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.shared = root / "shared"
        self.shared.mkdir()
        for uid in (ALICE, BOB):
            self.home(uid).mkdir()
            os.chown(self.home(uid), uid, uid)

    def home(self, uid: int) -> Path:
        return self.root / str(uid)

    def give(self, path: Path, uid: int) -> Path:
        for one in (path, *path.rglob("*")):
            os.chown(one, uid, uid, follow_symlinks=False)
        return path

    def act(self, uid: int, act: str, which: object = "") -> Any:
        words = [str(uid), str(self.home(uid)), str(self.shared), act, str(which)]
        out = subprocess.run([sys.executable, "-c", ACT, *words], capture_output=True, text=True, cwd="/", timeout=60)
        assert out.returncode == 0, out.stderr
        return json.loads(out.stdout)


@pytest.fixture
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Machine(Path(name))


@root_only
def test_for_all_is_for_both_and_ones_own_is_ones_own(machine: Machine) -> None:
    env = machine.give(make_conda(machine.home(ALICE) / "envs/训练 'x'"), ALICE)
    os.chmod(machine.shared, 0o1777)
    spec = machine.act(ALICE, "global", env)
    assert machine.act(BOB, "list", env)[str(env)][0] == "global"
    assert "cannot be removed" in machine.act(BOB, "unregister", spec)["error"]
    assert machine.act(ALICE, "unregister", spec) == spec
    machine.act(ALICE, "user", env)
    assert machine.act(ALICE, "list", env)[str(env)][0] == "user"
    assert machine.act(BOB, "list", env)[str(env)][0] is None


@root_only
def test_two_who_call_theirs_the_same_and_cannot_see_each_others(machine: Machine) -> None:
    os.chmod(machine.shared, 0o1777)
    for uid in (ALICE, BOB):
        machine.act(uid, "global", machine.give(make_conda(machine.home(uid) / "envs/train"), uid))
        os.chmod(machine.home(uid), 0o700)
    shown = [json.loads(path.read_text())["display_name"] for path in machine.shared.glob("*/kernel.json")]
    assert sorted(shown) == ["train (conda)", f"train (conda, {BOB})"]


@root_only
def test_the_admins_command_does_what_was_refused(machine: Machine) -> None:
    env = machine.give(make_conda(machine.home(ALICE) / "it's train"), ALICE)
    hint = machine.act(ALICE, "global", env)["hint"]
    line = hint.split(": ", 1)[1].split(" Or register")[0].removeprefix("sudo ")
    environ = {"PATH": os.environ["PATH"], "HOME": str(machine.root)}
    out = subprocess.run(line, shell=True, capture_output=True, text=True, env=environ, cwd="/", timeout=60)
    assert out.returncode == 0, (line, out.stderr)
    assert machine.act(ALICE, "list", env)[str(env)][0] == "global"
    assert len(os.listdir(machine.shared)) == 1


@root_only
@pytest.mark.parametrize("closed", ["", "home", "list", "environment"])
def test_the_lists_of_all_users_are_read_where_they_may_be(machine: Machine, closed: str) -> None:
    alices, bobs = machine.home(ALICE), machine.home(BOB)
    env = machine.give(make_conda(alices / "odd/place/train"), ALICE)
    own = machine.give(make_conda(bobs / "miniconda3/envs/own"), BOB)
    (alices / ".conda").mkdir()
    (alices / ".conda/environments.txt").write_text(f"{env}\n")
    machine.give(alices / ".conda", ALICE)
    shut = {"home": alices, "list": alices / ".conda/environments.txt", "environment": env}.get(closed)
    if shut is not None:
        os.chmod(shut, 0o700)
    listed = machine.act(BOB, "list")
    assert (str(env) in listed, str(own) in listed) == (not closed, True)


@root_only
def test_a_target_that_may_not_be_written_is_refused_with_the_admins_command_and_nothing_is_left(
    machine: Machine,
) -> None:
    env = machine.give(make_conda(machine.home(ALICE) / "envs/train"), ALICE)
    said = machine.act(ALICE, "global", env)
    assert "Nothing was changed" in said["error"] and "sudo" in said["hint"] and str(env) in said["hint"]
    assert os.listdir(machine.shared) == []


@root_only
def test_a_target_below_a_folder_that_may_not_be_entered_is_refused_in_the_same_way(machine: Machine) -> None:
    """As below /root, or another's home; and what is registered by itself goes to this user's own folder then."""
    env = machine.give(make_conda(machine.home(ALICE) / "miniconda3/envs/train"), ALICE)
    machine.shared = machine.root / "closed/kernels"
    machine.shared.mkdir(parents=True)
    os.chmod(machine.shared.parent, 0o700)
    said = machine.act(ALICE, "global", env)
    assert "Nothing was changed" in said["error"] and "sudo" in said["hint"] and str(env) in said["hint"]
    assert [str(env), "user", ""] in machine.act(ALICE, "tend", machine.home(ALICE) / "kernels.json")


@root_only
def test_a_home_that_is_closed_is_told_as_such_and_its_kernel_is_left_alone(machine: Machine) -> None:
    env = machine.give(make_conda(machine.home(ALICE) / "envs/train"), ALICE)
    os.chmod(machine.shared, 0o1777)
    spec = machine.act(ALICE, "global", env)
    os.chmod(machine.home(ALICE), 0o700)
    listed = machine.act(BOB, "list")
    assert listed[str(env)] == ["global", ["environment-gone"], "hidden"]
    os.chmod(machine.shared, 0o777)  # anybody may remove anything here
    assert "may not be seen by you" in machine.act(BOB, "repair", spec)["error"]
    assert (machine.shared / spec).is_dir()


CONDA = '#!/bin/sh\necho installing\ntouch "$4/conda-meta/ipykernel-6.29.0-py_0.json"\n'


@root_only
@pytest.mark.parametrize("is_old", [False, True])
def test_an_install_that_went_well_is_told_so_though_the_kernel_is_an_admins(machine: Machine, is_old: bool) -> None:
    """The admin registered it for everybody; its owner installs what it lacks, and may not write it again."""
    conda = machine.home(ALICE) / "miniconda3/bin/conda"
    conda.parent.mkdir(parents=True)
    conda.write_text(CONDA)
    conda.chmod(0o755)
    env = make_conda(machine.home(ALICE) / "miniconda3/envs/train", ("python-3.11.4-h1",))
    machine.give(machine.home(ALICE), ALICE)
    os.chmod(machine.shared, 0o777)
    spec = machine.act(ALICE, "global", env)
    machine.give(machine.shared, 0)
    os.chmod(machine.shared, 0o755)
    kernel = machine.shared / spec / "kernel.json"
    if is_old:
        said = json.loads(kernel.read_text())
        said["metadata"]["jupyter_aiarts"]["version"] = "0.0.1"
        kernel.write_text(json.dumps(said))
    said = machine.act(ALICE, "repair", env)
    assert isinstance(said, list), said
    first, *more = said
    assert (first, len(more)) == ("installing", 1 if is_old else 0)
    assert not is_old or ("only an admin can" in more[0] and f"kernels register {env}" in more[0])
    if is_old:  # nothing else was to be done, and that could not be
        assert "cannot be written" in machine.act(ALICE, "repair", env)["error"]


def test_pipes_and_endless_files_in_the_places_of_lists_hold_nobody_up(tmp_path: Path) -> None:
    (tmp_path / ".conda").mkdir()
    os.mkfifo(tmp_path / ".conda/environments.txt")
    os.mkfifo(tmp_path / ".condarc")
    (tmp_path / ".mambarc").symlink_to("/dev/zero")
    found = places({}, [str(tmp_path)])
    assert not [one for one in found.prefixes if one.startswith("/proc")]


def test_a_device_in_the_place_of_a_list_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A watchdog begins to count, and a tape rewinds, when root opens it."""
    (tmp_path / ".condarc").symlink_to("/dev/null")
    opened = []
    real = os.open
    monkeypatch.setattr("os.open", lambda path, *more, **named: opened.append(str(path)) or real(path, *more, **named))
    places({}, [str(tmp_path)])
    assert str(tmp_path / ".condarc") not in opened


def test_homes_are_found_by_listing_and_not_by_looking_into_them(tmp_path: Path) -> None:
    """A home that an automounter would mount is not in the list of its folder until somebody wants it."""
    (tmp_path / "there").mkdir()
    wanted = [str(tmp_path / "there"), str(tmp_path / "away"), "/nonexistent", str(tmp_path / "no/such")]
    assert present(wanted) == [str(tmp_path / "there")]
    shutil.rmtree(tmp_path / "there")
    assert present(wanted) == []
