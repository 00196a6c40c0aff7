"""`%%aiarts submit`: the cell as a start file."""

from __future__ import annotations

import ast
import stat
from pathlib import Path

import pytest

from jupyter_aiarts.kernel import cells
from jupyter_aiarts.kernel.errors import WrongUsage


def test_the_same_cell_is_one_private_file(nothing_around: Path) -> None:
    first = cells.write_cell("print(1)", nothing_around)
    assert cells.write_cell("print(1)\n", nothing_around) == first
    assert first.read_text() == "print(1)\n"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    assert first.parent == nothing_around / ".aiarts" / "cells"
    assert [one.name for one in first.parent.iterdir()] == [first.name]


def test_a_folder_one_cannot_write_to_is_said_in_a_sentence(nothing_around: Path) -> None:
    (nothing_around / ".aiarts").write_text("in the way")
    with pytest.raises(WrongUsage, match="cannot be written") as caught:
        cells.write_cell("pass", nothing_around)
    assert "%%writefile" in (caught.value.hint or "")


@pytest.mark.parametrize("cell", ["x = 1\n!ls", "%matplotlib inline\nx = 1"])
def test_notebook_lines_are_refused_by_number(cell: str) -> None:
    with pytest.raises(WrongUsage, match=r"Line \d of the cell is not Python") as caught:
        cells.check_cell(cell)
    assert "% or !" in (caught.value.hint or "")


def test_names_that_live_in_the_notebook_are_noticed() -> None:
    source = """
import numpy as np
from os import path
def f(a, *b, c=1, **d):
    global g
    with open(a) as h:
        return [i for i in b] + [np, path, data, g]
class K(Base): pass
try: pass
except E as e: print(e)
lr = rate * 2
"""
    known = dict.fromkeys(("np", "path", "a", "data", "rate", "Base", "f", "h", "i", "e", "lr", "print", "unused"))
    assert cells.notebook_names(ast.parse(source), known) == ["Base", "data", "rate"]


def test_modules_beside_the_notebook_stay_importable(nothing_around: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/mine")
    path = nothing_around / "x.py"
    assert cells.cell_spec({}, path, nothing_around)["env"] == {"PYTHONPATH": f"{nothing_around}:/mine"}
    given = cells.cell_spec({"env": {"PYTHONPATH": "/own", "A": "1"}, "name": "n"}, path, nothing_around)
    assert given == {
        "name": "n",
        "script": str(path),
        "env": {"PYTHONPATH": f"{nothing_around}:/own", "A": "1"},
    }
    with pytest.raises(WrongUsage, match="The cell is the start file"):
        cells.cell_spec({"command": "ls"}, path, nothing_around)
