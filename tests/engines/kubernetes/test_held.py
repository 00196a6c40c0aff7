"""A rank's log as held: the launcher's form, the launcher's limit, and nothing lost that could be asked for again."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_aiarts.engines.kubernetes.held import HeldLog, Stamp
from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.launcher.segments import Drop, RankLog

KIB = 1024


class Held:
    """A held log below a run's folder, with the drops it reported."""

    def __init__(self, run: Path, limit: int = 2**31) -> None:
        self.run = run
        self.folder = run / "node-0" / "log" / "0"
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self.limit = limit
        self.drops: list[Drop] = []
        self.log = self.again()

    def again(self) -> HeldLog:
        """What another server finds."""
        self.log = HeldLog(self.folder, self.limit, self.drops.append)
        return self.log

    def add(self, data: bytes, t: int, stream: str = "stdout") -> None:
        self.log.extend(stream, data, [(self.log.end(stream), t)])

    def segments(self, stream: str = "stdout") -> dict[int, bytes]:
        return {int(p.name.split(".")[1]): p.read_bytes() for p in sorted(self.folder.glob(f"{stream}.*.log"))}

    def records(self, start: int = 0, stream: str = "stdout") -> list[Stamp]:
        content = (self.folder / f"{stream}.{start:020d}.idx").read_bytes()
        return [(offset, t) for offset, t in struct.iter_unpack("<QQ", content)]

    def texts(self) -> list[str]:
        return [line.text for line in open_log(self.run).walk(LogQuery(), ended=True)]


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path)


def test_bytes_and_times_are_kept_as_the_launcher_keeps_them(tmp_path: Path) -> None:
    """The same chunks, given in batches of any size, make the same files; only cuts of segments may differ."""
    chance = random.Random(1)
    chunks = [(bytes([97 + n % 26]) * chance.randrange(1, 3000), 1000 + n) for n in range(400)]
    (tmp_path / "theirs").mkdir()
    theirs = RankLog(str(tmp_path / "theirs"), 2**31, lambda: 0.0, lambda drop: None)
    ours = Held(tmp_path)
    while chunks:
        batch, chunks = chunks[: (count := chance.randrange(1, 40))], chunks[count:]
        offset, stamps = ours.log.end("stdout"), []
        for data, t in batch:
            theirs.append("stdout", memoryview(data), t)
            stamps.append((offset, t))
            offset += len(data)
        ours.log.extend("stdout", b"".join(data for data, _ in batch), stamps)
    theirs.close()
    name = f"stdout.{0:020d}"
    for suffix in (".log", ".idx"):
        assert (ours.folder / f"{name}{suffix}").read_bytes() == (tmp_path / "theirs" / f"{name}{suffix}").read_bytes()
    assert {path.stat().st_mode & 0o777 for path in ours.folder.iterdir()} == {0o600}
    assert ours.folder.stat().st_mode & 0o777 == 0o700


def test_a_chunk_that_goes_on_has_one_record(held: Held) -> None:
    held.add(b"ab", 5)
    held.add(b"cd", 5)
    held.add(b"ef", 6)
    assert held.records() == [(0, 5), (4, 6)]


def test_another_server_goes_on_in_the_same_segment(held: Held) -> None:
    held.add(b"one\n", 5)
    held.again()
    assert (held.log.end("stdout"), held.log.newest("stdout")) == (4, 5)
    held.add(b"two\n", 6)
    assert held.segments() == {0: b"one\ntwo\n"}
    assert held.records() == [(0, 5), (4, 6)]


def test_skipped_bytes_begin_a_segment(held: Held) -> None:
    held.add(b"one\n", 5)
    held.log.skip("stdout", 100)
    held.add(b"two\n", 6)
    assert held.segments() == {0: b"one\n", 100: b"two\n"}
    assert held.texts() == ["one", "… 96 bytes dropped here …", "two"]


def test_a_segment_ends_in_the_middle_of_a_chunk_and_keeps_its_time(tmp_path: Path) -> None:
    held = Held(tmp_path, limit=2**20)
    held.log.extend("stdout", b"x" * 100_000 + b"y" * 100_000, [(0, 5), (100_000, 6)])
    segments = held.segments()
    assert b"".join(segments.values()) == b"x" * 100_000 + b"y" * 100_000
    assert all(len(data) + 16 * len(held.records(start)) <= 64 * KIB for start, data in segments.items())
    assert {held.records(start)[0] for start in segments} == {(s, 5 if s < 100_000 else 6) for s in segments}


@pytest.mark.parametrize("size", [1, 3, 15, 100, 5000])
def test_many_small_chunks_fill_segments_that_hold_their_own_records(tmp_path: Path, size: int) -> None:
    held = Held(tmp_path, limit=2**20)
    count = 50_000 // size
    for begin in range(0, count, 700):
        some = range(begin, min(begin + 700, count))
        held.log.extend("stdout", b"z" * (size * len(some)), [(n * size, n + 1) for n in some])
    assert sum(map(len, held.segments().values())) == held.log.end("stdout") == count * size
    for start, data in held.segments().items():
        records = held.records(start)
        assert records[0][0] == start
        assert all(start <= offset < start + len(data) for offset, _ in records)
        assert len(data) + 16 * len(records) <= 64 * KIB + 16


def test_the_limit_is_kept_as_the_launcher_keeps_it(tmp_path: Path) -> None:
    """The first segment and the newest stay; what goes is told; readers see the hole."""
    held = Held(tmp_path, limit=640 * KIB)
    lines = [b"%07d\n" % n for n in range(250_000)]
    for begin in range(0, len(lines), 1000):
        held.add(b"".join(lines[begin : begin + 1000]), begin + 1)
        size = sum(path.stat().st_size for path in held.folder.iterdir())
        assert size <= 640 * KIB
    shown = held.texts()
    assert (shown[0], shown[-1]) == ("0000000", "0249999")
    assert sum("dropped" in text for text in shown) == 1
    lost = sum(drop.end - drop.start for drop in held.drops)
    assert lost + sum(map(len, held.segments().values())) == 8 * 250_000
    assert {drop.reason for drop in held.drops} == {"limit"}


def test_the_limit_counts_what_an_earlier_server_held(tmp_path: Path) -> None:
    held = Held(tmp_path, limit=640 * KIB)
    for number in range(50):
        held.again()
        held.add(b"x" * 50_000, number + 1)
    assert sum(path.stat().st_size for path in held.folder.iterdir()) <= 640 * KIB
    assert min(held.segments()) == 0


# -- what a killed server leaves -----------------------------------------------------------------------------------


def test_records_of_bytes_that_never_came_are_taken_back(held: Held) -> None:
    held.add(b"one\n", 5)
    with (held.folder / f"stdout.{0:020d}.idx").open("ab") as index:
        index.write(struct.pack("<QQQQ", 4, 6, 9, 7) + b"torn")
    held.again()
    assert (held.log.end("stdout"), held.records()) == (4, [(0, 5)])
    held.add(b"two\n", 8)
    assert held.records() == [(0, 5), (4, 8)]


def test_half_a_chunk_is_continued_where_it_ends(held: Held) -> None:
    held.add(b"on", 5)
    held.again()
    held.add(b"e\n", 5)
    assert (held.segments(), held.records()) == ({0: b"one\n"}, [(0, 5)])


@pytest.mark.parametrize("index", [b"", struct.pack("<QQ", 4, 6), b"torn"])
def test_a_segment_without_bytes_is_made_anew(held: Held, index: bytes) -> None:
    held.add(b"one\n", 5)
    (held.folder / f"stdout.{4:020d}.log").write_bytes(b"")
    (held.folder / f"stdout.{4:020d}.idx").write_bytes(index)
    held.again()
    assert (held.log.end("stdout"), held.log.newest("stdout")) == (4, 5)
    assert list(held.segments()) == [0]


def test_bytes_without_any_time_are_asked_for_again(held: Held) -> None:
    """A machine that lost power may have kept the log and lost its index."""
    held.add(b"one\n", 5)
    (held.folder / f"stdout.{4:020d}.log").write_bytes(b"two\n")
    held.again()
    assert (held.log.end("stdout"), list(held.segments())) == (4, [0])


def test_foreign_names_and_links_are_left_alone(held: Held, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (held.folder / f"stdout.{0:020d}.log").symlink_to(secret)
    (held.folder / "stdout.1.log").write_text("x")
    (held.folder / f"stdin.{0:020d}.log").write_text("x")
    held.again()
    assert held.log.end("stdout") == 0
    with pytest.raises(OSError):
        held.add(b"one\n", 5)
    assert secret.read_text() == "secret"


# -- a disk that refuses -------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB, where this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("this user may not mount a disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_what_a_full_disk_refuses_is_raised_and_can_be_given_again(small_disk: Path) -> None:
    held = Held(small_disk)
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 100 * KIB)
    data = b"".join(b"%07d\n" % n for n in range(32 * KIB))
    stamps = [(n, n + 1) for n in range(0, len(data), 800)]
    with pytest.raises(OSError, match="No space left"):
        held.log.extend("stdout", data, stamps)
    end = held.log.end("stdout")
    assert 0 < end < len(data)
    assert b"".join(held.segments().values()) == data[:end]
    assert all(offset < end for start in held.segments() for offset, _ in held.records(start))
    filler.unlink()
    held.log.extend("stdout", data[end:][: 64 * KIB], [(end, 5)])
    assert b"".join(held.segments().values()) == data[: end + 64 * KIB]
    assert held.drops == []


def test_a_disk_without_any_room_leaves_no_empty_segment(small_disk: Path) -> None:
    held = Held(small_disk)
    with (small_disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space left"):
        while True:
            filler.write(b"x" * 4096)
    for _ in range(3):
        with pytest.raises(OSError, match="No space left"):
            held.add(b"one\n", 5)
    assert (held.log.end("stdout"), held.segments()) == (0, {})
    (small_disk / "filler").unlink()
    held.add(b"one\n", 5)
    assert held.texts() == ["one"]
