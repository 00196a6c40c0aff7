"""Broken, vanishing and forged files: what is there is shown, nothing else is touched."""

from __future__ import annotations

import json
import os
import random
import struct
from pathlib import Path

import pytest

from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.engines.logs.segments import Place, Vanished

ALL = LogQuery(tail=100_000)


def texts(run: Path) -> list[str]:
    return [line.text for line in open_log(run).lines(ALL)]


def index(log_folder) -> Path:
    return log_folder.rank(0) / f"stdout.{0:020d}.idx"


def test_without_an_index_the_text_is_there_and_the_time_unknown(log_folder) -> None:
    """A lost index costs the times; an unknown time is empty, not a guess."""
    log_folder.write(b"a\nb\n")
    index(log_folder).unlink()
    assert [(line.text, line.t) for line in open_log(log_folder.run).lines(ALL)] == [("a", ""), ("b", "")]


def test_a_torn_record_is_ignored(log_folder) -> None:
    """A crash in the middle of an index record loses that record alone."""
    log_folder.write(b"a\n")
    log_folder.write(b"b\n")
    whole = open_log(log_folder.run).lines(ALL)
    index(log_folder).write_bytes(index(log_folder).read_bytes() + b"\x01\x02\x03")
    assert open_log(log_folder.run).lines(ALL) == whole


@pytest.mark.parametrize("seed", range(20))
def test_forged_index_numbers_never_lose_text_nor_raise(log_folder, seed: int) -> None:
    """Any sixteen bytes are read as a record: lines stay in order, pages end."""
    dice = random.Random(seed)
    wanted = [f"line {number}" for number in range(2000)]
    log_folder.write("".join(f"{text}\n" for text in wanted).encode())
    numbers = [dice.choice([0, 1, 500, 1 << 40, (1 << 64) - 1, dice.randrange(20_000)]) for _ in range(3000)]
    index(log_folder).write_bytes(struct.pack("<3000Q", *numbers))
    log = open_log(log_folder.run)
    assert [line.text for line in log.lines(ALL, ended=True)] == wanted
    page = log.lines(LogQuery(tail=10), ended=True)
    log.lines(LogQuery(before=page[0].seq, limit=10))
    log.lines(LogQuery(after=page[0].seq, limit=10))
    log.follow(LogQuery()).step(False)


def test_links_pipes_and_foreign_names_are_not_touched(log_folder, tmp_path: Path) -> None:
    """Links are not followed, a pipe is not waited on, other names are ignored."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret\n")
    log_folder.write(b"mine\n")
    folder = log_folder.rank(0)
    (folder / f"stderr.{0:020d}.log").symlink_to(secret)
    os.mkfifo(folder / f"stdout.{5:020d}.log")
    for name in ("stdout.1.log", "stdout.0000000000000000000x.log", "x.log", f"stdout.{9:020d}.log.bak", "…"):
        (folder / name).write_bytes(b"foreign\n")
    (folder.parent / "1").symlink_to(folder)
    (folder.parent / "-1").mkdir()
    (folder.parent / "007").mkdir()
    (log_folder.run / "node-1").symlink_to(log_folder.run / "node-0")
    (log_folder.run / "node-x").mkdir()
    assert texts(log_folder.run) == ["mine"]
    assert open_log(log_folder.run).lines(LogQuery(rank=1)) == []
    assert b"".join(open_log(log_folder.run).raw(0, "stderr")) == b""


def test_a_status_that_is_a_link_is_not_read(log_folder, tmp_path: Path) -> None:
    """Reasons come from the launcher's own file only."""
    elsewhere = tmp_path / "elsewhere"
    forged = {"rank": 0, "stream": "stdout", "from": 0, "to": 99, "reason": "forged"}
    elsewhere.write_text(json.dumps({"drops": [forged]}))
    log_folder.write(b"a\n")
    log_folder.cut(dropped=10)
    log_folder.write(b"b\n")
    (log_folder.run / "node-0" / "status.json").symlink_to(elsewhere)
    assert texts(log_folder.run) == ["a", "… 10 bytes dropped here …", "b"]


def test_segments_that_vanish_while_being_read_become_a_gap(log_folder) -> None:
    """Files are listed, the limit removes some, the reader goes on behind them."""
    for number in range(6):
        log_folder.write(b"%d" % number * 40_000 + b"\n")
        log_folder.cut()
    lines = open_log(log_folder.run).walk(LogQuery())
    first = next(lines)
    for number in (1, 2, 3):
        for path in log_folder.rank(0).glob(f"stdout.*{40_001 * number}.*"):
            path.unlink()
    rest = [line.text[:60] for line in lines]
    assert first.text[:1] == "0"
    assert rest == ["… 120,003 bytes dropped here …", "4" * 60, "5" * 60]


def test_a_folder_that_vanishes_is_an_empty_log(log_folder) -> None:
    """A job deleted while it is read ends the log."""
    log_folder.write(b"a\n")
    log = open_log(log_folder.run)
    assert len(log.lines(ALL)) == 1
    for path in log_folder.rank(0).iterdir():
        path.unlink()
    log_folder.rank(0).rmdir()
    assert log.lines(ALL) == []


def test_a_segment_that_shrinks_is_read_as_far_as_it_goes(log_folder) -> None:
    """Somebody cut a file: no loop, no error."""
    log_folder.write(b"one\ntwo\n")
    log_folder.cut()
    log_folder.write(b"three\n")
    log = open_log(log_folder.run)
    assert len(log.lines(ALL)) == 3
    os.truncate(log_folder.rank(0) / f"stdout.{0:020d}.log", 4)
    assert [line.text for line in log.lines(ALL)] == ["one", "… 4 bytes dropped here …", "three"]


def test_running_out_of_descriptors_is_an_error_not_a_gap(log_folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's trouble is never told as dropped bytes."""
    log_folder.write(b"a\n")
    place = Place(log_folder.run, "node-0", "log", "0")

    def refuse(*args: object, **kwargs: object) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match="Too many"):
        place.read("stdout", 0, 1)
    monkeypatch.undo()
    with pytest.raises(Vanished):
        place.read("nothing", 0, 1)
