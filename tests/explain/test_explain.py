"""Every cause becomes a sentence in both languages; nothing is invented, nothing breaks on a missing value."""

from __future__ import annotations

import re
import string

import pytest

from jupyter_aiarts.explain import LANGUAGES, TEXTS, explain
from jupyter_aiarts.model.cause import Cause

PLACEHOLDERS = re.compile(r"\{(\w+)\}")


@pytest.mark.parametrize("code", sorted(TEXTS))
def test_both_languages_say_the_same_things(code: str) -> None:
    """A value that one language shows is shown by the other too, and both offer as many actions."""
    text = TEXTS[code]
    english, chinese = (f"{words.title} {words.why}" for words in (text.en, text.zh))
    assert set(PLACEHOLDERS.findall(english)) == set(PLACEHOLDERS.findall(chinese))
    assert len(text.en.actions) == len(text.zh.actions)
    assert re.search(r"[\u4e00-\u9fff]", text.zh.title)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("code", sorted(TEXTS))
def test_a_cause_without_values_still_reads(code: str, lang: str) -> None:
    found = explain(Cause(code=code), lang)
    assert found.code == code
    assert found.title
    assert not any(text for _, text, _, _ in string.Formatter().parse(found.why) if text)


def test_a_code_nobody_knows_is_not_dressed_up_as_another() -> None:
    found = explain(Cause(code="brand-new", evidence=("seen",)))
    assert (found.code, found.title, found.evidence) == ("brand-new", "Not known", ["seen"])


def test_values_are_text_and_never_a_format() -> None:
    found = explain(Cause(code="job-unreadable", values={"message": "{0} {x.__class__} %s <b>"}))
    assert found.why == "{0} {x.__class__} %s <b>"
