"""64 launchers of one job meet on one machine, agree on a rank table and start: how long after the last one began."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.launcher.conftest import Run, wait_until

from .measure import Aim, Figure, in_turns, keep, short

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

NODES, CARDS, ROUNDS = 64, 8, 5
PEER = """
import socket, sys
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
line.sendall(b"hello\\n")
line.recv(100)
"""


def test_meeting(tmp_path: Path) -> None:
    spread: list[float] = []

    def ours() -> float:
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            last, started = meet(Path(folder))
        spread.append(max(started) - min(started))
        return max(started) - last

    mine, bare = in_turns(ROUNDS, ours, connections)
    keep(
        "7 meeting",
        Figure(
            title=f"{NODES} launchers with {CARDS} cards each: the last one begins, until all ranks have a rank table",
            unit="s",
            peer_name="as many bare processes: the last one begins, until all have exchanged a line by TCP",
            ours=mine,
            peer=bare,
            aim=Aim(by="ours", bound=2.0),
            more={"first to last rank started, s": short(max(spread))},
        ),
    )


def meet(folder: Path) -> tuple[float, list[float]]:
    """When the last launcher was started and when each rank was. It is node 0's, which the others seek by then only
    once a second."""
    run = Run(folder)
    ids = [list(range(node * CARDS, (node + 1) * CARDS)) for node in range(NODES)]
    ips = ",".join(f"{card}:10.{card // 250}.{card % 250}.1" for one in ids for card in one)
    run.shell("exec sleep 3", device="huawei_npu_arm64", nodes=NODES, cards=CARDS, devices=ids, env={"NPU_IPS": ips})
    run.plan(gang_timeout=120)
    try:
        for node in range(1, NODES):
            run.start(node)
        wait_until(lambda: all(run.phase(node) == "meeting" for node in range(1, NODES)), "63 launchers", 120)
        time.sleep(2)  # they are done with what they do at first
        last = time.time()
        run.start(0)
        assert run.launchers[0].wait(120) == 0, run.summary
        assert [run.launchers[node].wait(20) for node in range(NODES)] == [0] * NODES
        assert sum(len(one["device"]) for one in run.json("hccl.json")["server_list"]) == NODES * CARDS
        return last, [_seconds(run.status(node)["ranks"][0]["started"]) for node in range(NODES)]
    finally:
        run.close()


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def connections() -> float:
    """The same without us: everybody but one has connected and waits, then the last one comes."""
    with socket.create_server(("127.0.0.1", 0), backlog=NODES) as door:
        door.settimeout(60)  # a child that never came would be waited for until the whole bench is given up
        words = [sys.executable, "-I", "-S", "-c", PEER, str(door.getsockname()[1])]
        children = [subprocess.Popen(words) for _ in range(NODES - 1)]
        lines = [door.accept()[0] for _ in children]
        start = time.perf_counter()
        children.append(subprocess.Popen(words))
        lines.append(door.accept()[0])
        for line in lines:
            line.settimeout(60)
            line.recv(100)
        for line in lines:
            line.sendall(b"start\n")
            line.close()
        assert [child.wait(60) for child in children] == [0] * NODES
        return time.perf_counter() - start
