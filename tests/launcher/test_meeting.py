"""Launchers of one job live and die together."""

import json
import signal
import socket
from typing import Any

import pytest

from .conftest import Run, lives, wait_until

BY_NODE = 'case "$NODE_RANK" in {} esac'


@pytest.fixture
def three(run: Run) -> Run:
    """A job of three nodes."""
    return run.plan(nodes=3)


def start_all(run: Run) -> None:
    for node in reversed(range(run.document["nodes"])):  # node 0 last: the others have to wait for it
        run.start(node)


def wait_all(run: Run) -> list[int]:
    return [run.wait(node) for node in range(run.document["nodes"])]


def all_running(run: Run) -> None:
    wait_until(lambda: all(run.phase(node) == "running" for node in range(run.document["nodes"])), "all running")


def knock(run: Run) -> socket.socket:
    """A connection to the meeting, as soon as somebody opens: a door may be there a moment before that."""

    def opened() -> "socket.socket | None":
        stranger = socket.socket(socket.AF_UNIX)
        try:
            stranger.connect(str(run.folder / "m.sock"))
        except (FileNotFoundError, ConnectionRefusedError):
            stranger.close()
            return None
        stranger.settimeout(5)
        return stranger

    found: socket.socket = wait_until(opened, "the meeting")
    return found


def test_everybody_succeeds_together(three: Run) -> None:
    start_all(three.shell("echo $RANK $WORLD_SIZE $MASTER_PORT"))
    assert wait_all(three) == [0, 0, 0]
    assert [three.log(node, node=node) for node in range(3)] == [b"%d 3 29512\n" % node for node in range(3)]
    outcomes = [(rank["rank"], rank["node"], rank["exit_code"]) for rank in three.summary["ranks"]]
    assert outcomes == [(0, 0, 0), (1, 1, 0), (2, 2, 0)]
    assert not (three.folder / "m.sock").exists()


def test_nobody_reports_success_before_everybody(three: Run) -> None:
    three.shell(BY_NODE.format("2) until [ -e go ]; do sleep 0.05; done;; *) :;;"))
    start_all(three)
    wait_until(lambda: three.phase(1) == "running" and three.status(1)["ranks"][0]["exit_code"] == 0)
    assert [three.launchers[node].poll() for node in range(3)] == [None, None, None]
    assert not (three.folder / "summary.json").exists()
    (three.folder / "go").touch()
    assert wait_all(three) == [0, 0, 0]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_one_failure_stops_everybody_and_is_named(three: Run, failing: int) -> None:
    three.shell(BY_NODE.format(f"{failing}) echo cause >&2; exit 9;; *) exec sleep 300;;"))
    start_all(three)
    assert wait_all(three) == [1, 1, 1]
    failure = three.summary["first_failure"]
    assert (failure["node"], failure["rank"], failure["exit_code"]) == (failing, failing, 9)
    assert failure["last_lines"] == ["cause"]
    codes = [rank["exit_code"] for rank in three.summary["ranks"]]
    assert codes == [9 if node == failing else 143 for node in range(3)]


def test_the_whole_group_restarts(three: Run) -> None:
    three.shell(
        BY_NODE.format("1) [ -e once ] && exit 0; touch once; exit 1;; *) [ -e once ] && exit 0; exec sleep 300;;"),
        max_restarts=1,
    )
    start_all(three)
    assert wait_all(three) == [0, 0, 0]
    assert (three.summary["result"], three.summary["restarts"]) == ("succeeded", 1)


def test_a_lost_follower_ends_the_group(three: Run) -> None:
    three.shell("exec sleep 300", max_restarts=3)
    start_all(three)
    all_running(three)
    three.launchers[2].kill()
    assert [three.wait(0), three.wait(1)] == [1, 1]
    assert (three.summary["result"], three.summary["problem"]["code"]) == ("lost", "node-lost")
    assert "node 2" in three.summary["problem"]["message"]


def test_without_node_0_the_followers_end_their_ranks(three: Run) -> None:
    start_all(three.shell("exec sleep 300"))
    all_running(three)
    pids = [three.status(node)["ranks"][0]["pid"] for node in range(3)]
    three.launchers[0].kill()
    assert [three.wait(1), three.wait(2)] == [1, 1]
    wait_until(lambda: not any(map(lives, pids)), "the end of all ranks")
    assert "node 0" in three.status(1)["message"]
    assert not (three.folder / "summary.json").exists()


def test_without_node_0_a_follower_that_has_finished_ends_too(three: Run) -> None:
    start_all(three.shell(BY_NODE.format("0) exec sleep 300;; *) :;;")))
    wait_until(lambda: three.phase(1) == "running" and three.status(1)["ranks"][0]["exit_code"] == 0)
    three.launchers[0].kill()
    assert [three.wait(1), three.wait(2)] == [1, 1]


@pytest.mark.parametrize("node", [0, 1])
def test_a_stop_of_one_launcher_stops_the_job(three: Run, node: int) -> None:
    start_all(three.shell("exec sleep 300"))
    all_running(three)
    three.launchers[node].send_signal(signal.SIGTERM)
    assert wait_all(three) == [1, 1, 1]
    assert three.summary["result"] == "stopped"


def test_a_stop_during_the_meeting(three: Run) -> None:
    three.start(0)
    wait_until(lambda: (three.folder / "m.sock").exists())
    three.launchers[0].terminate()
    assert three.wait(0) == 1
    assert (three.summary["result"], three.summary["started"]) == ("stopped", None)


def test_an_incomplete_meeting_gives_75_and_says_who_is_missing(three: Run) -> None:
    three.start(1)
    wait_until(lambda: three.phase(1) == "meeting", "node 1 at the door")
    three.plan(gang_timeout=2).start(0)
    assert [three.wait(0), three.wait(1)] == [75, 75]
    assert (three.summary["result"], three.summary["problem"]["code"]) == (
        "meeting-failed",
        "waiting-for-peers",
    )
    assert three.summary["problem"]["message"].endswith("missing: node 2")


def test_without_node_0_the_followers_give_75(three: Run) -> None:
    three.plan(gang_timeout=0.3).start(1)
    assert three.wait(1) == 75
    assert three.phase(1) == "ended"


def test_a_wrong_token_is_refused_and_the_others_go_on(run: Run) -> None:
    run.plan(nodes=2).start(0)
    wait_until(lambda: (run.folder / "m.sock").exists())
    run.plan(token="wrong").start(1)
    assert run.wait(1) == 75
    assert "token" in run.status(1)["message"]
    run.plan(token="5ec2e7").start(1)
    assert wait_all(run) == [0, 0]


@pytest.mark.parametrize("words", [b"\n", b"[]\n", b"{}\n", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 3_000_000, b""])
def test_noise_at_the_door_harms_nobody(run: Run, words: bytes) -> None:
    run.plan(nodes=2).start(0)
    with knock(run) as stranger:
        try:
            stranger.sendall(words)
        except OSError:
            pass  # it hung up first
    run.start(1)
    assert wait_all(run) == [0, 0]


@pytest.mark.parametrize("changes", [{}, {"attempt": 1, "node": 0}, {"attempt": 1, "node": 2}, {"job": "b"}])
def test_only_this_attempts_nodes_are_let_in(run: Run, changes: dict[str, Any]) -> None:
    run.plan(nodes=2).start(0)
    hello: dict[str, Any] = {
        "type": "hello",
        "node": 1,
        "token": "5ec2e7",
        "job": "a123456789",
        "run": 1,
        "attempt": 2,
    }
    hello.update(changes)
    with knock(run) as stranger:
        stranger.sendall(json.dumps(hello).encode() + b"\n")
        assert json.loads(stranger.recv(1000))["type"] == "refused"
    run.start(1)
    assert wait_all(run) == [0, 0]


def test_a_problem_on_one_node_ends_the_job_before_it_starts(run: Run) -> None:
    run.plan(nodes=2).script("print('ran')", "${NOPE}")
    start_all(run)
    assert wait_all(run) == [1, 1]
    assert (run.summary["problem"]["code"], run.summary["started"]) == ("unknown-variable", None)
    assert not run.log(0)


def test_the_meeting_may_be_on_tcp(run: Run) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    run.plan(nodes=2, meeting=f"127.0.0.1:{port}")
    start_all(run)
    assert wait_all(run) == [0, 0]


def test_a_socket_left_by_an_earlier_attempt_is_replaced(run: Run) -> None:
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(run.folder / "m.sock"))
    start_all(run.plan(nodes=2))
    assert wait_all(run) == [0, 0]


def test_the_time_limit_ends_all_nodes(three: Run) -> None:
    start_all(three.shell("exec sleep 300", max_seconds=0.3))
    assert wait_all(three) == [1, 1, 1]
    assert three.summary["result"] == "time-limit"


def test_the_socket_is_for_the_owner_only(run: Run) -> None:
    run.plan(nodes=2).start(0)
    wait_until((run.folder / "m.sock").exists)
    assert (run.folder / "m.sock").stat().st_mode & 0o777 == 0o600
    run.start(1)
    assert wait_all(run) == [0, 0]
