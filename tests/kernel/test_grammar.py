"""One grammar: every spec key has its option, mistakes are answered with the nearest word, nothing exits."""

from __future__ import annotations

import argparse
from typing import Any

import pytest

from jupyter_aiarts.kernel import commands, grammar, options, values, verbs
from jupyter_aiarts.kernel.errors import HelpShown, WrongUsage
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import DEVICES, JobSpec


def spec_of(*words: str) -> dict[str, Any]:
    return verbs.spec_from(grammar.parse(["submit", *words]).options)


def test_every_key_of_a_spec_has_an_option() -> None:
    """The table and the model name the same keys in the same spelling."""
    assert {key.name for key in options.KEYS} == set(JobSpec.__struct_fields__)
    assert set(options.PHASES) == {phase.value for phase in Phase}
    assert options.DEVICES == DEVICES


def test_every_verb_of_the_grammar_is_done_by_somebody() -> None:
    assert set(grammar.BY_NAME) == set(verbs.VERBS)


VALUES = {
    "devices": ("2", 2),
    "nodes": ("2", 2),
    "cpu": ("0.5", 0.5),
    "memory_gb": ("16", 16),
    "shm_gb": ("8.5", 8.5),
    "priority": ("7", 7),
    "max_restarts": ("3", 3),
    "max_hours": ("1.5", 1.5),
    "grace_seconds": ("5", 5),
    "args": ("one", ["one"]),
    "params": ("lr=0.1", {"lr": "0.1"}),
    "env": ("A=b", {"A": "b"}),
    "secret_env": ("T=x", {"T": "x"}),
    "mounts": ("data:/data:ro", [{"source": "data", "target": "/data", "read_only": True}]),
}


@pytest.mark.parametrize("key", options.KEYS, ids=lambda key: key.name)
def test_an_option_puts_its_value_under_its_key_with_hyphens_or_underscores(key: options.Key) -> None:
    """`--memory-gb 16`, `--memory_gb 16` and `--memory_gb=16` are the same."""
    if key.switch:
        assert spec_of("--" + key.name) == {key.name: True}
        assert spec_of("--no-" + key.name.replace("_", "-")) == {key.name: False}
        return
    text, value = VALUES.get(key.name, ("some text", "some text"))
    for flag in ("--" + key.name, "--" + key.name.replace("_", "-")):
        assert spec_of(flag, text) == {key.name: value}
        assert spec_of(f"{flag}={text}") == {key.name: value}


@pytest.mark.parametrize("alias", ["--workspace_id", "--workspace-id", "--vc"])
def test_old_names_of_the_queue_are_understood(alias: str) -> None:
    assert spec_of(alias, "q1") == {"queue": "q1"}


def test_a_wrong_number_goes_on_to_be_refused_with_all_other_problems() -> None:
    """The server reports every problem of a spec at once, so the client judges none."""
    assert spec_of("--devices", "two", "--nodes", "many") == {"devices": "two", "nodes": "many"}


HOSTILE = [
    "$(whoami)",
    "`id`",
    "; rm -rf ~",
    'a"b',
    "it's",
    "line\nbreak",
    "--not-ours",
    "-x",
    "中文",
    "${RANK_ID}",
    "",
    "--",
]


def test_what_follows_the_dashes_is_the_scripts_alone() -> None:
    """No option of ours is looked for after `--`, and a second `--` is an argument."""
    assert spec_of("train.py", "--devices", "1", "--", *HOSTILE) == {
        "script": "train.py",
        "devices": 1,
        "args": HOSTILE,
    }


def test_params_keep_their_order_repeat_and_take_json() -> None:
    given = spec_of("-p", "b=1", "-p", "a:=[1, true]", "--param", "flag", "--params", "b=2", "-p", "eq=x=y", "-p", "e=")
    assert given["params"] == {"b": ["1", "2"], "a": [1, True], "flag": None, "eq": "x=y", "e": ""}
    assert list(given["params"]) == ["b", "a", "flag", "eq", "e"]


@pytest.mark.parametrize(
    ("text", "mount"),
    [
        ("claim:/data", ("claim", "/data", False)),
        ("claim/sub:/data:ro", ("claim/sub", "/data", True)),
        ("nas:/export:/data", ("nas:/export", "/data", False)),
        ("nas:/export:/data:rw", ("nas:/export", "/data", False)),
        ("/mnt/a:/mnt/a:ro", ("/mnt/a", "/mnt/a", True)),
    ],
)
def test_mounts_are_read_from_the_right(text: str, mount: tuple[str, str, bool]) -> None:
    source, target, read_only = mount
    assert values.mount(text) == {"source": source, "target": target, "read_only": read_only}


@pytest.mark.parametrize("text", ["data", "data:relative", ":/data", "a:ro", ""])
def test_what_is_no_mount_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(WrongUsage, match="is not a mount"):
        values.mount(text)


def test_a_secret_can_be_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "hush")
    assert spec_of("--secret-env", "MY_TOKEN") == {"secret_env": {"MY_TOKEN": "hush"}}
    with pytest.raises(WrongUsage, match="NOT_THERE is not set"):
        spec_of("--env", "NOT_THERE")


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (["sumbit"], "no command 'sumbit'", "Did you mean submit?"),
        (["panel"], "no command 'panel'", ""),
        (["submit", "--devcies", "2"], "no option '--devcies'", "Did you mean --devices?"),
        (["--jsn"], "no option '--jsn'", "Did you mean --json?"),
        (["rerun"], "required: JOB", "aiarts rerun --help"),
        (["jobs", "--limit", "-1"], "limit", "aiarts jobs --help"),
        (["jobs", "--phase", "runing"], "invalid choice: 'runing'", "aiarts jobs --help"),
        (["show", "a", "b"], "does not take 'b'", "aiarts show --help"),
        (["submit", "a.py", "b"], "does not take 'b'", "come after --"),
        (["submit", "-p", "=1"], "no name", "name=value"),
        (["submit", "-p", "a:={"], "JSON", "name=value"),
    ],
)
def test_mistakes_are_one_sentence_and_a_way_out(words: list[str], said: str, hint: str) -> None:
    """argparse would print its usage and end the process; in a kernel neither may happen."""
    with pytest.raises(WrongUsage) as caught:
        command = grammar.parse(words)
        verbs.spec_from(command.options)
    assert said in str(caught.value)
    assert hint in (caught.value.hint or "")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("verb", commands.VERBS, ids=lambda verb: verb.name)
def test_the_help_of_every_verb_has_examples_that_parse(verb: commands.Verb) -> None:
    import shlex

    with pytest.raises(HelpShown) as caught:
        grammar.parse([verb.name, "--help"])
    for example in verb.examples:
        assert f"aiarts {example}" in caught.value.text
        assert grammar.parse(shlex.split(example)).verb == verb.name


def test_the_overview_lists_every_verb_and_version_answers() -> None:
    with pytest.raises(HelpShown) as caught:
        grammar.parse([])
    assert all(f"\n  {verb.name} " in caught.value.text for verb in commands.VERBS)
    with pytest.raises(HelpShown, match=r"aiarts \d+\.\d+"):
        grammar.parse(["--version"])


def test_common_options_stand_before_or_after_the_verb() -> None:
    for words in (["--json", "--server", "http://x", "jobs"], ["jobs", "--json", "--server=http://x"]):
        given = grammar.parse(words).options
        assert (given.json, given.server) == (True, "http://x")


@pytest.mark.parametrize(
    ("text", "patch"),
    [
        ("devices=4", {"devices": 4}),
        ("memory-gb=2.5", {"memory_gb": 2.5}),
        ("name=4", {"name": "4"}),
        ("preemptible=yes", {"preemptible": True}),
        ("params.lr=0.1", {"params": {"lr": "0.1"}}),
        ("params.a.b=1", {"params": {"a.b": "1"}}),
        ("env.A=x=y", {"env": {"A": "x=y"}}),
        ("params.lr:=0.1", {"params": {"lr": 0.1}}),
        ('params:={"a": 1}', {"params": {"a": 1}}),
        ("max_hours:=null", {"max_hours": None}),
        ("vc=q", {"queue": "q"}),
        ("unknown=1", {"unknown": "1"}),
    ],
)
def test_edit_reads_assignments_as_a_merge_patch(text: str, patch: dict[str, Any]) -> None:
    assert options.patch([text]) == patch


def test_edit_takes_options_and_assignments_in_any_order() -> None:
    given = grammar.parse(["edit", "job", "devices=4", "--image", "b:2", "params.lr=1"]).options
    assert isinstance(given, argparse.Namespace)
    assert given.changes == ["devices=4", "params.lr=1"]
    assert verbs.spec_from(given) == {"image": "b:2"}
