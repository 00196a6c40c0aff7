"""An action is of a kind that every door knows, and what it would do is decided before anything is done."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.errors import BadRequest, FixGone, WrongPhase
from jupyter_aiarts.explain import LANGUAGES, TEXTS, explain, rules
from jupyter_aiarts.explain.codes import BLANK, FAMILIES, meanings
from jupyter_aiarts.explain.forms import FORMS, FORMS_OF
from jupyter_aiarts.fixing import chosen
from jupyter_aiarts.kernel import fixing as kernel_side
from jupyter_aiarts.kernel import grammar
from jupyter_aiarts.model import fix
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.fix import kind_of, plan
from jupyter_aiarts.model.job import Action, Explanation
from jupyter_aiarts.model.keys import KEYS
from jupyter_aiarts.model.phase import MOVES, Move, Phase
from jupyter_aiarts.model.reading import read_spec

JOB = "abcdefghij"
RULES = Path(rules.__file__).parent
CODES = {code for family in FAMILIES.values() for code in family.codes}
SAMPLE: dict[str, Any] = {"kind": "distributed", "nodes": 2, "devices": 4, "cpu": 2.0, "memory_gb": 64.0}
SAMPLE |= {
    "shm_gb": 16.0,
    "max_hours": 48.0,
    "max_restarts": 3,
    "grace_seconds": 60,
    "priority": 7,
    "run_as": "user",
    "image": "a/b:1",
}
SAMPLE |= {"device": "nvidia_gpu_amd64", "queue": "lab", "processes": "card", "workdir": "/w", "script": "train.py"}
NAMES = re.compile(r"\{(\w+)\}")


def rendered(key: str, lang: str) -> Explanation:
    """A text with every value it names, so that no action lacks what it needs."""
    words = TEXTS[key].zh if lang == "zh" else TEXTS[key].en
    named = set(NAMES.findall(str(words)))
    values = {name: SAMPLE.get(name, "3") for name in named}
    for _, what in words.actions:
        for spec_key, value in what.items() if isinstance(what, dict) else ():
            values |= dict.fromkeys(NAMES.findall(str(value)), SAMPLE.get(spec_key, "3"))
    return explain(Cause(code="as-a-form", form=key, values=values), lang, JOB)


# --- every text there is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("key", sorted(TEXTS))
def test_every_action_is_of_a_known_kind_and_can_be_carried_out(key: str, lang: str) -> None:
    """A change names keys of the spec with values that it takes; a command of ours is one that the grammar reads."""
    for action in rendered(key, lang).actions:
        kind = kind_of(action, JOB)
        assert (kind == "words") == (action.command is None), action
        if action.command and action.command.startswith("aiarts "):
            assert grammar.parse(shlex.split(action.command)[1:]).verb, action
        if kind == "edit":
            patch, missing = fix._suggested(action)
            assert not {*patch, *missing} - set(KEYS), action
            base = {"cluster": "lab", "image": "x", "command": "true", "device": "nvidia_gpu_amd64"}
            read_spec({**base, **patch})  # raises with what is wrong
        assert kind != "shell" or not action.command.startswith("aiarts edit"), f"{key}: edit needs {{job}} and k=v"


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_offer_the_same_doing(key: str) -> None:
    english, chinese = ([(one.patch, one.command) for one in rendered(key, lang).actions] for lang in LANGUAGES)
    assert english == chinese


def test_every_text_is_a_code_of_a_family_or_a_form_of_one() -> None:
    placed = [code for family in FAMILIES.values() for code in family.codes]
    assert len(placed) == len(set(placed))
    assert not set(placed) & set(FORMS)
    strays = set(TEXTS) - set(placed) - set(FORMS)
    assert not strays, "say in explain/codes.py to which family these belong, or of which code they are a form"
    assert set(FORMS) <= set(TEXTS) and set(FORMS_OF) <= set(placed)
    assert len(FORMS) == sum(map(len, FORMS_OF.values())), "a form is one code's alone"


def test_the_rules_use_a_form_with_its_own_code() -> None:
    """Read from their source: `closer(cause, "never-fits", "queue-lacks")`, `Found(…)`, `sign(…)`."""
    uses = [(code, form) for path in sorted(RULES.glob("*.py")) for code, form in code_and_form(path.read_text())]
    assert len(uses) > 50
    assert [(code, form) for code, form in uses if FORMS.get(form, form) != code] == []


def code_and_form(source: str) -> Iterator[tuple[str, str]]:
    """Of each call, and of each row of a table, the strings that are a code and a form."""
    for node in ast.walk(ast.parse(source)):
        parts = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else ()
        words = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        codes, forms = [word for word in words if word in CODES], [word for word in words if word in FORMS]
        if len(codes) == len(forms) == 1:
            yield codes[0], forms[0]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_list_shows_every_text_once_with_nothing_left_to_fill_in(lang: str) -> None:
    found = meanings(lang)
    assert sorted(one.form or one.code for one in found) == sorted(TEXTS)
    for one in found:
        said = [one.title, one.why, *(f"{action.label} {action.command or ''}" for action in one.actions)]
        assert all(text.strip() and "{" not in text for text in said), one
        assert one.title != BLANK and one.why != BLANK
    families = [one.family for one in found]
    assert list(dict.fromkeys(families)) == [family.zh if lang == "zh" else family.en for family in FAMILIES.values()]


# --- what kind it is ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (f"aiarts rerun {JOB}", "move"),
        (f"aiarts release {JOB}", "move"),
        ("aiarts release otherjob00", "shell"),  # not this job
        (f"aiarts rerun {JOB} --wait", "shell"),
        (f"aiarts delete {JOB}", "shell"),  # cannot be undone
        (f"aiarts edit {JOB} image=IMAGE", "edit"),
        (f"aiarts edit {JOB} --file x", "shell"),
        ("aiarts edit otherjob00 image=IMAGE", "shell"),
        (f"aiarts logs {JOB} --rank 0", "look"),
        ("aiarts doctor path '/a b/train.py'", "look"),
        ("aiarts doctor path PATH", "shell"),
        (f"aiarts explain {JOB} --fix 1", "shell"),
        ("aiarts run evil.py", "shell"),
        ("aiarts submit evil.py", "shell"),
        ("aiarts cluster | sh", "shell"),
        ("aiarts jobs ; reboot", "shell"),
        ("kubectl get pods", "shell"),
        ("pip install opencv-python-headless", "shell"),
        ("dos2unix train.sh", "shell"),
        ("aiarts 'unclosed", "shell"),
        ("aiarts", "shell"),
        ("", "words"),
    ],
)
def test_only_what_is_about_this_job_or_only_looks_is_ours(command: str, kind: str) -> None:
    assert kind_of(Action(id="a-1", label="Do", command=command or None), JOB) == kind


def test_both_sides_agree_on_what_only_looks() -> None:
    assert kernel_side.LOOKS == fix.LOOKS <= set(grammar.BY_NAME)


def test_a_hostile_value_is_one_word_of_a_command() -> None:
    """People copy these lines into shells."""
    cause = Cause(code="ring-controller-wait", values={"table": "x; rm -rf ~ #\n$(id)`id`"})
    command = explain(cause, job=JOB).actions[0].command
    assert command is not None
    assert shlex.split(command) == ["kubectl", "get", "configmap", cause.values["table"], "-o", "yaml"]


def test_a_command_whose_value_is_not_known_is_not_offered() -> None:
    assert [one.command for one in explain(Cause(code="gives-way"), job=JOB).actions] == [None]


# --- what it would do -----------------------------------------------------------------------------------------------

SHM = Action(id="shared-memory-full-1", label="Set shm_gb to 16", patch={"shm_gb": 16.0})
SECRET = Action(id="x-1", label="Add a pull secret", command=f"aiarts edit {JOB} image_pull_secret=NAME")
RELEASE = Action(id="pod-stuck-1", label="Give up on it", command=f"aiarts release {JOB}")
SHELL = Action(id="x-2", label="Install it", command="pip install opencv-python-headless")


def planned(action: Action, phase: Phase, values: dict[str, Any] | None = None, *more: Move) -> fix.Plan:
    return plan(action, 1, JOB, phase, (*MOVES[phase], *more), values or {})


@pytest.mark.parametrize(
    ("phase", "move"),
    [
        (Phase.QUEUED, None),
        (Phase.PAUSED, None),  # whoever paused it resumes it
        (Phase.FAILED, Move.RERUN),
        (Phase.STOPPED, Move.RERUN),
        (Phase.LOST, Move.RERUN),
    ],
)
def test_a_change_of_what_has_ended_is_run_and_of_what_waits_only_made(phase: Phase, move: Move | None) -> None:
    found = planned(SHM, phase)
    assert (found.kind, found.patch, found.move, found.command) == ("edit", {"shm_gb": 16.0}, move, None)


def test_a_start_that_cannot_succeed_is_given_up_before_the_change() -> None:
    found = planned(SECRET, Phase.STARTING, {"image_pull_secret": "mine"})
    assert (found.first, found.patch, found.move) == (Move.PAUSE, {"image_pull_secret": "mine"}, Move.RESUME)


def test_a_change_of_what_runs_is_refused_with_the_way_to_it() -> None:
    with pytest.raises(WrongPhase, match="running") as caught:
        planned(SHM, Phase.RUNNING)
    assert f"aiarts stop {JOB}" in caught.value.hint


def test_what_only_the_user_knows_is_asked_for() -> None:
    for values in ({}, {"image_pull_secret": ""}, {"image_pull_secret": "NAME"}):
        with pytest.raises(BadRequest, match="needs image_pull_secret") as caught:
            planned(SECRET, Phase.QUEUED, values)
        assert f"aiarts explain {JOB} --fix 1 image_pull_secret=NAME" in caught.value.hint
    assert planned(SECRET, Phase.QUEUED, {"image_pull_secret": "mine"}).patch == {"image_pull_secret": "mine"}


def test_a_suggested_value_may_be_another_but_no_other_key() -> None:
    assert planned(SHM, Phase.FAILED, {"shm_gb": 32}).patch == {"shm_gb": 32}
    with pytest.raises(BadRequest, match="not about script"):
        planned(SHM, Phase.FAILED, {"script": "evil.py"})
    with pytest.raises(BadRequest, match="changes no key"):
        planned(SHELL, Phase.FAILED, {"shm_gb": 1})


def test_a_release_is_only_for_a_job_that_offers_it() -> None:
    assert planned(RELEASE, Phase.RUNNING, None, Move.RELEASE).move is Move.RELEASE
    with pytest.raises(WrongPhase, match="release") as caught:
        planned(RELEASE, Phase.RUNNING)
    assert "pause, stop, delete" in caught.value.hint


def test_a_line_for_the_shell_stays_a_line() -> None:
    found = planned(SHELL, Phase.RUNNING)
    assert (found.kind, found.patch, found.move, found.command) == ("shell", None, None, SHELL.command)


def test_a_wrong_id_names_the_right_ones_and_an_outdated_one_says_to_look_again() -> None:
    now = Explanation(code="exit-code", title="Rank 0 ended", why="", actions=[Action(id="exit-code-1", label="Run")])
    assert chosen(now, "exit-code-1")[0] == 1
    for wrong in ("exit-code-2", "1", "", "<script>", "x" * 5000):
        with pytest.raises(BadRequest) as caught:
            chosen(now, wrong)
        assert "exit-code-1" in caught.value.hint and len(str(caught.value)) < 300
    with pytest.raises(FixGone, match="now exit-code"):
        chosen(now, "no-node-fits-1")
