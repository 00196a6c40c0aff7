"""Where the table of `npu-smi` does not tell, its pages are asked: of this node's chips alone, and only while there is
time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_aiarts.launcher.loop import Loop
from jupyter_aiarts.launcher.usage import tool as tools
from jupyter_aiarts.launcher.usage.npus import Npus

from ..conftest import Run, wait_until
from .conftest import Tool, ended, heard, looks, usage

CHINESE = "| 处理器 名称 | 健康状态 | 功耗 |\n| 0 910B4 | 正常 | 82.6 |\n"
SAMPLES = Path(__file__).with_name("npu_smi")
USAGES = """\
\tNPU ID                         : {card}
\tChip Count                     : 1
\tHBM Capacity(MB)               : 32768
\tHBM Usage Rate(%)              : 25
\tAicore Usage Rate(%)           : {busy}
"""


def listing(count: int) -> str:
    heads = ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
    chips = ((n, 0, n, "Ascend 910B4") for n in range(count))
    rows = [row for chip in chips for row in (chip, (chip[0], 1, "-", "Mcu"))]
    return "".join("\t" + "".join(f"{cell!s:31}" for cell in row) + "\n" for row in [heads, *rows])


class Board:
    """An `npu-smi` whose table nobody can read; `pages` say what they are asked for."""

    def __init__(self, count: int) -> None:
        self.info, self.listed = CHINESE, listing(count)
        self.pages: Callable[[str, str], str] = lambda page, card: USAGES.format(card=card, busy=f"4{card}")

    def __call__(self, words: Sequence[str]) -> str:
        if "-t" in words:
            return self.pages(words[2], words[4])
        return self.listed if "-m" in words else self.info


def test_a_table_that_cannot_be_read_is_replaced_by_pages_and_not_asked_again() -> None:
    npus, board = Npus([1, 3], 2), Board(8)
    readings, asked = heard(npus, board)
    assert [one[:5] for one in readings] == [
        (1, "Ascend 910B4", 41.0, 8192.0, 32768.0),
        (3, "Ascend 910B4", 43.0, 8192.0, 32768.0),
    ]
    pages = ["info -t usages -i 1 -c 0", "info -t usages -i 3 -c 0"]
    assert asked == ["info", "info -m", *pages]
    assert heard(npus, board) == (readings, pages)


def test_power_and_temperature_are_told_as_the_table_has_them() -> None:
    table = (SAMPLES / "08_310_23.0_hugepages.txt").read_text()
    (reading,), asked = heard(Npus([], 1), lambda words: table)
    assert (reading.power, reading.temperature, asked) == (12.8, 61.0, ["info"])


def test_a_second_page_is_asked_only_where_the_first_does_not_tell() -> None:
    board = Board(2)
    board.pages = lambda page, card: (
        "\tAicore Usage Rate(%)  : 7\n" if page == "common" else "\tHBM Capacity(MB)  : 64\n"
    )
    readings, asked = heard(Npus([1], 1), board)
    assert [(one.id, one.utilization, one.memory, one.total) for one in readings] == [(1, 7.0, None, 64.0)]
    assert asked[2:] == ["info -t usages -i 1 -c 0", "info -t common -i 1 -c 0"]


@pytest.mark.parametrize("said", ["", "Segmentation fault", "错误：设备忙\n", "\x00\xff: \x1b[2J\n"])
def test_pages_that_tell_nothing_are_unknown_and_the_table_is_asked_again(said: str) -> None:
    npus, board = Npus([], 2), Board(2)
    board.pages = lambda page, card: said
    readings, asked = heard(npus, board)
    assert [(one.id, one.utilization, one.memory, one.total) for one in readings] == [
        (n, None, None, None) for n in (0, 1)
    ]
    assert len(asked) == 6 and heard(npus, board)[1][0] == "info"


@pytest.mark.parametrize("said", ["", "ret is -8005", "npu-smi: command failed", "\x00" * 100])
def test_a_tool_that_tells_of_no_chip_tells_nothing(said: str) -> None:
    readings, asked = heard(Npus([], 1), lambda words: said)
    assert readings == [] and len(asked) <= 2


def test_of_sixty_four_chips_only_this_nodes_are_asked_for() -> None:
    readings, asked = heard(Npus([60, 63], 2), Board(64))
    assert [one.id for one in readings] == [60, 63] and len(asked) == 4


def test_in_a_pod_that_sees_others_chips_too_no_page_is_asked() -> None:
    assert heard(Npus([], 2), Board(8))[1] == ["info", "info -m"]
    assert len(heard(Npus([], 8), Board(8))[0]) == 8


def test_chips_that_there_was_no_time_for_are_unknown_and_the_first_next_time() -> None:
    npus, board = Npus([], 3), Board(3)
    everything = board.pages
    board.pages = lambda page, card: everything(page, card) if card == "0" else ""
    assert [one.utilization for one in heard(npus, board)[0]] == [40.0, None, None]
    board.pages = everything
    readings, asked = heard(npus, board)
    assert [words.split()[4] for words in asked] == ["1", "2", "0"]
    assert {one.id: one.utilization for one in readings} == {0: 40.0, 1: 41.0, 2: 42.0}


def test_a_table_without_a_column_is_completed_and_one_dead_card_is_no_reason_to_ask() -> None:
    board = Board(2)
    board.info = (SAMPLES / "15_health_alarm_critical_unknown.txt").read_text()
    readings, asked = heard(Npus([2], 1), board)
    assert asked == ["info"] and {one.id: one for one in readings}[2].utilization is None
    board.info = (SAMPLES / "10_910B4_26.0_wide_five_columns.txt").read_text()
    for busy in ("| 71 ", "| 0                    0    / 0  "):
        board.info = board.info.replace(busy, busy.replace(busy.split()[1], "NA", 1))
    readings, asked = heard(Npus([1], 1), board)
    assert asked == ["info", "info -t usages -i 1 -c 0"]
    assert [(one.id, one.utilization, one.memory, one.health) for one in readings] == [(1, 41.0, 30011.0, "ok")]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(max_size=200) | st.from_regex(r"\tHBM Capacity\(MB\) : [0-9]{0,400}\n"), min_size=1, max_size=4)
)
def test_no_text_breaks_the_look(texts: list[str]) -> None:
    answers = iter([CHINESE, listing(2) + texts[0], *texts])
    for reading in heard(Npus([], 2), lambda words: next(answers, ""))[0]:
        assert reading.total is None or 0 <= reading.total < 1e15


def answering(tool: Tool, page: str) -> Path:
    """An `npu-smi` that speaks Chinese, lists four chips, and answers about one by running `page`."""
    folder = tool("true")
    (folder / "info").write_text(CHINESE)
    (folder / "listed").write_text(listing(4))
    for card in range(4):
        (folder / f"usages{card}").write_text(USAGES.format(card=card, busy=f"4{card}"))
    return tool(f'cd "{folder}"\ncase "$2" in\n"") exec cat info;;\n-m) exec cat listed;;\n*) {page};;\nesac')


def test_a_job_on_such_a_machine_is_told_of_its_cards(quick: Run, tool: Tool) -> None:
    folder = answering(tool, 'exec cat "$3$5"')
    quick.start()
    cards = wait_until(lambda: (usage(quick) or {}).get("cards"), "a look at the cards")
    assert [(card["id"], card["utilization"][0], card["memory"][0]) for card in cards] == [
        (1, 41.0, 8192.0),
        (3, 43.0, 8192.0),
    ]
    wait_until(lambda: len(looks(folder)) > 6, "more looks")
    ended(quick)
    assert (folder / "words").read_text().splitlines()[:2] == ["info", "info -m"]
    assert (folder / "words").read_text().splitlines().count("info") == 1, "it is remembered that the pages answer"


def test_a_page_that_hangs_takes_no_longer_than_a_table_that_does_and_the_job_ends_as_it_would(
    quick: Run, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEADLINE", "3")  # the three that answer have time, the fourth takes the rest
    folder = answering(tool, '[ "$5" = 1 ] && exec cat "$3$5" || exec sleep 1000')
    quick.start()
    cards = wait_until(lambda: (usage(quick) or {}).get("cards"), "a look at the cards")
    assert [(card["id"], card["utilization"][0]) for card in cards] == [(1, 41.0), (3, None)]
    assert usage(quick)["idle_since"] is None
    assert len(looks(folder)) == 4, "one that hangs is the last that is asked"
    ended(quick)


def test_when_the_time_is_over_nothing_more_is_started(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = answering(tool, 'exec cat "$3$5"')
    monkeypatch.setattr(tools, "DEADLINE_SECONDS", 0.0)
    told: list[object] = []
    tools.Tool(Loop(), Npus([], 4), set()).ask(told.append)
    assert told == [[]] and looks(folder) == []


def test_a_tool_that_takes_long_is_asked_less_often_and_the_ranks_are_looked_at_meanwhile(
    quick: Run, tool: Tool
) -> None:
    folder = tool("sleep 0.1; echo garbage")
    quick.start()

    def times() -> int:
        path = quick.folder / "node-0" / "usage.json"
        return len(json.loads(path.read_text())["ranks"]["times"]) if path.exists() else 0

    wait_until(lambda: times() >= 20, "twenty looks at the ranks")
    assert 2 <= len(looks(folder)) <= 10, "two questions at each look at the cards"
    ended(quick)
