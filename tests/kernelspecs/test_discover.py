"""Every environment that conda, mamba or micromamba would name is found by reading, and nothing is run for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_aiarts.kernelspecs.discover import Discovery
from jupyter_aiarts.kernelspecs.places import places
from jupyter_aiarts.model.environment import Environment

from .conftest import make_conda


def found(home: Path, environ: dict[str, str] | None = None, extra: tuple[str, ...] = ()) -> dict[str, Environment]:
    seen = Discovery().find(places(environ or {}, [str(home)], extra))
    return {one.path: one for one in seen if one.path.startswith(str(home.parent))}


def test_the_list_of_a_user_is_read(home: Path) -> None:
    path = make_conda(home / "somewhere/else/train")
    (home / ".conda").mkdir()
    (home / ".conda/environments.txt").write_text(f"{path}\n/gone/long/ago\n\n{path}\n# a note\nrelative/path\n")
    assert list(found(home)) == [str(path)]


@pytest.mark.parametrize("root", ["miniconda3", "miniforge3", "micromamba", ".local/share/mamba"])
def test_the_usual_roots_and_the_root_itself_are_looked_at(home: Path, root: str) -> None:
    base, env = make_conda(home / root), make_conda(home / root / "envs/train")
    assert set(found(home)) == {str(base), str(env)}


def test_condarc_and_variables_name_folders(home: Path) -> None:
    by_rc, by_variable = make_conda(home / "a/one"), make_conda(home / "b/two")
    (home / ".condarc").write_text("envs_dirs:\n  - ~/never\n  - " + str(home / "a") + "\n")
    assert set(found(home, {"CONDA_ENVS_PATH": f"{home / 'b'}:/nowhere"})) == {str(by_rc), str(by_variable)}


DAMAGED = ("envs_dirs: [", "- 1", "envs_dirs: 7", "envs_dirs:\n  - 7\n  - {a: b}", "\x00\xff", "a: &a [*a]")


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_condarc_names_nothing_and_breaks_nothing(home: Path, text: str) -> None:
    (home / ".condarc").write_text(text, encoding="latin-1")
    assert found(home) == {}


def test_the_active_environment_and_its_program_name_their_root(home: Path) -> None:
    env = make_conda(home / "odd/place/envs/train")
    other = make_conda(home / "odd/place/envs/other")
    assert set(found(home, {"CONDA_PREFIX": str(env)})) == {str(env), str(other)}
    assert set(found(home, {"MAMBA_ROOT_PREFIX": str(home / "odd/place")})) == {str(env), str(other)}


def test_one_environment_under_two_names_is_one(home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    (home / "miniconda3/envs/alias").symlink_to(env)
    assert list(found(home)) == [str(env)]


def test_a_link_in_a_circle_a_file_and_a_folder_without_marks_are_none(home: Path) -> None:
    envs = home / "miniconda3/envs"
    envs.mkdir(parents=True)
    (envs / "circle").symlink_to(envs / "circle")
    (envs / "file").write_text("")
    (envs / "empty").mkdir()
    assert found(home) == {}


def test_what_an_environment_has_is_told_from_its_files(home: Path) -> None:
    env = make_conda(
        home / "miniconda3/envs/训练 'a' \"b\"", ("python-3.9.18-h1", "pytorch-2.3.1-cuda", "r-base-4.3.1-h2")
    )
    site = env / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    for name in ("mindspore-2.3.0.dist-info", "ipykernel-6.29.5.dist-info", "torch_npu-2.1.0.post6.dist-info"):
        (site / name).mkdir()
    (env / "share/jupyter/kernels/ir").mkdir(parents=True)
    (env / "share/jupyter/kernels/python3").mkdir()
    one = found(home)[str(env)]
    assert (one.name, one.kind, one.python, one.has_ipykernel) == ("训练 'a' \"b\"", "conda", "3.9.18", True)
    assert one.kernels == ("ir",)
    assert one.frameworks == {"torch": "2.3.1", "mindspore": "2.3.0", "torch_npu": "2.1.0.post6"}


def test_a_venv_that_is_named_is_found_with_its_python(home: Path) -> None:
    path = home / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True)
    one = found(home, extra=(str(path),))[str(path)]
    assert (one.kind, one.python, one.has_ipykernel) == ("venv", ".".join(map(str, sys.version_info[:3])), False)


def test_what_changed_is_read_again_and_what_did_not_is_not(home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/train", ("python-3.11.4-h1",))
    discovery, where = Discovery(), places({}, [str(home)])
    first = discovery.find(where)
    again = discovery.find(where)
    assert [one is two for one, two in zip(first, again, strict=True)] == [True] * len(first)
    (env / "conda-meta/ipykernel-6.29.0-py_0.json").write_text("{}")
    os.utime(env / "conda-meta", (1, 1))
    mine = [one for one in discovery.find(where) if one.path == str(env)]
    assert mine[0].has_ipykernel


NOBODY = """
import os, sys
from jupyter_aiarts.kernelspecs.discover import Discovery
from jupyter_aiarts.kernelspecs.places import places
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
print([one.path for one in Discovery().find(places({}, [sys.argv[1]])) if one.path.startswith(sys.argv[1])])
"""


def test_a_home_that_may_not_be_read_is_passed_over(home: Path) -> None:
    make_conda(home / "miniconda3/envs/hidden")
    home.chmod(0o700 if os.getuid() == 0 else 0)
    out = subprocess.run([sys.executable, "-c", NOBODY, str(home)], capture_output=True, text=True, cwd="/")
    home.chmod(0o700)
    assert (out.returncode, out.stdout.strip()) == (0, "[]"), out.stderr
