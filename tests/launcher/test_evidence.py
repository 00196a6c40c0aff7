"""What a summary says of a failure beside its last lines: other ranks, kills for want of memory, full disks."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from jupyter_aiarts.launcher import evidence
from tests.scarcity import join, little_memory, little_room

from .conftest import Run
from .pods import Pods

EATER = "import sys\nheld = []\nwhile True:\n    held.append(b'x' * (1 << 20))\n"
TWO_FALL = """
import glob, os, sys, time
rank = int(os.environ["RANK"])
def wait_for(true):
    while not true():
        time.sleep(0.01)
def heard():
    "Node 0 knows of the first failure: it has ordered all ranks to end."
    found = glob.glob("**/node-0/status.json", recursive=True)
    return any('"phase":"stopping"' in open(path).read() for path in found)
if rank == 0:
    open("there", "w").close()
if rank == 1:
    wait_for(lambda: os.path.exists("there"))
    sys.exit("connection reset by peer")
if rank == 0:
    wait_for(heard)
    print("ValueError: no such column", file=sys.stderr)
    os._exit(4)
time.sleep(300)
"""


# -- other ranks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [{"ranks": 3}, {"nodes": 3}], ids=["one node", "three nodes"])
def test_who_falls_by_itself_after_the_first_is_told_of_and_who_was_asked_is_not(
    run: Run, shape: dict[str, int]
) -> None:
    assert run.script(TWO_FALL, processes="card", **shape).go() == 1
    assert (run.summary["first_failure"]["rank"], run.summary["first_failure"]["exit_code"]) == (1, 1)
    [other] = run.summary["others"]
    assert (other["rank"], other["exit_code"], other["signal"]) == (0, 4, None)
    assert other["last_lines"] == ["ValueError: no such column"]
    assert run.summary["ranks"][2]["exit_code"] == 143


def test_a_job_of_pods_tells_it_in_its_termination_message(pods: Pods) -> None:
    pods.script(TWO_FALL, nodes=3).start_all().wait_all()
    [other] = pods.message()["others"]
    assert (other["rank"], other["node"], other["last_lines"]) == (0, 0, ["ValueError: no such column"])


def test_of_many_that_fall_some_are_told_of_and_little(run: Run) -> None:
    source = "import sys\nfor n in range(30): print('x' * 900, n, file=sys.stderr)\nsys.exit(3)"
    run.script(source, ranks=12, processes="card").go()
    others = run.summary["others"]
    assert len(others) == 8
    assert {one["rank"] for one in others}.isdisjoint({run.summary["first_failure"]["rank"]})
    assert all(len(one["last_lines"]) == 5 and max(map(len, one["last_lines"])) == 300 for one in others)
    assert len(run.summary["first_failure"]["last_lines"]) == 20


def test_where_one_fails_alone_nothing_is_said_of_others(run: Run) -> None:
    run.shell("exit 3").go()
    assert set(run.summary["first_failure"]) == {"node", "rank", "exit_code", "signal", "last_lines"}
    assert "others" not in run.summary


def test_a_restart_forgets_the_others_too(run: Run) -> None:
    line = "if [ -e again.$RANK ]; then exit 0; fi; touch again.$RANK; exit 3"
    assert run.shell(line, ranks=3, processes="card", max_restarts=3).go() == 0
    assert run.summary["first_failure"] is None
    assert "others" not in run.summary


# -- kills for want of memory ----------------------------------------------------------------------------------------


def test_a_kill_in_the_launchers_own_cgroup_is_counted(run: Run) -> None:
    with little_memory(96) as group:
        run.script(EATER).start(preexec_fn=join(group))
        assert run.wait() == 1
    failure = run.summary["first_failure"]
    assert (failure["signal"], failure["oom_kills"], failure["oom_scope"]) == ("SIGKILL", 1, "container")


def test_a_killed_child_is_counted_though_its_rank_ends_with_one(run: Run) -> None:
    """As a data loader's worker: exit code 1, and nothing in the lines that would tell."""
    with little_memory(96) as group:
        parent = f"import subprocess, sys\nsys.exit(subprocess.run([sys.executable, '-c', {EATER!r}]).returncode != 0)"
        run.script(parent).start(preexec_fn=join(group))
        assert run.wait() == 1
    failure = run.summary["first_failure"]
    assert (failure["exit_code"], failure["oom_kills"], failure["oom_scope"]) == (1, 1, "container")


def test_a_pod_counts_in_its_container(pods: Pods) -> None:
    with little_memory(96) as group:
        pods.script(EATER).start(preexec_fn=join(group))
        assert pods.wait() == 1
    failure = pods.message()["first_failure"]
    assert (failure["signal"], failure["oom_kills"], failure["oom_scope"]) == ("SIGKILL", 1, "container")


def test_a_kill_elsewhere_is_the_machines_on_one_machine_and_no_pods_business(run: Run, pods: Pods) -> None:
    with little_memory(64) as group:
        source = f"import os\nopen('{group}/cgroup.procs', 'w').write(str(os.getpid()))\n{EATER}"
        run.script(source).go()
        pods.script(source).start()
        pods.wait()
    failure = run.summary["first_failure"]
    assert failure["oom_kills"] >= 1
    assert (failure["signal"], failure["oom_scope"]) == ("SIGKILL", "machine")
    assert pods.message()["first_failure"]["signal"] == "SIGKILL"
    assert "oom_kills" not in pods.message()["first_failure"]


def test_a_kill_by_somebody_is_no_kill_for_want_of_memory(run: Run) -> None:
    with little_memory(96) as group:
        run.shell("echo $$; exec sleep 300").start(preexec_fn=join(group))
        os.kill(int(run.until_logged(b"\n")), signal.SIGKILL)
        run.wait()
    assert run.summary["first_failure"]["signal"] == "SIGKILL"
    assert run.summary["first_failure"].get("oom_scope") != "container"


MOUNT = "30 23 0:26 {root} {mounted} rw,nosuid shared:4 - {kind} cgroup rw,{options}\n"


@pytest.mark.parametrize(
    ("kind", "groups", "root", "file"),
    [
        ("cgroup", "4:memory:/user.slice/a b\n1:cpu:/\n0::/user.slice\n", "/", "user.slice/a b/memory.oom_control"),
        ("cgroup", "9:cpuset,memory:/docker/0ab\n", "/docker/0ab", "memory.oom_control"),
        ("cgroup", "4:memory:/kubepods/pod1/c1\n", "/kubepods/pod1", "c1/memory.oom_control"),
        ("cgroup2", "0::/\n", "/", "memory.events"),
        ("cgroup2", "0::/kubepods.slice/x.scope\n", "/kubepods.slice/x.scope", "memory.events"),
        ("cgroup2", "0::/user.slice/session-3.scope\n", "/", "user.slice/session-3.scope/memory.events"),
        ("cgroup2", "0::/../../other\n", "/kubepods.slice", None),
        ("cgroup2", "1:name=systemd:/\n", "/", None),
        ("cgroup", "", "/", None),
        ("cgroup", "nonsense\n\n::::\n", "/", None),
    ],
)
def test_the_own_counter_is_found_in_either_version(
    tmp_path: Path, kind: str, groups: str, root: str, file: "str | None"
) -> None:
    """Forms of /proc/self/cgroup and mountinfo as in cgroups(7), of hosts, and of containers with and without a
    cgroup namespace."""
    proc, mounted = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "self/cgroup").write_text(groups)
    noise = MOUNT.format(root="/", mounted="/elsewhere", kind="cgroup", options="cpu") + "odd line\n"
    (proc / "self/mountinfo").write_text(
        noise + MOUNT.format(root=root, mounted=mounted, kind=kind, options="memory" if kind == "cgroup" else "x")
    )
    assert evidence.counter_file(str(proc)) == (None if file is None else f"{mounted}/{file}")
    if file is not None:
        count_grows(proc, mounted / file)


def count_grows(proc: Path, counter: Path) -> None:
    counter.parent.mkdir(parents=True, exist_ok=True)
    counter.write_text("low 0\nhigh 12\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n")
    kills = evidence.Kills(machine_too=True, proc=str(proc))
    assert kills.since() == {}
    counter.write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n")
    assert kills.since() == {"oom_kills": 3, "oom_scope": "container"}
    counter.unlink()
    assert kills.since() == {}


def test_the_root_of_a_hierarchy_is_no_container(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/cgroup").write_text("4:memory:/\n")
    line = MOUNT.format(root="/", mounted=tmp_path, kind="cgroup", options="memory")
    (tmp_path / "self/mountinfo").write_text(line)
    (tmp_path / "release_agent").touch()
    assert evidence.counter_file(str(tmp_path)) is None


# -- full disks ------------------------------------------------------------------------------------------------------


def test_a_full_disk_is_named_once_and_by_its_first_name(run: Run, tmp_path: Path) -> None:
    with little_room(tmp_path / "disk", 4096) as disk:
        fill = "head -c 9000000 /dev/zero > rest; exit 1"
        run.shell(fill, workdir=str(disk), save_path=str(disk / "output")).go()
    assert run.summary["first_failure"]["full"] == [str(disk)]


def test_a_pods_shared_memory_is_looked_at(pods: Pods) -> None:
    shm = pods.folder / "pod-1/dev/shm"
    pods.shell(f"head -c 9000000 /dev/zero > {shm}/segment; exit 7").make()
    with little_room(shm, 4096):
        assert pods.prepare() == 0
        pods.enter()
        assert pods.wait() == 1
    assert pods.message()["first_failure"]["full"] == ["/dev/shm"]


def test_a_disk_with_room_and_one_that_nobody_writes_to_are_not_full(tmp_path: Path) -> None:
    with little_room(tmp_path / "disk", 4096) as disk:
        places = [("disk", str(disk)), ("gone", str(tmp_path / "gone")), ("strange", "\udcff/\udc80")]
        assert evidence.full(places) == []
        (disk / "rest").write_bytes(b"x" * (3 << 20) + b"x" * 900_000)
        assert evidence.full(places) == ["disk"]
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert evidence.full(places) == []
