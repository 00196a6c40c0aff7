"""`aiarts run` while it runs: output as it comes, interrupts, nothing left behind; in a terminal and in a kernel."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from tests.kernel.running import ROOT, marked, private_folders, read_until, said, start
from tests.kernel.test_server_door import old_kernel

__all__ = ["old_kernel", "private_folders"]
Script = Callable[..., str]
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", child, sys.argv[1]])
print("up", flush=True)
time.sleep(600)
"""


def none_left(mark: str) -> None:
    """The process table has no event."""
    end = time.monotonic() + 30
    while marked(mark):
        assert time.monotonic() < end, "ranks outlive whoever started them"
        time.sleep(0.05)


def gone(folder: Path) -> None:
    """The launcher removes what its owner did not live to remove."""
    end = time.monotonic() + 30
    while list(folder.iterdir()):
        assert time.monotonic() < end, "variables of the kernel stay on the disk"
        time.sleep(0.05)


def test_output_is_shown_while_the_ranks_run(script: Script, nothing_around: Path) -> None:
    """The ranks wait for a file that is made only when their lines have been seen."""
    source = (
        "import os, time\nprint('here', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('gone')"
    )
    with start("-n", "2", script(source)) as process:
        read_until(process, b"here", 2)
        (nothing_around / "go").touch()
        assert process.stdout is not None
        assert process.stdout.read().count(b"gone") == 2


def test_ctrl_c_asks_and_a_second_one_kills_the_whole_tree(script: Script, tmp_path: Path) -> None:
    mark = f"mark-of-{tmp_path.name}-{os.getpid()}"
    with start("-n", "2", "--grace", "600", script(STUBBORN), mark) as process:
        read_until(process, b"up", 2)
        assert len(marked(mark)) >= 4
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert b"once more" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert marked(mark) == []


def test_a_rank_may_end_in_its_own_way_within_the_grace_time(script: Script) -> None:
    source = """
import signal, sys, time
def end(*_):
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
time.sleep(600)
"""
    with start("-n", "2", script(source)) as process:
        read_until(process, b"up", 2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        assert process.returncode == 130
    assert out.count(b"saved") == 2 and b"Interrupted; all ranks have ended." in out


def test_nothing_outlives_a_command_that_was_killed(script: Script, tmp_path: Path, private_folders: Path) -> None:
    mark = f"mark-of-{tmp_path.name}-{os.getpid()}"
    with start("-n", "2", "--grace", "1", script(STUBBORN), mark) as process:
        read_until(process, b"up", 2)
        process.kill()
        process.wait(10)
        none_left(mark)
    gone(private_folders)


def test_a_reader_that_went_away_ends_the_ranks(script: Script, tmp_path: Path) -> None:
    """`aiarts run … | head -1`"""
    mark = f"mark-of-{tmp_path.name}-{os.getpid()}"
    source = "import time\nfor i in range(10**9):\n    print(i, flush=True)\n    time.sleep(0.001)"
    with start("-n", "2", "--grace", "1", script(source), mark) as process:
        read_until(process, b"1")
        assert process.stdout is not None
        process.stdout.close()
        process.wait(30)
    assert marked(mark) == []


def test_a_flood_of_output_comes_whole(script: Script) -> None:
    source = "import sys\nsys.stdout.write('x' * 99 + '\\n')\nfor i in range(40000): sys.stdout.write('%0100d\\n' % i)"
    with start("-n", "2", script(source)) as process:
        out, _ = process.communicate(timeout=60)
    lines = out.decode().splitlines()
    assert len(lines) == 2 * 40001 + 1
    assert [int(line) for line in said(out.decode(), 1)[1:]] == list(range(40000))


def test_a_progress_bar_is_shown_before_its_line_ends(script: Script, nothing_around: Path) -> None:
    source = """
import os, sys, time
while not os.path.exists("go"):
    sys.stdout.write("\\r50%")
    sys.stdout.flush()
    time.sleep(0.05)
print()
"""
    with start("-n", "2", script(source)) as process:
        assert b"[rank " in read_until(process, b"50%", 2)
        (nothing_around / "go").touch()
        process.communicate(timeout=30)


OLD = """
from jupyter_aiarts.kernel import api, grammar, verbs
from jupyter_aiarts.kernel.session import Session
from jupyter_aiarts.kernel.terminal import Style
session = Session(api.connect_later(), Style(), print, print, notebook=True)
raise SystemExit(verbs.run(session, grammar.parse(["run", "-n", "2", "train.py"])).status)
"""


def test_it_needs_no_server_and_nothing_installed(script: Script, old_kernel: str) -> None:
    """In the oldest Python that a kernel may have."""
    script("import os, sys\nassert sys.version_info < (3, 10)\nprint('up'); sys.exit(int(os.environ['RANK']) * 5)")
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([old_kernel, "-W", "error", "-c", OLD], env=environ, stdout=subprocess.PIPE, check=False)
    assert (done.returncode, sorted(done.stdout.decode().splitlines())) == (5, ["[rank 0] up", "[rank 1] up"])


# --- in a real kernel ---------------------------------------------------------------------------------------------


class Notebook:
    """A kernel as JupyterLab starts one, and what it shows while a cell runs."""

    def __init__(self, folder: Path, sockets: str) -> None:
        self.manager = KernelManager(transport="ipc", ip=f"{sockets}/k", kernel_name="python3")
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder / "ipython")}
        self.manager.start_kernel(cwd=str(folder), env=environ)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.run("%load_ext jupyter_aiarts")

    def run(self, code: str, until: str | None = None) -> str:
        """Run a cell to its end, or until it has shown a text; what it showed."""
        self._id = self.client.execute(code)
        return self.read(until)

    def read(self, until: str | None = None, seconds: float = 60) -> str:
        """What the running cell shows from now on."""
        shown, end = "", time.monotonic() + seconds
        while True:
            try:
                message: dict[str, Any] = self.client.get_iopub_msg(timeout=end - time.monotonic())
            except queue.Empty:
                raise AssertionError(f"after {seconds} s only: {shown}") from None
            content = message["content"]
            if message["parent_header"].get("msg_id") != self._id:
                continue
            shown += content.get("text") or content.get("data", {}).get("text/plain") or content.get("evalue") or ""
            if (until and until in shown) or content.get("execution_state") == "idle":
                return shown

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(nothing_around: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    import tempfile

    sockets = tempfile.mkdtemp(prefix="aiarts-", dir="/tmp")  # a socket's path may have 107 bytes
    book = Notebook(nothing_around, sockets)
    yield book
    book.close()
    for path in Path(sockets).iterdir():
        path.unlink()
    os.rmdir(sockets)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_in_a_notebook_lines_come_while_the_ranks_run_and_the_result_is_a_value(
    notebook: Notebook, script: Script, nothing_around: Path
) -> None:
    source = (
        "import os, sys, time\nprint('here', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nsys.exit(4)"
    )
    shown = notebook.run(f"done = %aiarts run -n 2 {script(source)} --x", until="[rank 1] here")
    assert "here" in shown
    (nothing_around / "go").touch()
    notebook.read()
    assert "(4, " in notebook.run("done.exit_code, done.first_failure['rank']")
    assert "failed first: exit code 4." in notebook.run("done")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_stop_button_ends_the_ranks_and_the_kernel_lives_on(
    notebook: Notebook, script: Script, tmp_path: Path
) -> None:
    mark = f"mark-of-{tmp_path.name}-{os.getpid()}"
    notebook.run(f"%aiarts run -n 2 --grace 600 {script(STUBBORN)} {mark}", until="[rank 1] up")
    notebook.manager.interrupt_kernel()
    assert "once more" in notebook.read(until="once more")
    notebook.manager.interrupt_kernel()
    assert "Interrupted; all ranks have ended." in notebook.read()
    assert marked(mark) == []
    assert "42" in notebook.run("6 * 7")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_kernel_that_is_killed_takes_its_ranks_with_it(
    notebook: Notebook, script: Script, tmp_path: Path, private_folders: Path
) -> None:
    mark = f"mark-of-{tmp_path.name}-{os.getpid()}"
    notebook.run(f"%aiarts run -n 2 --grace 1 {script(STUBBORN)} {mark}", until="[rank 1] up")
    notebook.manager.shutdown_kernel(now=True)
    none_left(mark)
    gone(private_folders)


# --- a cell, and Python -------------------------------------------------------------------------------------------

CELL = """%%aiarts run -n 2 --as done -- --lr 0.1
import os, sys, time
import beside
print("rank", os.environ["RANK"], beside.WORD, sys.argv[1:], flush=True)
while not os.path.exists("go"): time.sleep(0.01)
sys.exit(int(os.environ["RANK"]) * 6)
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cell_runs_as_ranks_with_the_modules_beside_the_notebook(notebook: Notebook, nothing_around: Path) -> None:
    (nothing_around / "beside.py").write_text("WORD = 'found'")
    shown = notebook.run(CELL, until="[rank 1] rank 1")
    assert "The cell was written to .aiarts/cells/" in shown
    shown += notebook.read(until="[rank 0] rank 0") if "[rank 0] rank 0" not in shown else ""
    (nothing_around / "go").touch()
    notebook.read()
    for rank in range(2):
        assert f"[rank {rank}] rank {rank} found ['--lr', '0.1']" in shown
    assert "(6, 1)" in notebook.run("done.exit_code, done.first_failure['rank']")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_stop_button_ends_a_cells_ranks_too(notebook: Notebook, tmp_path: Path) -> None:
    mark = f"mark-of-{tmp_path.name}-{os.getpid()}"
    notebook.run(f"%%aiarts run -n 2 --grace 600 -- {mark}\n{STUBBORN}", until="[rank 1] up")
    notebook.manager.interrupt_kernel()
    notebook.read(until="once more")
    notebook.manager.interrupt_kernel()
    assert "Interrupted; all ranks have ended." in notebook.read()
    assert marked(mark) == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cell_beside_a_start_file_or_without_python_starts_nothing(notebook: Notebook, nothing_around: Path) -> None:
    source = "open('started', 'w')"
    assert "The cell is the start file" in notebook.run(f"%%aiarts run -n 2 train.py\n{source}")
    assert "Line 2 of the cell is not Python" in notebook.run(f"%%aiarts run -n 2\n{source}\n!ls")
    notebook.run("lr = 3")
    assert "not in the cell" in notebook.run("%%aiarts run -n 1\nprint(lr)")
    assert not (nothing_around / "started").exists()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_python_runs_ranks_and_an_interrupt_ends_them_and_what_follows(
    notebook: Notebook, script: Script, tmp_path: Path, nothing_around: Path
) -> None:
    source = "import os, sys, time\nprint('here', sys.argv[1], flush=True)\nsys.exit(int(os.environ['RANK']) * 5)"
    name = script(source)
    shown = notebook.run(f"import jupyter_aiarts as aiarts\ndone = aiarts.run({name!r}, n=2, args=[0.5])")
    assert "[rank 0] here 0.5" in shown and "[rank 1] here 0.5" in shown
    assert "(5, 1, False)" in notebook.run("done.exit_code, done.first_failure['rank'], done.interrupted")
    mark = f"mark-of-{tmp_path.name}-{os.getpid()}"
    path = script(STUBBORN, "stubborn.py")
    code = f"aiarts.run({path!r}, n=2, args=[{mark!r}], grace=600)\nopen('after', 'w')"
    notebook.run(code, until="[rank 1] up")
    notebook.manager.interrupt_kernel()
    notebook.read(until="once more")
    notebook.manager.interrupt_kernel()
    notebook.read()
    assert marked(mark) == [] and not (nothing_around / "after").exists()
    assert "42" in notebook.run("6 * 7")


def test_python_may_run_ranks_from_any_thread(script: Script, capfd: pytest.CaptureFixture[str]) -> None:
    import threading

    import jupyter_aiarts

    found: list[Any] = []
    path = script("import sys\nprint('out')\nsys.stderr.write('err')")
    thread = threading.Thread(target=lambda: found.append(jupyter_aiarts.run(path, n=2)))
    thread.start()
    thread.join(60)
    printed = capfd.readouterr()
    assert (found[0].exit_code, printed.out.count("out"), printed.err.count("err")) == (0, 2, 2)
    with pytest.raises(Exception, match="999 ranks cannot be run here"):
        jupyter_aiarts.run(path, n=999)
