"""From facts to one honest sentence and one action, in the reader's language.

`explain` is the only way a cause becomes words; every door shows what it says. A code without a text of its own is
shown as it is, never dressed up as another cause.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_aiarts.explain.text import Text
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Action, Explanation

# Asked in this order: most jobs of a list have ended.
ROOMS = ("end", "wait", "start", "cluster", "cluster_images", "room", "queue")
LANGUAGES = ("en", "zh")


class _Texts(Mapping[str, Text]):
    """Every text by its key; the next room is imported only for a key that those before it do not have."""

    def __getitem__(self, key: str) -> Text:
        for name in ROOMS:
            if key in (texts := _room(name)):
                return texts[key]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for name in ROOMS for key in _room(name))

    def __len__(self) -> int:
        return sum(len(_room(name)) for name in ROOMS)


@functools.cache
def _room(name: str) -> Mapping[str, Text]:
    texts: Mapping[str, Text] = importlib.import_module(f"{__name__}.{name}").TEXTS
    return texts


TEXTS = _Texts()


def explain(cause: Cause, lang: str = "en", job: str = "JOB") -> Explanation:
    """The explanation of a cause; unknown codes say what was seen and no more. `job` goes into the commands."""
    text = TEXTS.get(_key(cause)) or TEXTS["unknown"]
    values = _Values({**cause.values, "job": job}, lang)
    words = text.zh if lang == "zh" else text.en
    return Explanation(
        code=cause.code,
        title=words.title.format_map(values),
        why=words.why.format_map(values),
        evidence=list(cause.evidence),
        actions=[
            Action(
                id=f"{cause.code}-{number}",
                label=label.format_map(values),
                command=command.format_map(values) if command else None,
            )
            for number, (label, command) in enumerate(words.actions, 1)
        ],
    )


def _key(cause: Cause) -> str:
    """The code, but for the situations of one code that read better in words of their own."""
    values = cause.values
    special = {
        "queued-unseen": cause.code == "queued" and values.get("queue") is not None,
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
    return f"{value:g}" if isinstance(value, float) else str(value)
