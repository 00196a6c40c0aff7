"""Launchers in pods: who leaves is waited for, who comes again is welcome, and who died is not waited for."""

import os
import signal
import socket
import time

import pytest

from .conftest import lives, wait_until
from .pods import Pods

UNTIL_GO = "echo begun; until [ -e go ]; do sleep 0.05; done"


@pytest.fixture
def three(pods: Pods) -> Pods:
    """A job of three pods that runs until a file says so."""
    pods.plan(nodes=3).shell(UNTIL_GO).start_all().all_running()
    wait_until(lambda: all(b"begun" in pods.log(node, node=node) for node in range(3)), "all to have begun")
    return pods


def go(pods: Pods) -> None:
    (pods.folder / "go").touch()


def waiting(pods: Pods, node: int) -> bool:
    return pods.phase(node) == "meeting"


@pytest.mark.parametrize("leaver", [1, 2])
def test_a_pod_that_is_evicted_and_replaced_costs_no_restart(three: Pods, leaver: int) -> None:
    three.launchers[leaver].terminate()
    assert three.wait(leaver) == 75
    wait_until(lambda: waiting(three, 0) and waiting(three, 3 - leaver), "the others to wait")
    assert f"node {leaver}" in three.status(0)["message"]
    assert three.status(0)["ranks"][0]["exit_code"] == 143
    three.start(leaver)
    three.all_running()
    go(three)
    assert three.wait_all() == [0, 0, 0]
    assert (three.summary["result"], three.summary["restarts"]) == ("succeeded", 0)
    assert three.log(0).count(b"begun") == 2
    assert three.log(leaver, node=leaver).count(b"begun") == 1


def test_an_evicted_node_0_is_looked_for_again(three: Pods) -> None:
    three.launchers[0].terminate()
    assert three.wait(0) == 75
    assert (three.message(0)["result"], three.summary["result"]) == ("stopped", "stopped")
    wait_until(lambda: waiting(three, 1) and waiting(three, 2), "the others to wait")
    ran = three.summary["running_seconds"]
    three.start(0)
    three.all_running()
    go(three)
    assert three.wait_all() == [0, 0, 0]
    assert three.summary["result"] == "succeeded"
    assert three.summary["running_seconds"] >= ran, "a new node 0 must hear from the others how long they ran"


def test_a_new_node_0_hears_of_the_restarts_before_it(pods: Pods) -> None:
    # Node 0 alone fails: were node 1 quicker, node 0 would be ended before it has left its mark, and fail once more.
    line = "[ -e once ] || [ $NODE_RANK != 0 ] || { touch once; exit 1; }; " + UNTIL_GO
    pods.plan(nodes=2).shell(line, max_restarts=1).start_all()
    wait_until(lambda: all(pods.log(node, node=node) for node in range(2)), "the restarted ranks")
    pods.launchers[0].terminate()
    assert pods.wait(0) == 75
    pods.start(0)
    pods.all_running()
    go(pods)
    assert pods.wait_all() == [0, 0]
    assert pods.summary["restarts"] == 1


def test_a_stop_reaches_every_pod_and_is_called_so(three: Pods) -> None:
    for node in range(3):
        three.launchers[node].terminate()
    assert three.wait_all() == [75, 75, 75]
    assert three.summary["result"] == "stopped"
    assert [three.message(node)["result"] for node in range(3)] == ["stopped"] * 3
    assert [rank["exit_code"] for rank in three.summary["ranks"]] == [143, 143, 143]


def test_who_is_asked_to_leave_has_its_grace(pods: Pods) -> None:
    line = "trap 'sleep 0.5; echo saved; exit 0' TERM; echo begun; while :; do sleep 0.05; done"
    pods.plan(nodes=2, grace_seconds=10).shell(line).start_all().all_running()
    wait_until(lambda: all(pods.log(node, node=node) for node in range(2)))
    pods.launchers[1].terminate()
    assert pods.wait(1) == 75
    assert pods.log(1, node=1) == b"begun\nsaved\n"
    wait_until(lambda: waiting(pods, 0))
    assert pods.log(0) == b"begun\nsaved\n"


def test_a_failure_for_want_of_who_left_is_no_failure(pods: Pods) -> None:
    line = """case $NODE_RANK in
        1) trap 'touch gone; exit 0' TERM; [ -e gone ] && exit 0; echo set; while :; do sleep 0.02; done;;
        0) [ -e gone ] && exit 0; trap '' TERM; until [ -e gone ]; do sleep 0.02; done; exit 1;; esac"""
    pods.plan(nodes=2).shell(line, grace_seconds=5).start_all().all_running()
    wait_until(lambda: pods.log(1, node=1), "its trap")
    pods.launchers[1].terminate()
    assert pods.wait(1) == 75
    pods.start(1)
    assert pods.wait_all() == [0, 0]


@pytest.mark.parametrize("victim", [1, 2])
def test_a_killed_launcher_ends_the_job_at_once(three: Pods, victim: int) -> None:
    three.launchers[victim].kill()
    assert [three.wait(0), three.wait(3 - victim)] == [1, 1]
    assert (three.summary["result"], three.summary["problem"]["code"]) == ("lost", "launcher-lost")
    assert f"node {victim}" in three.message(0)["problem"]["message"]


def test_a_killed_node_0_ends_the_others(three: Pods) -> None:
    pids = [three.status(node)["ranks"][0]["pid"] for node in range(3)]
    three.launchers[0].kill()
    assert [three.wait(1), three.wait(2)] == [1, 1]
    assert three.message(1)["result"] == "lost"
    wait_until(lambda: not any(map(lives, pids)), "the end of all ranks")


def test_who_never_comes_again_gives_the_cards_back(pods: Pods) -> None:
    pods.plan(nodes=2, gang_timeout=5).shell(UNTIL_GO).start_all().all_running()
    pods.launchers[1].terminate()
    assert [pods.wait(1), pods.wait(0)] == [75, 75]
    assert (pods.summary["result"], pods.summary["problem"]["code"]) == ("meeting-failed", "waiting-for-peers")
    assert pods.message(0)["result"] == "meeting-failed"


def test_a_follower_gives_up_on_a_node_0_that_never_comes_again(pods: Pods) -> None:
    pods.plan(nodes=2, gang_timeout=5).shell(UNTIL_GO).start_all().all_running()
    pods.launchers[0].terminate()
    assert [pods.wait(0), pods.wait(1)] == [75, 75]
    assert pods.message(1)["result"] == "meeting-failed"


@pytest.mark.parametrize("node", [0, 1])
def test_a_pod_may_leave_while_it_waits(pods: Pods, node: int) -> None:
    pods.plan(nodes=3).shell("echo $RANK")
    for one in (0, 1):
        pods.start(one)
    wait_until(lambda: waiting(pods, 0) and waiting(pods, 1))
    wait_until(lambda: len(established(pods)) >= 1, "node 1 at node 0's door")
    pods.launchers[node].terminate()
    assert pods.wait(node) == 75
    pods.start(node)
    pods.start(2)
    assert pods.wait_all() == [0, 0, 0]


def established(pods: Pods) -> list[str]:
    """Connections to the meeting, as the kernel lists them."""
    port = int(pods.document["meeting"].rpartition(":")[2])
    with open("/proc/net/tcp6") as six, open("/proc/net/tcp") as four:
        fields = [line.split() for line in [*six, *four]]
    return [one[2] for one in fields if one[1].endswith(f":{port:04X}") and one[3] == "01"]


def test_a_replacement_that_comes_before_the_loss_is_noticed(pods: Pods) -> None:
    pods.plan(nodes=2).shell(UNTIL_GO).start_all().all_running()
    forgotten = pods.launchers[1]
    pods.start(1)
    wait_until(lambda: pods.phase(1) == "running" and pods.phase(0) == "running")
    assert forgotten.wait(20) == 1
    go(pods)
    assert pods.wait_all() == [0, 0]


def test_an_older_launcher_of_a_node_does_not_push_out_the_younger(pods: Pods) -> None:
    """A node that was cut off comes back with a pod that has been replaced."""
    pods.plan(nodes=2).shell(UNTIL_GO).start_all().all_running()
    hello = {
        "type": "hello", "node": 1, "token": "0123456789abcdef" * 2, "job": "a123456789", "run": 1, "attempt": 1,
        "born": time.time() - 1000,
    }  # fmt: skip
    host, port = pods.document["meeting"].split(":")
    with socket.create_connection((host, int(port)), 5) as old:
        old.sendall(str(hello).replace("'", '"').encode() + b"\n")
        assert b"refused" in old.recv(1000)
    go(pods)
    assert pods.wait_all() == [0, 0]


def test_a_failure_ends_every_pod_with_1(three: Pods) -> None:
    os.kill(three.status(1)["ranks"][0]["pid"], signal.SIGKILL)
    assert three.wait_all() == [1, 1, 1]
    failure = three.message(0)["first_failure"]
    assert (failure["node"], failure["exit_code"]) == (1, 137)


def test_a_rank_that_exits_75_is_a_failure_like_any_other(pods: Pods) -> None:
    pods.shell("exit 75").start()
    assert pods.wait() == 1
    assert pods.message()["ranks"][0]["exit_code"] == 75


def test_a_late_pod_hears_that_there_is_nothing_to_come_for(pods: Pods) -> None:
    pods.plan(nodes=2).shell("true", workdir="/nowhere")
    pods.document["start"] = {"kind": "python", "path": "/nowhere/train.py", "line": None, "python": "python3"}
    pods.start(0)
    wait_until(lambda: (pods.roots[0] / "aiarts/run/summary.json").exists())
    pods.start(1)
    assert pods.wait_all() == [1, 1]
    assert pods.message(0)["problem"]["code"] == "start-file-missing"


@pytest.mark.parametrize("words", [b"[" * 200_000 + b"\n", b'{"token": "\\ud800"}\n', b"x" * 2_000_000])
def test_noise_at_the_door_harms_nobody(pods: Pods, words: bytes) -> None:
    pods.plan(nodes=2).shell(UNTIL_GO).start_all().all_running()
    host, port = pods.document["meeting"].split(":")
    for _ in range(3):
        with socket.create_connection((host, int(port)), 5) as stranger:
            try:
                stranger.sendall(words)
                stranger.recv(1000)
            except OSError:
                pass  # it hung up first
    go(pods)
    assert pods.wait_all() == [0, 0]


def test_silent_strangers_keep_nobody_out(pods: Pods) -> None:
    pods.plan(nodes=2).shell("echo ok").start(0)
    host, port = pods.document["meeting"].split(":")
    wait_until(lambda: waiting(pods, 0))

    def crowd() -> list[socket.socket]:
        return [socket.create_connection((host, int(port)), 5) for _ in range(100)]

    strangers = wait_until(lambda: _listening(host, int(port)) and crowd())
    pods.start(1)
    assert pods.wait_all() == [0, 0]
    for stranger in strangers:
        stranger.close()


def _listening(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 5).close()
    except OSError:
        return False
    return True
