"""Every layout of `npu-smi info` is read by its heads; unknown stays unknown; damaged text takes nothing with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_aiarts.devices import npuprograms
from jupyter_aiarts.launcher.usage import npupages, npusmi

FOLDER = Path(__file__).with_name("npu_smi")
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())
NAMES = {
    "card": "id", "chip": "chip", "phy": "phy_id", "device": "device", "name": "name", "health": "health",
    "power": "power", "temperature": "temp", "bus": "bus_id", "aicore": "aicore", "memory_used": "mem_used",
    "memory_total": "mem_total", "hbm_used": "hbm_used", "hbm_total": "hbm_total",
    "hugepages_used": "hugepages_used", "hugepages_total": "hugepages_total",
}  # fmt: skip
ONE_ROW = """
+-----------------------------------------------------------------------------------------+
| npu-smi 1.8.4                    Version: 20.1.0                                        |
+----------------------+---------------+--------------------------------------------------+
| NPU   Name           | Health        | Power(W)   Temp(C)   AICore(%)  Memory-Usage(MB) |
+======================+===============+==================================================+
| 0     310            | OK            | 12.8       45        3          2457/ 8192       |
| 1     310            | OK            | NA         46        0          2457 / 8192      |
+----------------------+---------------+--------------------------------------------------+
"""


def sample(name: str) -> str:
    return (FOLDER / name).read_text()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_output_is_read_as_it_was_meant(name: str) -> None:
    report, meant = npusmi.parse(sample(name)), EXPECTED[name]
    chips = [{NAMES[key]: value for key, value in chip._asdict().items()} for chip in report.chips]
    keys = ("id", "chip", "pid", "name", "mem", "container_pid")
    programs = [
        {key: value for key, value in zip(keys, one, strict=True) if value is not None}
        for one in npuprograms.programs(report.programs)
    ]
    assert (report.version, report.error) == (meant["version"], meant["error"])
    assert chips == meant["devices"]
    assert programs == meant["processes"]


def test_a_layout_of_one_row_for_each_chip_is_read_too() -> None:
    chips = npusmi.parse(ONE_ROW).chips
    assert [(chip.card, chip.power, chip.aicore, chip.memory_used) for chip in chips] == [
        (0, 12.8, 3.0, 2457.0),
        (1, None, 0.0, 2457.0),
    ]


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["devices"]])
def test_an_output_that_is_cut_off_anywhere_tells_of_chips_before_the_cut_and_invents_none(name: str) -> None:
    text = sample(name)
    whole = npusmi.parse(text).chips
    for end in range(0, len(text), 7):
        chips = npusmi.parse(text[:end]).chips
        assert chips == whole[: len(chips)]


def test_a_table_that_does_not_end_says_so() -> None:
    lines = ONE_ROW.rstrip().splitlines()
    assert npusmi.parse("\n".join(lines)).error is None
    assert npusmi.parse("\n".join([*lines, "Note: the driver is old"])).error is None
    assert npusmi.parse("\n".join(lines[:-1])).error == "cut"


def test_two_chips_never_have_one_number() -> None:
    """Device numbers are told but for a chip that is dead: it has the one that is left."""
    chips = [npusmi.Chip(1, 0), npusmi.Chip(1, 1, device=1), npusmi.Chip(2, 0, device=2)]
    assert [number for number, _ in npusmi.counted(npusmi.Report(None, chips))] == [0, 1, 2]


def test_less_than_nothing_is_unknown() -> None:
    [first, _] = npusmi.parse(ONE_ROW.replace("3          2457/ 8192", "-1         -1/ 8192")).chips
    assert (first.aicore, first.memory_used, first.memory_total) == (None, None, 8192.0)


@pytest.mark.parametrize("word", ["N/A", "n/a", "NA", "-"])
def test_a_word_for_unknown_is_one_word_and_moves_no_other_value(word: str) -> None:
    """A slash in it is no `used / total`; a health that is not told is not one that is ill."""
    text = ONE_ROW.replace("| OK            | NA         46        0          2457 / 8192",
                           f"| {word}            | {word}         46        {word}          {word} / 8192")  # fmt: skip
    chip = npusmi.parse(text).chips[1]
    assert (chip.health, chip.power, chip.temperature, chip.aicore) == (None, None, 46.0, None)
    assert (chip.memory_used, chip.memory_total) == (None, 8192.0)
    wide = sample("10_910B4_26.0_wide_five_columns.txt")
    meant = npusmi.parse(wide).chips[0]
    assert meant.hbm_used is not None and "0    / 0" in wide
    seen = npusmi.parse(wide.replace("0    / 0 ", f"{word} / {word} ")).chips[0]
    assert (seen.memory_used, seen.hbm_used, seen.hbm_total) == (None, meant.hbm_used, meant.hbm_total)


def test_a_lost_second_row_does_not_shift_the_cards_that_follow() -> None:
    lines = sample("01_910A_23.0_narrow_warning.txt").splitlines()
    del lines[7]  # the second row of card 0
    chips = npusmi.parse("\n".join(lines)).chips
    assert [chip.card for chip in chips if chip.hbm_total] == [1, 2, 3]


@pytest.mark.parametrize("word", ["命令未找到", "Segmentation fault", "\x00\xff\x1b[2J", "| | | |", "|||", "a|b|c|d"])
def test_garbage_is_no_card(word: str) -> None:
    report = npusmi.parse(word)
    assert report.chips == [] and report.error == "garbage"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="| NPUChipName0123456789/-+=.A\n", max_size=400))
def test_no_text_breaks_the_reader(text: str) -> None:
    head = "\n".join(sample("08_310_23.0_hugepages.txt").splitlines()[:6])
    for chip in npusmi.parse(f"{head}\n{text}").chips:
        assert chip.card >= 0


def test_a_number_without_end_is_none() -> None:
    """As a whole one Python would not take it, and the launcher would end."""
    endless = "9" * 400
    assert npusmi.parse(ONE_ROW.replace("| 1     310", f"| {endless} 310")).chips[1:] == []
    assert [chip.aicore for chip in npusmi.parse(ONE_ROW.replace(" 3   ", f" {endless} ")).chips] == [None, 0.0]
    assert npupages.listed(f"NPU ID  Chip ID  Chip Name\n{endless}  0  910B4\n") == []


def test_the_pages_behind_t_are_keys_and_values() -> None:
    text = "\tNPU ID                         : 0\n\tHBM Usage Rate(%)              : 5\n\tAicore Usage Rate(%)  : NA\n"
    found = npupages.keyed(text)
    assert npusmi.number(found["HBM Usage Rate(%)"]) == 5.0
    assert npusmi.number(found["Aicore Usage Rate(%)"]) is None


def test_what_is_remembered_of_a_table_is_told_only_for_the_same_words() -> None:
    text = sample("10_910B4_26.0_wide_five_columns.txt")
    first = npusmi.parse(text)
    again = npusmi.parse(text.replace("82.6", "97.1", 1).replace("| OK ", "| Alarm ", 1))
    assert (first.chips[0].power, first.chips[0].health) == (82.6, "OK")
    assert (again.chips[0].power, again.chips[0].health) == (97.1, "Alarm")
    assert (again.chips[0].bus, again.programs) == (first.chips[0].bus, first.programs)


def test_lines_that_no_table_has_are_not_remembered() -> None:
    before = npusmi._cells.cache_info().currsize
    for place in range(3):
        assert npusmi.parse(f"| {place} | {'x' * 1000} | y |").error == "garbage"
    assert npusmi._cells.cache_info().currsize == before
