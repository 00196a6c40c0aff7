"""Which Ascend cards a kernel sees, and who says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_aiarts.kernel.npus import chips, seen
from jupyter_aiarts.launcher.ascend.cards import card_ids

OLD = """\
\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name
\t0                              0                              0                              Ascend 910B3
\t0                              1                              -                              Mcu
\t1                              0                              1                              Ascend 910B3
\t1                              1                              -                              Mcu
"""
NEW = """\
NPU ID  Chip ID  Chip Logic ID  Chip Phy-ID  Chip Name
0       0        0              4            Ascend910
0       1        -              -            Mcu
1       0        1              5            Ascend910
"""


@pytest.fixture
def dev(tmp_path: Path) -> str:
    """A /dev with the cards 4 and 5, and what the driver puts beside them."""
    folder = tmp_path / "dev"
    folder.mkdir()
    for name in ("davinci4", "davinci5", "davinci_manager", "devmm_svm", "hisi_hdc", "davinci5.bak"):
        (folder / name).touch()
    return str(folder)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("0,1", [0, 1]),
        ("4-7", [4, 5, 6, 7]),
        ("Ascend910-0,Ascend910-3", [0, 3]),
        ("npu-2", [2]),
        ("1, 0,1", [1, 0]),
        ("", []),
        ("all", []),
        ("void", []),
        ("0-999", []),
        ("3-1", []),
        ("0,x", []),
        ("0," * 5, []),
        ("-1", []),
    ],
)
def test_the_forms_of_a_grant(text: str, ids: list[int]) -> None:
    assert card_ids(text) == ids


def test_variables_come_before_devices(dev: str) -> None:
    assert seen({"ASCEND_VISIBLE_DEVICES": "2,3"}, dev)[:2] == ([2, 3], "ASCEND_VISIBLE_DEVICES")
    assert seen({"ASCEND_RT_VISIBLE_DEVICES": "1"}, dev)[:2] == ([1], "ASCEND_RT_VISIBLE_DEVICES")
    assert seen({"VISIBLE_IDS": "6,7"}, dev)[:2] == ([6, 7], "VISIBLE_IDS")
    assert seen({"ASCEND_VISIBLE_DEVICES": "all"}, dev)[:2] == ([4, 5], f"{dev}/davinci*")
    assert seen({}, dev).ids == [4, 5]


@pytest.mark.parametrize(
    ("picked", "ids"),
    [("1", [5]), ("1,0", [5, 4]), ("4", [4]), ("9", [4, 5])],
)
def test_a_runtimes_choice_counts_inside_what_the_container_has(picked: str, ids: list[int]) -> None:
    environ = {"ASCEND_VISIBLE_DEVICES": "4,5", "ASCEND_RT_VISIBLE_DEVICES": picked}
    assert seen(environ, "/nowhere").ids == ids


def test_hidden_cards_are_not_looked_for(dev: str) -> None:
    for text in ("", "void", "none"):
        found = seen({"ASCEND_VISIBLE_DEVICES": text}, dev)
        assert found.ids == [] and "hides all cards" in found.looked[0]


def test_without_cards_it_says_where_it_looked(tmp_path: Path) -> None:
    found = seen({"PATH": str(tmp_path)}, str(tmp_path))
    assert found.ids == []
    said = "; ".join(found.looked)
    for place in ("ASCEND_VISIBLE_DEVICES is not set", "has no davinci device", "npu-smi is not on PATH"):
        assert place in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OLD, {0: "Ascend 910B3", 1: "Ascend 910B3"}),
        (NEW, {4: "Ascend910", 5: "Ascend910"}),
        ("dcmi module initialize failed. ret is -8005\n", {}),
        ("", {}),
    ],
)
def test_what_npu_smi_lists(text: str, expected: dict[int, str]) -> None:
    assert chips(text) == expected


def test_npu_smi_tells_cards_and_whether_they_stand_in_rings(tmp_path: Path, dev: str) -> None:
    tool = tmp_path / "npu-smi"
    for text, ids, rings in ((OLD, [0, 1], False), (NEW, [4, 5], True)):
        (tmp_path / "said").write_text(text)
        tool.write_text(
            f'#!/bin/sh\n[ "$*" = "info -m" ] && while read -r line; do echo "$line"; done < {tmp_path}/said\n'
        )
        tool.chmod(0o755)
        found = seen({"PATH": str(tmp_path)}, str(tmp_path))
        assert (found.ids, found.source, found.rings) == (ids, "npu-smi", rings)
        assert seen({"PATH": str(tmp_path)}, dev).rings is rings
