"""A node that goes without a word: no FIN, no RST, only silence on the wire."""

import os
import socket
import subprocess
from collections.abc import Iterator

import pytest

from jupyter_aiarts.launcher import tcp

from .conftest import lives, looks_until, wait_until
from .pods import Pods

ADDRESSES = ("10.213.77.1", "10.213.77.2")
UNTIL_GO = "until [ -e go ]; do sleep 0.05; done"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Wire:
    """Two network namespaces and the cable between them."""

    def __init__(self) -> None:
        self.names = tuple(f"aiarts-{os.getpid()}-{node}" for node in range(2))

    def lay(self) -> None:
        """Put it there."""
        for name in self.names:
            ip("netns", "add", name)
        ends = [f"ai{os.getpid() % 100000}{side}" for side in "ab"]
        ip("link", "add", ends[0], "netns", self.names[0], "type", "veth", "peer", ends[1], "netns", self.names[1])
        for name, end, address in zip(self.names, ends, ADDRESSES, strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", end)
            for device in (end, "lo"):
                ip("-n", name, "link", "set", device, "up")
        self._end = ends[1]

    def cut(self) -> None:
        """Nothing passes any more, and nobody is told: the other side's link stays up."""
        subprocess.run(self.inside(1, "iptables", "-I", "INPUT", "-i", self._end, "-j", "DROP"), check=True)
        subprocess.run(self.inside(1, "iptables", "-I", "OUTPUT", "-o", self._end, "-j", "DROP"), check=True)

    def mend(self) -> None:
        """As before."""
        subprocess.run(self.inside(1, "iptables", "-F"), check=True)

    def inside(self, node: int, *words: str) -> list[str]:
        """A command in one of the namespaces."""
        return ["ip", "netns", "exec", self.names[node], *words]

    def remove(self) -> None:
        """No trace is left."""
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@pytest.fixture
def wire() -> Iterator[Wire]:
    """The cable, where this user may lay one."""
    wire = Wire()
    try:
        wire.lay()
        subprocess.run(wire.inside(1, "iptables", "-L"), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        wire.remove()
        pytest.skip(f"no network namespaces here: {error}")
    yield wire
    wire.remove()


def start(pods: Pods, wire: Wire, node: int) -> None:
    pods.make(node)
    assert pods.prepare(node) == 0
    pods.enter(node, before=wire.inside(node))


def begun(pods: Pods, wire: Wire) -> Pods:
    """A job of two nodes at the two ends of the wire; two seconds of silence are enough."""
    pods.plan(nodes=2, silence_seconds=2).shell(UNTIL_GO)
    pods.plan(meeting=f"{ADDRESSES[0]}:9411")
    for node in range(2):
        start(pods, wire, node)
    pods.all_running()
    return pods


def test_a_node_that_falls_silent_is_noticed_and_welcome_when_it_is_back(pods: Pods, wire: Wire) -> None:
    begun(pods, wire)
    pids = [pods.status(node)["ranks"][0]["pid"] for node in range(2)]
    wire.cut()
    looks = looks_until(lambda: pods.phase(0) == "meeting" and pods.phase(1) == "meeting", "both to notice")
    assert looks < (2 * 1.5 + 2) / 0.01
    assert not any(map(lives, pids))
    assert "node 1" in pods.status(0)["message"]
    wire.mend()
    pods.all_running()
    (pods.folder / "go").touch()
    assert pods.wait_all() == [0, 0]
    assert pods.summary["restarts"] == 0


def test_a_node_that_falls_silent_is_replaced(pods: Pods, wire: Wire) -> None:
    begun(pods, wire)
    lost = pods.launchers[1]
    wire.cut()
    wait_until(lambda: pods.phase(0) == "meeting", "node 0 to notice")
    lost.kill()  # its node is gone, and nobody will ever hear of it
    wire.mend()
    start(pods, wire, 1)
    pods.all_running()
    (pods.folder / "go").touch()
    assert pods.wait_all() == [0, 0]


def test_a_failure_for_want_of_a_silent_node_is_no_failure(pods: Pods, wire: Wire) -> None:
    """Ranks notice a lost peer sooner than launchers do, and fail."""
    begun(pods, wire)
    wire.cut()
    os.kill(pods.status(0)["ranks"][0]["pid"], 9)
    wait_until(lambda: pods.phase(0) == "meeting", "node 0 to wait")
    wire.mend()
    pods.all_running()
    (pods.folder / "go").touch()
    assert pods.wait_all() == [0, 0]
    assert (pods.summary["result"], pods.summary["first_failure"]) == ("succeeded", None)


def test_by_default_silence_is_noticed_within_half_a_minute() -> None:
    with socket.socket() as connection:
        tcp.watch_over(connection, 30.0)
        idle, interval, count, data = (
            connection.getsockopt(socket.IPPROTO_TCP, option)
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
        )
    assert (idle + interval * count, data) == (30, 30_000)
