"""Ending: ask, wait, force; nothing that a rank started survives it."""

import signal
import time

import pytest

from .conftest import Run, lives, wait_until

DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {ignore}
        os.environ.clear()
        print("daemon", os.getpid(), flush=True)
        time.sleep(300)
    os._exit(0)
os.wait()
{after}
"""
IGNORE = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


def daemon_pid(run: Run) -> int:
    run.until_logged(b"daemon")
    wait_until(lambda: b"\n" in run.log(), "a whole line")
    return int(run.log().split()[1])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_lets_the_rank_end_in_its_own_way(run: Run, number: signal.Signals) -> None:
    run.shell("trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done", grace_seconds=10).start()
    run.until_logged(b"ready")
    run.launchers[0].send_signal(number)
    assert run.wait() == 1
    assert run.log() == b"ready\nsaved\n"
    assert (run.summary["result"], run.summary["first_failure"]) == ("stopped", None)
    assert run.summary["ranks"][0]["exit_code"] == 0


def test_who_does_not_listen_is_killed_after_the_grace_time(run: Run) -> None:
    run.shell("trap '' TERM; echo ready; while :; do sleep 1; done", grace_seconds=0.3).start()
    run.until_logged(b"ready")
    begin = time.monotonic()
    run.launchers[0].terminate()
    assert run.wait() == 1
    assert 0.25 < time.monotonic() - begin < 5
    assert run.summary["ranks"][0]["exit_code"] == 137


@pytest.mark.parametrize("ignore", ["", IGNORE], ids=["polite", "stubborn"])
def test_a_stop_finds_a_daemon_that_left_session_parent_and_environment(run: Run, ignore: str) -> None:
    run.script(DAEMON.format(ignore=ignore, after="time.sleep(300)")).start()
    pid = daemon_pid(run)
    run.launchers[0].terminate()
    assert run.wait() == 1
    assert not lives(pid)
    assert run.summary["result"] == "stopped"


def test_what_a_rank_leaves_behind_is_ended_and_does_not_hang_the_job(run: Run) -> None:
    """The daemon keeps the rank's stdout open; without an end it would be waited for for ever."""
    assert run.script(DAEMON.format(ignore=IGNORE, after="time.sleep(0.2)"), grace_seconds=0.2).go() == 0
    assert not lives(daemon_pid(run))
    assert run.summary["result"] == "succeeded"


def test_a_rank_that_ended_does_not_take_another_ranks_daemon_along(run: Run) -> None:
    text = (
        "import os, subprocess, sys, time\n"
        "if os.environ['RANK'] == '0': sys.exit(0)\n"
        "child = subprocess.Popen(['sleep', '300'], start_new_session=True, stdout=subprocess.DEVNULL)\n"
        "print('child', child.pid, flush=True)\n"
        "time.sleep(0.6)\n"
        "print('alive', child.poll() is None, flush=True)\n"
    )
    assert run.script(text, cards=2, processes="card", grace_seconds=0.1).go() == 0
    words = run.log(1).split()
    assert words[3] == b"True"
    assert not lives(int(words[1]))


def test_one_failing_rank_ends_the_others(run: Run) -> None:
    line = 'if [ "$RANK" = 1 ]; then echo broken >&2; exit 5; fi; exec sleep 300'
    assert run.shell(line, cards=3, processes="card").go() == 1
    summary = run.summary
    assert (summary["first_failure"]["rank"], summary["first_failure"]["last_lines"]) == (1, ["broken"])
    assert [rank["exit_code"] for rank in summary["ranks"]] == [143, 5, 143]


def test_a_stopped_process_can_be_ended(run: Run) -> None:
    run.shell("echo ready; kill -STOP $$; sleep 300", grace_seconds=0.3).start()
    run.until_logged(b"ready")
    run.launchers[0].terminate()
    assert run.wait() == 1
