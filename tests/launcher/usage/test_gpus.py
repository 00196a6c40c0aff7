"""A slice of a card (MIG) is told beside its rank with its own memory; how busy it is nobody knows, so nobody says."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_aiarts.launcher.usage import nvidiasmi
from jupyter_aiarts.launcher.usage.carduse import ENOUGH_LOOKS, GONE, CardUse
from jupyter_aiarts.launcher.usage.gpus import Gpus

from ..conftest import Run, wait_until
from ..pods import Pods
from .conftest import GPU, QUICK, Tool, ended, heard, usage

FOLDER = Path(__file__).with_name("nvidia")
LIST, DETAILS = ((FOLDER / name).read_text() for name in ("20_mig_list.txt", "21_mig_details.xml"))
CARD = "GPU-00000000-0000-0000-0000-00000000000a"


def card_uuid(card: int) -> str:
    return f"GPU-{card:08}-0000"


def slice_uuid(card: int, place: int) -> str:
    return f"MIG-{card:08}-{place:04}"


class Board:
    """An `nvidia-smi`: `parts[card]` are the memories in use of the card's slices, none where it is not cut."""

    def __init__(self, *parts: Sequence[int]) -> None:
        self.parts = [dict(enumerate(one)) for one in parts]

    def __call__(self, words: Sequence[str]) -> str:
        if words[0] == "-L":
            return "".join(self._listed(card) for card in range(len(self.parts)))
        if words[0] == "-q":
            return self._details([card_uuid(card) for card in range(len(self.parts))].index(words[3]))
        return "".join(self._row(card) for card in range(len(self.parts)))

    def _row(self, card: int) -> str:
        busy, mig = ("[N/A]", "Enabled") if self.parts[card] else ("50", "Disabled")
        return f"{card}, NVIDIA A100, {card_uuid(card)}, 535.1, 34, 61.2, {busy}, 4000, 40960, {mig}\n"

    def _listed(self, card: int) -> str:
        rows = (f"  MIG 3g.20gb     Device  {place}: (UUID: {slice_uuid(card, place)})\n" for place in self.parts[card])
        return f"GPU {card}: NVIDIA A100 (UUID: {card_uuid(card)})\n" + "".join(rows)

    def _details(self, card: int) -> str:
        form = DETAILS[DETAILS.index("<mig_device>") : DETAILS.index("</mig_device>")] + "</mig_device>"
        slices = (
            form.replace("<index>0<", f"<index>{place}<").replace("1419 MiB", f"{used} MiB")
            for place, used in self.parts[card].items()
        )
        head, tail = DETAILS[: DETAILS.index("<mig_device>")], DETAILS[DETAILS.index("</mig_devices>") :]
        return head + "".join(slices) + tail.replace(CARD, card_uuid(card))


def told(readings: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [(one.id, one.utilization, one.memory, one.total) for one in readings]


def test_a_cards_power_and_temperature_are_told_and_a_slice_has_none_of_its_own() -> None:
    (card,), _ = heard(Gpus([0], "", False), Board([]))
    (part,), _ = heard(Gpus([0], slice_uuid(0, 0), False), Board([7]))
    assert [(one.power, one.temperature) for one in (card, part)] == [(61.2, 34.0), (None, None)]
    use = CardUse([0], 1)
    use.take([card], 1.0)
    assert [(one["power"], one["temperature"]) for one in use.as_json()] == [(61.2, 34.0)]


def test_a_recorded_list_tells_of_slices_by_both_kinds_of_uuid() -> None:
    assert nvidiasmi.listed(LIST) == [
        (CARD, 0, "3g.20gb", "MIG-00000000-0000-0000-0000-0000000000a0"),
        (CARD, 1, "1c.3g.20gb", "MIG-00000000-0000-0000-0000-0000000000a1"),
        (CARD[:-1] + "c", 0, "1g.5gb", "MIG-GPU-00000000-0000-0000-0000-00000000000c/7/0"),
    ]


def test_recorded_details_tell_the_memory_of_slices_and_not_the_cards_or_what_the_bus_maps() -> None:
    assert nvidiasmi.memories(DETAILS, CARD) == {0: (1419.0, 19968.0), 1: (None, 19968.0)}
    assert nvidiasmi.memories(DETAILS, "GPU-another") == {}


def test_details_that_are_cut_off_anywhere_invent_nothing() -> None:
    whole = nvidiasmi.memories(DETAILS, CARD)
    for end in range(0, len(DETAILS), 7):
        assert nvidiasmi.memories(DETAILS[:end], CARD) in ({}, whole)


HOSTILE = st.text(max_size=300) | st.text(alphabet="GPUMIGDevice 0123456789:()-<>/ndxmgf_\n", max_size=300)


@settings(max_examples=300, deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_breaks_the_look(row: str, listed: str, details: str) -> None:
    board = Board([1], [])
    words = {"--": board(["--"]) + row, "-L": listed, "-q": f'<gpu id="0"><uuid>{card_uuid(0)}</uuid>{details}'}
    heard(Gpus([0, 1], "", True), lambda asked: words[asked[0][:2]])
    nvidiasmi.memories(f'<gpu id="0"><uuid>{card_uuid(0)}</uuid><mig_device><index>{details}', card_uuid(0))


def test_whole_cards_cost_one_question() -> None:
    readings, asked = heard(Gpus([0, 1], "0,1", False), Board([], []))
    assert told(readings) == [(0, 50.0, 4000.0, 40960.0), (1, 50.0, 4000.0, 40960.0)]
    assert len(asked) == 1
    assert len(heard(Gpus([1], "1", False), Board([7, 8], []))[1]) == 1, "another's card may be cut"


def test_slices_that_a_variable_names_have_the_ids_of_its_places_and_others_slices_are_not_told() -> None:
    named = f"{slice_uuid(2, 1)}, {slice_uuid(0, 0)}"
    readings, asked = heard(Gpus([0, 1], named, False), Board([11, 12], [], [21, 22]))
    assert told(readings) == [(0, None, 22.0, 19968.0), (1, None, 11.0, 19968.0)]
    assert {one.name for one in readings} == {"NVIDIA A100 MIG 3g.20gb"}
    assert [words.split()[-1] for words in asked[1:]] == ["-L", card_uuid(2), card_uuid(0)]


def test_a_whole_card_that_a_variable_names_is_the_one_of_that_uuid() -> None:
    readings, asked = heard(Gpus([0], card_uuid(2)[:12], False), Board([], [], []))
    assert told(readings) == [(0, 50.0, 4000.0, 40960.0)] and len(asked) == 1
    use = CardUse([0], 1)
    use.take(heard(Gpus([0], "GPU-0000", False), Board([], []))[0], 1.0)
    assert use.as_json() == [], "of two that begin alike nobody knows which"


def test_in_a_pod_that_sees_only_its_slices_they_are_counted_as_the_driver_does() -> None:
    readings, _ = heard(Gpus([0, 1, 2], "", True), Board([11, 12], []))
    assert told(readings) == [(0, None, 11.0, 19968.0), (1, None, 12.0, 19968.0), (2, 50.0, 4000.0, 40960.0)]


def test_where_a_pod_sees_more_slices_than_it_asked_for_nobody_knows_which_are_its_own() -> None:
    assert heard(Gpus([0], "", True), Board([11, 12]))[0] == []


def test_a_cut_card_of_this_machine_is_its_only_slice_or_else_the_whole() -> None:
    """A container that was given a slice sees its card with no other; by its number CUDA opens that slice."""
    assert told(heard(Gpus([1], "1", False), Board([], [21]))[0]) == [(1, None, 21.0, 19968.0)]
    assert told(heard(Gpus([1], "1", False), Board([], [21, 22]))[0]) == [(1, None, 4000.0, 40960.0)]


@pytest.mark.parametrize(("visible", "alone"), [("", True), (f"{slice_uuid(0, 0)},{slice_uuid(0, 1)}", False)])
def test_a_slice_that_disappears_is_gone_and_the_other_keeps_its_id(visible: str, alone: bool) -> None:
    gpus, board = Gpus([0, 1], visible, alone), Board([11, 12])
    use = CardUse([] if alone else [0, 1], 2)
    use.take(heard(gpus, board)[0], 1.0)
    del board.parts[0][0]
    use.take(heard(gpus, board)[0], 2.0)
    assert [(card["id"], card["memory"][0], card["health"]) for card in use.as_json()] == [
        (0, None, GONE),
        (1, 12.0, None),
    ]


@pytest.mark.parametrize(
    "said", ["", "garbage", "NVIDIA-SMI has failed\n", "显卡 0：（标识：无）\n", "<gpu><mig_device>"]
)
def test_where_the_list_cannot_be_read_nothing_is_called_gone(said: str) -> None:
    gpus, board = Gpus([0, 1], "", True), Board([11], [])
    use = CardUse([], 2)
    use.take(heard(gpus, board)[0], 1.0)
    use.take(heard(gpus, lambda words: said if words[0] == "-L" else board(words))[0], 2.0)
    assert [card["health"] for card in use.as_json()] == [None, None]
    readings, _ = heard(gpus, lambda words: said if words[0] == "-q" else board(words))
    assert told(readings) == [(0, None, None, None), (1, 50.0, 4000.0, 40960.0)]


def test_of_sixty_four_cards_in_seven_slices_each_only_those_of_this_node_are_asked_about() -> None:
    board = Board(*([10 * card + place for place in range(7)] for card in range(64)))
    names = ",".join([slice_uuid(63, 6), slice_uuid(5, 0), slice_uuid(63, 2)])
    readings, asked = heard(Gpus([0, 1, 2], names, False), board)
    assert [one.memory for one in readings] == [636.0, 50.0, 632.0] and len(asked) == 4


def test_slices_are_never_called_idle_or_unused() -> None:
    """Not even beside a card that is known to work."""
    gpus, board, use = Gpus([0, 1], "", True), Board([11], []), CardUse([], 2)
    for at in range(2 * ENOUGH_LOOKS):
        use.take(heard(gpus, board)[0], float(at))
    assert (use.idle_since, use.verdict()) == (None, None)
    gpus, board, use = Gpus([0, 1], "", True), Board([0, 0]), CardUse([], 2)
    for at in range(2 * ENOUGH_LOOKS):
        use.take(heard(gpus, board)[0], float(at))
    assert (use.idle_since, use.verdict()) == (None, None)
    assert [card["utilization"] for card in use.as_json()] == [[None, None, None]] * 2


def script(folder: Path, board: Board) -> str:
    """A tool that says what the board does."""
    (folder / "rows").write_text(board(["--"]))
    (folder / "listed").write_text(board(["-L"]))
    for card in range(len(board.parts)):
        (folder / card_uuid(card)).write_text(board(["-q", "-x", "-i", card_uuid(card)]))
    return f'cd "{folder}"\ncase "$1" in\n-L) exec cat listed;;\n-q) exec cat "$4";;\n*) exec cat rows;;\nesac'


def test_a_job_on_this_machine_is_told_of_its_slices_rank_by_rank(quick: Run, tool: Tool) -> None:
    tool(script(tool("true"), Board([11, 12, 13])), "nvidia-smi")
    visible = f"{slice_uuid(0, 2)},{slice_uuid(0, 0)}"
    quick.plan(device=GPU, devices=[[0, 1]], grants=[{"CUDA_VISIBLE_DEVICES": visible}], processes="card")
    quick.start()
    seen = wait_until(lambda: usage(quick) and usage(quick)["cards"] and usage(quick), "a look at the cards")
    assert [(card["id"], card["memory"][0], card["total"]) for card in seen["cards"]] == [
        (0, 13.0, 19968.0),
        (1, 11.0, 19968.0),
    ]
    assert [rank["devices"] for rank in quick.status()["ranks"]] == [[0], [1]]
    assert seen["idle_since"] is None
    ended(quick)


def test_a_job_in_a_pod_is_told_of_the_slice_that_it_was_given(pods: Pods, tool: Tool) -> None:
    folder = tool("true")
    tool(script(folder, Board([17])), "nvidia-smi")
    pods.command = [sys.executable, "-c", QUICK]
    pods.environ["PATH"] = f"{folder}:{pods.environ['PATH']}"
    pods.shell("exec sleep 60", device=GPU, cards=1).start()
    [card] = wait_until(lambda: (usage(pods) or {}).get("cards"), "a look at the slice")
    assert (card["id"], card["name"], card["memory"][0]) == (0, "NVIDIA A100 MIG 3g.20gb", 17.0)
    assert card["utilization"] == [None, None, None] and usage(pods)["idle_since"] is None
    ended(pods)


def test_a_driver_that_knows_nothing_of_slices_is_asked_without_them_from_then_on() -> None:
    board = Board([], [])

    def old(words: Sequence[str]) -> str:
        if "mig.mode" in words[0]:
            return 'Field "mig.mode.current" is not a valid field to query.\n'
        return "".join(line.rpartition(",")[0] + "\n" for line in board(words).splitlines())

    gpus = Gpus([0, 1], "", False)
    for questions in (2, 1):
        cards, asked = heard(gpus, old)
        assert ([card.utilization for card in cards], len(asked)) == ([50.0, 50.0], questions)
