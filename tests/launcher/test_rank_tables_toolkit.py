"""The toolkit's variables: of the image that the rank runs in, added to what is there, never before the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.ascend.toolkit import QUIET, variables

from .boards import boards
from .pods import Pods

ASCEND = "usr/local/Ascend"
SCRIPT = """
echo "a line that nobody wants"
toolkit=$(dirname "${BASH_SOURCE[0]}")/latest
if [ -d "$toolkit" ]; then
    export ASCEND_TOOLKIT_HOME=$toolkit
    export LD_LIBRARY_PATH=$toolkit/lib64:$toolkit/lib64/plugin:$LD_LIBRARY_PATH
    export PYTHONPATH=$toolkit/python/site-packages:$PYTHONPATH
    export PATH=$toolkit/bin:$toolkit/compiler/ccec_compiler/bin:$PATH
    export ASCEND_OPP_PATH=$toolkit/opp
    export UNRELATED=x
fi
"""
SHOW = 'for n in PATH LD_LIBRARY_PATH PYTHONPATH ASCEND_OPP_PATH ASCEND_GLOBAL_LOG_LEVEL; do eval echo "\\$$n"; done'


def install_script(root: Path) -> Path:
    home = root / ASCEND / "ascend-toolkit"
    (home / "latest").mkdir(parents=True)
    (home / "set_env.sh").write_text(SCRIPT)
    return home / "latest"


def test_nothing_but_a_log_level_where_no_toolkit_is(tmp_path: Path) -> None:
    assert variables(str(tmp_path)) == QUIET == {"ASCEND_GLOBAL_LOG_LEVEL": "3", "ASCEND_GLOBAL_EVENT_ENABLE": "0"}


def test_the_toolkits_own_script_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a clean environment: what this process has is not in the answer, nor can it change it."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "/somewhere/else")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "never.sh"))
    (tmp_path / "never.sh").write_text(f"touch {tmp_path}/never")
    home = install_script(tmp_path)
    assert variables(str(tmp_path)) == {
        **QUIET,
        "ASCEND_TOOLKIT_HOME": str(home),
        "ASCEND_OPP_PATH": f"{home}/opp",
        "LD_LIBRARY_PATH": f"{home}/lib64:{home}/lib64/plugin",
        "PYTHONPATH": f"{home}/python/site-packages",
        "PATH": f"{home}/bin:{home}/compiler/ccec_compiler/bin",
    }
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("script", ["exit 3", "sleep 300", "kill -9 $$", "echo \0"])
def test_a_script_that_fails_leaves_the_usual_paths(tmp_path: Path, script: str) -> None:
    home = install_script(tmp_path)
    (home / "opp").mkdir()
    (home.parent / "set_env.sh").write_text(script)
    assert variables(str(tmp_path)) == {**QUIET, "ASCEND_OPP_PATH": f"{home}/opp"}


def test_the_usual_paths_are_those_that_exist(tmp_path: Path) -> None:
    home = tmp_path / "home/HwHiAiUser/Ascend/ascend-toolkit/latest"
    tbe = "opp/op_impl/built-in/ai_core/tbe"
    driver = tmp_path / ASCEND / "driver/lib64/driver"
    for folder in (home / "fwkacllib/lib64", home / "fwkacllib/ccec_compiler/bin", home / tbe, driver):
        folder.mkdir(parents=True)
    assert variables(str(tmp_path)) == {
        **QUIET,
        "PYTHONPATH": f"{home}/{tbe}",
        "TBE_IMPL_PATH": f"{home}/{tbe}",
        "LD_LIBRARY_PATH": f"{home}/fwkacllib/lib64:{driver.parent}:{driver}",
        "PATH": f"{home}/fwkacllib/ccec_compiler/bin",
        "ASCEND_OPP_PATH": f"{home}/opp",
    }


def test_the_oldest_images_have_a_folder_of_their_version(tmp_path: Path) -> None:
    home = tmp_path / ASCEND / "ascend-toolkit/20.0.0.B035/arm64-linux_gcc7.3.0"
    (home / "opp").mkdir(parents=True)
    assert variables(str(tmp_path))["ASCEND_OPP_PATH"] == f"{home}/opp"


def start(pods: Pods, *, toolkit: bool = True) -> list[str]:
    """What a rank on one card says of its variables, in an image with a toolkit."""
    boards(pods, nodes=1, cards=1).shell(SHOW).make()
    if toolkit:
        install_script(pods.roots[0])
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait() == 0
    return pods.log().decode().splitlines()


def test_ranks_have_the_toolkit_beside_what_the_image_has(pods: Pods) -> None:
    pods.environ.update(LD_LIBRARY_PATH="/image/lib")
    path, libraries, modules, opp, level = start(pods)
    home = pods.roots[0] / ASCEND / "ascend-toolkit/latest"
    assert path.endswith(f":{home}/bin:{home}/compiler/ccec_compiler/bin") and "/usr/bin" in path
    assert libraries == f"{home}/lib64:{home}/lib64/plugin:/image/lib"
    assert (modules, opp, level) == (f"{home}/python/site-packages", f"{home}/opp", "3")


def test_what_the_user_or_the_image_set_stays(pods: Pods) -> None:
    mine = {"LD_LIBRARY_PATH": "/mine", "PYTHONPATH": "", "PATH": os.environ["PATH"], "ASCEND_GLOBAL_LOG_LEVEL": "1"}
    pods.plan(env=mine)
    pods.environ.update(ASCEND_OPP_PATH="/image/opp")
    programs, libraries, modules, opp, level = start(pods)
    assert programs.endswith(os.environ["PATH"])  # behind the pod's own `sudo`, if it has one
    assert (libraries, modules, opp, level) == ("/mine", "", "/image/opp", "1")


def test_folders_that_are_listed_already_are_not_listed_twice(pods: Pods) -> None:
    first = start(pods)
    pods.environ.update(LD_LIBRARY_PATH=first[1].replace("pod-1", "pod-2"))
    assert start(pods)[1] == first[1].replace("pod-1", "pod-2")


def test_other_jobs_have_none_of_it(pods: Pods) -> None:
    pods.shell(SHOW).make()
    install_script(pods.roots[0])
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait() == 0
    assert pods.log().decode().splitlines()[1:] == ["", "", "", ""]
