"""What a pod makes of the plan: its environment, pod.env, sudo, shipped code, the termination message."""

import errno
import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.launcher_zip import pack
from jupyter_aiarts.launcher import access
from jupyter_aiarts.launcher.podenv import parse

from .conftest import lives, wait_until
from .pods import Pods

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def zipped(files: dict[str, str], modes: "dict[str, int] | None" = None) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(entry, text)
    return content.getvalue()


def printed(pods: Pods, line: str, **changes: Any) -> list[str]:
    """What the only rank prints."""
    pods.shell(line, **changes).start()
    assert pods.wait() == 0
    return pods.log().decode().splitlines()


def test_a_rank_has_the_containers_environment_and_nothing_that_is_only_ours(pods: Pods) -> None:
    pods.environ.update(IMAGE_SAYS="hello", KUBERNETES_SERVICE_HOST="10.0.0.1", AIARTS_SECRET="x", LC_ALL="C")
    lines = printed(pods, "env | sort")
    assert "IMAGE_SAYS=hello" in lines
    assert "KUBERNETES_SERVICE_HOST=10.0.0.1" in lines
    assert "POD_IP=127.0.0.1" in lines
    names = {line.partition("=")[0] for line in lines}
    assert {name for name in names if name.startswith("AIARTS_")} == {"AIARTS_POD_ENV"}
    assert not names & {"JOB_COMPLETION_INDEX", "RES_OPTIONS"}


def test_the_attempt_and_the_time_used_come_from_their_own_file(pods: Pods) -> None:
    pods.shell("sleep 300", max_seconds=100)
    root = pods.make()
    (root / "aiarts/job/attempt.json").write_text(json.dumps({"attempt": 7, "used_seconds": 99.9}))
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait() == 1
    assert (pods.summary["result"], pods.summary["attempt"]) == ("time-limit", 7)


def test_cards_are_those_of_the_container_and_a_user_may_choose_among_them(pods: Pods) -> None:
    pods.environ.update(NVIDIA_VISIBLE_DEVICES="GPU-1,GPU-2", ASCEND_VISIBLE_DEVICES="")
    env = {"CUDA_VISIBLE_DEVICES": "1", "NVIDIA_VISIBLE_DEVICES": "all"}
    lines = printed(pods, "env; . $AIARTS_POD_ENV; env", env=env, cards=2)
    for wanted in ("NVIDIA_VISIBLE_DEVICES=GPU-1,GPU-2", "ASCEND_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=1"):
        assert lines.count(wanted) == 2
    assert "NVIDIA_VISIBLE_DEVICES=all" not in lines


def test_a_relative_workdir_is_the_images_own(pods: Pods) -> None:
    pods.shell('pwd; echo "$MAIN_PATH"', workdir=".", main_path=".")
    pods.make()
    assert pods.prepare() == 0
    pods.enter(cwd="/usr")
    assert pods.wait() == 0
    assert pods.log() == b"/usr\n/usr\n"


def test_pod_env_is_written_into_the_mounted_file(pods: Pods) -> None:
    pods.shell("echo $AIARTS_POD_ENV; . $AIARTS_POD_ENV; echo $COLOUR", env={"COLOUR": "it's 红"})
    root = pods.make()
    assert pods.prepare() == 0
    before = (root / "aiarts/run/pod.env").stat()
    assert stat.S_IMODE(before.st_mode) == 0o666
    pods.enter()
    assert pods.wait() == 0
    assert pods.log().decode() == f"{root}/pod.env\nit's 红\n"
    after = (root / "aiarts/run/pod.env").stat()
    assert (after.st_ino, stat.S_IMODE(after.st_mode)) == (before.st_ino, 0o666)
    assert parse((root / "pod.env").read_bytes())["COLOUR"] == "it's 红"


def test_each_card_has_a_pod_env_of_its_own_beside_it(pods: Pods) -> None:
    pods.shell(". $AIARTS_POD_ENV; echo $AIARTS_POD_ENV $RANK_ID", cards=2, processes="card").start()
    assert pods.wait() == 0
    for rank in range(2):
        path = pods.roots[0] / f"aiarts/run/pod.env.{rank}"
        assert pods.log(rank).decode() == f"{path} {rank}\n"
        assert stat.S_IMODE(path.stat().st_mode) & 0o444 == 0o444
    assert parse((pods.roots[0] / "pod.env").read_bytes())["RANK_ID"] == "0"


def test_secrets_are_in_the_process_only(pods: Pods) -> None:
    (pods.folder / "secret.json").write_text(json.dumps({"PASSWORD": "hunter2"}))
    assert printed(pods, "echo $PASSWORD", secrets_file=str(pods.folder / "secret.json")) == ["hunter2"]
    run = pods.roots[0] / "aiarts/run"
    assert not any(
        b"hunter2" in path.read_bytes() for path in run.rglob("*") if path.is_file() and "log" not in str(path)
    )


def test_tensorflow_gets_every_workers_own_host(pods: Pods) -> None:
    pods.plan(nodes=2).shell("echo $TF_CONFIG", framework="tensorflow", hosts=["a-0.svc", "a-1.svc"], cards=2)
    pods.plan(processes="card").start_all()
    assert pods.wait_all() == [0, 0]
    config = json.loads(pods.log(3, node=1))
    assert config["task"] == {"type": "worker", "index": 3}
    assert config["cluster"]["worker"] == ["a-0.svc:29512", "a-0.svc:29513", "a-1.svc:29512", "a-1.svc:29513"]


def test_mindspore_gets_node_0s_address_as_an_ip(pods: Pods) -> None:
    pods.plan(nodes=2, master_addr="a-0.svc").shell("echo $MS_SCHED_HOST $MASTER_ADDR", framework="mindspore")
    pods.start_all()
    assert pods.wait_all() == [0, 0]
    assert [pods.log(node, node=node) for node in range(2)] == [b"127.0.0.1 a-0.svc\n"] * 2
    assert parse((pods.roots[1] / "pod.env").read_bytes())["MS_SCHED_HOST"] == "127.0.0.1"


def no_sudo(tmp_path: Path) -> str:
    """A PATH with a shell and little else."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for program in ("bash", "sh", "env", "echo", "id", "sleep", "python3"):
        found = shutil.which(program)
        assert found
        (folder / program).symlink_to(found)
    return str(folder)


@root_only
def test_the_old_platforms_line_works_without_sudo_in_the_image(pods: Pods, tmp_path: Path) -> None:
    pods.environ["PATH"] = no_sudo(tmp_path)
    line = "sudo -E bash -c 'source $AIARTS_POD_ENV && echo $COLOUR $0 $(id -u)'"
    assert printed(pods, line, env={"COLOUR": "red"}) == ["red bash 0"]


@root_only
def test_sudo_is_found_first_whatever_path_the_user_sets(pods: Pods) -> None:
    path = os.environ["PATH"]
    lines = printed(pods, "command -v sudo; . $AIARTS_POD_ENV; command -v sudo", env={"PATH": path})
    assert lines == [f"{pods.roots[0]}/aiarts/run/bin/sudo"] * 2


@root_only
@pytest.mark.parametrize(
    ("words", "code", "output"),
    [
        (["echo", "a b", "c"], 0, "a b c"),
        (["-E", "-H", "-n", "--", "printf", "%s", "-E"], 0, "-E"),
        (["-EHn", "A=1", "B=x y", "sh", "-c", "echo $A $B"], 0, "1 x y"),
        (["-u", "root", "echo", "ok"], 0, "ok"),
        (["--user=root", "--preserve-env=A,B", "--non-interactive", "echo", "ok"], 0, "ok"),
        (["-H", "sh", "-c", "echo $HOME"], 0, os.path.expanduser("~root")),
        (["--", "sh", "-c", "exit 7"], 7, ""),
        (["-u", "nobody", "echo", "no"], 1, "no other user"),
        (["-unobody", "echo", "no"], 1, "no other user"),
        (["--user=nobody", "echo", "no"], 1, "no other user"),
        (["-i"], 1, "unknown option"),
        (["-E"], 1, "no program"),
        ([], 1, "no program"),
        (["-u"], 1, "needs a name"),
    ],
)
def test_sudo(tmp_path: Path, words: list[str], code: int, output: str) -> None:
    from jupyter_aiarts.launcher.sudo import install

    install(str(tmp_path))
    command = [str(tmp_path / "sudo"), *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (done.returncode, output in done.stdout) == (code, True), done.stdout


@root_only
def test_in_a_pod_that_is_not_root_there_is_no_sudo_of_ours_and_all_else_works(pods: Pods) -> None:
    pods.shell("id -u; . $AIARTS_POD_ENV && echo $COLOUR", env={"COLOUR": "red"})
    pods.folder.chmod(0o777)
    for parent in pods.folder.parents:
        if parent != Path("/tmp") and parent.is_relative_to("/tmp"):
            parent.chmod(0o755)
    root = pods.make()
    become = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    pods.command = [*become, *_world_readable_launcher(pods)]
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait() == 0
    assert pods.log().decode().splitlines() == ["1000", "red"]
    assert not (root / "aiarts/run/bin").exists()
    assert pods.message()["result"] == "succeeded"


def _world_readable_launcher(pods: Pods) -> list[str]:
    archive = pods.folder / "launcher.zip"
    archive.write_bytes(pack())
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    return [python, "-I", str(archive)]


def test_code_that_came_with_the_job_is_unpacked_and_run(pods: Pods) -> None:
    root = pods.make()
    code = str(root / "aiarts/run/code")
    start = {"kind": "python", "path": f"{code}/训练.py", "line": None, "python": sys.executable}
    document = {**pods.document, "start": start, "code": code, "workdir": code, "folder": str(root / "aiarts/run")}
    (root / "aiarts/job/plan.json").write_text(json.dumps(document))
    files = {
        "训练.py": "import helper.deep; helper.deep.run()",
        "helper/deep.py": "def run(): print('deep')",
        "run.sh": "",
    }
    (root / "aiarts/job/code.zip").write_bytes(zipped(files, {"run.sh": 0o100755}))
    pods.environ["LC_ALL"] = "C"
    assert pods.prepare() == 0
    assert pods.prepare() == 0, "a restarted init container finds its own work"
    pods.enter()
    assert pods.wait() == 0
    assert pods.log() == b"deep\n"
    modes = [stat.S_IMODE(os.stat(f"{code}/{name}").st_mode) for name in ("run.sh", "helper/deep.py")]
    assert modes == [0o755, 0o644]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (zipped({"/etc/evil": "x"}), "outside"),
        (zipped({"../evil": "x"}), "outside"),
        (zipped({"a/../../evil": "x"}), "outside"),
        (zipped({"..": "x"}), "outside"),
        (zipped({"link": "/etc/passwd"}, {"link": 0o120777}), "neither a file nor a folder"),
        (zipped({"pipe": ""}, {"pipe": 0o010644}), "neither a file nor a folder"),
        (zipped({"big": "x" * (51 * 1024 * 1024)}), "more than 50 MB"),
        (zipped({f"{number}": "" for number in range(10_001)}), "10001 files"),
        (zipped({"a": "x" * 5000})[:-30], "no zip"),
        (b"PK\x03\x04 nonsense", "no zip"),
        (zipped({"a": "file", "a/b": "below a file"}), "cannot unpack"),
    ],
    ids=["absolute", "up", "inside up", "dots", "link", "pipe", "bomb", "many", "cut", "nonsense", "clash"],
)  # fmt: skip
def test_code_that_looks_like_a_trick_is_refused(pods: Pods, content: bytes, sentence: str) -> None:
    root = pods.make()
    (root / "aiarts/job/code.zip").write_bytes(content)
    assert pods.prepare(stderr=subprocess.DEVNULL) == 1
    assert sentence in pods.message()["problem"]["message"]
    assert not list(pods.folder.rglob("evil"))


def test_a_zip_that_lies_about_its_size_is_stopped_while_it_unpacks(pods: Pods) -> None:
    root = pods.make()
    honest = zipped({"big": "x" * (51 * 1024 * 1024)})
    size = (51 * 1024 * 1024).to_bytes(4, "little")
    assert honest.count(size) == 2
    (root / "aiarts/job/code.zip").write_bytes(honest.replace(size, (1000).to_bytes(4, "little")))
    assert pods.prepare(stderr=subprocess.DEVNULL) == 1
    unpacked = root / "aiarts/run/code/big"
    assert not unpacked.exists() or unpacked.stat().st_size <= 50 * 1024 * 1024


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda root: (root / "aiarts/job/plan.json").write_text("{"), "not JSON"),
        (lambda root: (root / "aiarts/job/plan.json").unlink(), "cannot read"),
        (lambda root: (root / "aiarts/job/plan.json").write_text("[]"), "not an object"),
        (lambda root: (root / "aiarts/secret/token").unlink(), "token"),
        (lambda root: (root / "aiarts/secret/token").write_text("\n"), "token is empty"),
        (lambda root: (root / "aiarts/job/attempt.json").write_text('{"attempt": "x"}'), "attempt is 'x'"),
    ],
)
def test_what_is_wrong_with_a_pod_is_in_its_termination_message(pods: Pods, break_it: Any, sentence: str) -> None:
    root = pods.make()
    assert pods.prepare() == 0
    break_it(root)
    pods.enter()
    assert pods.wait() == 1
    assert sentence in pods.message()["problem"]["message"]


def test_a_node_that_the_job_does_not_have_is_refused(pods: Pods) -> None:
    pods.ports[5] = pods.ports[0]
    pods.start(5)
    assert pods.wait(5) == 1
    assert "node 5" in pods.message(5)["problem"]["message"]


def test_the_launcher_may_be_the_first_process_of_its_container(pods: Pods) -> None:
    """Orphans come to it, it reaps them, and it is heard when asked to leave."""
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no pid namespaces here")
    pods.shell("(setsid sleep 300 & echo $$ $(cat /proc/1/comm)); exec sleep 300")
    pods.make()
    assert pods.prepare() == 0
    pods.enter(before=unshare)
    wait_until(lambda: pods.phase() == "running" and pods.log().endswith(b"\n"))
    assert pods.status()["pid"] == 1
    outside = [
        int(pid)
        for pid in Path(f"/proc/{pods.launchers[0].pid}/task/{pods.launchers[0].pid}/children").read_text().split()
    ]
    os.kill(outside[0], signal.SIGTERM)
    assert pods.wait() == 75
    assert not lives(outside[0])
    assert pods.message()["result"] == "stopped"


def test_a_launcher_asked_to_leave_before_it_could_listen_leaves(pods: Pods) -> None:
    pods.shell("sleep 300").make()
    assert pods.prepare() == 0
    held = {signal.SIGTERM}
    launcher = pods.enter(preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, held))
    launcher.terminate()
    assert pods.wait() == 75


def test_init_leaves_no_trace_outside_its_folder(pods: Pods) -> None:
    root = pods.make()
    before = set(root.rglob("*"))
    assert pods.prepare() == 0
    made = {str(path.relative_to(root)) for path in set(root.rglob("*")) - before}
    sudo = {"aiarts/run/bin", "aiarts/run/bin/sudo"} if os.geteuid() == 0 else set()
    assert made == {"aiarts/run/pod.env", "pod.env"} | sudo


def test_a_pod_goes_on_counting_where_those_before_it_ended(pods: Pods) -> None:
    pods.shell("sleep 300", max_seconds=100)
    root = pods.make()
    told = {"attempt": 1, "used_seconds": 40.0, "history": {"running": 59.8, "restarts": 2}}
    (root / "aiarts/job/attempt.json").write_text(json.dumps(told))
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait() == 1
    assert (pods.summary["result"], pods.summary["restarts"]) == ("time-limit", 2)
    assert pods.summary["running_seconds"] >= 60


def test_restarts_of_pods_before_it_count(pods: Pods) -> None:
    pods.shell("exit 3", max_restarts=2)
    root = pods.make()
    told = {"attempt": 1, "used_seconds": 0.0, "history": {"running": 5.0, "restarts": 2}}
    (root / "aiarts/job/attempt.json").write_text(json.dumps(told))
    assert pods.prepare() == 0
    pods.enter()
    assert pods.wait() == 1
    assert (pods.summary["result"], pods.summary["restarts"]) == ("failed", 2)


@root_only
@pytest.mark.parametrize("readers", [None, 2345])
def test_on_a_log_mount_a_runs_folder_is_its_users_and_if_wanted_a_groups_to_read(
    pods: Pods, tmp_path: Path, readers: "int | None"
) -> None:
    run = tmp_path / "mount" / "run-1"
    more = {} if readers is None else {"readers": readers}
    pods.shell("echo hello", folder=str(run), save_path=str(run / "output"), **more).start()
    assert pods.wait() == 0
    files = [*run.rglob("*.log"), *run.rglob("*.idx"), *run.rglob("*.json")]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in files}
    folders = {stat.S_IMODE(path.stat().st_mode) & 0o777 for path in [run, run / "node-0", run / "node-0/log/0"]}
    assert (folders, modes) == (({0o750}, {0o640}) if readers else ({0o700}, {0o600}))
    assert {path.stat().st_gid for path in [run, *run.rglob("*")]} == {readers or 0}


@root_only
def test_a_runs_folder_that_somebody_else_made_first_is_refused() -> None:
    """Who made it could read what is written there, or lead it elsewhere."""
    with TemporaryDirectory() as made:  # pytest's own folders are not open to others
        mount = Path(made)
        mount.chmod(0o1777)
        (mount / "link").symlink_to("/etc")
        (mount / "planted").mkdir()
        os.chown(mount / "planted", 999, 999)
        (mount / "planted").chmod(0o777)
        assert claimed_as(1234, mount / "link") == errno.ENOTDIR
        assert claimed_as(1234, mount / "planted") == errno.EPERM
        assert claimed_as(1234, mount / "own") == claimed_as(1234, mount / "own") == 0


def claimed_as(uid: int, folder: Path) -> int:
    """What the system says when a process of this user makes a folder its own; 0 when it has."""
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            access.claim(str(folder), None)
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 255)
    return os.WEXITSTATUS(os.waitpid(child, 0)[1])
