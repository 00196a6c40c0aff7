"""Cards as the drivers' tools tell of them; no hardware is an empty list; a tool that fails says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_aiarts.devices import ascend
from jupyter_aiarts.devices.ascend import AscendProbe, CardsUnknown
from jupyter_aiarts.devices.nvidia import NvidiaProbe

SAMPLES = Path(__file__).parent.parent / "launcher/usage/npu_smi"


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `npu-smi` first on PATH that prints the file beside it."""
    path = tmp_path / "npu-smi"
    path.write_text(f'#!/bin/sh\ncat "{tmp_path}/said"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "said"


def test_chips_of_a_card_with_two_are_counted_as_programs_count_them(tool: Path) -> None:
    tool.write_text((SAMPLES / "09_A3_24.1_two_chips_phyid.txt").read_text())
    cards = AscendProbe().look()
    assert [card.id for card in cards] == list(range(16))
    assert (cards[1].power_w, cards[1].memory_total_mb) == (None, 65536.0)
    assert [program.pid for program in cards[9].programs or ()] == [410242]


def test_a_dead_card_has_no_numbers_and_the_drivers_word(tool: Path) -> None:
    tool.write_text((SAMPLES / "15_health_alarm_critical_unknown.txt").read_text())
    cards = AscendProbe().look()
    assert [card.health for card in cards] == ["ok", "alarm", "critical", "unknown"]
    assert (cards[2].utilization, cards[2].memory_used_mb, cards[2].temperature_c) == (None, None, None)


def test_a_board_without_hbm_shows_its_other_memory(tool: Path) -> None:
    tool.write_text((SAMPLES / "04_310P3_duo_24.1_device_column.txt").read_text())
    assert [(card.id, card.memory_total_mb) for card in AscendProbe().look()] == [
        (0, 44280.0), (1, 43693.0), (2, 44280.0), (3, 43693.0),
    ]  # fmt: skip


def test_programs_in_a_container_are_named_by_the_pid_they_have_there(tool: Path) -> None:
    tool.write_text((SAMPLES / "10_910B4_26.0_wide_five_columns.txt").read_text())
    assert [program.pid for program in AscendProbe().look()[1].programs or ()] == [412]


@pytest.mark.parametrize(
    ("name", "code"), [("20_error_8005.txt", "npu-smi-failed"), ("23_empty.txt", "npu-smi-silent")]
)
def test_a_tool_that_fails_is_not_no_cards(tool: Path, name: str, code: str) -> None:
    tool.write_text((SAMPLES / name).read_text())
    with pytest.raises(CardsUnknown) as caught:
        AscendProbe().look()
    assert caught.value.code == code


def test_a_tool_that_never_ends_is_ended(tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.with_name("npu-smi").write_text("#!/bin/sh\nexec sleep 1000\n")
    monkeypatch.setattr(ascend, "SECONDS", 0.2)
    with pytest.raises(CardsUnknown):
        AscendProbe().look()


def test_no_hardware_is_an_empty_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert AscendProbe().look() == ()
    assert NvidiaProbe().look() == ()  # the real library is asked: there is no driver behind it here
