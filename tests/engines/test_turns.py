"""Starts out of turn are written down by whoever sees them, bounded, and survive whatever happens to the file."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jupyter_aiarts.engines.turns import KEPT, LARGEST, TurnBook
from jupyter_aiarts.errors import StateUnusable
from jupyter_aiarts.model.turn import Passed, Turn


def turn(number: int, passed: str = "waits00000", name: str = "s") -> Turn:
    at = f"2026-11-16T10:00:00.{number:06}Z"
    return Turn(at=at, job="starts0000", name=name, queue="q", passed=(Passed(job=passed, reason="quota"),))


def test_what_was_written_is_read_newest_first_by_whoever_it_is_about(tmp_path: Path) -> None:
    TurnBook(tmp_path / "order").add([turn(1), turn(2, "other00000")])
    book = TurnBook(tmp_path / "order")
    assert book.read() == (turn(2, "other00000"), turn(1))
    assert book.read("other00000") == (turn(2, "other00000"),)
    assert book.read("starts0000") == book.read()
    assert book.read("nobody0000") == ()
    assert stat.S_IMODE((tmp_path / "order" / "turns.ndjson").stat().st_mode) == 0o600


def test_what_two_servers_saw_is_told_once(tmp_path: Path) -> None:
    for _ in range(2):
        TurnBook(tmp_path).add([turn(1)])
    assert TurnBook(tmp_path).read() == (turn(1),)


def test_the_file_stays_small_and_the_last_ones_are_kept(tmp_path: Path) -> None:
    book = TurnBook(tmp_path)
    for start in range(0, 6000, 100):
        book.add([turn(number, name="n" * 200) for number in range(start, start + 100)])
    assert (tmp_path / "turns.ndjson").stat().st_size <= LARGEST
    found = book.read()
    assert found[0].at == turn(5999).at
    assert 100 < len(found) <= KEPT
    assert [one.at for one in found] == sorted((one.at for one in found), reverse=True)


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: TurnBook(tmp_path).add([turn(number)]), range(200)))
    assert len(TurnBook(tmp_path).read()) == 200


def test_damage_costs_the_damaged_line_and_no_more(tmp_path: Path) -> None:
    book = TurnBook(tmp_path)
    book.add([turn(1)])
    with (tmp_path / "turns.ndjson").open("ab") as file:
        file.write(b'{"at": 1}\n\xff\xfe\n{"at":"2026-11-16T1')
    assert book.read() == (turn(1),)
    book.add([turn(2)])
    assert book.read() == (turn(2), turn(1))


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("precious")
    os.symlink(tmp_path / "elsewhere", tmp_path / "turns.ndjson")
    assert TurnBook(tmp_path).read() == ()
    with pytest.raises(StateUnusable):
        TurnBook(tmp_path).add([turn(1)])
    assert (tmp_path / "elsewhere").read_text() == "precious"
