"""Everything ranks write is kept: long lines, binary garbage, progress bars, many ranks at once."""

import os
import struct
import subprocess
from pathlib import Path

from .conftest import Run


def test_a_line_of_a_megabyte(run: Run) -> None:
    assert run.script("print('x' * 2**20); print('end')").go() == 0
    assert run.log() == b"x" * 2**20 + b"\nend\n"


def test_binary_garbage(run: Run) -> None:
    garbage = os.urandom(300_000)
    (run.folder / "garbage").write_bytes(garbage)
    assert run.shell("cat garbage; exit 1").go() == 1
    assert run.log() == garbage
    assert all(len(line) <= 500 for line in run.summary["first_failure"]["last_lines"])


def test_a_progress_bar(run: Run) -> None:
    assert run.shell("for i in 1 2 3; do printf '\\r%s0%%' $i >&2; done; exit 1").go() == 1
    assert run.log(stream="stderr") == b"\r10%\r20%\r30%"
    assert run.summary["first_failure"]["last_lines"] == ["30%"]


def test_output_appears_while_the_rank_runs(run: Run) -> None:
    run.script("print('first'); import time; time.sleep(300)").start()
    run.until_logged(b"first\n")


def test_the_index_covers_every_byte_with_rising_times(run: Run) -> None:
    assert run.shell("for i in 1 2 3 4 5; do echo $i; sleep 0.03; done").go() == 0
    content = next((run.folder / "node-0/log/0").glob("stdout.*.idx")).read_bytes()
    records = list(struct.iter_unpack("<QQ", content))
    assert records[0][0] == 0
    assert records == sorted(records)
    assert len(records) >= 3


def test_many_ranks_that_flush_every_line_lose_nothing(run: Run) -> None:
    text = "import sys\nfor i in range(3000): print(f'{i:06d}', 'x' * 72, flush=True)"
    assert run.script(text, cards=8, processes="card").go() == 0
    wanted = b"".join(b"%06d %s\n" % (number, b"x" * 72) for number in range(3000))
    for rank in range(8):
        assert run.log(rank) == wanted


def test_the_limit_is_kept_and_drops_are_said(run: Run) -> None:
    assert run.script("for i in range(40_000): print(f'{i:079d}')", log_limit_bytes=512 * 1024).go() == 0
    folder = run.folder / "node-0/log/0"
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 512 * 1024
    drops = run.status()["drops"]
    assert [(drop["rank"], drop["stream"], drop["reason"]) for drop in drops] == [(0, "stdout", "limit")]
    starts = {int(path.name.split(".")[1]): path.stat().st_size for path in folder.glob("stdout.*.log")}
    assert starts[0] == drops[0]["from"]
    assert drops[0]["to"] in starts
    assert run.log().endswith(b"%079d\n" % 39_999)


def test_a_disk_that_fills_up_never_stops_the_rank(run: Run, small_disk: Path) -> None:
    """The node's folder is on a disk of 1 MiB; the run's own is not."""
    run.script("for i in range(40_000): print(f'{i:079d}')\nopen('finished', 'w')")
    (run.folder / "node-0").symlink_to(small_disk)
    assert run.go() == 0
    assert (run.folder / "finished").exists()
    lost = sum(drop["to"] - drop["from"] for drop in run.status()["drops"])
    assert lost > 0
    assert len(run.log()) + lost == 40_000 * 80


def test_a_disk_that_is_full_from_the_start_is_a_problem(run: Run, real_small_disk: Path) -> None:
    with open(real_small_disk / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 4096):
                pass
        except OSError:
            pass
    (run.folder / "node-0").symlink_to(real_small_disk)
    assert run.shell("echo ran").start(stderr=subprocess.DEVNULL).wait(20) == 1
    assert run.summary["problem"]["code"] == "disk-full"
