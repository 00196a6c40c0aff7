"""Every situation of the table is told by its own cause, from the objects that a real cluster would have sent."""

from __future__ import annotations

import re

import pytest

from jupyter_aiarts.explain import LANGUAGES, TEXTS

from .situating import Json, cause_of, found_in, situations, told

ROWS = situations()
SEEN = {"seen", "composite", "pattern", "made here"}


def name(row: Json) -> str:
    return str(row["id"])


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_the_cause_is_the_one_of_the_table(row: Json) -> None:
    found = found_in(row)
    assert found.code == row["code"]
    if "form" in row:
        assert found.form in (row["form"], "" if row["form"] == row["code"] else row["form"])
    assert {key: found.values.get(key) for key in row.get("values", {})} == row.get("values", {})


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("row", ROWS, ids=name)
def test_its_sentence_is_whole(row: Json, lang: str) -> None:
    """No value is missing from it, none is left as a placeholder, and it has a text of its own."""
    said = told(row, lang)
    if row["code"] != "unknown":
        assert said.title not in (TEXTS["unknown"].en.title, TEXTS["unknown"].zh.title)
    whole = f"{said.title} {said.why}"
    assert "{" not in re.sub(r"\{[^}]*: \}", "", whole) or "{" in str(row["facts"])
    assert not re.search(r"\bunknown\b|未知", whole)
    assert all(action.command is None or "{" not in action.command for action in said.actions)


@pytest.mark.parametrize("row", [row for row in ROWS if row["facts"].get("log_tail")], ids=name)
def test_the_line_that_decided_stands_first(row: Json) -> None:
    """And no line is lost but those that mean nothing."""
    given, found = cause_of(row), found_in(row)
    lines = {line for other in given.values.get("others", ()) for line in other["lines"]} | set(given.evidence)
    assert set(found.evidence) <= lines
    if found != given and "others" not in row["facts"]:
        assert len(found.evidence) + 3 > len(given.evidence)


def test_the_table_is_large_and_says_where_each_row_is_from() -> None:
    assert len(ROWS) >= 100
    assert all(row["source"] and row["seen"] in SEEN for row in ROWS)
    assert len({row["family"] for row in ROWS}) >= 12


def test_no_answer_is_a_wrong_cause() -> None:
    """The whole table at once, for the figure: all right, none wrong, none unknown that is known."""
    wrong = [row["id"] for row in ROWS if found_in(row).code != row["code"]]
    assert wrong == []
