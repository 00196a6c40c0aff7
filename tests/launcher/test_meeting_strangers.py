"""A meeting comes about, or ends, whoever else stands at the door and whatever they leave unsaid."""

import contextlib
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Run, wait_until

MANY = 128


class Guest:
    """A connection to node 0's door, made by hand."""

    def __init__(self, run: Run, node: int = 0) -> None:
        self.node = node
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(15)
        self.socket.connect(str(run.folder / "m.sock"))
        self._lines = self.socket.makefile("rb")

    def hello(self) -> bytes:
        """What the launcher of this node would say first."""
        who = {"type": "hello", "node": self.node, "token": "5ec2e7", "job": "a123456789", "run": 1, "attempt": 1}
        return json.dumps(who).encode() + b"\n"

    def hears(self) -> str:
        """What kind of thing is said to it next; nothing when node 0 hung up."""
        line = self._lines.readline()
        return str(json.loads(line)["type"]) if line else ""

    def leave(self) -> None:
        """Go without a word."""
        self._lines.close()
        self.socket.close()


@pytest.fixture
def guests() -> "Iterator[list[Guest]]":
    """Those who are shown out at the end."""
    made: list[Guest] = []
    yield made
    for guest in made:
        guest.leave()


def door(run: Run, nodes: int) -> Run:
    run.plan(nodes=nodes).start(0)
    wait_until((run.folder / "m.sock").exists, "the door")
    return run


@contextlib.contextmanager
def asleep(run: Run) -> Iterator[None]:
    """Node 0 does nothing meanwhile, and then finds all that came at once."""
    run.launchers[0].send_signal(signal.SIGSTOP)
    stat = Path(f"/proc/{run.launchers[0].pid}/stat")
    wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "its sleep")
    try:
        yield
    finally:
        run.launchers[0].send_signal(signal.SIGCONT)


@pytest.mark.parametrize("words", [b"", b'{"type": "hel', b"\n" * 3])
def test_many_who_say_nothing_of_use_keep_nobody_out(run: Run, guests: "list[Guest]", words: bytes) -> None:
    door(run, nodes=2)
    with asleep(run):
        for _ in range(MANY):
            guests.append(Guest(run))
            guests[-1].socket.sendall(words)
        run.start(1)
        wait_until(lambda: run.phase(1) == "meeting", "node 1")
    assert [run.wait(0), run.wait(1)] == [0, 0]


def test_many_nodes_that_come_at_once_are_all_let_in(run: Run, guests: "list[Guest]") -> None:
    door(run, nodes=MANY + 1)
    with asleep(run):
        for node in range(1, MANY + 1):
            guests.append(Guest(run, node))
            guests[-1].socket.sendall(guests[-1].hello())
    assert [guest.hears() for guest in guests] == ["welcome"] * MANY
    assert [guest.hears() for guest in guests] == ["start"] * MANY


def test_a_queue_at_the_door_is_not_waited_in_for_ever(run: Run) -> None:
    door(run, nodes=2)
    with asleep(run), contextlib.ExitStack() as queue:
        with pytest.raises(BlockingIOError):  # what a full queue says to who would not wait
            while True:
                one = queue.enter_context(socket.socket(socket.AF_UNIX))
                one.setblocking(False)
                one.connect(str(run.folder / "m.sock"))
        run.plan(gang_timeout=0.5).start(1)
        assert run.wait(1) == 75
    assert "node 0 was not found" in run.status(1)["message"]


def test_a_node_0_that_never_answers_is_not_waited_for_for_ever(run: Run) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(run.folder / "m.sock"))
        silent.listen(5)
        run.plan(nodes=2, gang_timeout=0.5).start(1)
        assert run.wait(1) == 75
    assert "node 0 was not found" in run.status(1)["message"]


def test_a_node_lost_at_the_start_ends_those_who_start(run: Run, guests: "list[Guest]") -> None:
    """Node 1 is gone in the moment in which node 2 completes the group: start comes before stop, for everybody."""
    door(run.shell("exec sleep 300"), nodes=3)
    guests += [Guest(run, 1), Guest(run, 2)]
    guests[0].socket.sendall(guests[0].hello())
    assert guests[0].hears() == "welcome"
    with asleep(run):
        guests[1].socket.sendall(guests[1].hello())
        guests[0].leave()
    assert [guests[1].hears() for _ in range(3)] == ["welcome", "start", "stop"]
    guests[1].socket.sendall(b'{"type": "ended", "ranks": []}\n')
    assert guests[1].hears() == "end"
    assert run.wait(0) == 1
    assert (run.summary["result"], run.summary["problem"]["code"]) == ("lost", "node-lost")
