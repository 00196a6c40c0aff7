"""`aiarts explain`: an action is shown with what it changes, then done; lines for a shell are shown and never run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts import cli
from jupyter_aiarts.kernel import api, fixing
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.display import explanation_text
from jupyter_aiarts.kernel.errors import RequestFailed, WrongUsage
from jupyter_aiarts.kernel.shown import Explanation, Log
from jupyter_aiarts.kernel.terminal import Style, width, wrapped

Write = Callable[..., str]
FAILS = "print('half way', flush=True)\nraise SystemExit(3)\n"
JOB: dict[str, Any] = {"id": "abcdefghij", "name": "mine", "phase": "failed", "run": 1}


@pytest.fixture
def failed(script: Write) -> api.Job:
    return api.submit(script(FAILS), name="mine").wait(60)


def number_of(explanation: Explanation, command: str) -> int:
    """The number of the action whose command holds this."""
    return next(count for count, one in enumerate(explanation.actions, 1) if command in one.get("command", ""))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main(words)
    said = capsys.readouterr()
    return status, said.out, said.err


# --- the command line -----------------------------------------------------------------------------------------------


def test_explain_numbers_the_actions_and_says_how_to_do_one(failed: api.Job, capsys: Any) -> None:
    status, out, _ = run(capsys, "explain", "mine")
    assert status == 0
    assert "  | half way\n" in out
    assert "\n  1. " in out and f"\n     $ aiarts rerun {failed.id}\n" in out
    assert out.endswith(f"Do one of them: aiarts explain {failed.id} --fix N\n")


def test_a_fix_says_what_it_will_do_and_then_what_it_did(failed: api.Job, capsys: Any) -> None:
    number = number_of(failed.explain(), "rerun")
    status, out, _ = run(capsys, "explain", "mine", "--fix", str(number))
    assert status == 0
    ahead, _, after = out.partition("\n   The job: is run again, as its next run\n")
    assert ahead.startswith(f"{number}. ") and after.startswith(f"Run 2 of mine ({failed.id})")
    assert api.job("mine").wait(60).run == 2


def test_a_dry_run_changes_nothing(failed: api.Job, capsys: Any) -> None:
    number = str(number_of(failed.explain(), "rerun"))
    status, out, _ = run(capsys, "explain", "mine", "--fix", number, "--dry-run")
    assert (status, out.splitlines()[-1]) == (0, "Only shown; nothing was changed.")
    assert api.job("mine").run == 1


def test_a_looking_action_is_run_here(failed: api.Job, capsys: Any) -> None:
    number = number_of(failed.explain(), "aiarts logs")
    status, out, _ = run(capsys, "explain", "mine", "--fix", str(number))
    assert status == 0
    assert out.endswith(f"$ aiarts logs {failed.id} --rank 0\nhalf way\n")


def test_json_is_the_answer_alone(failed: api.Job, capsys: Any) -> None:
    number = str(number_of(failed.explain(), "rerun"))
    status, out, err = run(capsys, "explain", "mine", "--fix", number, "--dry-run", "--json")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    assert (answer["kind"], answer["move"], answer["done"], answer["job"]["id"]) == ("move", "rerun", False, failed.id)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mine", "--fix", "0"], "There is no action 0"),
        (["mine", "--fix", "99"], "There is no action 99"),
        (["mine", "--fix", "-1"], "not a whole number"),
        (["mine", "--fix", "one"], "not a whole number"),
        (["--fix", "1"], "one job"),
        (["mine", "--dry-run"], "go with --fix"),
        (["mine", "image=x"], "go with --fix"),
        (["mine", "--list"], "takes no job"),
        ([], "Which job"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_way_to_write_it(
    failed: api.Job, capsys: Any, words: list[str], said: str
) -> None:
    status, _, err = run(capsys, "explain", *words)
    assert status == 2
    assert said in err


def test_a_job_with_nothing_to_do_about_says_so(script: Write, capsys: Any) -> None:
    api.submit(script("print(1)"), name="good").wait(60)
    status, _, err = run(capsys, "explain", "good", "--fix", "1")
    assert (status, "Nothing can be done about this: Succeeded" in err) == (2, True)


def test_more_time_is_given_and_the_job_run_again(script: Write, capsys: Any) -> None:
    """The limit is real: the first run is ended by it."""
    source = "[ -e mark ] || { : > mark; exec sleep 600; }\n"  # no Python has to start within the limit
    job = api.submit(script(source, "slow.sh"), name="slow", max_hours=0.001, grace_seconds=1).wait(60)
    explanation = job.explain()
    assert explanation.code == "time-limit"
    number = str(number_of(explanation, "max_hours="))
    _, out, _ = run(capsys, "explain", "slow", "--fix", number)
    assert "   max_hours  0.001 → " in out
    assert "Then the job: is run again" in out and f"Edited slow ({job.id})" in out and "Run 2 of slow" in out
    again = api.job("slow").wait(60)
    assert (again.run, again.phase) == (2, "succeeded") and again.spec["max_hours"] > 0.001


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_codes_are_listed_by_family_without_a_server(capsys: Any, lang: str) -> None:
    status, out, _ = run(capsys, "explain", "--list", "--lang", lang)
    assert status == 0
    assert all(f"  {code} " in out for code in ("exit-code", "image-not-found", "never-fits", "time-limit"))
    assert ("How it ended" in out.splitlines()) == (lang == "en")
    found = json.loads(run(capsys, "explain", "--list", "--json", "--lang", lang)[1])
    assert {"code", "form", "family", "title", "why", "actions"} == set(found[0])
    assert all(one["title"] in out for one in found)


# --- the notebook and Python ----------------------------------------------------------------------------------------


def test_the_magic_prints_what_is_ahead_and_returns_what_became_of_it(
    shell: InteractiveShell, failed: api.Job, capsys: Any
) -> None:
    number = number_of(failed.explain(), "rerun")
    value = shell.run_line_magic("aiarts", f"explain mine --fix {number}")
    assert "The job: is run again" in capsys.readouterr().out
    assert value.done and value.move == "rerun" and repr(value).startswith("Run 2 of mine")
    failed.wait(60)
    with pytest.raises(UsageError, match="no action 9"):
        shell.run_line_magic("aiarts", "explain mine --fix 9")


def test_python_fixes_by_number_and_the_answer_shows_both(failed: api.Job) -> None:
    explanation = failed.explain()
    number = number_of(explanation, "rerun")
    ahead = explanation.fix(number, dry_run=True)
    assert not ahead.done and "Only shown" in repr(ahead) and "is run again" in repr(ahead)
    done = explanation.fix(number)
    assert done.done and done.job["run"] == 2
    assert repr(done).index("is run again") < repr(done).index("Run 2 of mine")
    assert "Run 2 of mine" in done._repr_mimebundle_()["text/html"]
    failed.wait(60)


def test_python_gets_what_a_looking_action_found(failed: api.Job) -> None:
    found = failed.explain().fix(number_of(failed.explain(), "aiarts logs"))
    assert isinstance(found.result, Log) and found.result == ["half way"]


def test_an_action_that_is_gone_is_refused_and_says_to_look_again(failed: api.Job) -> None:
    before = failed.explain()
    before.data["actions"][0]["id"] = "never-fits-1"
    with pytest.raises(RequestFailed) as caught:
        before.fix(1)
    assert (caught.value.status, caught.value.code) == (409, "fix-gone")


def test_the_explanation_of_a_dry_run_has_no_job_to_fix() -> None:
    with pytest.raises(WrongUsage, match="no job yet"):
        Explanation({"code": "x", "title": "X", "actions": [{"id": "x-1", "label": "Do"}]}).fix(1)


# --- what comes from outside ----------------------------------------------------------------------------------------


def answer(kind: str, **more: Any) -> dict[str, Any]:
    action = {"id": "x-1", "label": "Do it", **({"command": more["command"]} if more.get("command") else {})}
    said = {"action": action, "kind": kind, "changes": [], "move": None, "command": None, "done": False, "job": JOB}
    return {**said, **more}


def explained(client: Client, **more: Any) -> Explanation:
    data = {"code": "x", "title": "X", "why": "", "evidence": [], "actions": [{"id": "x-1", "label": "Do it"}], **more}
    return Explanation(data, client, JOB["id"])


@pytest.mark.parametrize("command", ["aiarts run evil.py", "aiarts delete abcdefghij", "rm -rf x", "aiarts", "''"])
def test_a_server_cannot_have_anything_run_here_by_calling_it_looking(http: Any, command: str) -> None:
    http.answer(200, answer("look", command=command))
    with pytest.raises(WrongUsage, match="not a command that only looks"):
        explained(api.connect(http.url, "t")).fix(1)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("pip install opencv-python-headless", "%pip install opencv-python-headless"),
        ("dos2unix train.sh", "!dos2unix train.sh"),
        ("touch ran", "!touch ran"),
    ],
)
def test_a_line_for_the_shell_is_shown_ready_and_not_run(
    http: Any, nothing_around: Path, command: str, shown: str
) -> None:
    http.answer(200, answer("shell", command=command))
    found = explained(api.connect(http.url, "t")).fix(1)
    assert repr(found).splitlines() == ["1. Do it", "   This one is yours to run:", "   " + shown]
    assert not found.done and not (nothing_around / "ran").exists()
    assert len(http.requests) == 1


def test_words_alone_show_the_evidence(http: Any) -> None:
    http.answer(200, answer("words"))
    seen = ["hccn_tool -i 0 -ip -s address 192.0.2.1 netmask 255.255.255.0", "\x1b]0;evil\x07\x1b[2Jtext"]
    found = repr(explained(api.connect(http.url, "t"), evidence=seen).fix(1))
    assert f"   | {seen[0]}\n   | text\n" in found and "\x1b" not in found


def test_what_was_shown_is_what_is_asked_for(http: Any) -> None:
    """The suggestion may have become another one between showing and doing."""
    change = {"key": "shm_gb", "before": None, "after": 16}
    one = answer("edit", changes=[change, {"key": "cpu", "before": 1, "after": 2}], move="rerun")
    one["action"]["patch"] = {"shm_gb": 16}
    http.answer(200, one)
    http.answer(200, {**one, "done": True})
    found = repr(explained(api.connect(http.url, "t")).fix(1))
    first, second = (json.loads(request["body"]) for request in http.requests)
    assert first == {"fix": "x-1", "dry_run": True, "values": {}}
    assert second == {"fix": "x-1", "dry_run": False, "values": {"shm_gb": 16}}
    assert "   shm_gb  (not set) → 16\n   cpu     1 → 2\n" in found


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "First the job: gives its devices back"), ("zh", "首先作业：归还设备")]
)
def test_what_comes_before_the_change_is_shown_before_it(lang: str, said: str) -> None:
    change = {"key": "image", "before": "a", "after": "b"}
    text = fixing.plan_text(answer("edit", changes=[change], first="pause", move="resume"), 1, {}, Style(lang))
    assert text.splitlines()[1].strip().startswith(said) and text.splitlines()[2] == "   image  a → b"


def test_hostile_values_of_a_change_stay_text() -> None:
    change = {"key": "image\x1b[2J", "before": "a\nb\x1b]0;x\x07", "after": {"<b>": "\u202e"}}
    text = fixing.plan_text(answer("edit", changes=[change]), 1, {}, Style())
    assert "\x1b" not in text and "\u202e" not in text and len(text.splitlines()) == 3


# --- how it looks ---------------------------------------------------------------------------------------------------


LONG = "One of its ranks was ended by the kernel because the node had no memory left."
LONG_ZH = "内核终止了它的一个进程，因为节点内存不足。" * 3


@pytest.mark.parametrize("columns", [30, 40, 80])
@pytest.mark.parametrize("why", [LONG, LONG_ZH], ids=["en", "zh"])
def test_sentences_fit_a_narrow_terminal_and_commands_stay_whole(columns: int, why: str) -> None:
    command = "aiarts edit abcdefghij memory_gb=128 shm_gb=64 max_restarts=3"
    data = {"title": why, "why": why + " ", "evidence": ["seen"], "actions": [{"label": why, "command": command}]}
    lines = explanation_text(data, Style(columns=columns)).splitlines()
    assert f"     $ {command}" in lines
    assert all(width(line) <= columns for line in lines if command not in line)
    assert "".join(why.split()) in "".join("".join(lines).split())
    assert not any(line.strip().startswith(("，", "。", "、")) for line in lines)


def test_a_pipe_or_file_gets_whole_lines() -> None:
    assert wrapped("a " * 100, Style(), "  ") == "  " + "a " * 100
    path = "/a/very/long/path/that/fits/nowhere"
    assert wrapped(path, Style(columns=20), "  ") == "  " + path
