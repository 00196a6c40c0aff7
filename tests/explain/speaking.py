"""A platform's words put to the rules, and what must hold for any of them."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

from jupyter_aiarts.explain import LANGUAGES, explain
from jupyter_aiarts.explain.rules import root
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Explanation
from jupyter_aiarts.model.spec import JobSpec

JOB = "abcdefghij"
HOSTILE = (
    "x" * 10_000,
    "0/1 nodes are available: " + "1 a, " * 2000,
    "insufficient " * 1000,
    "{0} {x.__class__} {} %s %n",
    "0/3 nodes are available: 3 {about} {sum}.",
    "节点不可用：资源不足，镜像不存在 🤷 \u202e\u0000\x1b[31m",
    "(" * 5000 + ")" * 5000,
    '"' * 9999,
    "exceeded quota: a, requested: " + "a=1," * 2000,
    "lookup " * 1400,
    ": ".join(["failed to pull and unpack image"] * 300),
    "unmounted volumes=[" + "v " * 4000,
    "Mounting arguments: " + "a" * 9000,
    "mkdir /" + "a/" * 4000,
    "",
)


Json = dict[str, Any]


def told_by(room: str) -> list[Json]:
    """The sentences of one kind of speaker in `said.json`, with what is to be told and where each comes from."""
    found: dict[str, list[Json]] = json.loads(Path(__file__).with_name("said.json").read_text(encoding="utf-8"))
    return found[room]


def spec(**keys: Any) -> JobSpec:
    return JobSpec(cluster="k8s", name="train", **keys)


def heard(code: str, *evidence: str, asks: JobSpec | None = None, **values: Any) -> Explanation:
    """What a person is told; both languages say as much, and neither leaves a hole."""
    cause = Cause(code=code, values=values, evidence=evidence)
    found, chinese = (explain(cause, lang, JOB, asks) for lang in LANGUAGES)
    for one, hole in ((found, "unknown"), (chinese, "未知")):
        assert one.code == "unknown" or hole not in f"{one.title} {one.why}", one
    assert (chinese.code, len(chinese.actions)) == (found.code, len(found.actions))
    assert [one.patch for one in chinese.actions] == [one.patch for one in found.actions]
    return found


def form(code: str, *evidence: str, asks: JobSpec | None = None, **values: Any) -> tuple[str, str]:
    """The code and which of its sentences."""
    found = root(Cause(code=code, values=values, evidence=evidence), asks)
    return found.code, found.form


def check_hostile(codes: tuple[str, ...]) -> None:
    """Any text at all: nothing breaks, it is quoted as it is, and it takes no longer than any other."""
    for code in codes:
        for text in HOSTILE:
            began = time.process_time()
            found = explain(Cause(code=code, values={"queue": "q"}, evidence=(text,)), "en", JOB, spec(devices=8))
            assert time.process_time() - began < 0.1, (code, text[:40])
            assert found.evidence == [text] and found.title


def check_linear(code: str, text: str) -> None:
    """Twenty lines of it, as long as lines get: within the time that one job may take, on a slow machine too."""
    lines = tuple((text * (500 // len(text) + 1))[:500] for _ in range(20))
    began = time.process_time()
    for _ in range(5):
        explain(Cause(code=code, evidence=lines), "en", JOB)
    assert (time.process_time() - began) / 5 < 0.02


def check_pieces(code: str, text: str, generic: set[str]) -> None:
    """A sentence that was cut anywhere tells the same code or a generic one, never another cause."""
    whole = form(code, text)[0]
    places = random.Random(7).sample(range(len(text)), min(60, len(text)))
    for place in places:
        for piece in (text[:place], text[place:]):
            assert form(code, piece)[0] in {whole, code, *generic}, piece
