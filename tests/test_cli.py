"""The `aiarts` command: exit codes, `--json` everywhere, arguments byte for byte, and manners at the
terminal."""

from __future__ import annotations

import getpass
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts import __version__
from jupyter_aiarts.cli import main

Run = Callable[..., tuple[int, str, str]]
AROUND = (
    "AIARTS_SERVER",
    "AIARTS_TOKEN",
    "JPY_PARENT_PID",
    "JUPYTER_SERVER_URL",
    "LC_ALL",
    "LC_MESSAGES",
    "NO_COLOR",
)
WAITS = "import time; print('up', flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty state folder, no server around, and a folder to work in."""
    for name in AROUND:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("AIARTS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def aiarts(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command in this process: its exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        return code, *capsys.readouterr()

    return run


def process(*words: str, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "jupyter_aiarts.cli", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen(command, text=True, **pipes)


def script(source: str, name: str = "train.py") -> str:
    Path(name).write_text(source)
    return name


def job_of(answer: tuple[int, str, str]) -> dict[str, Any]:
    assert answer[0] == 0, answer
    job: dict[str, Any] = json.loads(answer[1])
    return job


# --- exit codes ----------------------------------------------------------------------------------


def test_0_when_it_is_done(aiarts: Run) -> None:
    assert aiarts("jobs") == (0, "No jobs.\n", "")
    assert aiarts("--version") == (0, f"aiarts {__version__}\n", "")
    assert aiarts("--help")[0] == 0
    assert aiarts("submit", script("print('hi')"), "--wait")[0] == 0


def test_1_when_the_job_or_a_check_fails(aiarts: Run) -> None:
    code, out, _ = aiarts("submit", script("import sys; print('boom'); sys.exit(7)"), "--wait")
    assert code == 1
    assert "boom\n" in out and "failed" in out and "7" in out
    assert aiarts("doctor", "path", "nowhere.py")[0] == 1
    assert aiarts("doctor", "path", "train.py")[0] == 0


def test_2_for_wrong_usage_and_a_refused_spec_with_every_problem(aiarts: Run) -> None:
    code, out, err = aiarts("sumbit")
    assert (code, out) == (2, "") and "Did you mean submit?" in err
    code, out, err = aiarts("submit", script("pass"), "--nodes", "0", "--priority", "99")
    assert (code, out) == (2, "") and "nodes" in err and "priority" in err
    assert aiarts("submit")[0] == 2


def test_problems_of_a_spec_come_in_the_language_that_was_asked_for(aiarts: Run) -> None:
    code, _, said = aiarts("submit", script("print(1)"), "--nodes", "0", "--lang", "zh")
    assert code == 2
    assert "nodes 必须是 1 到 10,000 之间的整数，现在是 0。" in said and "请修改指出的键" in said


def test_3_when_there_is_no_such_job(aiarts: Run) -> None:
    code, _, err = aiarts("show", "nobody")
    assert code == 3 and "nobody" in err


def test_without_a_server_a_cluster_is_said_to_need_one(aiarts: Run) -> None:
    code, _, err = aiarts("submit", "--command", "true", "--cluster", "lab", "--image", "python")
    assert code != 0 and "'lab'" in err and "AiartsApp.clusters" in err and "start one" in err


def test_5_when_nobody_answers(aiarts: Run) -> None:
    code, _, err = aiarts("jobs", "--server", "http://127.0.0.1:9")
    assert code == 5 and "http://127.0.0.1:9" in err


def test_errors_are_json_too_when_asked(aiarts: Run) -> None:
    _, out, err = aiarts("show", "nobody", "--json")
    assert out == "" and json.loads(err)["code"] == "job-not-found"
    _, _, err = aiarts("submit", "--nodes", "0", "--json")
    assert {one["key"] for one in json.loads(err)["problems"]} >= {"nodes"}


# --- jobs ----------------------------------------------------------------------------------------

HOSTILE = [
    "$(whoami)",
    "`id`",
    ";",
    "a b",
    'say "x"',
    "it's",
    "line\nbreak",
    "中文é",
    "--flag",
    "-x",
    "",
    "\\n",
    "*",
    "--",
]


def test_arguments_parameters_and_variables_arrive_byte_for_byte(aiarts: Run) -> None:
    """No shell stands between a person and their arguments."""
    source = "import json, os, sys; json.dump([sys.argv[1:], os.environ['V']], open('out.json', 'w'))"
    nasty = "$(id) `id` ; 'q' \"d\" \n 中文 \\ =="
    words = ["submit", script(source), "--wait", "-p", "k=" + nasty, "--env", "V=" + nasty, "--", *HOSTILE]
    assert aiarts(*words)[0] == 0
    assert json.loads(Path("out.json").read_text()) == [[*HOSTILE, "--k", nasty], nasty]


def test_what_submit_says_leads_on(aiarts: Run) -> None:
    code, out, _ = aiarts("submit", script("pass"), "--name", "训练", "--image", "x:1")
    assert code == 0
    assert out.startswith("Submitted 训练 (")
    assert "aiarts logs -f" in out and "aiarts stop" in out


def test_every_verb_answers_in_json(aiarts: Run) -> None:
    job = job_of(aiarts("submit", script("print('hi')"), "--name", "one", "--wait", "--json"))
    assert (job["phase"], job["name"]) == ("succeeded", "one")
    assert [one["id"] for one in json.loads(aiarts("jobs", "--json")[1])] == [job["id"]]
    for verb in ("show", "explain", "env"):
        assert isinstance(json.loads(aiarts(verb, "one", "--json")[1]), dict)
    assert isinstance(json.loads(aiarts("templates", "--json")[1]), list)
    assert json.loads(aiarts("get", "workspace", "--json")[1]) == [{"workspace_id": "default", "cluster": "local"}]
    assert job_of(aiarts("submit", "train.py", "--dry-run", "--json"))["fits"] is True
    assert job_of(aiarts("edit", "one", "name=two", "--json"))["name"] == "two"
    assert job_of(aiarts("rerun", "two", "--json"))["run"] == 2
    clone = job_of(aiarts("clone", "two", "-n", "three", "--json"))
    assert job_of(aiarts("delete", "three", "--yes", "--json")) == {"deleted": [clone["id"]]}


def test_logs_in_json_are_one_object_per_line(aiarts: Run) -> None:
    job = job_of(aiarts("submit", script("print('a'); print('a'); print('b')"), "--wait", "--json"))
    for more in ([], ["-f"]):
        lines = [json.loads(line) for line in aiarts("logs", job["id"], "--json", *more)[1].splitlines()]
        assert [line["text"] for line in lines if line["stream"] == "stdout"] == ["a", "a", "b"]
    assert aiarts("logs", job["id"], "--fold")[1] == "a\n… 1 more like it\nb\n"
    assert aiarts("logs", job["id"], "--tail", "1")[1] == "b\n"
    assert aiarts("logs", job["id"], "--grep", "^b")[1] == "b\n"


@pytest.mark.parametrize("follow", [[], ["-f"]])
def test_a_known_flood_is_folded_and_said_to_be_harmless(aiarts: Run, follow: list[str]) -> None:
    noise = "Unable to register cu{} factory: Attempting to register factory when one has already been registered"
    texts = [noise.format("DNN"), noise.format("BLAS"), "done"]
    job = job_of(aiarts("submit", script(f"print(*{texts!r}, sep=chr(10))"), "--wait", "--json"))
    shown = aiarts("logs", job["id"], "--fold", *follow)[1].splitlines()
    why = "TensorFlow registers its CUDA libraries twice and keeps the first"
    assert shown[:3] == [texts[1], f"… 1 more like it; they can be ignored: {why}", "done"]
    chinese = aiarts("logs", job["id"], "--fold", "--lang", "zh", *follow)[1]
    assert "可以忽略：TensorFlow 重复注册 CUDA 库" in chinese


def test_waiting_for_a_job_that_has_ended_shows_its_log(aiarts: Run) -> None:
    words = ("submit", script("print('hi')"), "--submission-id", "once", "--wait")
    assert [(code, "hi\n" in out) for code, out, _ in (aiarts(*words), aiarts(*words))] == [(0, True), (0, True)]


def test_a_mistyped_name_among_several_moves_nothing(aiarts: Run) -> None:
    job = job_of(aiarts("submit", script(WAITS), "--grace-seconds", "1", "--json"))
    assert aiarts("stop", job["id"], "nobody")[0] == 3
    assert job_of(aiarts("show", job["id"], "--json"))["phase"] != "stopped"
    assert aiarts("stop", job["id"])[1].startswith(("Stopped ", "Stopping "))


def test_deleting_without_being_asked_needs_yes(aiarts: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of(aiarts("submit", script("pass"), "--name", "gone", "--wait", "--json"))
    code, _, err = aiarts("delete", "gone")
    assert code == 2 and "--yes" in err
    assert aiarts("delete", "gone", "-y") == (0, f"Deleted gone ({job['id']})\n", "")


def test_every_deed_without_a_server_is_noted_done_or_refused_and_reading_is_not(
    aiarts: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2-value")
    job = job_of(aiarts("submit", script("pass"), "--secret-env", "API_TOKEN", "--json"))["id"]
    aiarts("logs", job, "-f")
    aiarts("show", job)
    aiarts("submit", "train.py", "--dry-run")
    aiarts("submit", "train.py", "--priority", "99")
    aiarts("stop", job)
    aiarts("delete", job, "--yes")
    text = (home.parent / "state" / "audit.log").read_text()
    found = [(one["action"], one["subject"], one["status"]) for one in map(json.loads, text.splitlines())]
    assert found == [
        ("submit", job, 201),
        ("submit", None, 400),
        ("stop", job, 409),
        ("delete", job, 204),
    ]
    assert {one["user"] for one in map(json.loads, text.splitlines())} == {getpass.getuser()}
    assert "hunter2-value" not in text


def test_a_params_file_of_dlc_is_submitted(aiarts: Run) -> None:
    Path("job.params").write_text('name=dlc\nkind=PyTorchJob\nworker_count=1\ncommand=echo "a=b"\n')
    code, out, _ = aiarts("create", "job", "--params_file", "job.params", "--wait")
    assert code == 0 and "a=b\n" in out


def test_a_secret_is_not_copied_by_a_clone(aiarts: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "hush")
    words = [
        "submit",
        script("import os; print(os.environ['MY_SECRET'])"),
        "-n",
        "s",
        "--secret-env",
        "MY_SECRET",
    ]
    assert aiarts(*words, "--wait")[0] == 0
    code, _, err = aiarts("clone", "s")
    assert code == 2 and "--secret-env MY_SECRET" in err
    assert aiarts("clone", "s", "--secret-env", "MY_SECRET", "--wait")[0] == 0


def test_differences_between_ranks_and_between_jobs(aiarts: Run) -> None:
    name = script("pass")
    assert aiarts("submit", name, "-n", "a", "--nodes", "2", "-e", "X=1", "--wait")[0] == 0
    assert aiarts("submit", name, "-n", "b", "--nodes", "2", "-e", "X=2", "--wait")[0] == 0
    assert "- RANK=0\n+ RANK=1\n" in aiarts("env", "a", "--diff", "0", "1")[1]
    assert json.loads(aiarts("env", "--diff", "a", "b", "--json")[1])["X"] == ["1", "2"]
    assert aiarts("env", "a", "--apply")[0] == 2


def test_templates_are_saved_used_shown_and_deleted(aiarts: Run) -> None:
    assert aiarts("templates", "save", "two", "--nodes", "2", "--description", "pairs")[:2] == (
        0,
        "Saved template two\n",
    )
    assert "pairs" in aiarts("templates")[1]
    assert aiarts("templates", "show", "two")[1].split() == ["nodes", "2"]
    tried = job_of(aiarts("submit", script("pass"), "--template", "two", "--dry-run", "--json"))
    assert tried["spec"]["nodes"] == 2
    assert aiarts("templates", "delete", "two")[0] == 0
    assert aiarts("templates", "show", "two")[0] == 3


def test_chinese_is_spoken_when_asked_for(aiarts: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aiarts("jobs", "--lang", "zh")[1] == "没有作业。\n"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert aiarts("jobs")[1] == "没有作业。\n"


# --- manners -------------------------------------------------------------------------------------


def test_ctrl_c_leaves_the_job_running_and_says_so(aiarts: Run, request: pytest.FixtureRequest) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with process("submit", script(WAITS), "--wait", "--name", "long", "--grace-seconds", "1") as following:
        assert following.stdout is not None and following.stderr is not None
        while following.stdout.readline() != "up\n":
            pass
        following.send_signal(signal.SIGINT)
        said = following.stderr.read()
        assert following.wait(20) == 130, said
    assert "goes on without you" in said and "Traceback" not in said
    assert job_of(aiarts("show", "long", "--json"))["phase"] == "running"
    assert aiarts("stop", "long")[0] == 0


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    main(["submit", script("print('x' * 100 + '\\n' * 5000)"), "--name", "much", "--wait", "--json"])
    with process("logs", "much") as logs:
        assert logs.stdout is not None and logs.stderr is not None
        logs.stdout.readline()
        logs.stdout.close()
        assert logs.wait(20) == 0
        assert logs.stderr.read() == ""


def test_a_terminal_that_knows_no_chinese_gets_escapes() -> None:
    with process("jobs", "--lang", "zh", env={**os.environ, "PYTHONIOENCODING": "ascii"}) as listing:
        out, err = listing.communicate(timeout=20)
    assert (listing.returncode, err) == (0, "") and out.startswith("\\u6ca1")


@pytest.mark.parametrize(("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_on_a_terminal_unless_refused(more: dict[str, str], coloured: bool) -> None:
    """`ls`-like tables in colour for people; plain for those who said NO_COLOR."""
    main(["submit", script("pass"), "--wait", "--json"])
    ours, theirs = pty.openpty()
    with process("jobs", stdout=theirs, env={**os.environ, "TERM": "xterm", **more}) as listing:
        assert listing.wait(20) == 0
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert ("\x1b[32m" in shown) is coloured


def test_a_question_is_asked_on_a_terminal_and_no_means_no(aiarts: Run) -> None:
    job_of(aiarts("submit", script("pass"), "--name", "kept", "--wait", "--json"))
    ours, theirs = pty.openpty()
    with process("delete", "kept", stdin=theirs) as asking:
        os.write(ours, b"n\n")
        out, _ = asking.communicate(timeout=20)
    os.close(ours)
    os.close(theirs)
    assert asking.returncode == 0 and "Nothing was deleted." in out
    assert aiarts("show", "kept")[0] == 0


def test_a_state_folder_others_can_write_to_is_refused(
    aiarts: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("AIARTS_STATE_DIR", str(shared))
    code, _, err = aiarts("jobs")
    assert code == 5 and str(shared) in err


def test_edit_says_what_a_merge_patch_cannot_do(aiarts: Run) -> None:
    """Null takes a key away in a merge patch, so `-p flag` would do the opposite of what it says."""
    job = job_of(aiarts("submit", script("pass"), "-n", "e", "-p", "lr=1", "--wait", "--json"))
    code, _, err = aiarts("edit", "e", "-p", "verbose")
    assert code == 2 and "verbose" in err
    edited = job_of(aiarts("edit", job["id"], "-p", "a=1", "params.b=2", "params.lr:=null", "--json"))
    assert edited["spec"]["params"] == {"a": "1", "b": "2"}
    assert aiarts("submit", "train.py", "--as", "x")[0] == 2
