"""Kernelspecs are written whole or not at all, for everybody or for one; only ours are ever touched."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from msgspec import structs

import jupyter_aiarts.kernelspecs.install as writer
from jupyter_aiarts._version import __version__
from jupyter_aiarts.errors import BadRequest, NotAllowed
from jupyter_aiarts.kernelspecs.build import MARK, display_names, files, spec_name
from jupyter_aiarts.kernelspecs.contents import read
from jupyter_aiarts.kernelspecs.install import Folders, Shelf, register, registered, unregister
from jupyter_aiarts.model.environment import Environment, OwnKernel

from .conftest import make_conda

HOSTILE = [
    "train", "训练", "a b", "it's", 'say "hi"', "{connection_file}", "$(touch hacked)", "`id`", "-n", "x" * 200, "a\nb",
]  # fmt: skip


def an_environment(path: str, **more: str) -> Environment:
    return Environment(name=os.path.basename(path), path=path, kind="conda", owner=more.get("owner", "alice"))


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(shared=[str(tmp_path / "shared")], user=str(tmp_path / "own"))


@pytest.mark.parametrize("name", HOSTILE)
def test_every_name_gives_a_spec_that_jupyter_takes(tmp_path: Path, folders: Folders, name: str) -> None:
    env = read(str(make_conda(tmp_path / name)))
    one = register(env, display_names([env])[env.path], "global", folders)
    assert re.fullmatch(r"[a-z0-9._-]+", one.spec)
    manager = KernelSpecManager(kernel_dirs=[folders.target("global")])
    spec = manager.get_kernel_spec(one.spec)
    assert spec.argv[0] == "/bin/sh" and "\n" not in spec.display_name and len(spec.display_name) < 100
    assert [registered.spec for registered in registered(folders)] == [one.spec]
    assert one.prefix == env.path


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("scripts", [False, True])
def test_every_name_arrives_as_it_is_and_nothing_of_it_is_evaluated(
    tmp_path: Path, folders: Folders, name: str, scripts: bool
) -> None:
    """With activation scripts another shell does the work."""
    path = make_conda(tmp_path / name)
    if scripts:
        (path / "etc/conda/activate.d").mkdir(parents=True)
        (path / "etc/conda/activate.d/a.sh").write_text("set -- hacked; prefix=/hacked; name=hacked; script=hacked\n")
    one = register(read(str(path)), "x", "user", folders)
    words = ["/bin/sh", f"{one.folder}/start.sh", "printenv", "-0", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"]
    out = subprocess.run(words, capture_output=True, cwd=tmp_path, timeout=60)
    assert out.stdout.split(b"\0")[:2] == [os.fsencode(path), os.fsencode(name)], out.stderr
    assert not (tmp_path / "hacked").exists()


def test_names_of_two_environments_never_meet_and_can_be_told_apart() -> None:
    same = [an_environment("/a/envs/train"), an_environment("/b/envs/train", owner="bob"), an_environment("/c/训练")]
    assert len({spec_name(one) for one in same}) == 3
    assert list(display_names(same).values()) == ["train (conda, alice)", "train (conda, bob)", "训练 (conda)"]
    twins = [an_environment("/a/envs/train"), an_environment("/b/envs/train")]
    assert list(display_names(twins).values()) == ["train (conda, /a/envs)", "train (conda, /b/envs)"]


def test_what_is_cut_or_taken_is_still_told_apart() -> None:
    long = "x" * 100
    same = [an_environment(f"/envs/{long}{number}") for number in range(3)]
    same += [an_environment("/envs/a\nb"), an_environment("/envs/ab"), an_environment("/envs/AB")]
    same += [an_environment(f"/{long}/{number}/train") for number in range(2)]
    assert len({name.casefold() for name in display_names(same).values()}) == len(same)
    [alone] = display_names([an_environment("/b/train", owner="bob")], ["train (conda)", "other"]).values()
    assert alone == "train (conda, bob)"


def test_what_is_in_ones_own_home_is_not_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Jupyter that is installed there reads it, and nobody else's does."""
    mine, ours = tmp_path / "home/venv/share/jupyter", tmp_path / "srv"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_PATH", f"{mine}:{ours}")
    found = Folders()
    assert found.shared[0] == "/usr/local/share/jupyter/kernels" and f"{ours}/kernels" in found.shared
    assert not [path for path in found.shared if path.startswith(str(tmp_path / "home"))]
    assert (f"{mine}/kernels", "user") in list(found.scopes())


def test_what_was_read_of_a_kernelspec_is_kept_until_it_is_another(
    tmp_path: Path, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs = [read(str(make_conda(tmp_path / f"env-{number}"))) for number in range(3)]
    kernels = [register(env, "x", "user", folders) for env in envs]
    (Path(folders.user) / "theirs").mkdir()
    (Path(folders.user) / "theirs/kernel.json").write_text("{")
    opened: list[str] = []
    real = writer.text_of
    monkeypatch.setattr(writer, "text_of", lambda path: opened.append(path) or real(path))
    shelf = Shelf(folders)
    assert len(shelf.registered()) == 3 and len(opened) == 4
    assert len(shelf.registered()) == 3 and len(opened) == 4
    again = register(envs[1], "another title", "user", folders)
    opened.clear()
    assert again in shelf.registered() and opened == [f"{again.folder}/kernel.json"]
    unregister(kernels[0])
    assert len(shelf.registered()) == 2


AGAIN = """
import sys
from jupyter_aiarts.kernelspecs.contents import read
from jupyter_aiarts.kernelspecs.install import Folders, register
import jupyter_aiarts.kernelspecs.install as writer
from jupyter_aiarts._version import __version__
if sys.argv[3] == "old":
    writer._exchanged = lambda one, other: False  # as on NFS
for number in range(50):
    register(read(sys.argv[1]), f"{number}", "global", Folders(shared=[sys.argv[2]], user=sys.argv[2] + "/no"))
"""


@pytest.mark.parametrize("disk", ["new", "old"])
def test_many_who_register_at_once_and_somebody_who_reads(tmp_path: Path, folders: Folders, disk: str) -> None:
    env = make_conda(tmp_path / "train")
    one = register(read(str(env)), "first", "global", folders)
    words = [sys.executable, "-c", AGAIN, str(env), folders.target("global"), disk]
    writers = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(3)]
    gaps = 0
    while any(writer.poll() is None for writer in writers):
        try:
            json.loads(Path(one.folder, "kernel.json").read_text())
        except FileNotFoundError:
            gaps += 1
    assert [(writer.returncode, writer.communicate()[1]) for writer in writers] == [(0, b"")] * 3
    assert disk == "old" or gaps == 0
    assert os.listdir(folders.target("global")) == [one.spec] and registered(folders)[0].display_name == "49"


def test_nothing_of_an_environments_name_stands_where_jupyter_fills_in() -> None:
    said = json.loads(files(an_environment("/x/{connection_file}"), "d", "1")["kernel.json"])
    assert [word for word in said["argv"] if "/x/" in word] == []


@pytest.mark.parametrize("name", HOSTILE)
def test_a_kernel_of_python_names_its_interpreter_for_whoever_lists_kernels_by_it(name: str) -> None:
    """VS Code passes over kernels of Python whose interpreter it cannot tell; Jupyter fills in nothing there."""
    env = an_environment(f"/envs/{name}")
    told = json.loads(files(env, "x", "1")["kernel.json"])["metadata"]["interpreter"]
    assert told == {"path": f"/envs/{name}/bin/python"}
    own = OwnKernel(name="ir", argv=("R",), display_name="R", language="R")
    assert "interpreter" not in json.loads(files(env, "x", "1", own)["kernel.json"])["metadata"]


def test_registering_twice_replaces_and_leaves_nothing_behind(tmp_path: Path, folders: Folders) -> None:
    env = read(str(make_conda(tmp_path / "train")))
    register(env, "first", "global", folders)
    one = register(env, "second", "global", folders)
    assert one.display_name == "second"
    assert os.listdir(folders.target("global")) == [one.spec]


def test_what_is_not_ours_is_never_changed_or_removed(tmp_path: Path, folders: Folders) -> None:
    env = read(str(make_conda(tmp_path / "train")))
    theirs = Path(folders.target("global")) / spec_name(env)
    theirs.mkdir(parents=True)
    (theirs / "kernel.json").write_text('{"argv": ["x"], "display_name": "theirs", "metadata": {}}')
    with pytest.raises(BadRequest, match="not ours"):
        register(env, "ours", "global", folders)
    assert registered(folders) == ()
    assert json.loads((theirs / "kernel.json").read_text())["display_name"] == "theirs"


def test_one_that_lost_its_mark_is_not_removed(tmp_path: Path, folders: Folders) -> None:
    one = register(read(str(make_conda(tmp_path / "train"))), "ours", "user", folders)
    path = Path(one.folder) / "kernel.json"
    said = json.loads(path.read_text())
    del said["metadata"][MARK]
    path.write_text(json.dumps(said))
    with pytest.raises(BadRequest):
        unregister(one)
    assert path.exists()


def test_unregistering_removes_all_of_it(tmp_path: Path, folders: Folders) -> None:
    one = register(read(str(make_conda(tmp_path / "train"))), "ours", "user", folders)
    unregister(one)
    assert os.listdir(folders.user) == []


def test_the_package_behind_load_ext_is_not_removed_with_a_kernelspec(tmp_path: Path, folders: Folders) -> None:
    import jupyter_aiarts

    one = register(read(str(make_conda(tmp_path / "train"))), "ours", "user", folders)
    assert (Path(one.folder) / "lib/jupyter_aiarts").is_symlink()
    unregister(one)
    assert Path(jupyter_aiarts.__file__).exists()


ORDINARY = """
import os, sys
from jupyter_core import paths
from jupyter_aiarts.errors import NotAllowed
from jupyter_aiarts.kernelspecs.contents import read
from jupyter_aiarts.kernelspecs.install import Folders, register, unregister, registered
env = read(sys.argv[1])
folders = Folders(shared=[sys.argv[2]], user=sys.argv[3])
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    register(env, "x", "global", folders) if sys.argv[4] == "register" else unregister(registered(folders)[0])
except NotAllowed as error:
    print(error.hint)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.parametrize("act", ["register", "unregister"])
def test_without_the_right_to_write_an_admins_command_is_told_and_nothing_changes(open_folder: Path, act: str) -> None:
    folders = Folders(shared=[str(open_folder / "shared")], user=str(open_folder / "own"))
    path = make_conda(open_folder / "it's")
    if act == "unregister":
        register(read(str(path)), "x", "global", folders)
    else:
        Path(folders.target("global")).mkdir()
    before = sorted(map(str, open_folder.rglob("*")))
    words = [str(path), folders.shared[0], folders.user, act]
    os.chmod(folders.shared[0], 0o555 if os.getuid() else 0o755)
    out = subprocess.run([sys.executable, "-c", ORDINARY, *words], capture_output=True, text=True, cwd="/")
    os.chmod(folders.shared[0], 0o755)
    assert out.returncode == 0, out.stderr
    assert f"sudo env AIARTS_KERNELS_DIRECTORY={folders.shared[0]} " in out.stdout and f"kernels {act}" in out.stdout
    if act == "register":
        assert "'\"'\"'" in out.stdout and "--user" in out.stdout
    assert sorted(map(str, open_folder.rglob("*"))) == before


def test_a_shared_kernel_may_be_read_by_everybody_whatever_the_umask(tmp_path: Path) -> None:
    folders = Folders(shared=[str(tmp_path / "local/share/jupyter/kernels")], user=str(tmp_path / "own"))
    old = os.umask(0o077)
    try:
        one = register(read(str(make_conda(tmp_path / "train"))), "x", "global", folders)
    finally:
        os.umask(old)
    above = [path for path in Path(one.folder).parents if path.is_relative_to(tmp_path / "local")]
    assert [path.stat().st_mode & 0o777 for path in above] == [0o755] * 4
    modes = {path.name: path.stat().st_mode & 0o777 for path in Path(one.folder).iterdir() if path.is_file()}
    assert set(modes.values()) == {0o644}
    assert Path(one.folder).stat().st_mode & 0o777 == 0o755


def test_a_disk_that_is_full_leaves_the_old_one(
    tmp_path: Path, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = read(str(make_conda(tmp_path / "train")))
    register(env, "first", "user", folders)
    Path(folders.user).chmod(0o755)
    monkeypatch.setattr(writer, "SAME_FOR_ALL", ("start.sh", "no-such-file"))
    with pytest.raises(NotAllowed, match="Nothing was changed"):
        register(env, "second", "user", folders)
    assert [one.display_name for one in registered(folders)] == ["first"]
    assert len(os.listdir(folders.user)) == 1


def test_what_one_who_was_killed_left_is_removed_by_the_next_but_for_a_kernel_in_it(
    tmp_path: Path, folders: Folders
) -> None:
    env = read(str(make_conda(tmp_path / "train")))
    shared = Path(folders.target("user"))
    for name in (".aiarts-left", ".aiarts-kept", ".aiarts-now", ".other"):
        (shared / name / "new/lib").mkdir(parents=True)
    (shared / ".aiarts-kept/old").mkdir()
    (shared / ".aiarts-left/new/lib/jupyter_aiarts").symlink_to(tmp_path / "train")
    for name in (".aiarts-left", ".aiarts-kept", ".other"):
        os.utime(shared / name, (1, 1))
    one = register(env, "x", "user", folders)
    assert sorted(os.listdir(shared)) == sorted([".aiarts-kept", ".aiarts-now", ".other", one.spec])
    assert (tmp_path / "train/conda-meta").is_dir()


@pytest.mark.parametrize("name", ["my-train", "{spec}-mine", "aiarts-train"])
def test_a_copy_of_ours_under_another_name_is_its_makers(tmp_path: Path, folders: Folders, name: str) -> None:
    """Copying a kernelspec and changing its variables is how people vary one."""
    env = read(str(make_conda(tmp_path / "train")))
    one = register(env, "ours", "user", folders)
    copy = Path(folders.user, name.format(spec=one.spec))
    shutil.copytree(one.folder, copy, symlinks=True)
    assert registered(folders) == (one,)
    with pytest.raises(BadRequest, match="not ours"):
        unregister(structs.replace(one, spec=copy.name, folder=str(copy)))
    assert (copy / "kernel.json").exists()


def test_ours_are_known_by_the_name_that_they_were_given(tmp_path: Path, folders: Folders) -> None:
    for name in HOSTILE:
        env = read(str(make_conda(tmp_path / "envs" / name)))
        for own in (None, OwnKernel(name=f"ir {name}"[:99], argv=("R",), display_name="R", language="R")):
            one = register(env, "x", "global", folders, own)
            assert (one.version, one in registered(folders)) == (__version__, True)
