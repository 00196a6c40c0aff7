"""What a rank takes is counted with all it started, and by the second; what nobody tells is unknown."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.tree import table
from jupyter_aiarts.launcher.usage.rankuse import RankUse

MEGABYTE = 1 << 20
WRITER = """
import os, subprocess, sys
def write(path):
    with open(path, "wb") as file:
        file.write(os.urandom(4 << 20))
        os.fsync(file.fileno())
if len(sys.argv) > 2:
    write(sys.argv[1] + "/below")
    sys.exit()
subprocess.run([sys.executable, __file__, sys.argv[1], "below"], check=True)
for _ in sys.stdin:
    write(sys.argv[1] + "/own")
    print("written", flush=True)
"""


class Writer:
    """A process that wrote 4 MB to a disk by one that it started and that has ended, and writes as many when asked."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid

    def write(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == b"written\n"


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    if "tmpfs" in subprocess.check_output(["stat", "-f", "-c", "%T", str(tmp_path)], text=True):
        pytest.skip("nothing here is written to a disk")
    script = tmp_path / "writer.py"
    script.write_text(WRITER)
    words = [sys.executable, str(script), str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Writer(process)
        process.kill()


def last(use: RankUse, name: str) -> float | None:
    return use.ledger.gauges[0][name].last


def test_bytes_to_disks_count_with_those_of_what_it_started_and_only_once(writer: Writer) -> None:
    use = RankUse()
    use.begin(100.0)
    writer.write()
    use.look({0: writer.pid}, table(), 102.0, 1.0)
    written = last(use, "written")
    assert written is not None and 4 * MEGABYTE <= written < 6 * MEGABYTE  # 8 MB in two seconds
    use.look({0: writer.pid}, table(), 112.0, 2.0)
    assert last(use, "written") == 0


def test_bytes_that_one_of_its_processes_does_not_tell_are_unknown_and_counted_at_the_next_look(writer: Writer) -> None:
    use = RankUse()
    use.begin(0.0)
    writer.write()
    use.look({0: writer.pid}, table(), 10.0, 1.0)
    writer.write()
    processes = table()
    gone = processes[writer.pid]._replace(pid=2**22 + 1, parent=writer.pid)  # ended since the table was read
    use.look({0: writer.pid}, {**processes, gone.pid: gone}, 20.0, 2.0)
    assert (last(use, "read"), last(use, "written")) == (None, None)
    assert last(use, "memory") is not None
    use.look({0: writer.pid}, table(), 30.0, 3.0)
    written = last(use, "written")
    assert written is not None and 4 * MEGABYTE - 20 <= written * 20 < 6 * MEGABYTE  # since they were last told
