"""`%aiarts` in a real shell: values come back, mistakes are one line, nothing is expanded or exited."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts.kernel.api import Job, Jobs
from jupyter_aiarts.kernel.shown import DryRun, Explanation, Log, Said, Variables

Script = Callable[..., str]


def value(shell: InteractiveShell, line: str) -> Any:
    return shell.run_line_magic("aiarts", line)


def test_submit_returns_a_job_and_the_other_verbs_return_objects(shell: InteractiveShell, script: Script) -> None:
    job = value(shell, f"submit {script('print(1)')} --name one")
    assert isinstance(job, Job) and job.name == "one"
    job.wait(30)
    assert [one.id for one in value(shell, "jobs")] == [job.id]
    kinds = {"jobs": Jobs, "show one": Job, "explain one": Explanation, "logs one": Log, "env one": Variables}
    for line, kind in kinds.items():
        assert isinstance(value(shell, line), kind), line
    assert value(shell, "logs one") == ["1"]
    assert isinstance(value(shell, "submit train.py --dry-run"), DryRun)
    assert isinstance(value(shell, "delete one --yes"), Said)


def test_nothing_in_the_line_is_expanded(shell: InteractiveShell, script: Script) -> None:
    """IPython replaces $names and {names} in magic lines; ours reach the job byte for byte."""
    shell.user_ns["HOME"] = shell.user_ns["x"] = "expanded"
    name = script("import sys; print(sys.argv[1:])")
    job = value(shell, f"submit {name} -- '$HOME {{x}}' '$(whoami)' ${{RANK_ID}} '$${{HOME}}' 'a b'").wait(30)
    assert list(job.logs()) == ["['$HOME {x}', '$(whoami)', '0', '${HOME}', 'a b']"]


def test_a_cell_is_shipped_and_kept_in_a_variable(
    shell: InteractiveShell, nothing_around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (nothing_around / "beside.py").write_text("answer = 42")
    shell.user_ns["rate"] = 0.1
    cell = "import beside\nif False: print(rate)\nprint(beside.answer)\n"
    job = shell.run_cell_magic("aiarts", "submit --name cell --as mine -p lr=1", cell)
    assert shell.user_ns["mine"] is job
    assert list(job.wait(30).logs()) == ["42"]
    said = capsys.readouterr().out
    assert ".aiarts/cells/" in said and "will not know them: rate" in said
    assert Path(job.spec["script"]).read_text() == cell


def test_waiting_writes_the_log_into_the_cell(
    shell: InteractiveShell, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    job = value(shell, f"submit {script('print(12345)')} --wait")
    assert job.phase == "succeeded"
    assert "12345\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("%aiarts sumbit x", "Did you mean submit?"),
        ("%aiarts submit --devcies 2", "Did you mean --devices?"),
        ("%aiarts show nobody", "No job has the id or name 'nobody'"),
        ("%aiarts submit nowhere.py --nodes 0", "nodes"),
        ("%aiarts submit 'unclosed", "Close every quote"),
        ("%aiarts delete x", "--yes"),
        ("%aiarts stop", "Which jobs?"),
        ("%aiarts --server ftp://x jobs", "not an http"),
        ("%aiarts --server http://127.0.0.1:9 jobs", "does not answer"),
        ("%%aiarts submit\n!ls", "Line 1 of the cell is not Python"),
        ("%%aiarts jobs\nx", "takes no cell"),
        ("%%aiarts submit --as 1x\npass", "cannot be a variable's name"),
    ],
)
def test_mistakes_are_one_sentence_without_a_traceback(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], source: str, said: str
) -> None:
    result = shell.run_cell(source)
    assert not result.success
    shown = "".join(capsys.readouterr())
    assert said in shown
    assert "UsageError" in shown and "Traceback" not in shown


def test_help_comes_back_instead_of_ending_the_kernel(shell: InteractiveShell) -> None:
    assert "commands:" in repr(value(shell, "--help"))
    assert "examples:" in repr(value(shell, "submit -h"))
    assert repr(value(shell, "--version")).startswith("aiarts ")


def test_apply_puts_a_jobs_variables_into_this_kernel(
    shell: InteractiveShell, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK_ID", "before")
    for name in set(os.environ):
        monkeypatch.setenv(name, os.environ[name])  # so that all come back after the test
    before = set(os.environ)
    value(shell, f"submit {script('pass')} --name a --env MY_OWN=v").wait(30)
    try:
        assert "Set " in repr(value(shell, "env a --apply"))
        assert (os.environ["RANK_ID"], os.environ["MY_OWN"]) == ("0", "v")
    finally:
        for name in set(os.environ) - before:
            del os.environ[name]


def test_json_gives_plain_data(shell: InteractiveShell, script: Script) -> None:
    job = value(shell, f"submit {script('pass')} --json")
    assert isinstance(job, dict) and isinstance(value(shell, "jobs --json"), list)


def completions(shell: InteractiveShell, line: str) -> list[str]:
    """What the kernel answers when the person presses Tab at the end of `line`."""
    with provisionalcompleter():
        return [one.text for one in shell.Completer.completions(line, len(line))]


def test_completion_is_offered_by_the_shell(shell: InteractiveShell, script: Script) -> None:
    job = value(shell, f"submit {script('pass')} --name finder")
    assert completions(shell, "%aiarts su") == ["submit"]
    assert completions(shell, "%%aiarts su") == ["submit"]
    completions(shell, "%aiarts logs find")
    for thread in threading.enumerate():
        if thread.name == "aiarts-completion":
            thread.join(60)  # whoever types is kept for a second only; what was fetched is offered at the next key
    assert completions(shell, "%aiarts logs find") == ["finder"]
    assert completions(shell, f"%aiarts stop {job.id[:5]}") == [job.id]
    assert completions(shell, "%aiarts jobs --phase runn") == ["running"]
    assert "--memory-gb" in completions(shell, "%aiarts submit --memo")
