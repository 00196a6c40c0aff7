"""What a copy of a log lacks is said in both languages, with the same facts."""

from __future__ import annotations

import re

import pytest

from jupyter_aiarts.engines.kubernetes import lacks
from jupyter_aiarts.engines.kubernetes.lacks import Lack

CODES = [value for name, value in vars(lacks).items() if name.isupper() and isinstance(value, str)]


@pytest.mark.parametrize("code", CODES)
def test_both_languages_say_the_same(code: str) -> None:
    english, chinese = (Lack(code, "POD", "{why} 100%").said(lang) for lang in ("en", "zh"))
    for fact in ("POD", "{why} 100%"):
        assert (fact in english) == (fact in chinese)
    assert english != chinese and re.search(r"[\u4e00-\u9fff]", chinese) and english.endswith(".")


def test_a_code_of_a_later_version_is_shown_as_it_is() -> None:
    assert Lack("brand-new", "p").said("zh") == "brand-new"
