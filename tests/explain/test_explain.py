"""Every cause becomes a sentence in both languages; nothing is invented, nothing breaks on a missing value."""

from __future__ import annotations

import re
import string

import pytest

from jupyter_aiarts.engines.obstacles import cause_of
from jupyter_aiarts.explain import LANGUAGES, TEXTS, explain
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Explanation
from jupyter_aiarts.model.placement import Machine, Need, why_not

GPU = "nvidia_gpu_amd64"
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


# -- why there is no place -------------------------------------------------------------------------------------------


def told(need: Need, machines: list[Machine], lang: str) -> Explanation:
    obstacle = why_not(need, machines)
    assert obstacle is not None
    return explain(cause_of(need, obstacle, machines), lang, "abcdefghij")


def gpus(name: str, cards: int, free: int) -> Machine:
    return Machine(name=name, device=GPU, cards=cards, free=frozenset(range(free)))


@pytest.mark.parametrize(("lang", "said"), [("en", "2 nodes have 4 each"), ("zh", "有 2 个节点各空闲 4 张")])
def test_what_fits_in_two_halves_says_so_with_the_line_that_does_it(lang: str, said: str) -> None:
    found = told(Need(device=GPU, devices=8), [gpus("a", 8, 4), gpus("b", 8, 4)], lang)
    assert found.code == "fits-as-distributed" and said in found.why
    assert [action.command for action in found.actions] == ["aiarts edit abcdefghij kind=distributed nodes=2 devices=4"]
    assert "2 × 4" in found.actions[0].label


@pytest.mark.parametrize(("lang", "said"), [("en", "the largest, a, has 4"), ("zh", "最大的节点 a 只有 4 张")])
def test_what_never_fits_on_one_node_says_on_how_many_it_would(lang: str, said: str) -> None:
    found = told(Need(device=GPU, devices=8), [gpus("a", 4, 0), gpus("b", 4, 0)], lang)
    assert found.code == "never-fits" and said in found.why
    assert [action.command for action in found.actions] == ["aiarts edit abcdefghij kind=distributed nodes=2 devices=4"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_never_fits_in_any_form_offers_no_split(lang: str) -> None:
    for machines in ([], [gpus("a", 4, 4)]):
        found = told(Need(device=GPU, devices=8), machines, lang)
        assert found.code == "never-fits" and "distributed" not in str(found.actions)
        assert "unknown" not in found.why and "未知" not in found.why
