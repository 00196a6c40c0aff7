"""Cards as the drivers' tools tell of them; no hardware is an empty list; a tool that fails says why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from jupyter_aiarts.devices import ascend
from jupyter_aiarts.devices.ascend import AscendProbe, CardsUnknown
from jupyter_aiarts.devices.nvidia import NvidiaProbe

CONTAINED = "import os; print(os.getpid(), flush=True); input()"
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


def test_on_the_host_they_are_named_by_the_pid_that_the_host_knows(tool: Path) -> None:
    """The other number is somebody else's there, perhaps one's own kernel's."""
    words = ["unshare", "--pid", "--fork", "--user", "--map-root-user", sys.executable, "-c", CONTAINED]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as contained:
        assert contained.stdin is not None and contained.stdout is not None
        inside = int(contained.stdout.readline())
        [outside] = [child.pid for child in psutil.Process(contained.pid).children()]
        told = (SAMPLES / "10_910B4_26.0_wide_five_columns.txt").read_text()
        host = next(word for word in told.split() if word.startswith("733"))
        tool.write_text(told.replace(host, str(outside).ljust(len(host))).replace("| 412 ", f"| {inside:<3} "))
        found = [program.pid for program in AscendProbe().look()[1].programs or ()]
        contained.stdin.close()
    assert (inside, found) == (1, [outside])


@pytest.mark.parametrize(
    ("name", "code"), [("20_error_8005.txt", "npu-smi-failed"), ("23_empty.txt", "npu-smi-silent")]
)
def test_a_tool_that_fails_is_not_no_cards(tool: Path, name: str, code: str) -> None:
    tool.write_text((SAMPLES / name).read_text())
    with pytest.raises(CardsUnknown) as caught:
        AscendProbe().look()
    assert caught.value.code == code


def test_a_table_that_is_cut_off_before_its_first_card_is_not_no_cards(tool: Path) -> None:
    text = (SAMPLES / "10_910B4_26.0_wide_five_columns.txt").read_text()
    tool.write_text("\n".join(text.splitlines()[:6]))
    with pytest.raises(CardsUnknown) as caught:
        AscendProbe().look()
    assert caught.value.code == "npu-smi-failed"


def test_a_tool_that_never_ends_is_ended(tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.with_name("npu-smi").write_text("#!/bin/sh\nexec sleep 1000\n")
    monkeypatch.setattr(ascend, "SECONDS", 0.2)
    with pytest.raises(CardsUnknown):
        AscendProbe().look()


def test_a_tool_that_cannot_be_ended_is_not_started_again_beside_itself(
    tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one in a driver call, or one that is somebody else's by its mode."""
    program, runs = tool.with_name("npu-smi"), tool.with_name("runs")
    program.write_text(f'#!/bin/sh\necho $$ >> "{runs}"\nexec sleep 1000\n')
    probe = AscendProbe()
    with monkeypatch.context() as stuck:
        stuck.setattr(ascend, "SECONDS", 0.5)
        stuck.setattr(os, "killpg", refused)
        for _ in range(3):
            with pytest.raises(CardsUnknown) as caught:
                probe.look()
            assert caught.value.code == "npu-smi-silent"
    [pid] = map(int, runs.read_text().split())
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    program.write_text(f'#!/bin/sh\ncat "{SAMPLES}/15_health_alarm_critical_unknown.txt"\n')
    assert len(probe.look()) == 4


def refused(*_: int) -> None:
    raise PermissionError


def test_a_tool_that_is_put_elsewhere_or_taken_away_is_not_run_where_it_was(tool: Path) -> None:
    tool.write_text((SAMPLES / "15_health_alarm_critical_unknown.txt").read_text())
    probe, program = AscendProbe(), tool.with_name("npu-smi")
    assert len(probe.look()) == 4
    program.rename(tool.with_name("away"))
    assert probe.look() == ()
    tool.with_name("away").rename(program)
    assert len(probe.look()) == 4


def test_no_hardware_is_an_empty_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert AscendProbe().look() == ()
    assert NvidiaProbe().look() == ()  # the real library is asked: there is no driver behind it here


LISTED = """\
\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name
\t0                              0                              0                              Ascend 910B4
\t0                              1                              -                              Mcu
\t3                              0                              1                              Ascend 910B4
"""
COMMON = """\
\tNPU ID                         : {card}
\tAicore Usage Rate(%)           : 4{card}
\tTemperature(C)                 : 51
\tNPU Real-time Power(W)         : 91.5
"""
USAGES = """\
\tHBM Capacity(MB)               : 32768
\tHBM Usage Rate(%)              : 25
"""


def answering(tool: Path, info: str) -> None:
    """Have the tool answer by its arguments: `info`, `info -m`, `info -t common|usages -i N -c N`."""
    tool.with_name("info").write_text(info)
    tool.with_name("listed").write_text(LISTED)
    for card in (0, 3):
        tool.with_name(f"common{card}").write_text(COMMON.format(card=card))
        tool.with_name(f"usages{card}").write_text(USAGES)
    folder = tool.parent
    tool.with_name("npu-smi").write_text(
        f'#!/bin/sh\ncase "$2" in\n"") exec cat "{folder}/info";;\n-m) exec cat "{folder}/listed";;\n'
        f'-t) exec cat "{folder}/$3$5";;\nesac\n'
    )


@pytest.mark.parametrize(
    "info", ["| 处理器 名称 | 健康状态 | 功耗 |\n| 0 910B4 | 正常 | 82.6 |\n", "Usage: npu-smi <command>\n"]
)
def test_a_table_of_another_form_or_language_is_asked_for_card_by_card(tool: Path, info: str) -> None:
    answering(tool, info)
    first, second = AscendProbe().look()
    assert (first.id, first.name, first.utilization, first.power_w) == (0, "Ascend 910B4", 40.0, 91.5)
    assert (second.id, second.utilization, second.temperature_c) == (1, 43.0, 51.0)
    assert (second.memory_used_mb, second.memory_total_mb) == (8192.0, 32768.0)
    assert (second.health, second.programs) == (None, None)  # nobody told, so not "ok" and not "none"


def test_chips_that_one_look_has_no_room_for_have_their_turn_in_the_next(
    tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(tool, "Usage: npu-smi <command>\n")
    head, first, *_ = LISTED.splitlines()
    tool.with_name("listed").write_text("\n".join([head, *(first.replace("0", str(n), 1) for n in range(5))]))
    for card in range(5):
        tool.with_name(f"common{card}").write_text(COMMON.format(card=card))
    monkeypatch.setattr(ascend, "MOST_PAGES", 2)
    probe = AscendProbe()

    def busy() -> list[float | None]:
        return [card.utilization for card in probe.look()]

    assert busy() == [40.0, 41.0, None, None, None]
    assert busy() == [40.0, 41.0, 42.0, 43.0, None]
    tool.with_name("common0").write_text("")  # what it says now counts, and not what it said
    assert busy() == [None, 41.0, 42.0, 43.0, 44.0]
    monkeypatch.setattr(ascend, "KEPT", 0.0)
    assert busy() == [None, 41.0, 42.0, None, None]


def test_a_column_that_the_table_does_not_have_is_asked_for(tool: Path) -> None:
    text = (SAMPLES / "10_910B4_26.0_wide_five_columns.txt").read_text()
    for busy in ("| 71 ", "| 0                    0    / 0  "):
        text = text.replace(busy, busy.replace(busy.split()[1], "NA", 1))
    answering(tool, text)
    cards = AscendProbe().look()
    assert [card.utilization for card in cards] == [40.0, None]  # no page about the second
    assert [card.memory_used_mb for card in cards] == [2871.0, 30011.0]


def test_one_dead_card_among_others_costs_no_further_run(tool: Path) -> None:
    answering(tool, (SAMPLES / "15_health_alarm_critical_unknown.txt").read_text())
    tool.with_name("npu-smi").write_text(
        f'#!/bin/sh\necho "$@" >> "{tool.parent}/runs"\nexec cat "{tool.parent}/info"\n'
    )
    AscendProbe().look()
    assert tool.with_name("runs").read_text().splitlines() == ["info"]


def test_sixty_four_chips_are_all_told(tool: Path) -> None:
    lines = (SAMPLES / "10_910B4_26.0_wide_five_columns.txt").read_text().splitlines()
    rows = [row for n in range(64) for row in (lines[6].replace("| 0 ", f"| {n:<2}", 1), lines[7])]
    tool.write_text("\n".join([*lines[:6], *rows, *lines[12:]]))
    cards = AscendProbe().look()
    assert [card.id for card in cards] == list(range(64)) and {card.memory_total_mb for card in cards} == {32768.0}


@pytest.mark.parametrize("script", ["exit 126", "echo 'open /dev/davinci_manager: Permission denied' >&2; exit 1"])
def test_a_tool_that_may_not_touch_the_cards_is_said_to_fail(tool: Path, script: str) -> None:
    tool.with_name("npu-smi").write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(CardsUnknown) as caught:
        AscendProbe().look()
    assert caught.value.code == "npu-smi-silent"
