"""Log segments: nothing lost while the disk has room, honest gaps where it has not, never an exception."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.segments import Drop, RankLog, segment_size

from .conftest import LAUNCHER

KIB = 1024


class Clock:
    """A clock that goes when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Log:
    """A rank log in a folder, with the drops it reported."""

    def __init__(self, folder: Path, limit: int = 2**31) -> None:
        self.folder = folder
        self.clock = Clock()
        self.drops: list[Drop] = []
        self.log = RankLog(str(folder), limit, self.clock, self.drops.append)

    def add(self, data: bytes, stream: str = "stdout", nanoseconds: int = 1) -> None:
        self.log.append(stream, memoryview(data), nanoseconds)

    def segments(self, stream: str = "stdout") -> dict[int, bytes]:
        return {int(p.name.split(".")[1]): p.read_bytes() for p in sorted(self.folder.glob(f"{stream}.*.log"))}

    def records(self, start: int = 0, stream: str = "stdout") -> list[tuple[int, int]]:
        content = (self.folder / f"{stream}.{start:020d}.idx").read_bytes()
        return [(offset, when) for offset, when in struct.iter_unpack("<QQ", content)]

    def covers(self, data: bytes, stream: str = "stdout") -> bool:
        """Every kept byte is the right one, and every other byte is in exactly one drop."""
        owner = [0] * len(data)
        for start, content in self.segments(stream).items():
            assert data[start : start + len(content)] == content
            for at in range(start, start + len(content)):
                owner[at] += 1
        for drop in self.drops:
            if drop.stream == stream:
                for at in range(drop.start, drop.end):
                    owner[at] += 1
        return set(owner) == {1}


def test_bytes_and_times_of_chunks_are_kept(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.add(b"first\n", nanoseconds=11)
    log.add(b"\xff\x00\r", nanoseconds=22)
    log.add(b"err", "stderr", 33)
    log.log.close()
    assert log.segments() == {0: b"first\n\xff\x00\r"}
    assert log.records() == [(0, 11), (6, 22)]
    assert (log.segments("stderr"), log.records(0, "stderr")) == ({0: b"err"}, [(0, 33)])
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("limit", "size"), [(0, 64 * KIB), (2**20, 64 * KIB), (2**26, 2**21), (2**31, 2**24), (2**40, 2**24)]
)
def test_segments_are_a_part_of_the_limit(limit: int, size: int) -> None:
    assert segment_size(limit) == size


def test_the_first_segment_and_the_newest_stay_under_the_limit(tmp_path: Path) -> None:
    log = Log(tmp_path, limit=256 * KIB)
    data = os.urandom(1024 * KIB + 17)
    for at in range(0, len(data), 10_000):
        log.add(data[at : at + 10_000])
    kept = log.segments()
    assert min(kept) == 0
    assert max(start + len(content) for start, content in kept.items()) == len(data)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 256 * KIB
    assert {drop.reason for drop in log.drops} == {"limit"}
    assert log.covers(data)


def test_both_streams_share_the_limit_and_keep_their_first(tmp_path: Path) -> None:
    log = Log(tmp_path, limit=512 * KIB)
    log.add(b"the beginning\n", "stderr")
    data = os.urandom(2048 * KIB)
    log.add(data)
    assert log.segments("stderr") == {0: b"the beginning\n"}
    assert log.covers(data)


def test_tiny_chunks_are_counted_with_their_index(tmp_path: Path) -> None:
    log = Log(tmp_path, limit=256 * KIB)
    for _ in range(40_000):
        log.add(b"x")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 256 * KIB
    assert log.covers(b"x" * 40_000)


def test_a_second_attempt_continues_after_the_last_byte(tmp_path: Path) -> None:
    first = Log(tmp_path)
    first.add(b"one\n")
    second = Log(tmp_path)  # the first was never closed: its launcher was killed
    second.add(b"two\n", nanoseconds=2)
    assert second.segments() == {0: b"one\n", 4: b"two\n"}
    assert second.records(4) == [(4, 2)]


def test_an_attempt_that_wrote_nothing_leaves_no_trace_in_the_next(tmp_path: Path) -> None:
    (tmp_path / f"stdout.{0:020d}.log").touch()
    (tmp_path / f"stdout.{0:020d}.idx").write_bytes(b"torn rec")
    log = Log(tmp_path)
    log.add(b"x", nanoseconds=5)
    assert (log.segments(), log.records()) == ({0: b"x"}, [(0, 5)])


def test_a_full_disk_drops_honestly_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    log = Log(small_disk)
    data = os.urandom(1024 * KIB)
    for at in range(0, 512 * KIB, 32 * KIB):
        log.add(data[at : at + 32 * KIB])
    assert log.drops
    assert log.drops[-1].end == 512 * KIB
    for path in small_disk.glob("stdout.*.idx"):
        path.write_bytes(b"")  # somebody makes room
    for path in small_disk.glob("stdout.*.log"):
        os.truncate(path, 4 * KIB)
    log.clock.now += 2
    log.add(b"after")
    assert log.segments()[512 * KIB] == b"after"
    assert log.drops[-1].end == 512 * KIB


def test_while_blocked_nothing_is_tried_and_everything_counted(small_disk: Path) -> None:
    log = Log(small_disk)
    log.add(os.urandom(512 * KIB))
    before = sorted(small_disk.iterdir())
    log.add(b"lost")
    assert sorted(small_disk.iterdir()) == before
    assert (log.drops[-1].end - log.drops[-1].start, log.drops[-1].end) == (4, 512 * KIB + 4)


def test_a_folder_that_vanished_never_raises(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    os.rename(tmp_path / "log", tmp_path / "elsewhere")
    log.add(b"x" * 100)
    assert log.drops == [Drop("stdout", 0, 100, "write-error: No such file or directory")]


@pytest.mark.parametrize("name", ["segments.py", "podenv.py", "substitution.py", "environment.py"])
def test_pure_parts_import_without_the_rest(name: str) -> None:
    """The layers above import these; they must not pull in the loop, sockets or ctypes."""
    heavy = {"selectors", "socket", "ctypes", "subprocess"}
    code = f"import sys, jupyter_aiarts.launcher.{name[:-3]}; print({heavy} & set(sys.modules))"
    said = subprocess.check_output([sys.executable, "-S", "-c", code], cwd=LAUNCHER.parents[1])
    assert said.strip() == b"set()"
