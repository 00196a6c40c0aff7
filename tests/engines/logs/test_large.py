"""Large logs: a page costs what the page holds, not what the log holds."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_aiarts.engines.logs import LogQuery, open_log

SEGMENT = 16 * 1024 * 1024
LINE = 64
SEGMENTS = 64
PAGE = 1000
MOST = 20 * PAGE * LINE  # generous: blocks are read whole, and some for searching times


@pytest.fixture(scope="module")
def gigabyte(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One rank's 1 GiB: 64 segments which are names of one file, so that it takes 16 MiB of disk."""
    run = tmp_path_factory.mktemp("gigabyte")
    folder = run / "node-0" / "log" / "0"
    folder.mkdir(parents=True)
    content = run / "content"
    lines = (b"%062d.\n" % number for number in range(SEGMENT // LINE))
    content.write_bytes(b"".join(lines))
    for number in range(SEGMENTS):
        start = number * SEGMENT
        os.link(content, folder / f"stdout.{start:020d}.log")
        chunks = (struct.pack("<QQ", at, 10**18 + at) for at in range(start, start + SEGMENT, 4096))
        (folder / f"stdout.{start:020d}.idx").write_bytes(b"".join(chunks))
    return run


def test_pages_from_the_end_of_a_gigabyte_read_only_their_blocks(gigabyte: Path, bytes_read: Callable[[], int]) -> None:
    """The last page, and each of forty pages before it, over a segment's border and far inside."""
    log = open_log(gigabyte)
    before = bytes_read()
    page = log.lines(LogQuery(tail=PAGE))
    assert bytes_read() - before < MOST
    assert [int(line.text[:-1]) for line in page] == list(range(SEGMENT // LINE - PAGE, SEGMENT // LINE))
    for turn in range(1, 40):
        before = bytes_read()
        page = log.lines(LogQuery(before=page[0].seq, limit=PAGE))
        assert bytes_read() - before < MOST
        last = SEGMENT // LINE - turn * PAGE
        assert [int(line.text[:-1]) for line in page] == list(range(last - PAGE, last))


@pytest.mark.parametrize("place", [SEGMENT, 500 * 1024 * 1024 + 64, 1023 * 1024 * 1024])
def test_a_cursor_in_the_middle_of_a_gigabyte_is_found_by_halving(
    gigabyte: Path, bytes_read: Callable[[], int], place: int
) -> None:
    """Another stream's cursor: the place is found by time, in both directions."""
    log = open_log(gigabyte)
    seq = f"{10**18 + place:x}.7.1.0.0"
    before = bytes_read()
    earlier, later = log.lines(LogQuery(before=seq, limit=1)), log.lines(LogQuery(after=seq, limit=1))
    assert bytes_read() - before < MOST
    assert (int(later[0].text[:-1]) - int(earlier[0].text[:-1])) % (SEGMENT // LINE) == 1


def test_the_end_of_a_gigabyte_without_a_newline_is_read_in_pieces(
    tmp_path: Path, bytes_read: Callable[[], int]
) -> None:
    """A hole of 1 GiB is one endless line; its last pieces cost their own size."""
    folder = tmp_path / "node-0" / "log" / "0"
    folder.mkdir(parents=True)
    with (folder / f"stdout.{0:020d}.log").open("wb") as log:
        log.truncate(1 << 30)
        log.seek(1 << 30)
        log.write(b"end\nlast\n")
    before = bytes_read()
    lines = open_log(tmp_path).lines(LogQuery(tail=3))
    assert bytes_read() - before < 2 * 1024 * 1024
    assert [(line.text[-3:], line.more) for line in lines] == [
        ("\0\0\0", True),
        ("end", False),
        ("ast", False),
    ]


def test_sixty_four_ranks_are_read_with_few_files_open(log_folder, bytes_read: Callable[[], int]) -> None:
    """The last lines of 64 ranks with both streams; no descriptor stays open, no block too many is read."""
    for turn in range(3):
        for rank in range(64):
            for stream in ("stdout", "stderr"):
                log_folder.write(b"%d.%d %s\n" % (rank, turn, b"x" * 50_000), rank, stream, node=rank // 8)
    log = open_log(log_folder.run)
    descriptors = len(os.listdir("/proc/self/fd"))
    before = bytes_read()
    lines = log.lines(LogQuery(tail=128))
    assert bytes_read() - before < 128 * 256 * 1024
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert [(line.node, line.rank, line.text.split()[0]) for line in lines[::2]] == [
        (rank // 8, rank, f"{rank}.2") for rank in range(64)
    ]
