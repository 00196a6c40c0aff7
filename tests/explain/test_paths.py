"""A start file that is not there leads to the path map; where a job is expected to start is said in both languages."""

from __future__ import annotations

import pytest

from jupyter_aiarts.explain import explain
from jupyter_aiarts.explain.words.expected import BASES, expected_text
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.expected import Band, Before, Holder, Line, expected
from jupyter_aiarts.model.spec import JobSpec

SAID = {"message": "the start file is not there: /work/my train.py", "hint": "look"}
NOW = "2026-05-01T12:00:00.000000Z"


@pytest.mark.parametrize("code", ["start-file-missing", "start-file-broken-symlink"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_missing_start_file_has_the_command_that_asks_where_it_is(code: str, lang: str) -> None:
    spec = JobSpec(name="x", script="my train.py; rm -rf /", workdir="/work")
    found = explain(Cause(code=code, values=SAID), lang, "abcdefghij", spec)
    assert found.code == code and found.actions[-1].command == (
        "aiarts doctor path '/work/my train.py; rm -rf /' --job abcdefghij"
    )
    assert found.actions[0].label == "look"


def test_where_no_start_file_was_named_there_is_no_command() -> None:
    found = explain(Cause(code="start-file-missing", values=SAID), "en", "abcdefghij", JobSpec(name="x", command="x"))
    assert [one.command for one in found.actions] == [None, None]


def test_every_basis_reads_in_both_languages_with_its_numbers() -> None:
    values = {"ahead": 3, "running": 2, "seen": 9, "low": 1.5, "high": 20.0}
    for basis in BASES:
        band = Band(earliest=NOW, latest="2026-05-01T14:30:00.000000Z", basis=basis, values=values)  # type: ignore[arg-type]
        english, chinese = expected_text(band, "en"), expected_text(band, "zh")
        assert "between 2026-05-01 12:00 and 2026-05-01 14:30 UTC" in english
        assert "2026-05-01 12:00 至 2026-05-01 14:30 UTC" in chinese
        for text in (english, chinese):
            assert " 3 " in text or text.find("3 jobs") >= 0
            assert "{" not in text


def test_whatever_band_there_is_can_be_said() -> None:
    seen = [60.0, 120.0, 180.0, 240.0, 300.0]
    for line in (
        Line(wants={"c": 1}, total={"c": 1}, running=[Holder(holds={"c": 1}, limit=600)]),
        Line(wants={"c": 1}, total={"c": 1}, running=[Holder(holds={"c": 1})], durations=seen),
        Line(wants={"c": 1}, total={"c": 1}, running=[Holder(holds={"c": 1})], ahead=[Before(wants={"c": 1}, limit=9)],
             durations=seen),
        Line(wants={"c": 1}, total={"c": 1}, running=[Holder(holds={"c": 1})], strangers=2, admissions=seen),
        Line(wants={"c": 1}, total={"c": 1}, running=[Holder(holds={"c": 1}, limit=5)], durations=seen),
    ):  # fmt: skip
        band = expected(line, NOW)
        assert band is not None and expected_text(band, "en") and expected_text(band, "zh")
