"""`nvidia-smi`'s table with and without units, cards that do not tell something, and no driver at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.launcher.usage import nvidiasmi

FOLDER = Path(__file__).with_name("nvidia")
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())
NAMES = ("index", "name", "uuid", "driver", "temp", "power", "util", "mem_used", "mem_total", "mig")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_output_is_read_as_it_was_meant(name: str) -> None:
    report = nvidiasmi.parse((FOLDER / name).read_text())
    assert [dict(zip(NAMES, gpu, strict=True)) for gpu in report.gpus] == EXPECTED[name]["gpus"]
    assert report.error == EXPECTED[name].get("error")


@pytest.mark.parametrize("text", ["0, x", "zero, a, b, c, 1, 2, 3, 4, 5, 6", "\x00", "NVIDIA-SMI 535"])
def test_lines_of_another_form_are_no_cards(text: str) -> None:
    assert nvidiasmi.parse(text).gpus == []


@pytest.mark.parametrize("index", ["9" * 5000, "²", "٣", "-1"])
def test_a_card_with_a_number_that_is_none_is_no_card(index: str) -> None:
    """Python's own reading of it would end the launcher."""
    row = "{}, NVIDIA A100, GPU-0, 535.1, 34, 61.2, {}, 4, 81920, Disabled"
    assert nvidiasmi.parse(row.format(index, 50)).gpus == []
    assert nvidiasmi.parse(row.format(0, "9" * 400)).gpus[0].utilization is None


def test_an_empty_answer_says_so() -> None:
    assert nvidiasmi.parse(" \n").error == "empty"
