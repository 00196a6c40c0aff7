"""The launcher runs on the oldest Python at hand, as it will in old images.

`AIARTS_OLD_PYTHON` names it (a CPython 3.6 or 3.7 where there is one), else Debian's pypy3 (3.9) is used.
"""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from jupyter_aiarts.engines.kubernetes.launcher_zip import pack
from jupyter_aiarts.launcher.octets import to_bytes

from .conftest import LAUNCHER, Run, lives, wait_until
from .pods import Pods
from .reader import Reader


@pytest.fixture(scope="session")
def old_python() -> str:
    """An interpreter older than any this project otherwise runs on."""
    found = os.environ.get("AIARTS_OLD_PYTHON") or shutil.which("pypy3")
    assert found, "no old Python: install Debian's `pypy3`, or name a CPython 3.6 or 3.7 in AIARTS_OLD_PYTHON"
    code = "import sys; sys.exit(not (3, 6) <= sys.version_info < (3, 10))"
    assert subprocess.run([found, "-c", code]).returncode == 0, f"{found} is not older than Python 3.10"
    return found


@pytest.fixture
def old(run: Run, old_python: str, tmp_path: Path) -> Run:
    """A run whose launchers are the zip under that interpreter."""
    archive = tmp_path / "launcher.zip"
    archive.write_bytes(pack())
    run.command = [old_python, "-I", "-S", str(archive)]
    return run


def test_every_module_compiles(old_python: str) -> None:
    code = "import sys\nfor name in sys.argv[1:]: compile(open(name, encoding='utf-8').read(), name, 'exec')"
    names = [str(path) for path in LAUNCHER.rglob("*.py")]
    assert subprocess.run([old_python, "-c", code, *names]).returncode == 0


def test_a_failing_job(old: Run) -> None:
    hostile = "训练 \udcff $(id)"
    assert (
        old.script("import os, sys; sys.stdout.buffer.write(os.fsencode(sys.argv[1])); sys.exit(3)", hostile).go() == 1
    )
    assert (old.log(), old.summary["first_failure"]["exit_code"]) == (to_bytes(hostile), 3)


def test_in_the_c_locale(old: Run) -> None:
    old.shell('printf %s "$NAME"', env={"NAME": "训练"})
    old.start(env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
    assert old.wait() == 0
    assert old.log() == "训练".encode()


def test_a_group_with_a_restart(old: Run) -> None:
    line = '[ "$RANK" = 1 ] && [ ! -e once ] && touch once && exit 1; until [ -e once ]; do sleep 0.05; done'
    assert old.plan(nodes=2).shell(line, max_restarts=1).go() == 0
    assert old.summary["result"] == "succeeded"


def test_a_group_on_ascend_cards_agrees_on_a_rank_table(old: Run) -> None:
    cards = {"device": "huawei_npu_arm64", "nodes": 2, "cards": 2, "devices": [[0, 1], [2, 3]]}
    assert old.shell('cat "$RANK_TABLE_FILE"', **cards).go() == 0
    assert old.log() == old.log(1, node=1) == (old.folder / "hccl.json").read_bytes() != b""


def test_a_stop_ends_everything(old: Run) -> None:
    old.shell("(setsid sleep 300 & echo $!); exec sleep 300").start()
    wait_until(lambda: old.phase() == "running" and b"\n" in old.log())
    old.launchers[0].terminate()
    assert old.wait() == 1
    assert not lives(int(old.log()))


@pytest.fixture
def old_pods(pods: Pods, old_python: str) -> Pods:
    """Pods whose image has that interpreter and no locale."""
    archive = pods.folder / "launcher.zip"
    archive.write_bytes(pack())
    pods.command = [old_python, "-I", str(archive)]
    pods.environ["LC_ALL"] = "C"
    return pods


def test_pods_that_regroup(old_pods: Pods) -> None:
    old_pods.plan(nodes=2).shell("echo 训练; until [ -e go ]; do sleep 0.05; done").start_all().all_running()
    wait_until(lambda: old_pods.log())
    reader = Reader(old_pods.ports[0])
    with reader.connect() as connection:
        old_pods.launchers[1].terminate()
        assert old_pods.wait(1) == 75
        wait_until(lambda: old_pods.phase(0) == "meeting")
        old_pods.start(1)
        old_pods.all_running()
        (old_pods.folder / "go").touch()
        reader.read_on(connection)
    assert old_pods.wait_all() == [0, 0]
    assert bytes(reader.bytes["0.stdout"]) == "训练\n训练\n".encode()
    assert reader.types()[-1] == "end"
    assert old_pods.message(0)["result"] == "succeeded"


def test_shipped_code_and_a_console(old_pods: Pods) -> None:
    root = old_pods.shell("cat code/训练.txt; echo done >&2", workdir=".").make()
    with zipfile.ZipFile(root / "aiarts/job/code.zip", "w") as archive:
        archive.writestr("训练.txt", "shipped\n")
    assert old_pods.prepare() == 0
    launcher = old_pods.enter(cwd=root / "aiarts/run", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert launcher.communicate(timeout=20) == (b"shipped\n", b"done\n")
    assert old_pods.wait() == 0
