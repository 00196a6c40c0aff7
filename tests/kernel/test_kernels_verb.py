"""`aiarts kernels` and `%aiarts kernels`: every act from both, without a server, in both languages."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.terminal import Style
from jupyter_aiarts.kernel.transport import Answer, Transport
from tests.kernelspecs.conftest import make_conda


@pytest.fixture
def train(nothing_around: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment in a home of the test's own, whose Python has what the tests' has."""
    for name in [name for name in os.environ if "CONDA" in name or "MAMBA" in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(nothing_around / "home"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(nothing_around / "data"))
    env = make_conda(nothing_around / "home/miniconda3/envs/训练 it's")
    (env / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\nversion = 3.11.0\n")
    site = next(env.glob("lib/python*/site-packages"))
    (site / "tests.pth").write_text("\n".join(one for one in sys.path if one.endswith("site-packages")))
    return env


def test_from_a_notebook(train: Path, shell: InteractiveShell) -> None:
    def said(line: str) -> str:
        return shell.run_line_magic("aiarts", line).text(Style())

    which = f'"{train}"'
    assert train.name in said("kernels")
    assert "for you" in said(f"kernels register {which} --user")
    assert "is well" in said(f"kernels doctor {which}")
    assert "takes" in said(f"kernels size {which}")
    assert "written again" in said(f"kernels repair {which}")
    assert "its environment stays" in said(f"kernels unregister {which}")


def test_from_a_terminal_in_chinese(
    train: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")

    def said(*words: str, code: int = 0) -> str:
        assert main(["kernels", *words]) == code
        return "".join(capsys.readouterr())

    assert "内核可用于" in said("list") and "注册为所有用户的内核" in said()
    assert "可用于自己" in said("register", train.name, "--user")
    assert "正常" in said("doctor", train.name)
    (train / "conda-meta/ipykernel-6.29.0-py_0.json").unlink()
    assert "缺少 ipykernel" in said("doctor", train.name, code=1)
    (train / "conda-meta/ipykernel-6.29.0-py_0.json").write_text("{}")
    assert "已重新写入" in said("repair", train.name)
    assert "已移除内核" in said("unregister", train.name)
    assert "没有叫" in said("doctor", "nobody", code=3)
    (train.parent.parent / "more").mkdir()
    make_conda(train.parent.parent / "more" / train.name)
    (train.parents[2] / ".condarc").write_text(f"envs_dirs: ['{train.parent.parent}/more']\n")
    assert "请给出其中一个的文件夹" in said("register", train.name, code=2)


class Sent(Transport):
    """Keeps what would be sent."""

    def __init__(self) -> None:
        self.which: list[str] = []

    def request(self, method: str, path: str, query: Any = None, body: Any = None, headers: Any = None) -> Answer:
        self.which.append(body["which"])
        return Answer(200, {}, {})

    def stream(self, path: str, query: Any = None, body: Any = None) -> Iterator[dict[str, Any]]:
        self.which.append(body["which"])
        return iter(())


def test_a_relative_folder_is_the_callers_and_not_the_servers(nothing_around: Path) -> None:
    sent = Sent()
    client = Client(sent)
    for act in (client.register_kernel, client.unregister_kernel, client.examine_kernel, client.kernel_size):
        act("./venv")
    client.repair_kernel("../x")
    assert sent.which == [f"{nothing_around}/venv"] * 4 + [f"{nothing_around.parent}/x"]
    for given, meant in ((".", str(nothing_around)), ("/a/b", "/a/b"), ("train", "train"), ("a..b", "a..b")):
        client.examine_kernel(given)
        assert sent.which[-1] == meant


def test_every_deed_without_a_server_is_in_the_audit_log_and_looking_is_not(
    train: Path, nothing_around: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = nothing_around / "audited"
    monkeypatch.setenv("AIARTS_STATE_DIR", str(state))
    acts = ("list", "register", "doctor", "repair", "size", "unregister", "unregister")
    for act in acts:
        main(["kernels", act, *([str(train)] if act != "list" else []), *(["--user"] if act == "register" else [])])
    main(["kernels", "repair", "nobody"])
    found = [json.loads(line) for line in (state / "audit.log").read_text().splitlines()]
    assert [(one["action"], one["subject"], one["status"]) for one in found] == [
        ("register-kernel", str(train), 200),
        ("repair-kernel", str(train), 200),
        ("unregister-kernel", str(train), 200),
        ("unregister-kernel", str(train), 404),
        ("repair-kernel", "nobody", 404),
    ]


REPAIR = """
import signal, sys
from jupyter_aiarts.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it, and be in nohup
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.exit(main(["kernels", "repair", sys.argv[1]]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_gives_an_installer_up_by_ctrl_c_by_kill_and_when_it_is_closed(
    train: Path, tmp_path: Path, number: signal.Signals
) -> None:
    (train / "conda-meta/ipykernel-6.29.0-py_0.json").rename(train / "conda-meta/pip-24.0-py_0.json")
    (train / "bin/python").unlink()
    (train / "bin/python").write_text(f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\necho begun\nexec sleep 1000\n')
    (train / "bin/python").chmod(0o755)
    child = subprocess.Popen([sys.executable, "-c", REPAIR, str(train)], stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None and child.stderr.readline() == "begun\n"
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


ACT = """
import sys
from jupyter_aiarts.cli import main
sys.exit(main(["kernels", "register", sys.argv[1], "--user"]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_on_a_read_only_disk_it_says_so_and_nothing_is_half_done(train: Path, tmp_path: Path) -> None:
    """Root may write everywhere else: a target that cannot be written by anybody is the one that root meets."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "act.py").write_text(ACT)
    lines = (
        f"mount -t tmpfs -o ro none {shared} || exit 77",
        f"{sys.executable} {tmp_path}/act.py {shlex.quote(str(train))}; code=$?",
        f"ls -A {shared}",
        "exit $code",
    )
    environ = {**os.environ, "JUPYTER_DATA_DIR": str(shared), "PYTHONPATH": str(Path(__file__).parents[2])}
    words = ["unshare", "--mount", "sh", "-c", "\n".join(lines)]
    out = subprocess.run(words, capture_output=True, text=True, env=environ, timeout=60)
    if out.returncode == 77 or "unshare" in out.stderr:
        pytest.skip("nothing can be mounted here")
    assert out.returncode != 0 and "Read-only file system" in out.stderr and "Nothing was changed" in out.stderr
    assert out.stdout == ""
