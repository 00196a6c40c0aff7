"""From facts to one honest sentence and one action, in the reader's language.

`explain` is the only way a cause becomes words; every door shows what it says. `rules` finds the cause behind what an
engine saw, `words` has the sentences. A code without a text of its own is shown as it is, never dressed up as another
cause.
"""

from __future__ import annotations

import functools
import shlex
import string
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.explain.rules import root
from jupyter_aiarts.explain.words import TEXTS
from jupyter_aiarts.explain.words.text import Doing
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Action, Explanation

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

LANGUAGES = ("en", "zh")


def explain(cause: Cause, lang: str = "en", job: str = "JOB", spec: JobSpec | None = None) -> Explanation:
    """The explanation of what was seen; unknown codes say that and no more. `job` goes into the commands."""
    found = root(cause, spec)
    text = TEXTS.get(_key(found)) or TEXTS["unknown"]
    values = _Values({**found.values, "job": job}, lang)
    words = text.zh if lang == "zh" else text.en
    return Explanation(
        code=found.code,
        title=words.title.format_map(values),
        why=words.why.format_map(values) + _half_placed(found, values),
        evidence=list(found.evidence),
        actions=[
            _action(f"{found.code}-{number}", doing, found.values, values)
            for number, doing in enumerate(words.actions, 1)
        ],
    )


def _half_placed(cause: Cause, shown: _Values) -> str:
    """Which nodes of a job are up, behind the reason why the others are not."""
    if cause.values.get("up") is None:
        return ""
    text = TEXTS["half-placed"]
    return (text.zh.why if shown.lang == "zh" else f" {text.en.why}").format_map(shown)


def _action(name: str, doing: Doing, raw: Mapping[str, Any], shown: _Values) -> Action:
    """One thing that can be done: a change of the spec comes with the command that makes it."""
    label, what = doing
    label = label.format_map(shown)
    if what is None or isinstance(what, str):
        return Action(id=name, label=label, command=_command(what, raw, shown) if what else None)
    patch = {key: _filled(value, raw) for key, value in what.items()}
    if None in patch.values():
        return Action(id=name, label=label)  # what it would be changed to is not known
    line = ["aiarts", "edit", shown["job"], *(f"{key}={_shown(value, 'en')}" for key, value in flat(patch))]
    return Action(id=name, label=label, patch=patch, command=shlex.join(line))


def _command(what: str, raw: Mapping[str, Any], shown: _Values) -> str | None:
    """A line that people copy into a shell: each value is one word there, and without one of them there is no line."""
    named = _named(what)
    if any(raw.get(name) is None for name in named if name != "job"):
        return None
    return what.format_map({name: shlex.quote(shown[name]) for name in named})


@functools.cache
def _named(what: str) -> tuple[str, ...]:
    """The values that a command of a text names."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(what) if name)


def flat(patch: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys of a change as `aiarts edit` takes them: those of a map inside it after a dot."""
    for key, value in patch.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", one) for inner, one in value.items())
        else:
            yield key, value


def _filled(value: Any, raw: Mapping[str, Any]) -> Any:
    """A value of a change: as it stands in the text, or the one of the cause that the text names."""
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        return raw.get(value[1:-1])
    return value


def _key(cause: Cause) -> str:
    """The id of the text: the code, but for the situations of one code that read better in words of their own."""
    if cause.form:
        return cause.form
    values = cause.values
    special = {
        "queued-unseen": cause.code == "queued" and values.get("queue") is not None,
        "preempted-on-node": cause.code == "preempted" and "by" in values and "node" in values,
        "preempted-by": cause.code == "preempted" and "by" in values,
        "preempted-queue": cause.code == "preempted" and "by_queue" in values,
        "queue-next": cause.code == "queue-position" and values.get("ahead") == 0,
        "queue-waiting": cause.code == "queue-position" and "ahead" not in values and "queue" in values,
        "no-room-now": cause.code == "no-node-fits" and "node" in values,
        "no-room-ever": cause.code == "never-fits" and "node" in values,
        "rings-in-pieces": cause.code == "ring-fragmented" and "node" in values,
        "no-node-found": cause.code == "no-node-fits" and "free" not in values,
        "node-gone": cause.code == "node-lost" and "message" not in values,
        "no-such-cards": cause.code == "never-fits" and values.get("have") == 0,
        "never-fits-whole": cause.code == "never-fits" and "nodes" in values,
        "form-refused": cause.code == "policy-refused" and values.get("policy") in ("PodSecurity", "runAsNonRoot"),
        "limit-refused": cause.code == "policy-refused" and values.get("policy") == "LimitRange",
        "class-missing": cause.code == "policy-refused" and "missing" in values,
        "killed": cause.code == "exit-code" and values.get("signal") is not None,
    }
    return next((key for key, applies in special.items() if applies), cause.code)


class _Values(dict[str, Any]):
    """Values for a sentence; a missing one reads as unknown instead of failing."""

    def __init__(self, values: Mapping[str, Any], lang: str) -> None:
        shown = {name: _shown(value, lang) for name, value in values.items()}
        super().__init__(shown)
        self.lang = lang

    def __missing__(self, key: str) -> str:
        return "未知" if self.lang == "zh" else "unknown"


def _shown(value: Any, lang: str) -> str:
    if value is None:
        return "无" if lang == "zh" else "none"
    if isinstance(value, Mapping):  # a part of a sentence, in each language
        return str(value.get(lang, ""))
    return f"{value:g}" if isinstance(value, float) else str(value)
