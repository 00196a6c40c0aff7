"""What an explanation of a real job must be: the right code, what decides it, something to do, in both languages."""

from __future__ import annotations

import re

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.explain import LANGUAGES, explain
from jupyter_aiarts.model.job import Explanation


def told(record: JobRecord, code: str, decisive: str, zh: str = "") -> Explanation:
    """The English one, after both have been looked at. `zh` is what decides in Chinese, where it is our own words."""
    both = {lang: explain(record.cause, lang, record.id, record.spec) for lang in LANGUAGES}
    for lang, found in both.items():
        assert found.code == code, (found, record.cause)
        sign = zh if zh and lang == "zh" else decisive
        assert sign in "\n".join([found.title, found.why, *found.evidence]), (found, record.cause)
        assert found.title and found.why
        assert found.actions and all(action.label.strip() for action in found.actions), found
        assert not re.search(r"\bunknown\b|未知", found.title + found.why), found
        assert bool(re.search(r"[\u4e00-\u9fff]", found.title)) == (lang == "zh")
    assert [action.command for action in both["en"].actions] == [action.command for action in both["zh"].actions]
    return both["en"]
