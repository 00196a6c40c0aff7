"""A refusal in the reader's language: sentences are found by what they were made of (`model.wording`)."""

from __future__ import annotations

import functools
import re
from typing import Any

from jupyter_aiarts.errors import AiartsError, InvalidSpec
from jupyter_aiarts.explain.words.problems import CHINESE, HEARD
from jupyter_aiarts.model.wording import Worded, worded

PARTS = frozenset(["wanted", "fault", "what", "sentence", "cure", "value", "first", "result"])
"""The values that are words of ours; all others are somebody's names, whatever they look like."""


LONGEST = 2000
"""Characters of a plain text that is looked at: a user's code may speak in a launcher's place, and at any length."""


def refusal(error: AiartsError, lang: str) -> dict[str, Any]:
    """The body that tells of an error; what has no words in that language is told in English."""
    body = error.as_dict(lang)  # an error may bring words of its own
    if lang != "zh":
        return body
    if not isinstance(error, InvalidSpec):
        return {**body, "message": said(body["message"], lang), "hint": said(body["hint"], lang)}
    problems = [
        {**told, "message": said(sentence, lang)}
        for told, sentence in zip(error.problems, error.sentences, strict=True)
    ]
    return {
        **body,
        "message": _headline(error.sentences, lang),
        "hint": said(body["hint"], lang),
        "problems": problems,
    }


def _headline(sentences: list[str], lang: str) -> str:
    if not sentences:
        return said("The job spec was refused.", lang)
    if len(sentences) == 1:
        return said(sentences[0], lang)
    many = "The job spec has {count} problems. The first: {first}"
    return said(worded(many, count=len(sentences), first=sentences[0]), lang)


def said(text: str, lang: str) -> str:
    """One sentence, or a part of one; values stay as they are, however often they look like our words."""
    if lang != "zh":
        return str(text)
    if isinstance(text, Worded) and text.template in CHINESE:
        return CHINESE[text.template].format(**{name: _part(name, value) for name, value in text.values.items()})
    return CHINESE.get(text) or _heard(str(text))


def _part(name: str, value: str) -> str:
    text = said(value, "zh") if isinstance(value, Worded) or name in PARTS else value
    # Chinese words stand together; between them and others is a space.
    return f" {text}" if name == "wanted" and text[:1].isascii() else text


def _heard(text: str) -> str:
    """A sentence that comes as plain text, by its shape; what follows the name of a node begins with a small letter."""
    if len(text) > LONGEST:
        return text
    for shape, chinese in _shapes():
        if found := shape.fullmatch(text) or shape.fullmatch(text[:1].upper() + text[1:]):
            return chinese.format(**{name: _part(name, value) for name, value in found.groupdict().items()})
    return text


@functools.cache
def _shapes() -> list[tuple[re.Pattern[str], str]]:
    return [(_shape(english), chinese) for english, chinese in HEARD.items()]


def _shape(template: str) -> re.Pattern[str]:
    """A pattern in which every `{name}` takes as little as it can."""
    parts = re.split(r"(?<!\{)\{(\w+)\}", template)
    texts = [re.escape(text.replace("{{", "{")) for text in parts[::2]]
    names = [f"(?P<{name}>.+?)" for name in parts[1::2]]
    return re.compile("".join(text + name for text, name in zip(texts, [*names, ""], strict=True)), re.DOTALL)
