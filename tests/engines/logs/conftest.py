"""A log written byte by byte as the format says, and what a reader must make of it."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

START = 1_800_000_000_000_000_000


class LogFolder:
    """Writes segments; remembers nothing but the files, so tests can also break them."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.now = START
        self.ends: dict[tuple[int, str], int] = {}
        self.segments: dict[tuple[int, str], int] = {}

    def rank(self, rank: int, node: int = 0) -> Path:
        """The folder of a rank's log."""
        folder = self.run / f"node-{node}" / "log" / str(rank)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def write(self, data: bytes, rank: int = 0, stream: str = "stdout", *, node: int = 0, after: int = 1000) -> int:
        """One chunk, `after` ns later than the one before; the index first, as the launcher does."""
        self.now += after
        end = self.ends.get((rank, stream), 0)
        start = self.segments.setdefault((rank, stream), end)
        path = self.rank(rank, node) / f"{stream}.{start:020d}"
        with path.with_suffix(path.suffix + ".idx").open("ab") as index:
            index.write(struct.pack("<QQ", end, self.now))
        with path.with_suffix(path.suffix + ".log").open("ab") as log:
            log.write(data)
        self.ends[rank, stream] = end + len(data)
        return self.now

    def tick(self) -> int:
        """A clock for the reader: every look is later than what was written before it."""
        self.now += 1
        return self.now - 1

    def cut(self, rank: int = 0, stream: str = "stdout", dropped: int = 0) -> None:
        """The next chunk begins a new segment, after `dropped` lost bytes."""
        self.ends[rank, stream] = self.ends.get((rank, stream), 0) + dropped
        self.segments.pop((rank, stream), None)

    def status(self, node: int, drops: list[dict[str, object]]) -> None:
        """What the launcher says about lost bytes."""
        (self.run / f"node-{node}").mkdir(parents=True, exist_ok=True)
        (self.run / f"node-{node}" / "status.json").write_text(json.dumps({"schema": 1, "drops": drops}))


@pytest.fixture
def log_folder(tmp_path: Path) -> LogFolder:
    """An empty run's folder."""
    return LogFolder(tmp_path)


@pytest.fixture
def bytes_read() -> Callable[[], int]:
    """How many bytes this process has asked the kernel for so far."""

    def count() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    return count
