"""Of many ranks that fall the one that fell first is to blame, also where it took longest to end: real ranks, connected
to each other as those of a training are."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable

import pytest

from jupyter_aiarts.engines.base import Caller, JobRecord
from jupyter_aiarts.explain import explain
from tests.explain.telling import told
from tests.scarcity import little_memory

Submit = Callable[..., Awaitable[JobRecord]]
Until = Callable[..., Awaitable[JobRecord]]
Printed = Callable[..., Awaitable[None]]

GUILTY = 2
RING = """
import atexit, os, socket, struct, sys, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
STATUS = os.path.dirname(os.path.dirname(os.environ["AIARTS_POD_ENV"])) + "/node-0/status.json"

def hang_up(line):
    "Reset it, as a process that is killed does."
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()

def meet():
    "One connection from every rank to the guilty one, which listens."
    if rank == {guilty}:
        door = socket.create_server(address)
        lines = [door.accept()[0] for _ in range(size - 1)]
        for line in lines:
            line.sendall(b".")
        for line in lines:
            line.recv(1)
        return lines
    while True:
        try:
            line = socket.create_connection(address)
            break
        except ConnectionRefusedError:
            time.sleep(0.02)
    assert line.recv(1) == b"."
    line.sendall(b".")
    return [line]

lines = meet()
if rank != {guilty}:
    print(os.getpid(), "waits", flush=True)
    try:
        lost = lines[0].recv(1) == b""
    except ConnectionResetError:
        lost = True
    time.sleep({notice})
    if lost:
        raise ConnectionResetError(104, "Connection reset by peer")
def teardown():
    for line in lines:
        hang_up(line)
    while {last} and '"phase":"stopping"' not in open(STATUS).read():
        time.sleep(0.01)  # until one of them has ended, and node 0 knows of it
atexit.register(teardown)
"""


def ring(end: str, last: bool = False, notice: float = 0.0) -> str:
    """What every rank runs: all but the guilty one wait for it, and fall when their connection does.

    `last` is whether one of them ends before the guilty one does, `notice` how long they take to see that it falls.
    """
    return RING.format(guilty=GUILTY, last=last, notice=notice) + end


SHAPE = {"nodes": 4, "cpu": 0.1}
DISK = "with open('/dev/full', 'w') as file: file.write('x')"
MODULE = "import numpy_of_tomorrow"
MEMORY = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))\nheld = b'x' * (1 << 30)\n"


@pytest.mark.parametrize(
    ("end", "code", "decisive"),
    [
        (DISK, "disk-full", "No space left on device"),
        (MODULE, "module-missing", "numpy_of_tomorrow"),
        (MEMORY, "out-of-memory", "MemoryError"),
    ],
)
@pytest.mark.parametrize("last", [False, True], ids=["falls first", "takes longest to end"])
async def test_the_rank_that_pulled_the_others_down_is_named(
    submit: Submit, until: Until, end: str, code: str, decisive: str, last: bool
) -> None:
    done = await until((await submit(ring(end, last), **SHAPE)).id)
    if last:
        assert done.cause.values["rank"] != GUILTY, "the others were to end first"
        assert GUILTY in [other["rank"] for other in done.cause.values["others"]]
    found = told(done, code, decisive)
    assert not any("reset by peer" in line for line in found.evidence[-1:])
    assert f"ank {GUILTY}" in "\n".join([found.title, found.why, *(str(action.command) for action in found.actions)])


async def test_a_rank_killed_from_outside_is_named_and_not_its_peers_and_no_reason_is_made_up(
    caller: Caller, submit: Submit, until: Until, printed: Printed
) -> None:
    write = "open('pid', 'w').write(str(os.getpid()))\nprint('guilty', flush=True)\ntime.sleep(600)"
    job = await submit(ring(write, notice=0.5), **SHAPE)
    await printed(job.id, "guilty")
    os.kill(int((caller.folder / "pid").read_text()), signal.SIGKILL)
    done = await until(job.id)
    found = told(done, "exit-code", "SIGKILL")
    assert f"ank {GUILTY}" in found.title + found.why


async def test_a_rank_without_memory_is_named_and_not_its_peers(submit: Submit, until: Until) -> None:
    with little_memory(64) as group:
        enter = f"open('{group}/cgroup.procs', 'w').write(str(os.getpid()))\n"
        eat = "held = []\nwhile True: held.append(b'x' * (1 << 20))"
        done = await until((await submit(ring(enter + eat, notice=0.2), **SHAPE)).id)
    told(done, "out-of-memory", f"Rank {GUILTY}", f"进程 {GUILTY}")
    assert any("reset by peer" in line for other in done.cause.values["others"] for line in other["lines"])


async def test_ranks_that_only_lost_their_connection_tell_no_cause(submit: Submit, until: Until) -> None:
    """The guilty one was asked to end before it could say anything: what is known are consequences."""
    done = await until((await submit(ring("teardown()\ntime.sleep(600)"), **SHAPE)).id)
    assert done.cause.values["rank"] != GUILTY
    for lang in ("en", "zh"):
        found = explain(done.cause, lang, done.id, done.spec)
        assert found.code == "exit-code"
        assert any("reset by peer" in line for line in found.evidence)
