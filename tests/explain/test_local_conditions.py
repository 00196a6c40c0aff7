"""Every way a program fails on one machine, made for real with the local engine, and what is said of it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from jupyter_aiarts.engines.base import Caller, Engine, JobRecord
from jupyter_aiarts.engines.local.process import is_held
from jupyter_aiarts.engines.local.supervisor import lock_of
from jupyter_aiarts.model.phase import Move, Phase
from tests.explain.telling import told
from tests.scarcity import little_memory, little_room

Submit = Callable[..., Awaitable[JobRecord]]
Until = Callable[..., Awaitable[JobRecord]]
Printed = Callable[..., Awaitable[None]]

EATER = "held = []\nwhile True:\n    held.append(b'x' * (1 << 20))\n"
FOREVER = "import os, time\nprint(os.getpid(), 'up', flush=True)\ntime.sleep(600)"


# -- the start file --------------------------------------------------------------------------------------------------


def break_link(start: Path) -> None:
    start.unlink()
    start.symlink_to("../versions/7/train")


def take_mode(start: Path) -> None:
    start.chmod(0o644)


def from_windows(start: Path) -> None:
    start.write_bytes(b"#!/bin/sh\r\necho hello\r\n")


def lose_interpreter(start: Path) -> None:
    start.write_text("#!/opt/python3.7/bin/python\nprint('hello')\n")


def lose_first_line(start: Path) -> None:
    start.write_bytes(b"\x7fELF of another machine")


@pytest.mark.parametrize(
    ("spoil", "code", "decisive"),
    [
        (Path.unlink, "start-file-missing", "is not there"),
        (break_link, "start-file-broken-symlink", "../versions/7/train"),
        (take_mode, "start-file-not-executable", "not executable"),
        (from_windows, "start-file-bad-interpreter", "Windows line end"),
        (lose_interpreter, "start-file-bad-interpreter", "/opt/python3.7/bin/python"),
        (lose_first_line, "start-file-bad-interpreter", "Exec format error"),
    ],
)
async def test_a_start_file_that_was_spoiled_since_it_was_submitted(
    engine: Engine,
    caller: Caller,
    submit: Submit,
    until: Until,
    spoil: Callable[[Path], None],
    code: str,
    decisive: str,
) -> None:
    start = caller.folder / "train"
    start.write_text("#!/bin/sh\necho hello\n")
    start.chmod(0o755)
    job = await submit(start.read_text(), file="train")
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    spoil(start)
    await engine.act(job.id, Move.RERUN)
    told(await until(job.id), code, decisive)


# -- what the program says -------------------------------------------------------------------------------------------

LIMITED = "import resource\nresource.setrlimit(resource.{limit}, ({value}, {value}))\n"
NOBODY = "import os\nif os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"


@pytest.mark.parametrize(
    ("source", "code", "decisive"),
    [
        pytest.param("import numpy_of_tomorrow", "module-missing", "numpy_of_tomorrow", id="module"),
        pytest.param(
            "with open('/dev/full', 'w') as file: file.write('x')",
            "disk-full",
            "No space left on device",
            id="dev-full",
        ),
        pytest.param(
            "import os\nos.mkdir('private', 0)\n" + NOBODY + "open('private/data.csv')",
            "permission-denied",
            "private/data.csv",
            id="permission",
        ),
        pytest.param(
            LIMITED.format(limit="RLIMIT_AS", value=1 << 29) + EATER, "out-of-memory", "MemoryError", id="address-space"
        ),
        pytest.param(
            LIMITED.format(limit="RLIMIT_NOFILE", value=32) + "held = [open(__file__) for _ in range(64)]",
            "too-many-open-files",
            "Too many open files",
            id="files",
        ),
        pytest.param(
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr')\np.parse_args(['--learning', '1'])",
            "exit-code",
            "--learning",
            id="argument",
        ),
        pytest.param("import sys\nsys.exit('no such column: age')", "exit-code", "no such column", id="own-words"),
    ],
)
async def test_a_program_that_fails(submit: Submit, until: Until, source: str, code: str, decisive: str) -> None:
    told(await until((await submit(source)).id), code, decisive)


@pytest.mark.parametrize(
    ("line", "code", "decisive"),
    [
        pytest.param("torchrunn --nproc 8 train.py", "exit-code", "torchrunn", id="not-found"),
        pytest.param("head -c 9 /dev/zero > /dev/full", "disk-full", "No space left on device", id="coreutils"),
    ],
)
async def test_a_line_that_fails(submit: Submit, until: Until, line: str, code: str, decisive: str) -> None:
    told(await until((await submit(command=line, script=None)).id), code, decisive)


async def test_a_shell_file_from_windows(submit: Submit, until: Until) -> None:
    """Bash reads it itself, so no interpreter is missing: its words end in a carriage return."""
    done = await until((await submit("#!/bin/bash\r\nset -e\r\nls\r\n", file="train.sh")).id)
    told(done, "start-file-bad-interpreter", "\\r")


async def test_a_port_that_somebody_has(submit: Submit, until: Until) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = await until((await submit(f"import socket\nsocket.create_server(('127.0.0.1', {port}))")).id)
    told(done, "port-taken", "Address already in use")


async def test_a_disk_without_room(caller: Caller, submit: Submit, until: Until) -> None:
    with little_room(caller.folder / "small"):
        done = await until((await submit("open('small/model.ckpt', 'wb').write(b'x' * 9_000_000)")).id)
    told(done, "disk-full", "No space left on device")


# -- a library that is not there -------------------------------------------------------------------------------------


@pytest.fixture
def incomplete(folder: Path) -> str:
    """The name of a library that `liblost_user.so` and the program `user` need, and that is not there any more."""
    compiler = shutil.which("cc")
    assert compiler, "a C compiler is needed: install Debian's `gcc`"
    for name, text in {
        "lost": "int lost(void) { return 1; }",
        "user": "int lost(void); int main(void) { return lost(); }",
    }.items():
        (folder / f"{name}.c").write_text(text)

    def build(*words: str) -> None:
        subprocess.run([compiler, *words], cwd=folder, check=True)

    build("-shared", "-fPIC", "-o", "libaiarts_lost.so.3", "-Wl,-soname,libaiarts_lost.so.3", "lost.c")
    build("-shared", "-fPIC", "-o", "liblost_user.so", "user.c", "./libaiarts_lost.so.3")
    build("-o", "user", "user.c", "./libaiarts_lost.so.3")
    (folder / "libaiarts_lost.so.3").unlink()
    return "libaiarts_lost.so.3"


async def test_a_library_that_python_cannot_load(submit: Submit, until: Until, incomplete: str) -> None:
    done = await until((await submit("import ctypes\nctypes.CDLL('./liblost_user.so')")).id)
    told(done, "library-missing", incomplete)


async def test_a_library_that_a_program_lacks_is_no_missing_command(
    submit: Submit, until: Until, incomplete: str
) -> None:
    done = await until((await submit(command="./user", script=None)).id)
    assert done.cause.values["exit_code"] == 127
    told(done, "library-missing", incomplete)


# -- memory ----------------------------------------------------------------------------------------------------------


def begin_supervisor(state: Path, line: str, *around: str) -> None:
    """Start this engine's supervisor in other surroundings; jobs find it there and live as it does."""
    program = [sys.executable, "-m", "jupyter_aiarts.engines.local", str(state)]
    subprocess.run([*around, "sh", "-c", f'{line} && exec "$@"', "sh", *program], check=True, cwd="/")
    deadline = time.monotonic() + 20
    while not is_held(lock_of(state)):
        assert time.monotonic() < deadline, "the supervisor did not come up"
        time.sleep(0.02)


async def test_a_crash_in_compiled_code(submit: Submit, until: Until) -> None:
    done = await until((await submit("import ctypes\nctypes.string_at(0)")).id)
    assert done.cause.values["signal"] == "SIGSEGV"
    told(done, "exit-code", "segmentation fault", "段错误")


async def test_a_container_without_memory(
    submit: Submit, until: Until, state_dir: Path, processes: Callable[[str], list[int]]
) -> None:
    """The engine itself lives in a small container, as JupyterLab in a pod does: the kernel ends the rank."""
    with little_memory(160) as group:
        begin_supervisor(state_dir, f"echo $$ > {group}/cgroup.procs")
        done = await until((await submit(EATER)).id)
        for pid in processes("supervisor"):
            os.kill(pid, signal.SIGTERM)
    assert (done.cause.values["oom_kills"], done.cause.values["oom_scope"]) == (1, "container")
    found = told(done, "out-of-memory", "kernel", "内核")
    assert not any(action.patch for action in found.actions), "here memory_gb limits nothing"


async def test_a_machine_where_the_kernel_killed_for_memory(submit: Submit, until: Until) -> None:
    with little_memory(64) as group:
        enter = f"import os\nopen('{group}/cgroup.procs', 'w').write(str(os.getpid()))\n"
        done = await until((await submit(enter + EATER)).id)
    assert done.cause.values["oom_scope"] == "machine"
    found = told(done, "out-of-memory", "on this machine", "这台机器")
    assert not any(action.patch for action in found.actions), "here memory_gb limits nothing"


async def test_a_kill_from_outside_is_not_called_out_of_memory(
    submit: Submit, until: Until, printed: Printed, processes: Callable[[str], list[int]]
) -> None:
    job = await submit(FOREVER)
    await printed(job.id, "up")
    [rank] = processes("rank")
    os.kill(rank, signal.SIGKILL)
    told(await until(job.id), "exit-code", "SIGKILL")


async def test_shared_memory_without_room(submit: Submit, until: Until, state_dir: Path) -> None:
    """A sparse file in /dev/shm, as data loaders make them: writing to it ends in SIGBUS, without a word."""
    begin_supervisor(state_dir, "mount -t tmpfs -o size=4m none /dev/shm", "unshare", "-m")
    source = (
        "import mmap, os\nfile = os.open('/dev/shm/batch', os.O_RDWR | os.O_CREAT)\nos.ftruncate(file, 1 << 25)\n"
        "held = mmap.mmap(file, 1 << 25)\nheld.write(b'x' * (1 << 25))\n"
    )
    done = await until((await submit(source)).id)
    assert (done.cause.values["signal"], done.cause.values["full"]) == ("SIGBUS", ["/dev/shm"])
    told(done, "shared-memory-full", "/dev/shm is full", "/dev/shm")


# -- ends that somebody asked for ------------------------------------------------------------------------------------


async def test_time_that_is_up(submit: Submit, until: Until) -> None:
    told(await until((await submit(FOREVER, max_hours=0.0003)).id), "time-limit", "0.0003")


async def test_a_job_that_was_stopped(engine: Engine, submit: Submit, until: Until, printed: Printed) -> None:
    job = await submit(FOREVER)
    await printed(job.id, "up")
    await engine.act(job.id, Move.STOP)
    told(await until(job.id), "stopped-by-user", "")
