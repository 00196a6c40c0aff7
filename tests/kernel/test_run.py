"""`aiarts run -n N`: ranks right here, through the real launcher; live, tagged, interruptible, nothing left behind."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_aiarts import cli
from jupyter_aiarts.kernel import cards, grammar, run, watching
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.session import Session
from jupyter_aiarts.kernel.terminal import Style
from tests.kernel.running import private_folders, said

__all__ = ["private_folders"]

Script = Callable[..., str]
ROOT = Path(__file__).parents[2]
SHOW = "import json, os, sys\nprint(json.dumps([dict(os.environ), sys.argv[1:]]))"
HOSTILE = ["$(whoami)", "`id`", "; exit 3", "a'b\"c", "two\nlines", "训练", "--json", "-n", "--"]


@pytest.fixture
def aiarts(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command in this process: its exit code and what it printed."""

    def command(*words: str) -> tuple[int, str, str]:
        code = cli.main(words)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


Command = Callable[..., tuple[int, str, str]]


def test_ranks_have_the_variables_of_a_job_and_their_arguments_byte_for_byte(
    aiarts: Command, script: Script, nothing_around: Path
) -> None:
    code, out, _ = aiarts("run", "-n", "2", script(SHOW), *HOSTILE)
    assert code == 0 and out.splitlines()[-1] == "All 2 ranks ended well."
    for rank in (0, 1):
        environ, argv = json.loads(said(out, rank)[0])
        assert argv == HOSTILE
        numbers = {name: environ.get(name) for name in ("RANK", "LOCAL_RANK", "RANK_ID", "NODE_RANK", "DEVICE_ID")}
        assert numbers == {
            "RANK": str(rank), "LOCAL_RANK": str(rank), "RANK_ID": str(rank), "NODE_RANK": "0", "DEVICE_ID": None,
        }  # fmt: skip
        assert [environ[name] for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "RANK_SIZE")] == ["2", "2", "2"]
        assert environ["DLWS_NUM_GPU_PER_WORKER"] == "0" and "PET_NNODES" not in environ
        assert environ["MAIN_PATH"] == environ["SAVE_PATH"] == str(nothing_around)


def test_what_the_notebook_has_set_reaches_the_ranks(
    aiarts: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_OWN", "v\udcff")
    monkeypatch.setenv("RANK", "99")  # a rank's own number is never somebody else's
    code, out, _ = aiarts("run", "-n", "1", script("import os; print(os.environb[b'MY_OWN'], os.environ['RANK'])"))
    assert (code, out.splitlines()[0]) == (0, "b'v\\xff' 0")


def test_the_first_failing_ranks_exit_code_is_ours_and_it_is_named(aiarts: Command, script: Script) -> None:
    source = "import os, sys, time\nif os.environ['RANK'] == '1': sys.exit(7)\ntime.sleep(600)"
    began = time.monotonic()
    code, out, _ = aiarts("run", "-n", "3", script(source))
    assert (code, out) == (7, "Rank 1 failed first: exit code 7.\n")
    assert time.monotonic() - began < 60
    code, out, _ = aiarts("run", "-n", "2", script("import os; os.environ['RANK'] == '0' and os.kill(os.getpid(), 9)"))
    assert (code, out) == (137, "Rank 0 failed first: exit code 137 (SIGKILL).\n")


def test_json_is_the_outcome_and_the_lines_go_beside_it(aiarts: Command, script: Script) -> None:
    code, out, _ = aiarts("run", "-n", "2", "--json", script("import os, sys; sys.exit(int(os.environ['RANK']))"))
    found = json.loads(out)
    assert (code, found["exit_code"], found["first_failure"]["rank"], found["interrupted"]) == (1, 1, 1, False)


@pytest.mark.parametrize("name", ["missing.py", "no/such/folder/train.py"])
def test_a_start_file_that_is_not_there_is_one_sentence(aiarts: Command, name: str) -> None:
    code, out, _ = aiarts("run", "-n", "2", name)
    assert code == 1 and name in out and "Traceback" not in out


@pytest.mark.parametrize("words", [["-n", "0", "t.py"], ["-n", "999", "t.py"], ["-n", "x", "t.py"], []])
def test_wrong_usage_starts_nothing(aiarts: Command, words: list[str]) -> None:
    assert aiarts("run", *words)[0] == 2


def test_stderr_goes_to_stderr_and_unfinished_lines_are_shown_whole(aiarts: Command, script: Script) -> None:
    source = "import sys\nsys.stderr.write('no newline')\nsys.stdout.write('a\\nb')"
    code, out, err = aiarts("run", "-n", "1", script(source))
    assert (code, out.splitlines()[:2], err) == (0, ["a", "b"], "no newline\n")


def test_shell_files_notebooks_and_programs_run_too(aiarts: Command, script: Script) -> None:
    assert "shell 1" in aiarts("run", "-n", "2", script("echo shell $RANK", "a.sh"))[1]


@pytest.mark.parametrize(
    ("line", "framework"),
    [
        ("import torch", "pytorch"),
        ("from tensorflow import keras", "tensorflow"),
        ("#", "none"),
        ("x = 'import'", "none"),
    ],
)
def test_a_frameworks_own_variables_come_with_its_import(script: Script, line: str, framework: str) -> None:
    assert run.framework_of(script(line)) == framework


def test_tensorflows_workers_are_all_named(aiarts: Command, script: Script) -> None:
    _, out, _ = aiarts(
        "run", "-n", "2", "--framework", "tensorflow", script("import os; print(os.environ['TF_CONFIG'])")
    )
    found = [json.loads(said(out, rank)[0]) for rank in (0, 1)]
    assert [one["task"]["index"] for one in found] == [0, 1]
    assert len(set(found[0]["cluster"]["worker"])) == 2


# --- cards --------------------------------------------------------------------------------------------------------

CARDS = [
    ({"CUDA_VISIBLE_DEVICES": "4,5"}, [], "nvidia", ["4", "5"]),
    ({"CUDA_VISIBLE_DEVICES": "GPU-aa,GPU-bb"}, [], "nvidia", ["GPU-aa", "GPU-bb"]),
    ({"CUDA_VISIBLE_DEVICES": ""}, ["nvidia0"], "cpu", []),
    ({"CUDA_VISIBLE_DEVICES": "0,-1,1"}, [], "nvidia", ["0"]),
    ({"NVIDIA_VISIBLE_DEVICES": "void"}, ["nvidia0"], "cpu", []),
    ({"NVIDIA_VISIBLE_DEVICES": "all"}, ["nvidia0", "nvidia10", "nvidia2", "nvidiactl"], "nvidia", ["0", "2", "10"]),
    ({"ASCEND_VISIBLE_DEVICES": "0-3"}, [], "huawei", ["0", "1", "2", "3"]),
    ({"ASCEND_RT_VISIBLE_DEVICES": "1", "ASCEND_VISIBLE_DEVICES": "4-7"}, [], "huawei", ["5"]),
    ({"CUDA_VISIBLE_DEVICES": ""}, ["davinci0", "davinci1", "davinci_manager"], "huawei", ["0", "1"]),
    ({}, [], "cpu", []),
]


@pytest.mark.parametrize(("environ", "devices", "kind", "names"), CARDS)
def test_the_cards_that_are_seen(
    tmp_path: Path, environ: dict[str, str], devices: list[str], kind: str, names: list[str]
) -> None:
    folder = tmp_path / "dev"
    folder.mkdir()
    for device in devices:
        (folder / device).touch()
    found = cards.visible(environ, str(folder))
    assert (found.device.split("_")[0], list(found.names)) == (kind, names)


def test_npus_come_from_one_ring_where_one_has_enough() -> None:
    npus = cards.Cards("huawei_npu_arm64", ("3", "4", "5", "6"), True)
    assert npus.first(2).ids == [4, 5] and npus.first(4).ids == [3, 4, 5, 6]
    assert npus._replace(rings=False).first(2).ids == [3, 4], "newer boards have none"
    assert cards.Cards("nvidia_gpu_amd64", ("3", "4", "5")).first(2).ids == [3, 4]


def test_every_rank_sees_the_cards_of_its_node_and_knows_which_is_its_own(
    aiarts: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3,6")
    names = ("CUDA_VISIBLE_DEVICES", "DEVICE_ID", "DEVICE_NUM", "DLWS_GPU_TYPE")
    source = f"import os; print(' '.join(os.environ[name] for name in {names}))"
    _, out, _ = aiarts("run", "-n", "2", script(source))
    device = cards.visible(os.environ).device
    assert [said(out, rank) for rank in (0, 1)] == [[f"2,3 0 2 {device}"], [f"2,3 1 2 {device}"]]
    _, out, _ = aiarts("run", script(source))
    assert said(out, 2) == [f"2,3,6 2 3 {device}"], "one rank for each card, if no number is given"


def test_a_process_is_kept_off_the_npus_that_are_not_for_it() -> None:
    """By the numbers under which it knows them: its runtime counts what the container has from 0."""
    seen = cards.Cards("huawei_npu_arm64", ("3", "4", "5"), True)
    assert cards.chosen(seen, seen.first(2), {}) == {"ASCEND_RT_VISIBLE_DEVICES": "1,2"}
    assert cards.chosen(seen, seen, {}) == {}
    assert cards.chosen(seen, seen.first(1), {"ASCEND_RT_VISIBLE_DEVICES": "0,2,3"}) == {
        "ASCEND_RT_VISIBLE_DEVICES": "0"
    }
    gpus = cards.Cards("nvidia_gpu_amd64", ("0", "1"))
    assert cards.chosen(gpus, gpus.first(1), {}) == {}


def test_npus_find_their_rank_table_and_what_is_missing_is_said(
    aiarts: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own numbers a process sees cards 0 and 1; the table has the real ones."""
    monkeypatch.setenv("ASCEND_VISIBLE_DEVICES", "3-5")
    source = (
        "import json, os\ntable = json.load(open(os.environ['RANK_TABLE_FILE']))\n"
        "cards = [card['device_id'] for server in table['server_list'] for card in server['device']]\n"
        "print(os.environ['RANK_ID'], os.environ['DEVICE_ID'], os.environ['ASCEND_VISIBLE_DEVICES'], *cards)"
    )
    code, out, err = aiarts("run", "-n", "2", script(source))
    assert code == 0, out + err
    assert [said(out, rank) for rank in (0, 1)] == [["0 0 4,5 4 5"], ["1 1 4,5 4 5"]]
    assert "hccn_tool" in err and "[rank" not in err, "cards without an address are said to be"
    monkeypatch.setenv("NPU_IPS", "4:192.168.10.12,5:192.168.20.12")
    assert aiarts("run", "-n", "2", script(source))[2] == ""
    assert aiarts("run", "-n", "3", script(source))[0] == 2


def test_more_ranks_than_cards_run_without_one_of_their_own_and_this_is_said(
    aiarts: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2")
    source = "import os; print(os.environ['CUDA_VISIBLE_DEVICES'], os.environ.get('DEVICE_ID'))"
    code, out, err = aiarts("run", "-n", "2", script(source))
    assert code == 0 and "1 cards are seen here" in err and said(out, 1) == ["2 None"]


def test_frames_may_be_cut_anywhere() -> None:
    wire = b"0 stdout 3\na\nb" + b"12 stderr 0\n" + b"1 stdout 12\n0 stdout 9\n\n"
    for size in (1, 2, 5, 100):
        frames = watching.Frames()
        pieces = [wire[at : at + size] for at in range(0, len(wire), size)]
        found = [frame for piece in pieces for frame in frames.take(piece)]
        assert found == [(0, "stdout", b"a\nb"), (12, "stderr", b""), (1, "stdout", b"0 stdout 9\n\n")]


def test_in_a_terminal_nothing_takes_the_terminal_over() -> None:
    lines: list[str] = []
    session = Session(client=None, style=Style("en", True), write=lines.append, notice=lines.append)  # type: ignore[arg-type]
    screen = watching.Screen(session, True)
    screen.take(3, "stdout", b"\x1b]0;title\x07plain \x1b[31mred\x1b[0m\n\xff\n")
    screen.flush()
    assert lines == ["[rank 3] plain \x1b[31mred\x1b[0m\x1b[0m\n[rank 3] \ufffd"]


def test_everything_after_the_start_file_is_the_start_files() -> None:
    command = grammar.parse(["run", "-n", "2", "train.py", "--json", "-n", "5", "--help"])
    assert (command.options.ranks, command.options.json) == (2, False)
    assert command.options.after_dashes == ["--json", "-n", "5", "--help"]
    assert grammar.parse(["--json", "run", "-n2", "t.py", "--", "a"]).options.after_dashes == ["a"]
    with pytest.raises(WrongUsage):
        grammar.parse(["run", "--rank", "2", "t.py"])
