"""`kubectl logs` shows what the ranks write, and never costs them anything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import LAUNCHER, wait_until
from .pods import Pods

PATIENT = f"""
import sys
sys.path.insert(0, {str(LAUNCHER.parent)!r})
from launcher import console, init, pod, stage
console.PATIENCE_SECONDS = stage.CONSOLE_SECONDS = 60.0
sys.exit({{"pod": pod.main, "prepare": init.main}}[sys.argv[1]](sys.argv[1:]))
"""


def run_through(pods: Pods) -> tuple[bytes, bytes]:
    """The container's own output, read as fast as it comes; what is left out for a slow reader has tests of its own."""
    pods.command = [sys.executable, "-c", PATIENT]
    launcher = pods.start(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = launcher.communicate(timeout=60)
    return out, err


def test_one_rank_is_shown_byte_for_byte(pods: Pods) -> None:
    (pods.folder / "garbage").write_bytes(os.urandom(300_000))
    pods.shell("cat garbage; printf 'no newline'; echo error >&2")
    out, err = run_through(pods)
    assert out == (pods.folder / "garbage").read_bytes() + b"no newline"
    assert err == b"error\n"


def test_several_ranks_are_shown_line_by_line_with_their_number(pods: Pods) -> None:
    text = """
import sys, time, os
for i in range(200):
    sys.stdout.write(f"{i} begin "); sys.stdout.flush()
    if i % 50 == 0: time.sleep(0.01)
    sys.stdout.write("end\\n"); sys.stdout.flush()
sys.stderr.write("unfinished")
"""
    pods.script(text, cards=3, processes="card")
    out, err = run_through(pods)
    lines = out.decode().splitlines()
    for rank in range(3):
        assert [line for line in lines if line.startswith(f"[{rank}] ")] == [
            f"[{rank}] {number} begin end" for number in range(200)
        ]
    assert len(lines) == 600
    assert sorted(err.decode().splitlines()) == [f"[{rank}] unfinished" for rank in range(3)]


def test_a_very_long_line_of_several_ranks_does_not_wait_for_its_end(pods: Pods) -> None:
    pods.script("print('x' * 100_000, flush=True); print('after')", cards=2, processes="card")
    out, _ = run_through(pods)
    for rank in (0, 1):
        mine = [line[4:] for line in out.decode().splitlines() if line.startswith(f"[{rank}] ")]
        assert "".join(mine) == "x" * 100_000 + "after"


def test_fast_output_is_complete_when_it_is_read(pods: Pods) -> None:
    pods.script("for i in range(400_000): print(f'{i:079d}')")
    out, _ = run_through(pods)
    assert out == pods.log()
    assert len(out) == 400_000 * 80


def test_output_that_nobody_reads_holds_a_rank_up_for_a_moment_only(pods: Pods) -> None:
    text = """
import time
longest = 0.0
for i in range(200_000):
    before = time.monotonic()
    print(f'{i:079d}')
    longest = max(longest, time.monotonic() - before)
print(longest, file=open('longest', 'w'))
"""
    unread, end = os.pipe()
    pods.script(text).start(stdout=end)
    os.close(end)
    assert pods.wait() == 0
    os.close(unread)
    assert float((pods.folder / "longest").read_text()) < 4, "a second, and some for a busy machine"
    assert len(pods.log()) == 200_000 * 80


def test_what_was_left_out_is_said_when_somebody_reads_again(pods: Pods) -> None:
    text = """
import os, time
for i in range(100_000): print(f'{i:079d}', flush=i == 99_999)
open('written', 'w').close()
while not os.path.exists('go'): time.sleep(0.02)
print('after')
"""
    pods.script(text)
    launcher = pods.start(stdout=subprocess.PIPE)
    wait_until(lambda: (pods.folder / "written").exists())
    wait_until(lambda: pods.log().endswith(b"%079d\n" % 99_999))
    assert launcher.stdout is not None
    out = b""
    while b"left out" not in out:
        out += os.read(launcher.stdout.fileno(), 65536)
    (pods.folder / "go").touch()
    out += launcher.stdout.read()
    assert pods.wait() == 0
    before, _, after = out.partition(b"\n[aiarts] ")
    count = int(after.split()[0])
    assert pods.log().startswith(before)
    assert after.endswith(b"\nafter\n")
    assert len(before) + count + len(b"after\n") == len(pods.log())
    launcher.stdout.close()


@pytest.mark.parametrize("way", ["closed", "broken", "file"])
def test_any_kind_of_output_will_do(pods: Pods, way: str, tmp_path: Path) -> None:
    pods.script("for i in range(20_000): print(f'{i:079d}')")
    if way == "file":
        with open(tmp_path / "out", "wb") as file:
            pods.start(stdout=file)
    elif way == "broken":
        unread, end = os.pipe()
        os.close(unread)
        pods.start(stdout=end)
        os.close(end)
    else:
        pods.start(preexec_fn=lambda: os.close(1))
    assert pods.wait() == 0
    assert len(pods.log()) == 20_000 * 80
    if way == "file":
        assert (tmp_path / "out").read_bytes() == pods.log()


def test_why_nothing_ran_is_said_there(pods: Pods) -> None:
    pods.document["start"] = {"kind": "python", "path": "/nowhere/train.py", "line": None, "python": "python3"}
    _, err = run_through(pods)
    assert b"/nowhere/train.py" in err
    assert pods.wait() == 1
