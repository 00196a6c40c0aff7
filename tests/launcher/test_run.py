"""One node, real ranks: what they get, what is said of them."""

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.octets import to_bytes
from jupyter_aiarts.launcher.podenv import parse

from .conftest import Run, lives, wait_until

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z")
PRINT_ARGV = "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
PRINT_ENV = "import os, sys; sys.stdout.buffer.write(b'\\0'.join(k + b'=' + v for k, v in os.environb.items()))"


def environment(run: Run, rank: int = 0) -> dict[str, str]:
    pairs = (pair.split(b"=", 1) for pair in run.log(rank).split(b"\0"))
    return {os.fsdecode(name): os.fsdecode(value) for name, value in pairs}


def test_success_is_written_everywhere(run: Run) -> None:
    assert run.shell("echo out; echo err >&2").go() == 0
    assert (run.log(), run.log(stream="stderr")) == (b"out\n", b"err\n")
    summary = run.summary
    assert TIME.match(summary.pop("started"))
    assert TIME.match(summary.pop("ended"))
    assert 0 < summary.pop("running_seconds") < 10
    assert summary == {
        "schema": 1, "attempt": 1, "restarts": 0, "result": "succeeded", "first_failure": None,
        "problem": None, "ranks": [{"rank": 0, "node": 0, "exit_code": 0, "devices": []}],
    }  # fmt: skip
    status = run.status()
    rank = status["ranks"][0]
    assert (status["phase"], status["node"], status["attempt"], status["drops"]) == ("ended", 0, 1, [])
    assert (rank["rank"], rank["exit_code"], rank["devices"]) == (0, 0, [])
    assert rank["start"].isdigit()
    assert rank["started"] <= rank["ended"] <= status["since"]


def test_failure_names_rank_code_and_last_lines(run: Run) -> None:
    lines = "".join(f"echo line{number}; " for number in range(30))
    assert run.shell(lines + "printf '\\rA\\rB\\n'; echo Traceback >&2; exit 7").go() == 1
    failure = run.summary["first_failure"]
    assert (failure["rank"], failure["node"], failure["exit_code"], failure["signal"]) == (0, 0, 7, None)
    assert failure["last_lines"] == [f"line{number}" for number in range(12, 30)] + ["B", "Traceback"]


def test_a_signal_is_128_and_more(run: Run) -> None:
    assert run.shell("kill -KILL $$").go() == 1
    failure = run.summary["first_failure"]
    assert (failure["exit_code"], failure["signal"], run.summary["ranks"][0]["exit_code"]) == (
        137,
        "SIGKILL",
        137,
    )


def test_a_ranks_own_75_is_an_ordinary_failure(run: Run) -> None:
    assert run.shell("exit 75").go() == 1
    assert (run.summary["result"], run.summary["first_failure"]["exit_code"]) == ("failed", 75)


def test_arguments_arrive_byte_for_byte(run: Run) -> None:
    hostile = [
        "$(whoami)",
        "`id`",
        "; exit 3",
        "a'b\"c",
        "two\nlines",
        "",
        "训练",
        "\udcff\udc80",
        "$HOME",
        "-n",
        "$${X}",
    ]
    assert run.script(PRINT_ARGV, *hostile, paths=["--data_path", "${RANK_ID}"]).go() == 0
    words = [*hostile[:-1], "${X}", "--data_path", "${RANK_ID}"]
    assert run.log() == b"\0".join(to_bytes(word) for word in words)


def test_each_rank_gets_its_own_numbers(run: Run) -> None:
    run.script(PRINT_ARGV, "--rank", "${RANK_ID}/${WORLD_SIZE}", "${DEVICE_ID}", cards=3, processes="card")
    assert run.go() == 0
    assert [run.log(rank) for rank in range(3)] == [f"--rank\0{rank}/3\0{rank}".encode() for rank in range(3)]


def test_ten_thousand_parameters(run: Run) -> None:
    words = [word for number in range(10_000) for word in (f"--p{number}", f"v{number}")]
    assert run.script(PRINT_ARGV, *words).go() == 0
    assert run.log().decode().split("\0") == words


def test_ranks_have_the_plans_environment_and_nothing_else(run: Run) -> None:
    os.environ["AIARTS_TEST_LEAK"] = "1"
    try:
        run.script(
            PRINT_ENV,
            environ={"HOME": "/h"},
            env={"LR": "0.1", "RAW": "\udcff\n'"},
            extra={"DATA_PATH": "/d"},
        )
        assert run.go() == 0
    finally:
        del os.environ["AIARTS_TEST_LEAK"]
    seen = environment(run)
    held = parse((run.folder / "node-0" / "pod.env").read_bytes())
    seen.pop("LC_CTYPE", None)  # Python itself sets it in the C locale
    assert seen == {"HOME": "/h", "PYTHONUNBUFFERED": "1", **held}
    assert (held["LR"], held["RAW"], held["DATA_PATH"]) == ("0.1", "\udcff\n'", "/d")
    assert held["AIARTS_POD_ENV"] == str(run.folder / "node-0" / "pod.env")
    assert Path(held["TMP_PATH"]).is_dir()
    assert Path(held["SAVE_PATH"]).is_dir()


def test_pod_env_of_each_card(run: Run) -> None:
    run.script(PRINT_ENV, cards=2, processes="card", grants=[{"ASCEND_VISIBLE_DEVICES": "4,5"}], devices=[[4, 5]])
    assert run.go() == 0
    for rank in range(2):
        file = run.folder / "node-0" / f"pod.env.{rank}"
        held = parse(file.read_bytes())
        assert held.items() <= environment(run, rank).items()
        assert (held["DEVICE_ID"], held["ASCEND_VISIBLE_DEVICES"]) == (str(rank), "4,5")
        assert environment(run, rank)["AIARTS_POD_ENV"] == str(file)
    node = run.folder / "node-0"
    assert (node / "pod.env").read_bytes() == (node / "pod.env.0").read_bytes()
    assert [rank["devices"] for rank in run.summary["ranks"]] == [[4], [5]]


def test_secrets_reach_the_rank_and_nothing_else(run: Run) -> None:
    secrets = run.folder / "secrets.json"
    secrets.write_text(json.dumps({"API_KEY": "hunter2"}))
    assert run.script(PRINT_ENV, secrets_file=str(secrets), env={"API_KEY": "shown"}).go() == 0
    assert environment(run)["API_KEY"] == "hunter2"
    for path in run.folder.rglob("*"):
        if path.is_file() and path != secrets and "log" not in path.parts:
            assert b"hunter2" not in path.read_bytes(), path
    assert "API_KEY" not in parse((run.folder / "node-0" / "pod.env").read_bytes())


def test_unreadable_secrets_are_a_problem(run: Run) -> None:
    assert run.shell("echo ran", secrets_file=str(run.folder / "absent.json")).go() == 1
    assert run.summary["problem"]["code"] == "secrets-unreadable"
    assert not run.log()


def test_an_unknown_name_is_an_error_before_anything_starts(run: Run) -> None:
    run.script("open('ran', 'w')", "${DEVICE_IDX}", cards=2, processes="card")
    assert run.go() == 1
    problem = run.summary["problem"]
    assert problem["code"] == "unknown-variable"
    assert "${DEVICE_IDX}" in problem["message"]
    assert "${DEVICE_ID}" in problem["message"]
    assert not (run.folder / "ran").exists()
    assert run.summary["started"] is None


def test_a_command_is_a_shell_line_without_our_substitution(run: Run) -> None:
    assert run.shell("echo ${RANK_ID}-${NOPE}-$((1+1)) $0 $#; [[ a == a ]]", args=["x"], paths=["y"]).go() == 0
    assert run.log().split()[0] == b"0--2"
    assert run.log().split()[-1] == b"0"


def test_a_command_runs_with_sh_where_there_is_no_bash(run: Run, tmp_path: Path) -> None:
    """An image without bash: a root folder of its own would need root, so only the search is looked at."""
    from jupyter_aiarts.launcher import startfile

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to("/bin/sh")
    assert startfile.find("sh", str(tmp_path / "bin")) == str(tmp_path / "bin" / "sh")
    assert startfile.find("bash", str(tmp_path / "bin")) is None


@pytest.mark.parametrize("kind", ["python", "shell", "exec"])
def test_kinds_of_start_files_through_symlinks(run: Run, kind: str) -> None:
    text = "print('ok')" if kind == "python" else "#!/bin/sh\necho ok"
    run.script(text, kind=kind)
    link = run.folder / "link"
    link.symlink_to(run.document["start"]["path"])
    run.document["start"]["path"] = str(link)
    assert run.go() == 0
    assert run.log() == b"ok\n"


RANK_ITSELF = """
import json, os, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "leads": os.getsid(0) == os.getpgid(0) == os.getpid(), "input": sys.stdin.read(),
    "descriptors": [n for n in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + n)],
    "blocked": int(status["SigBlk"], 16), "ignored": int(status["SigIgn"], 16),
    "folder": os.getcwd(), "umask": os.umask(0),
}))
"""


def test_a_rank_inherits_nothing_but_the_umask(run: Run) -> None:
    """Its session, signals, input and descriptors are its own, whatever the launcher was born with."""
    read, write = os.pipe()

    def odd_birth() -> None:
        os.umask(0o027)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

    run.script(RANK_ITSELF, workdir="/").start(pass_fds=(write,), preexec_fn=odd_birth)
    assert run.wait() == 0
    os.close(read)
    os.close(write)
    seen = json.loads(run.log())
    assert sorted(seen.pop("descriptors")) == ["0", "1", "2"]
    assert not seen.pop("ignored") & (1 << signal.SIGINT - 1 | 1 << signal.SIGTERM - 1 | 1 << signal.SIGHUP - 1)
    assert seen == {"leads": True, "input": "", "blocked": 0, "folder": "/", "umask": 0o027}


def test_a_killed_launcher_takes_its_ranks_along(run: Run) -> None:
    run.shell("echo $$; exec sleep 300").start()
    pid = int(run.until_logged(b"\n"))
    run.launchers[0].kill()
    run.wait()
    wait_until(lambda: not lives(pid), "the rank's end")


def test_adopted_orphans_become_no_zombies(run: Run) -> None:
    run.shell("for i in 1 2 3 4 5; do (true &) ; done; echo ready; sleep 300").start()
    run.until_logged(b"ready")
    launcher = run.launchers[0].pid

    def zombies() -> list[str]:
        found = subprocess.run(["ps", "--ppid", str(launcher), "-o", "stat="], stdout=subprocess.PIPE, text=True)
        return [state for state in found.stdout.split() if state.startswith("Z")]

    wait_until(lambda: not zombies(), "no zombies")
    run.launchers[0].terminate()
    assert run.wait() == 1


def test_the_time_limit_counts_running_time_of_earlier_attempts(run: Run) -> None:
    assert run.shell("exec sleep 300", max_seconds=10.0, used_seconds=9.7).go() == 1
    assert run.summary["result"] == "time-limit"
    assert 0.2 < run.summary["running_seconds"] < 5
    assert run.summary["first_failure"] is None


def test_restarts_until_it_works(run: Run) -> None:
    assert run.shell("echo try; [ -e done ] && exit 0; touch done; exit 1", max_restarts=3).go() == 0
    assert (run.summary["result"], run.summary["restarts"]) == ("succeeded", 1)
    assert run.log() == b"try\ntry\n"


def test_restarts_are_limited(run: Run) -> None:
    assert run.shell("echo try; exit 9", max_restarts=2).go() == 1
    assert (run.summary["restarts"], run.summary["first_failure"]["exit_code"]) == (2, 9)
    assert run.log() == b"try\n" * 3


def test_a_resumed_run_appends_to_its_logs(run: Run) -> None:
    assert run.shell("echo one").go() == 0
    assert run.shell("echo two", attempt=2).go() == 0
    assert run.log() == b"one\ntwo\n"
    assert (run.summary["attempt"], run.status()["attempt"]) == (2, 2)


def test_the_bell_rings_and_a_dead_listener_is_removed(run: Run) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(run.folder / "alive.bell"))
        listener.settimeout(10)
        dead = run.folder / "dead.bell"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as gone:
            gone.bind(str(dead))
        assert run.shell("true", bell=str(run.folder)).go() == 0
        assert listener.recv(100) == b"a123456789"
        assert not dead.exists()


def test_files_are_for_the_owner_only(run: Run) -> None:
    assert run.shell("true").go() == 0
    node = run.folder / "node-0"
    modes = {path.relative_to(node): path.stat().st_mode & 0o777 for path in node.rglob("*")}
    assert {mode for path, mode in modes.items() if (node / path).is_file()} == {0o600}
    assert {mode for path, mode in modes.items() if (node / path).is_dir()} == {0o700}
    assert not [path for path in run.folder.rglob("*") if path.name.endswith((".tmp", ".reserve"))]


def test_an_invalid_plan_still_gives_a_summary(run: Run) -> None:
    run.document["processes"] = "thread"
    assert run.start(stderr=subprocess.DEVNULL).wait() == 1
    assert run.summary["problem"]["code"] == "plan-invalid"


def test_wrong_usage_is_2() -> None:
    done = subprocess.run([*Run(Path("/")).command, "x"], stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr.startswith(b"usage")) == (2, True)


def test_started_without_standard_descriptors(run: Run) -> None:
    words = [*run.command, f"{run.folder}/plan.json", "0", f"{run.folder}/node-0"]
    command = f"exec {' '.join(words)} <&- >&- 2>&-"
    run.shell("cat; echo out; echo err >&2")
    (run.folder / "plan.json").write_text(json.dumps(run.document))
    assert subprocess.run(["sh", "-c", command], timeout=20).returncode == 0
    assert (run.log(), run.log(stream="stderr")) == (b"out\n", b"err\n")
