"""`aiarts explain JOB --fix N`: an action is shown with what it changes, then done; `explain --list` shows them all.

The server says what kind of action it is and does what belongs to the job. One of our own commands that only looks is
run here; a line for somebody's shell is shown, and never run.
"""

from __future__ import annotations

import argparse
import shlex
from typing import Any, Dict, List, Mapping, Optional

from jupyter_aiarts.kernel import display, options, pages
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said, Shown
from jupyter_aiarts.kernel.terminal import Style, log_text, pad, plain, width, wrapped
from jupyter_aiarts.kernel.words import default_lang, say

LOOKS = frozenset({"cluster", "doctor", "explain", "jobs", "logs", "queues", "show", "usage"})
"""What may be run for whoever wrote the command: it changes nothing. The server's side has the same list."""

INDENT = "   "
Data = Mapping[str, Any]


def fix_or_list(session: Session, given: argparse.Namespace) -> Outcome:
    """`explain` with `--fix` or `--list`; called by the verb."""
    if given.list:
        if given.job or given.fix is not None:
            raise WrongUsage("--list shows all codes and takes no job.", "aiarts explain --list")
        found = session.client.explanations()
        return Outcome(Meanings(found), found, meanings_text(found, session.style))
    if given.fix is None or not given.job:
        raise WrongUsage(
            "Values and --dry-run go with --fix, which takes the number of an action of one job.",
            "aiarts explain JOB, then aiarts explain JOB --fix N",
        )
    job = session.find(given.job)
    explanation = session.client.explain(job)
    return _fix(session, job, explanation, given.fix, given.dry_run, options.patch(given.values), quiet=given.json)


def fixed(
    client: Optional[Client], job: Optional[str], explanation: Data, number: int, dry_run: bool, values: Dict[str, Any]
) -> Fixed:
    """The same from Python, where the answer shows itself; called by `Explanation.fix`."""
    if client is None or job is None:
        raise WrongUsage("There is no job yet that could be changed.", "Change the spec and try it out again.")
    session = Session(client, Style(client.lang or default_lang()), _nothing, _nothing, notebook=True)
    value: Fixed = _fix(session, job, explanation, number, dry_run, values, quiet=False).value
    value.told = False
    return value


def _nothing(text: str) -> None:
    """Python gets a value instead."""


def _fix(
    session: Session, job: str, explanation: Data, number: int, dry_run: bool, values: Dict[str, Any], quiet: bool
) -> Outcome:
    action = _chosen(explanation, number)
    ahead = session.client.fix(job, action["id"], True, values)
    value = Fixed(ahead, number, explanation, session.notebook)
    value._lang = session.style.lang
    if not quiet:
        session.write(value.ahead(session.style))
    if dry_run:
        value.result = Said(session.say("fix-only-shown")) if ahead["kind"] in ("edit", "move") else None
    elif ahead["kind"] in ("edit", "move"):
        value.data = session.client.fix(job, action["id"], False, {**_as_shown(ahead), **values})
        value.result = Said(done_text(value.data, session.style))
    elif ahead["kind"] == "look" and not quiet:
        outcome = _look(session, ahead["command"])
        value.result = outcome.value
        return Outcome(value, value.data, outcome.text, outcome.status)
    return Outcome(value, value.data, value.after(session.style))


def _chosen(explanation: Data, number: int) -> Data:
    actions = explanation.get("actions") or []
    if 1 <= number <= len(actions):
        action: Data = actions[number - 1]
        return action
    if not actions:
        raise WrongUsage("Nothing can be done about this: {}.".format(plain(explanation["title"])))
    known = "; ".join(f"{count}. {plain(one['label'])}" for count, one in enumerate(actions, 1))
    raise WrongUsage(f"There is no action {number} in this explanation.", known)


def _as_shown(ahead: Data) -> Dict[str, Any]:
    """What was shown is what is done, also if the suggestion has become another one in between."""
    suggested = ahead["action"].get("patch") or {}
    shown: Dict[str, Any] = {}
    for one in ahead["changes"]:
        key, dot, name = one["key"].partition(".")
        if key in suggested and dot and name in suggested[key]:
            shown.setdefault(key, {})[name] = one["after"]
        elif key in suggested and not dot:
            shown[key] = one["after"]
    return shown


def _look(session: Session, command: str) -> Outcome:
    """One of our own commands that changes nothing, read by the same grammar as if it had been typed."""
    from jupyter_aiarts.kernel import grammar, verbs

    words = shlex.split(command)[1:]
    if not words or words[0] not in LOOKS:
        raise WrongUsage(f"This is not a command that only looks: {plain(command)}", "Run it yourself, if you mean it.")
    return verbs.run(session, grammar.parse(words))


class Fixed(Shown):
    """An action and what became of it: `action`, `changes`, `move`, `command`, `done`, `job`.

    `result` is what came of it: a sentence, or what a looking command found. `told` says that the reader has already
    seen what was ahead.
    """

    def __init__(self, data: Data, number: int, explanation: Data, notebook: bool = False) -> None:
        self.data: Dict[str, Any] = dict(data)
        self.number = number
        self.explanation = explanation
        self.notebook = notebook
        self.result: Optional[Shown] = None
        self.told = True
        self._plan = dict(data)

    @property
    def changes(self) -> List[Dict[str, Any]]:
        """Keys of the spec: `{key, before, after}`."""
        return list(self.data["changes"])

    @property
    def move(self) -> Optional[str]:
        """The move that goes with it, if any."""
        move: Optional[str] = self.data["move"]
        return move

    @property
    def command(self) -> Optional[str]:
        """What is left to be run by whoever asked."""
        command: Optional[str] = self.data["command"]
        return command

    @property
    def done(self) -> bool:
        """Whether something was changed."""
        return bool(self.data["done"])

    @property
    def job(self) -> Dict[str, Any]:
        """The job as it is then."""
        return dict(self.data["job"])

    def ahead(self, style: Style) -> str:
        """What is going to happen, before it does."""
        return plan_text(self._plan, self.number, self.explanation, style, self.notebook)

    def after(self, style: Style) -> str:
        """What came of it."""
        return "" if self.result is None else self.result.text(style)

    def text(self, style: Style) -> str:
        parts = [] if self.told else [self.ahead(style)]
        return "\n".join([*parts, self.after(style)]).strip("\n")

    def html(self, lang: str) -> str:
        style = Style(lang)
        ahead = [] if self.told else [pages.log_html(self.ahead(style).split("\n"))]
        return "".join(ahead) + ("" if self.result is None else self.result.html(lang))


class Meanings(List[Dict[str, Any]], Shown):
    """All that an explanation can say, as the server tells it."""

    def text(self, style: Style) -> str:
        return meanings_text(self, style)

    __repr__ = Shown.__repr__


def plan_text(ahead: Data, number: int, explanation: Data, style: Style, notebook: bool = False) -> str:
    """The action, the keys it changes from what to what, and what follows."""
    lines = [wrapped(plain(ahead["action"]["label"]), style, f"{number}. ")]
    if ahead["kind"] in ("edit", "move"):
        lines += _before(ahead, style) + _changes(ahead, style) + _follows(ahead, style)
    elif ahead["command"]:
        lines += [INDENT + say(style.lang, "fix-yours")] if ahead["kind"] == "shell" else []
        lines.append(INDENT + _line(ahead["command"], notebook))
    else:
        lines += [INDENT + "| " + log_text(str(seen), style.colour) for seen in explanation.get("evidence") or ()]
        lines.append(wrapped(say(style.lang, "fix-words"), style, INDENT))
    return "\n".join(lines)


def _before(ahead: Data, style: Style) -> List[str]:
    """What the job does before it can be changed."""
    if not ahead.get("first"):
        return []
    what = say(style.lang, "will-" + ahead["first"])
    return [wrapped(say(style.lang, "fix-first", what=what), style, INDENT)]


def _changes(ahead: Data, style: Style) -> List[str]:
    if ahead["kind"] == "edit" and not ahead["changes"]:
        return [wrapped(say(style.lang, "fix-same"), style, INDENT)]
    columns = max((width(one["key"]) for one in ahead["changes"]), default=0)
    return [
        f"{INDENT}{pad(plain(one['key']), columns)}  {_value(one['before'], style)} → {_value(one['after'], style)}"
        for one in ahead["changes"]
    ]


def _value(value: Any, style: Style) -> str:
    return say(style.lang, "fix-was-none") if value is None else plain(display.value_text(value))


def _follows(ahead: Data, style: Style) -> List[str]:
    """What the job does then, or why it does nothing."""
    key = "fix-then" if ahead["kind"] == "edit" else "fix-move"
    if ahead["move"]:
        what = say(style.lang, "will-" + ahead["move"])
    else:
        what = say(style.lang, "fix-waits" if ahead["job"]["phase"] == "queued" else "fix-stays")
    return [wrapped(say(style.lang, key, what=what), style, INDENT)]


def _line(command: str, notebook: bool) -> str:
    """A command as it can be pasted: in a notebook `pip` and ours are magics."""
    if notebook and command.split()[:1] in (["pip"], ["aiarts"]):
        return "%" + plain(command)
    return ("!" if notebook else "$ ") + plain(command)


def done_text(done: Data, style: Style) -> str:
    """What happened, in the words of the verbs that do the same."""
    job, lines = done["job"], []
    if done["kind"] == "edit":
        lines.append(say(style.lang, "edited", name=plain(job["name"]), id=job["id"]))
        lines += [plain(note) for note in job.get("notes") or ()]
    if done["move"]:
        lines.append(display.moved_text(job, done["move"], style))
    return "\n".join(lines)


def meanings_text(found: List[Dict[str, Any]], style: Style) -> str:
    """Codes and titles below the name of their family; other sentences of one code stand below its own."""
    columns = max((width(one["code"]) for one in found), default=0)
    lines: List[str] = []
    family = code = None
    for one in found:
        if one["family"] != family:
            family = one["family"]
            lines += [*([""] if lines else []), style.paint(plain(family), "bold")]
        lead = "  " + pad("" if one["code"] == code else plain(one["code"]), columns) + "  "
        code = one["code"]
        lines.append(wrapped(plain(one["title"]), style, lead))
    return "\n".join(lines)
