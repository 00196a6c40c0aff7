"""What takes the room below a folder: a real process over real files, within its limits."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts import filling
from jupyter_aiarts.devices import counting
from jupyter_aiarts.errors import AiartsError, BadRequest, NotFound, Unavailable
from jupyter_aiarts.explain.problems import refusal
from jupyter_aiarts.filling import Filler

MB = 1 << 20


def counted(folder: Path, seconds: float = 20) -> dict[str, Any]:
    out = subprocess.check_output([sys.executable, "-I", "-S", counting.__file__, str(folder), str(seconds)])
    return dict(json.loads(out))


def write(path: Path, size: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(size))
    return path


def test_the_largest_come_first_with_all_that_is_below_them(tmp_path: Path) -> None:
    write(tmp_path / "data/deep/er/a.bin", 3 * MB)
    write(tmp_path / "data/b.bin", MB)
    write(tmp_path / "one.bin", 2 * MB)
    page = counted(tmp_path)
    assert [(one["name"], one["files"], one["folder"]) for one in page["takers"]] == [
        ("data", 2, True),
        ("one.bin", 1, False),
    ]
    assert page["takers"][0]["bytes"] >= 4 * MB and page["files"] == 3
    assert page["bytes"] == sum(one["bytes"] for one in page["takers"]) and page["complete"] is True


def test_links_are_not_followed_and_a_file_with_two_names_is_counted_once(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside/big.bin", 8 * MB)
    folder = tmp_path / "inside"
    first = write(folder / "a/first.bin", 2 * MB)
    (folder / "b").mkdir()
    os.link(first, folder / "b/second.bin")
    (folder / "link").symlink_to(outside.parent)
    (folder / "a/loop").symlink_to(folder)
    page = counted(folder)
    assert 2 * MB <= page["bytes"] < 3 * MB


def test_a_hole_in_a_file_takes_no_room(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert counted(tmp_path)["bytes"] < MB


def test_names_of_any_bytes_travel(tmp_path: Path) -> None:
    for name in (b"\xff\xfe", "训练".encode(), b"<b>\n"):
        write(Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))), 10)
    assert {one["name"] for one in counted(tmp_path)["takers"]} == {"\ufffd\ufffd", "训练", "<b>\n"}


def test_many_are_told_together(tmp_path: Path) -> None:
    for number in range(40):
        write(tmp_path / f"{number:02}", 5000)
    page = counted(tmp_path)
    assert len(page["takers"]) == 30 and page["others"] > 0
    assert page["bytes"] == page["others"] + sum(one["bytes"] for one in page["takers"])


def test_a_flat_folder_of_very_many_files_is_never_all_in_memory(tmp_path: Path) -> None:
    for number in range(4000):
        (tmp_path / f"{number:04}").write_bytes(b"x" * (8192 if number % 1000 == 7 else 1))
    count = counting.Count(str(tmp_path), 20)
    tracemalloc.start()
    try:
        count.run()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    told = count.told()
    assert most < 200_000, "a fraction of what four thousand entries take"
    assert [one["name"] for one in told["takers"][:5]] == ["0007", "1007", "2007", "3007", "0000"]
    assert (told["files"], len(told["takers"]), told["complete"]) == (4000, 30, True)
    assert told["bytes"] == told["others"] + sum(one["bytes"] for one in told["takers"])


def test_when_the_time_is_over_in_a_flat_folder_what_was_counted_is_told(tmp_path: Path) -> None:
    for number in range(300):
        write(tmp_path / str(number), 1)
    page = counted(tmp_path, seconds=0)
    assert page["complete"] is False and 0 < page["files"] < 300


def test_when_the_time_is_over_what_was_counted_is_told(tmp_path: Path) -> None:
    for number in range(300):
        write(tmp_path / "many" / str(number), 1)
    page = counted(tmp_path, seconds=0)
    assert page["complete"] is False and page["files"] < 300


async def test_what_cannot_be_counted_says_why(tmp_path: Path) -> None:
    filler = Filler()
    with pytest.raises(NotFound, match="There is no"):
        await filler.count(str(tmp_path / "missing"))
    with pytest.raises(BadRequest, match="no folder"):
        await filler.count(str(write(tmp_path / "file", 1)))
    with pytest.raises(BadRequest, match="no absolute path"):
        await filler.count("relative")
    with pytest.raises(BadRequest, match="no absolute path"):
        await filler.count("/a\0b")


async def test_what_cannot_be_counted_says_why_in_chinese_too(tmp_path: Path) -> None:
    said = []
    for folder in ("relative", str(tmp_path / "missing"), str(write(tmp_path / "file", 1))):
        with pytest.raises(AiartsError) as caught:
            await Filler().count(folder)
        said.append(refusal(caught.value, "zh")["message"])
    assert said == ["'relative' 不是绝对路径", f"{tmp_path}/missing 不存在", f"{tmp_path}/file 不是文件夹"]


ASKS = """
import asyncio, sys
from jupyter_aiarts.errors import NotAllowed
from jupyter_aiarts.filling import Filler
try:
    asyncio.run(Filler().count(sys.argv[1]))
except NotAllowed as error:
    print(error)
"""
AS_OTHERS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Root that may read no more than its own, as in many a container."""


def test_a_folder_that_may_not_be_read_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    before = AS_OTHERS if os.geteuid() == 0 else []
    words = [*before, sys.executable, "-c", ASKS, str(tmp_path / "closed")]
    said = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout.startswith(f"{tmp_path}/closed may not be read by the user of this server")


HANGS = """
import os, sys, time
with open(sys.argv[1] + "/pid.new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + "/pid.new", sys.argv[1] + "/pid")
time.sleep(600)
"""


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A disk that does not answer: stands for it a counter that waits, and says who it is."""
    (tmp_path / "counting.py").write_text(HANGS)
    monkeypatch.setattr(counting, "__file__", str(tmp_path / "counting.py"))
    return tmp_path


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.subprocess.Process]:
    """The programs that were started. Whoever waits for their end leaves none to the closing loop."""
    started, start = [], asyncio.create_subprocess_exec

    async def kept(*words: Any, **more: Any) -> asyncio.subprocess.Process:
        started.append(await start(*words, **more))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", kept)
    return started


async def test_a_disk_that_hangs_is_said_to_and_left(
    hanging: Path, children: list[asyncio.subprocess.Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "PATIENCE", 2.0)
    with pytest.raises(Unavailable, match="does not answer"):
        await Filler().count(str(hanging), 1)
    [child] = children
    assert await asyncio.wait_for(child.wait(), 10) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("deed", "how"), [("os.kill(os.getpid(), 9)", "SIGKILL"), ("raise MemoryError", "exit code 1")]
)
async def test_a_count_that_was_ended_is_told_as_that_and_not_as_a_folder_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str, how: str
) -> None:
    (tmp_path / "counting.py").write_text(f"import os\n{deed}\n")
    monkeypatch.setattr(counting, "__file__", str(tmp_path / "counting.py"))
    with pytest.raises(Unavailable) as caught:
        await Filler().count(str(tmp_path))
    assert str(caught.value) == f"The count of {tmp_path} was ended ({how})"
    assert refusal(caught.value, "zh")["message"] == f"统计 {tmp_path} 的进程被终止（{how}）"


async def test_whoever_goes_ends_the_count(hanging: Path, children: list[asyncio.subprocess.Process]) -> None:
    task = asyncio.create_task(Filler().count(str(hanging)))
    while not (hanging / "pid").exists() or not (hanging / "pid").read_text():
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [child] = children
    assert await asyncio.wait_for(child.wait(), 10) == -signal.SIGKILL


def test_folders_without_a_file_are_no_way_around_the_limit_of_time(tmp_path: Path) -> None:
    """Many of them, or few on a disk that is slow: the time is looked at before each one."""
    (tmp_path / "deep/deeper/deepest").mkdir(parents=True)
    count = counting.Count(str(tmp_path), -1)
    count.run()
    assert count.complete is False and [one["name"] for one in count.told()["takers"]] == ["deep"]
