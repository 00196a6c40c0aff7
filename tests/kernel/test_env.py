"""`%aiarts env`: every rank's own variables, what differs between two, and the same variables in this kernel."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts import cli
from jupyter_aiarts.kernel import api, words
from jupyter_aiarts.kernel.api import Job
from jupyter_aiarts.kernel.apply import Applied, restore_all, sort_out
from jupyter_aiarts.kernel.terminal import Style

Script = Callable[..., str]
NPU = "huawei_npu_arm64"
SHOW = "import json, os\nprint(json.dumps(dict(os.environ)))"


@pytest.fixture(autouse=True)
def environment_put_back() -> Iterator[None]:
    """The tests run in the process whose variables they set."""
    before = dict(os.environ)
    yield
    restore_all()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Eight declared NPUs, as the server's settings would record them."""
    from jupyter_aiarts.engines.local import open_local
    from jupyter_aiarts.engines.local.records import Settings

    open_local(tmp_path / "state", Settings(devices={NPU: 8}, cpus=16))


def ended(**keys: Any) -> Job:
    job = api.submit(**keys).wait(60)
    assert job.phase == "succeeded", job.explain()
    return job


def printed(job: Job, rank: int) -> dict[str, str]:
    found: dict[str, str] = json.loads(str(job.logs(rank=rank)[0]))
    return found


@pytest.mark.parametrize(
    ("keys", "ranks"),
    [
        ({"nodes": 2}, 2),
        ({"processes": "card", "device": NPU, "devices": 4}, 4),
        ({"processes": "node", "device": NPU, "devices": 2}, 1),
    ],
)
def test_what_is_shown_of_every_rank_is_what_its_process_had(
    script: Script, cards: None, keys: dict[str, Any], ranks: int
) -> None:
    job = ended(script=script(SHOW), env={"MINE": "a=b\n'c'"}, **keys)
    for rank in range(ranks):
        shown, had = job.env(rank=rank), printed(job, rank)
        assert shown["MINE"] == "a=b\n'c'" and shown["RANK_SIZE"] == had["RANK_SIZE"]
        assert {name: had.get(name) for name in shown} == dict(shown)
    with pytest.raises(Exception, match="no environment for rank"):
        job.env(rank=ranks)


def test_an_earlier_run_is_shown_as_it_was_though_the_job_was_edited(script: Script, cards: None) -> None:
    job = ended(script=script(SHOW), processes="card", device=NPU, devices=2)
    job.edit(processes="node", env={"NEW": "1"}, secret_env={"TOKEN_OF_MINE": "x"}).rerun().wait(60)
    first, second = job.env(rank=1, run=1), job.env(rank=0, run=2)
    assert (first["RANK_ID"], "NEW" in first, "TOKEN_OF_MINE" in first) == ("1", False, False)
    assert (second["NEW"], second["TOKEN_OF_MINE"]) == ("1", None)


def test_two_ranks_differ_in_what_is_their_own_and_nothing_else(
    script: Script, cards: None, capsys: pytest.CaptureFixture[str]
) -> None:
    ended(script=script(SHOW), processes="card", device=NPU, devices=2, name="pair")
    for line in ("env pair --diff 0 1", "env pair --rank 0 --diff 1"):
        assert cli.main([*line.split(), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found.pop("TMP_PATH") and found.pop("AIARTS_POD_ENV")
        assert found == {name: ["0", "1"] for name in ("DEVICE_ID", "LOCAL_RANK", "RANK", "RANK_ID")}
    assert cli.main(["env", "pair", "--diff", "0", "1"]) == 0
    assert "- RANK_ID=0\n+ RANK_ID=1\n" in capsys.readouterr().out
    for wrong in ("env pair --diff 0 x", "env pair --diff 0 1 2", "env --diff 1"):
        assert cli.main(wrong.split()) == 2


def test_apply_sets_a_failing_ranks_variables_and_restore_puts_all_back(
    shell: InteractiveShell, script: Script, cards: None, nothing_around: Path
) -> None:
    keys = {
        "env": {"MY_OWN": "v", "PYTHONPATH": "/elsewhere"},
        "data_path": "/not/here",
        "output_path": str(nothing_around),
    }
    api.submit(
        script("pass"), name="a", processes="card", device=NPU, devices=2, secret_env={"KEY": "hush"}, **keys
    ).wait(60)
    os.environ["RANK_ID"] = "mine"
    before = dict(os.environ)
    applied = shell.run_line_magic("aiarts", "env a --rank 1 --apply")
    assert isinstance(applied, Applied)
    assert (os.environ["RANK_ID"], os.environ["MY_OWN"], os.environ["WORLD_SIZE"]) == ("1", "v", "2")
    assert os.environ["OUTPUT_PATH"] == str(nothing_around)
    kept = {name: value for name, value in os.environ.items() if name not in applied.set}
    assert kept == {name: value for name, value in before.items() if name not in applied.set}
    reasons = applied.left_out
    assert reasons["KEY"] == "a secret's value is not known here"
    assert reasons["PYTHONPATH"] == "this kernel needs its own"
    assert reasons["AIARTS_POD_ENV"] == "they tie a process to its run"
    assert reasons["DATA_PATH"] == "there is no such file or folder here"
    said = repr(applied)
    assert "DATA_PATH (/not/here)" in said and "RANK_ID" in said and "hush" not in said
    assert "Put" in repr(shell.run_line_magic("aiarts", "env --restore"))
    assert dict(os.environ) == before
    assert "Nothing was applied" in repr(shell.run_line_magic("aiarts", "env --restore"))


def test_applied_twice_goes_back_to_what_was_before_both(shell: InteractiveShell, script: Script, cards: None) -> None:
    api.submit(script("pass"), name="a", processes="card", device=NPU, devices=2).wait(60)
    before = dict(os.environ)
    for rank in (0, 1):
        shell.run_line_magic("aiarts", f"env a --rank {rank} --apply")
        assert os.environ["RANK"] == str(rank)
    shell.run_line_magic("aiarts", "env --restore")
    assert dict(os.environ) == before


def test_in_python_a_with_block_has_the_variables_and_its_end_takes_them_back(script: Script) -> None:
    job = ended(script=script("pass"), env={"MY_OWN": "v"})
    before = dict(os.environ)
    with pytest.raises(ZeroDivisionError), job.env().apply() as applied:
        assert os.environ["MY_OWN"] == "v" and "MY_OWN" in applied.set
        raise ZeroDivisionError
    assert dict(os.environ) == before


def test_on_the_command_line_apply_names_the_file_to_source(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    ended(script=script("pass"), name="a", env={"MY_OWN": "two words"})
    assert cli.main(["env", "a", "--apply"]) == 2
    hint = capsys.readouterr().err.splitlines()[-1]
    line = hint.partition(": ")[2]
    assert line.startswith("source ") and Path(shlex.split(line)[1]).is_file()
    done = subprocess.run(["bash", "-c", line + ' && printf %s "$MY_OWN"'], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"two words"
    assert cli.main(["env", "--restore"]) == 2


def test_restore_takes_nothing_beside_it(shell: InteractiveShell) -> None:
    with pytest.raises(UsageError, match="takes nothing else"):
        shell.run_line_magic("aiarts", "env a --restore")


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("A", "1", None),
        ("EMPTY", "", None),
        ("PATH", "/bin", "why-kernels"),
        ("LD_LIBRARY_PATH", "/lib", "why-kernels"),
        ("PYTHONPATH", "/x", "why-kernels"),
        ("HOME", "/", "why-kernels"),
        ("CONDA_PREFIX", "/", "why-kernels"),
        ("JPY_PARENT_PID", "1", "why-kernels"),
        ("AIARTS_TOKEN", "x", "why-runs"),
        ("RANK_TABLE_FILE", "/no/hccl.json", "why-not-here"),
        ("TMP_PATH", "/", None),
        ("TBE_IMPL_PATH", "relative:list", None),
        ("API_KEY", None, "why-secret"),
        ("NUL", "a\0b", "why-not-settable"),
        ("A=B", "c", "why-not-settable"),
        ("", "c", "why-not-settable"),
        ("SURROGATE", "\ud800", "why-not-settable"),
    ],
)
def test_what_may_be_set_and_what_not(name: str, value: str | None, why: str | None) -> None:
    assert sort_out({name: value}).left_out.get(name) == why
    with Applied({name: value}):
        assert why is not None or os.environ[name] == value


def test_what_was_applied_is_said_in_chinese_too() -> None:
    with Applied({"A": "1", "S": None}, "zh") as applied:
        assert "已在此内核中设置 1 个变量：" in repr(applied) and "保密" in applied.text(Style("zh"))
    assert words.say("zh", "nothing-applied")
