"""How code reaches a pod: in place on a mount that both see, else shipped: what is imported, and nothing else."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from jupyter_aiarts.engines.kubernetes.code import LARGEST_ZIP, Shipment, reuse, ship, variables
from jupyter_aiarts.engines.kubernetes.mounts import PodMount, pod_mounts
from jupyter_aiarts.engines.kubernetes.storage import Claim
from tests.engines.kubernetes.making import ALICE, make_reading, make_settings

CODE = "/aiarts/run/code"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder that the person works in."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def write(folder: Path, named: dict[str, str] | None = None, **modules: str) -> None:
    """Files by name, and modules in the folder itself."""
    for name, text in {**(named or {}), **{f"{module}.py": text for module, text in modules.items()}}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def shipped(
    home: Path, script: str | None = "train.py", settings: dict[str, Any] | None = None, **raw: Any
) -> Shipment:
    keys = {"workdir": str(home), "script": script, **raw}
    spec = make_reading(**{key: value for key, value in keys.items() if value is not None}).spec
    return ship(spec, pod_mounts(spec, make_settings(**(settings or {})), ALICE).mounts)


def content(shipment: Shipment) -> dict[str, str]:
    assert shipment.zip is not None, shipment.problems
    with zipfile.ZipFile(io.BytesIO(shipment.zip)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def sentence(shipment: Shipment) -> str:
    assert [problem["key"] for problem in shipment.problems] == ["script"]
    assert shipment.zip is None
    return shipment.problems[0]["message"]


# -- what is shipped -----------------------------------------------------------------------------------------------


def test_a_start_file_alone_is_shipped_alone(home: Path) -> None:
    write(home, train="import os, json\nprint(1)\n", other="", notes="")
    made = shipped(home)
    assert content(made) == {"train.py": "import os, json\nprint(1)\n"}
    assert (made.kind, made.files) == ("shipped", ("train.py",))
    assert (made.script_in_pod, made.workdir_in_pod) == (f"{CODE}/train.py", CODE)
    assert made.notes == ()


def test_modules_beside_it_come_along_and_theirs_too(home: Path) -> None:
    write(
        home,
        train="import nets\nfrom data import load\n",
        nets="import layers as l\nimport numpy\n",
        layers="import nets\n",  # a circle
        data="def load(): from late import thing\n",
        late="",
        unused="",
    )
    assert shipped(home).files == ("data.py", "late.py", "layers.py", "nets.py", "train.py")


def test_packages_come_with_what_is_imported_of_them(home: Path) -> None:
    write(
        home,
        train="import lib.models.resnet\nfrom lib import tools\nfrom lib.models import *\n",
        named={
            "lib/__init__.py": "",
            "lib/tools.py": "from . import more\nfrom .models import vgg\n",
            "lib/more.py": "from ..outside import x\n",  # above the top: not Python either
            "lib/models/__init__.py": "from .base import Base\n",
            "lib/models/base.py": "",
            "lib/models/resnet.py": "from ..deep.inner import y\n",
            "lib/models/vgg.py": "",
            "lib/models/unused.py": "",
            "lib/deep/__init__.py": "",
            "lib/deep/inner.py": "",
            "outside.py": "",
        },
    )
    assert shipped(home).files == (
        "lib/__init__.py",
        "lib/deep/__init__.py",
        "lib/deep/inner.py",
        "lib/models/__init__.py",
        "lib/models/base.py",
        "lib/models/resnet.py",
        "lib/models/vgg.py",
        "lib/more.py",
        "lib/tools.py",
        "train.py",
    )


def test_a_folder_without_init_is_a_package_too(home: Path) -> None:
    write(
        home,
        {"utils/io.py": "", "utils/unused.py": "", "data/x.py": ""},
        train="from utils.io import read\nimport data\n",
    )
    assert shipped(home).files == ("train.py", "utils/io.py")


def test_a_package_hides_a_module_of_the_same_name_as_in_python(home: Path) -> None:
    write(home, {"a/__init__.py": ""}, train="import a\n", a="")
    assert shipped(home).files == ("a/__init__.py", "train.py")


def test_a_notebooks_cells_are_searched_magics_or_not(home: Path) -> None:
    write(home, one="", two="", three="", four="")
    cells = [
        {"cell_type": "code", "source": ["import one\n", "x = 1"]},
        {"cell_type": "code", "source": "%matplotlib inline\nimport two as t, three\n!ls\nfrom four import (a, b)\n"},
        {"cell_type": "markdown", "source": "import five"},
    ]
    (home / "run.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert shipped(home, "run.ipynb").files == ("four.py", "one.py", "run.ipynb", "three.py", "two.py")


def test_a_file_that_python_cannot_parse_is_searched_by_lines(home: Path) -> None:
    old = "print 'python 2'\nimport old, older as o\nfrom pkg import part\n"
    write(home, {"pkg/part.py": ""}, train=old, old="", older="")
    assert shipped(home).files == ("old.py", "older.py", "pkg/part.py", "train.py")


def test_a_shell_script_is_shipped_alone_and_that_is_said(home: Path) -> None:
    (home / "run.sh").write_text("python train.py\n")
    write(home, train="")
    made = shipped(home, "run.sh")
    assert made.files == ("run.sh",)
    assert made.notes == ("run.sh is shipped alone: the files it calls must be in the image or on a mount.",)


def test_whether_a_file_can_be_executed_is_kept(home: Path) -> None:
    (home / "tool").write_text("#!/bin/sh\n")
    assert "not executable: chmod +x" in sentence(shipped(home, "tool"))
    (home / "tool").chmod(0o700)
    made = shipped(home, "tool")
    info = zipfile.ZipFile(io.BytesIO(made.zip or b"")).getinfo("tool")
    assert info.external_attr >> 16 & 0o777 == 0o755


def test_the_same_files_give_the_same_bytes(home: Path, tmp_path: Path) -> None:
    write(home, train="import b, a\n", a="", b="")
    first = shipped(home).zip
    shutil.copytree(home, tmp_path / "copy")
    for path in (tmp_path / "copy").iterdir():
        os.utime(path, (0, 0))
    assert shipped(tmp_path / "copy").zip == first


def test_a_cell_takes_the_modules_beside_its_notebook(home: Path) -> None:
    write(home, {".aiarts/cells/0123456789abcdef.py": "import helper\n"}, helper="")
    script = str(home / ".aiarts" / "cells" / "0123456789abcdef.py")
    env = {"PYTHONPATH": str(home), "LR": "1"}
    made = shipped(home, script, env=env)
    assert made.files == ("0123456789abcdef.py", "helper.py")
    assert variables(make_reading(env=env).spec, made) == {
        "LR": "1"
    }  # the start file lies beside them: nothing hides the image's own PYTHONPATH


def test_a_start_file_that_is_a_link_takes_the_modules_beside_the_file(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "real", main="import helper\n", helper="right")
    write(home, helper="wrong")
    (home / "train.py").symlink_to(tmp_path / "real" / "main.py")
    assert content(shipped(home)) == {"train.py": "import helper\n", "helper.py": "right"}


# -- what is not ---------------------------------------------------------------------------------------------------


def test_nothing_else_of_the_folder_is_shipped(home: Path) -> None:
    write(home, {".env": "SECRET=1", ".env.py": "", ".git/config": ""}, train="import a, env\n", a="")
    (home / "data.bin").write_bytes(b"x")
    (home / ".ssh").mkdir()
    assert shipped(home).files == ("a.py", "train.py")


@pytest.mark.parametrize("target", ["../outside.py", ".hidden.py", ".secrets/outside.py", "/etc/passwd"])
def test_a_module_that_is_a_link_to_elsewhere_is_refused(home: Path, target: str) -> None:
    write(home, {"../outside.py": "", ".hidden.py": "", ".secrets/outside.py": ""}, train="import leak\n")
    (home / "leak.py").symlink_to(target)
    assert "leak.py, a link to" in sentence(shipped(home))


def test_a_link_inside_the_folder_is_followed(home: Path) -> None:
    write(home, {"src/real.py": "x = 1\n"}, train="import a\n")
    (home / "a.py").symlink_to("src/real.py")
    assert content(shipped(home))["a.py"] == "x = 1\n"


def test_a_folder_that_is_a_link_to_elsewhere_is_refused(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "else", mod="")
    write(home, train="import pkg.mod\n")
    (home / "pkg").symlink_to(tmp_path / "else")
    assert "which is not shipped" in sentence(shipped(home))


def test_a_start_file_with_a_leading_dot_is_refused(home: Path) -> None:
    (home / ".train.py").write_text("")
    assert "begins with a dot" in sentence(shipped(home, ".train.py"))


def test_a_pipe_is_refused_and_nothing_waits_for_it(home: Path) -> None:
    os.mkfifo(home / "train.py")
    assert "not a plain file" in sentence(shipped(home))
    (home / "train.py").unlink()
    write(home, train="import pipe\n")
    os.mkfifo(home / "pipe.py")
    assert shipped(home).files == ("train.py",)


def noise(length: int) -> str:
    return random.Random(7).randbytes(length // 2).hex()


def test_too_much_is_refused_with_the_mounts_that_would_do(home: Path) -> None:
    write(home, train="import big\n", big=f"x = '{noise(2 * LARGEST_ZIP)}'\n")
    message = sentence(shipped(home))
    assert "train.py and the 1 modules it imports are" in message and "at most 700.0 KiB" in message
    assert "name it in mounts, or ask the admin" in message
    share = {"default_mounts": [{"source": "share", "target": "/share", "path": str(home.parent)}]}
    elsewhere = shipped(home, settings={"default_mounts": [{"source": "s", "target": "/s", "path": "/usr"}]})
    assert "Put it below /usr, which the job mounts." in sentence(elsewhere)
    assert shipped(home, settings=share).kind == "mounted"


def test_what_could_not_be_unpacked_is_not_packed(home: Path) -> None:
    write(home, train="import zeros\n")
    with open(home / "zeros.py", "wb") as file:
        file.truncate(51 << 20)
    assert "larger than 50.0 MiB" in sentence(shipped(home))


# -- in place ------------------------------------------------------------------------------------------------------


def test_a_folder_on_an_admins_mount_is_used_in_place(home: Path) -> None:
    write(home, {"src/train.py": "import helper\n", "src/helper.py": ""})
    settings = {"default_mounts": [{"source": "home/{user}", "target": "/home/{user}", "path": str(home)}]}
    made = shipped(home, "src/train.py", settings)
    assert made == Shipment(kind="mounted", script_in_pod="/home/alice/src/train.py", workdir_in_pod="/home/alice")


def test_a_folder_on_a_host_path_that_exists_here_is_used_in_place(home: Path) -> None:
    write(home, train="")
    mounts = [{"source": str(home), "target": "/code", "read_only": True}]
    made = shipped(home, settings={"allow_host_paths": [str(home.parent)]}, mounts=mounts)
    assert (made.kind, made.script_in_pod, made.workdir_in_pod) == ("mounted", "/code/train.py", "/code")


@pytest.fixture
def other_disk() -> Iterator[Path]:
    """A folder on a file system of its own, as a claim is in a pod."""
    if not os.path.ismount("/dev/shm"):
        pytest.skip("/dev/shm is no file system of its own here")
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder)


def test_a_claim_at_the_same_place_as_here_is_used_in_place(other_disk: Path) -> None:
    write(other_disk, train="")
    spec = make_reading(workdir=str(other_disk)).spec
    mount = PodMount(key="", volume=Claim("home"), sub_path="", target=str(other_disk), read_only=False)
    made = ship(spec, [mount])
    assert (made.kind, made.script_in_pod) == ("mounted", str(other_disk / "train.py"))


def test_a_folder_that_only_happens_to_have_a_targets_name_is_shipped(home: Path) -> None:
    write(home, train="")
    assert shipped(home, mounts=[{"source": "claim", "target": str(home)}]).kind == "shipped"


def test_a_link_on_a_mount_to_a_file_that_the_pod_does_not_have_is_shipped(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "private", train="")
    (home / "train.py").symlink_to(tmp_path / "private" / "train.py")
    made = shipped(home, settings={"default_mounts": [{"source": "h", "target": "/h", "path": str(home)}]})
    assert made.kind == "shipped"


def test_the_nearest_mount_counts(home: Path) -> None:
    write(home, {"deep/train.py": ""})
    mounts = [
        {"source": "a", "target": "/a", "path": str(home)},
        {"source": "b", "target": "/b", "path": str(home / "deep")},
    ]
    assert shipped(home, "deep/train.py", {"default_mounts": mounts}).script_in_pod == "/b/train.py"


def test_a_cells_folder_on_a_mount_is_named_as_the_pod_knows_it(home: Path) -> None:
    write(home, {".aiarts/cells/abc.py": "import helper\n"})
    settings = {"default_mounts": [{"source": "home", "target": "/home/alice", "path": str(home)}]}
    env = {"PYTHONPATH": f"{home}:/opt/lib"}
    made = shipped(home, str(home / ".aiarts/cells/abc.py"), settings, env=env)
    assert made.script_in_pod == "/home/alice/.aiarts/cells/abc.py"
    assert variables(make_reading(env=env).spec, made) == {"PYTHONPATH": "/home/alice:/opt/lib"}


# -- what only the pod has -----------------------------------------------------------------------------------------


def test_a_command_starts_in_the_images_own_folder_unless_its_own_is_mounted(home: Path) -> None:
    made = shipped(home, command="make", script=None)
    assert (made.kind, made.script_in_pod, made.workdir_in_pod) == ("none", None, ".")
    assert made.notes == (
        f"The folder {home} is not on a mount of the job, which starts in the image's own working folder.",
    )
    settings = {"default_mounts": [{"source": "h", "target": "/h", "path": str(home)}]}
    assert shipped(home, command="make", script=None, settings=settings).workdir_in_pod == "/h"


@pytest.mark.parametrize("workdir", ["/", "/tmp", "/no/such/folder/here"])
def test_a_folder_that_this_server_does_not_have_is_the_images(workdir: str) -> None:
    made = shipped(Path(workdir), command="make", script=None)
    assert (made.workdir_in_pod, made.notes) == (workdir, ())


def test_a_whole_path_that_is_not_here_is_looked_for_in_the_pod(home: Path) -> None:
    made = shipped(home, "/opt/model/train.py")
    assert (made.kind, made.script_in_pod, made.workdir_in_pod) == ("none", "/opt/model/train.py", "/opt/model")
    assert made.notes[0].startswith("The start file /opt/model/train.py is not on this server")


def test_a_relative_path_that_is_not_here_is_a_typing_error(home: Path) -> None:
    assert sentence(shipped(home, "trian.py")) == f"The start file {home}/trian.py is not there."


@pytest.mark.parametrize(
    ("name", "words"), [("gone", "is a link to something that is not there"), ("d", "is a folder")]
)
def test_a_start_file_that_is_none_is_refused(home: Path, name: str, words: str) -> None:
    (home / "gone").symlink_to("nowhere.py")
    (home / "d").mkdir()
    assert words in sentence(shipped(home, name))


def test_another_working_folder_than_the_start_files_is_said_to_be_left_out(home: Path) -> None:
    write(home, {"src/train.py": ""})
    made = shipped(home, "src/train.py")
    assert made.workdir_in_pod == CODE
    assert made.notes == (f"The folder {home} is not on a mount of the job, which starts in {CODE}.",)


# -- once more -----------------------------------------------------------------------------------------------------


def test_the_code_of_an_earlier_run_can_be_used_again(home: Path) -> None:
    write(home, train="import a\n", a="")
    env = {"PYTHONPATH": str(home), "A": "b"}
    made = shipped(home, env=env)
    asked = make_reading(env=env).spec
    plan = {"start": {"path": made.script_in_pod}, "workdir": made.workdir_in_pod, "env": variables(asked, made)}
    again = reuse(asked, plan, made.zip)
    assert again == made
    assert variables(make_reading(env={**env, "NEW": "1"}).spec, again) == {"A": "b", "NEW": "1"}
    assert variables(make_reading(env={"PYTHONPATH": "/mine"}).spec, again) == {"PYTHONPATH": "/mine"}


def test_code_that_was_on_a_mount_is_used_there_again() -> None:
    mounted = Shipment(kind="mounted", script_in_pod="/h/t.py", workdir_in_pod="/h")
    plan = {"start": {"path": "/h/t.py"}, "workdir": "/h", "env": {}}
    assert reuse(make_reading().spec, plan, None) == mounted


# -- whatever a folder holds ---------------------------------------------------------------------------------------

PARTS = st.sampled_from(["a", "b", "pkg", "os", ".x", "__init__", "a-b", "été"])
LINES = st.one_of(
    st.builds(lambda parts: f"import {'.'.join(parts)}", st.lists(PARTS, min_size=1, max_size=3)),
    st.builds(
        lambda dots, parts, names: f"from {'.' * dots}{'.'.join(parts)} import {', '.join(names)}",
        st.integers(0, 4),
        st.lists(PARTS, max_size=2),
        st.lists(PARTS, min_size=1, max_size=2),
    ),
    st.sampled_from(
        ["import (", "from . import *", "from .. import a", "import ../../etc/passwd", "import a;import b"]
    ),
)
FILES = st.dictionaries(
    st.lists(PARTS, min_size=1, max_size=3).map(tuple), st.lists(LINES, max_size=4), min_size=0, max_size=6
)
LINKS = st.dictionaries(PARTS, st.sampled_from(["/etc/passwd", "../secret.py", "pkg", ".", "..", "a.py"]), max_size=3)


@hypothesis_settings(max_examples=150, deadline=None)
@given(files=FILES, links=LINKS, start=st.lists(LINES, max_size=5))
def test_only_what_lies_in_the_folder_ever_leaves_it(
    files: dict[tuple[str, ...], list[str]], links: dict[str, str], start: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        (Path(temporary) / "secret.py").write_text("password = 'secret'")
        home = Path(temporary) / "home"
        home.mkdir()
        (home / "train.py").write_text("\n".join(start))
        for parts, lines in files.items():
            _try_to_write(home.joinpath(*parts).with_name(parts[-1] + ".py"), "\n".join(lines))
        for name, target in links.items():
            for path in (home / name, home / f"{name}.py"):
                if not os.path.lexists(path):
                    path.symlink_to(target)
        made = shipped(home)
        if made.zip is None:
            assert made.problems
            return
        for name, text in content(made).items():
            assert not name.startswith("/") and not any(part.startswith(".") for part in name.split("/"))
            real = (home / name).resolve()
            assert real.is_relative_to(home.resolve()) and real.read_text() == text
        with zipfile.ZipFile(io.BytesIO(made.zip)) as archive:
            assert all(info.external_attr >> 16 & 0o170000 == 0o100000 for info in archive.infolist())


def _try_to_write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except (FileExistsError, IsADirectoryError, NotADirectoryError):
        pass
