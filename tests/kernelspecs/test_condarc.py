"""What somebody else wrote is read as they mean it, and with nothing of the reader's own in it: a path with the
reader's variables tells whoever serves it what they hold."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from jupyter_aiarts.kernelspecs.places import Places, places

from .conftest import make_conda

SECRET = "s3cret-token"


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USER", "bob-who-looks")
    monkeypatch.setenv("LOGNAME", "bob-who-looks")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", SECRET)


@pytest.fixture
def neighbour(tmp_path: Path) -> Path:
    folder = tmp_path / "neighbour"
    (folder / ".conda").mkdir(parents=True)
    return folder


def all_paths(found: Places) -> str:
    return "\n".join([*found.prefixes, *found.holders, *found.lists, *found.absent, *found.sure])


PLACES = (".condarc", ".conda/condarc.d/a.yml", ".config/conda/condarc", "miniconda3/.condarc")
LEAKS = (
    "/net/$JUPYTERHUB_API_TOKEN.evil.example/x", "/net/${JUPYTERHUB_API_TOKEN}.evil.example/x",
    "~/$JUPYTERHUB_API_TOKEN", "$HOME/$JUPYTERHUB_API_TOKEN", "/a/$USER/$JUPYTERHUB_API_TOKEN",
    "$JUPYTERHUB_API_TOKEN", "/$HOME$JUPYTERHUB_API_TOKEN", "~$JUPYTERHUB_API_TOKEN", "/${US$JUPYTERHUB_API_TOKEN}",
)  # fmt: skip


@pytest.mark.parametrize("rc", PLACES)
def test_no_variable_of_the_readers_gets_into_a_path_of_somebody_elses(home: Path, neighbour: Path, rc: str) -> None:
    (neighbour / rc).parent.mkdir(parents=True, exist_ok=True)
    (neighbour / rc).write_text("envs_dirs:\n" + "".join(f"  - '{one}'\n" for one in LEAKS))
    found = all_paths(places({}, [str(home), str(neighbour)]))
    assert str(neighbour / rc) in found
    assert SECRET not in found and "$" not in found and "bob-who-looks" not in found


def test_nor_by_a_list_or_a_folder_that_is_called_like_a_variable(home: Path, neighbour: Path) -> None:
    odd = neighbour / "$JUPYTERHUB_API_TOKEN"
    env = make_conda(odd / "envs/train")
    (neighbour / ".conda/environments.txt").write_text(f"{env}\n/net/$JUPYTERHUB_API_TOKEN/envs/x\n")
    found = places({}, [str(home), str(neighbour)])
    assert SECRET not in all_paths(found)
    assert str(odd) in found.prefixes and f"{odd}/envs" in found.holders  # as it is called


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_nor_by_a_shared_installation_that_is_somebody_elses(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "data/conda"
    make_conda(root / "envs/train")
    (root / ".condarc").write_text("envs_dirs: ['/net/$JUPYTERHUB_API_TOKEN', '/mine/$SCRATCH']\n")
    environ = {"MAMBA_ROOT_PREFIX": str(root)}
    assert f"/net/{SECRET}" in places(environ, [str(home)]).holders  # the system's, as conda itself reads it
    os.chown(root / ".condarc", 64001, 64001)
    assert SECRET not in all_paths(places(environ, [str(home)]))


@pytest.mark.parametrize("written", ["/scratch/$USER/envs", "/scratch/${USER}/envs", "/scratch/$LOGNAME/envs"])
def test_a_persons_name_in_their_condarc_is_theirs(
    home: Path, neighbour: Path, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (neighbour / ".condarc").write_text(f"envs_dirs: ['{written}', '{written}_not']\n")
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: pwd.struct_passwd(("alice", "x", uid, uid, "", "/h", "")))
    found = places({}, [str(home), str(neighbour)]).holders
    assert "/scratch/alice/envs" in found


def test_ones_own_may_name_any_variable(home: Path, neighbour: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRATCH", "/scratch/7")
    (home / ".condarc").write_text("envs_dirs: ['$SCRATCH/envs', '~/a', '/u/$USER']\n")
    holders = places({}, [str(home), str(neighbour)]).holders
    assert {"/scratch/7/envs", f"{home}/a", "/u/bob-who-looks"} <= {*holders}
