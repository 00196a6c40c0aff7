"""What a reader of the port gets is what the ranks wrote, whenever it comes, goes and comes again."""

import contextlib
import random
import struct
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.logstream import log_id

from .conftest import wait_until
from .pods import Pods
from .reader import Reader

NOISE = """
import os, random, sys, time
random.seed(int(os.environ["RANK"]))
for number in range({count}):
    stream = random.choice([1, 1, 1, 2])
    data = os.urandom(random.choice([1, 3, 80, 80, 4000, 70_000]))
    view = memoryview(data)
    while view:
        view = view[os.write(stream, view):]
    if random.random() < 0.3:
        time.sleep(random.random() / 100)
open("written", "w").close()
while not os.path.exists("go"):
    time.sleep(0.02)
"""


def index_of(folder: Path, stream: str) -> list[tuple[int, int]]:
    """All index records of a stream."""
    content = [path.read_bytes() for path in sorted(folder.glob(f"{stream}.*.idx"))]
    return [record for part in content for record in struct.iter_unpack("<QQ", part)]


def check_times(reader: Reader, pods: Pods, rank: int) -> None:
    """Every byte that was read has the time that the index gives it."""
    for stream in ("stdout", "stderr"):
        records = index_of(pods.roots[0] / f"aiarts/run/node-0/log/{rank}", stream)
        starts = dict(records)
        ordered = sorted(starts)
        for at, size, t in reader.times.get(f"{rank}.{stream}", []):
            chunk = max(offset for offset in ordered if offset <= at)
            assert starts[chunk] == t
            assert not any(at < offset < at + size for offset in ordered[ordered.index(chunk) :][:3])


def check_bytes(reader: Reader, pods: Pods, rank: int = 0) -> None:
    for stream in ("stdout", "stderr"):
        assert bytes(reader.bytes.get(f"{rank}.{stream}", b"")) == pods.log(rank, stream)


@pytest.mark.parametrize("seed", range(3))
def test_a_reader_that_goes_and_comes_again_misses_nothing(pods: Pods, seed: int) -> None:
    pods.script(NOISE.format(count=300), log_limit_bytes=64 * 1024 * 1024).start()
    wait_until(lambda: pods.status() is not None)
    chance = random.Random(seed)
    reader = Reader(pods.ports[0])
    while not (pods.folder / "written").exists():
        with reader.connect(chance.choice([0, 4096])) as connection:
            connection.settimeout(0.2)
            for _ in range(chance.choice([0, 1, 3, 50])):
                try:
                    reader.take(connection.recv(chance.choice([1, 100, 65536])))
                except TimeoutError:
                    break  # it has all there is
    finish(reader, pods)
    check_bytes(reader, pods)
    check_times(reader, pods, 0)


def finish(reader: Reader, pods: Pods) -> None:
    """Let the ranks end while somebody reads."""
    with reader.connect() as connection:
        (pods.folder / "go").touch()
        reader.read_on(connection)
    assert pods.wait() == 0
    assert reader.types()[-1] == "end"


def test_many_ranks_and_many_segments(pods: Pods) -> None:
    pods.script(NOISE.format(count=150), cards=4, processes="card", log_limit_bytes=8 * 1024 * 1024).start()
    wait_until(lambda: pods.status() is not None)
    reader = Reader(pods.ports[0])
    finish(reader, pods)
    for rank in range(4):
        check_bytes(reader, pods, rank)
        check_times(reader, pods, rank)
    assert len(list((pods.roots[0] / "aiarts/run/node-0/log/0").glob("stdout.*.log"))) > 1


def test_history_comes_in_the_order_of_its_times(pods: Pods) -> None:
    pods.shell("for i in 1 2 3 4 5; do echo $i; echo $i >&2; sleep 0.03; done; touch written; sleep 300").start()
    wait_until(lambda: (pods.folder / "written").exists())
    reader = Reader(pods.ports[0]).read_until("caught-up")
    times = [frame["t"] for frame in reader.frames if "type" not in frame]
    assert times == sorted(times)
    assert len(times) >= 6


def test_what_is_written_is_sent_soon_and_said_to_be_all(pods: Pods) -> None:
    pods.shell("echo one; until [ -e go ]; do sleep 0.02; done; echo two; sleep 300").start()
    wait_until(lambda: pods.log())
    reader = Reader(pods.ports[0])
    with reader.connect() as connection:
        while "caught-up" not in reader.types():
            reader.take(connection.recv(65536))
        assert bytes(reader.bytes["0.stdout"]) == b"one\n"
        seen = reader.types().count("caught-up")
        (pods.folder / "go").touch()
        while reader.types().count("caught-up") == seen:
            reader.take(connection.recv(65536))
        assert bytes(reader.bytes["0.stdout"]) == b"one\ntwo\n"


def test_a_stream_begins_with_the_log_the_status_and_the_environment(pods: Pods) -> None:
    pods.shell("sleep 300", env={"COLOUR": "red"}).start()
    wait_until(lambda: pods.phase() == "running")
    reader = Reader(pods.ports[0]).read_until("caught-up")
    assert reader.types()[:3] == ["log", "status", "environment"]
    assert reader.frames[1]["phase"] == "running"
    assert (reader.frames[2]["rank"], reader.frames[2]["variables"]["COLOUR"]) == (0, "red")


def test_a_change_of_status_is_sent(pods: Pods) -> None:
    pods.plan(nodes=2).shell("true").start(0)
    wait_until(lambda: pods.phase() == "meeting")
    reader = Reader(pods.ports[0])
    with reader.connect() as connection:
        pods.start(1)
        reader.read_on(connection)
    phases = [frame["phase"] for frame in reader.frames if frame.get("type") == "status"]
    assert phases[0] == "meeting"
    assert phases[-1] == "ended"
    assert "running" in phases


def test_a_slow_reader_holds_up_neither_ranks_nor_other_readers(pods: Pods) -> None:
    line = "import sys, time\nfor i in range(40): print('x' * 1_000_000)\nopen('written', 'w').close(); time.sleep(300)"
    pods.script(line).start()
    wait_until(lambda: pods.status() is not None)
    slow, fast = Reader(pods.ports[0]), Reader(pods.ports[0])
    with slow.connect(receive_buffer=4096), fast.connect() as quick:
        wait_until(lambda: (pods.folder / "written").exists())
        while len(fast.bytes.get("0.stdout", b"")) < 40 * 1_000_001:
            fast.take(quick.recv(1 << 20))
    resident = int(Path(f"/proc/{pods.launchers[0].pid}/statm").read_text().split()[1]) * 4096
    assert resident < 60_000_000


def test_what_the_limit_removed_is_said(pods: Pods) -> None:
    text = "import time\nfor i in range(60_000): print(f'{i:079d}')\nopen('written', 'w').close(); time.sleep(300)"
    pods.script(text, log_limit_bytes=512 * 1024).start()
    wait_until(lambda: (pods.folder / "written").exists())
    reader = Gappy(pods.ports[0])
    with reader.connect() as connection:
        while reader.position("0.stdout") < 60_000 * 80:
            reader.take(connection.recv(1 << 20))
    assert {drop["reason"] for drop in reader.drops} == {"limit"}


class Gappy(Reader):
    """A reader that counts dropped bytes as read."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.drops: list[dict[str, object]] = []

    def take(self, data: bytes) -> None:
        self._rest += data
        for head, octets in self._whole():
            self.frames.append(head)
            key = f"{head.get('rank')}.{head.get('stream')}"
            kept = self.bytes.setdefault(key, bytearray()) if "rank" in head and "variables" not in head else None
            if head.get("type") == "drop" and kept is not None:
                assert head["from"] == len(kept)
                kept.extend(b"\0" * (head["to"] - head["from"]))
                self.drops.append(head)
            elif "type" not in head and kept is not None:
                assert head["at"] == len(kept)
                kept += octets

    def position(self, key: str) -> int:
        """How far it is."""
        return len(self.bytes.get(key, b""))


def test_a_reader_that_falls_behind_the_limit_goes_on_after_the_gap(pods: Pods) -> None:
    text = """
import os, time
print("x" * 10_000, flush=True)
while not os.path.exists("go"): time.sleep(0.02)
for i in range(90_000): print(f'{i:079d}')
open("written", "w").close()
"""
    pods.script(text, log_limit_bytes=512 * 1024).start()
    wait_until(lambda: pods.log())
    reader = Gappy(pods.ports[0])
    with reader.connect(receive_buffer=4096) as connection:
        (pods.folder / "go").touch()
        wait_until((pods.folder / "written").exists)  # more than all that the connection takes on its way
        reader.read_on(connection)
    assert pods.wait() == 0
    assert reader.position("0.stdout") == 10_001 + 90_000 * 80
    assert reader.drops
    assert reader.types()[-1] == "end"


def test_a_full_disk_is_said_even_at_the_very_end(pods: Pods, real_small_disk: Path) -> None:
    text = (
        "import os, time\nfor i in range(40_000): print(f'{i:079d}')\nwhile not os.path.exists('go'): time.sleep(0.02)"
    )
    pods.script(text)
    pods.make()
    folder = pods.roots[0] / "aiarts/run/node-0"
    folder.parent.mkdir(exist_ok=True)
    folder.symlink_to(real_small_disk)
    assert pods.prepare() == 0
    pods.enter()
    wait_until(lambda: pods.phase() is not None)
    reader = Gappy(pods.ports[0])
    with reader.connect() as connection:
        (pods.folder / "go").touch()
        reader.read_on(connection)
    assert pods.wait() == 0
    assert reader.position("0.stdout") == 40_000 * 80
    assert {drop["reason"] for drop in reader.drops} == {"disk-full"}


def test_a_disk_that_is_full_before_the_port_opens_does_not_close_it(real_small_disk: Path) -> None:
    name = log_id(str(real_small_disk))
    assert len(name) == 16
    assert log_id(str(real_small_disk)) == name
    (real_small_disk / "log.id").unlink()
    with contextlib.suppress(OSError), open(real_small_disk / "rest", "wb", buffering=0) as rest:
        while rest.write(b"x" * 4096):
            pass
    assert len(log_id(str(real_small_disk))) == 16


def test_positions_of_another_pods_log_do_not_count(pods: Pods) -> None:
    pods.shell("echo hello; until [ -e go ]; do sleep 0.05; done")
    pods.start()
    wait_until(lambda: pods.log())
    reader = Reader(pods.ports[0]).read_until("caught-up")
    pods.launchers[0].terminate()
    assert pods.wait() == 75
    pods.start()
    wait_until(lambda: pods.log())
    first = reader.log_id
    with reader.connect() as connection:  # with its positions, which are another log's
        reader.bytes.clear()
        reader.frames.clear()
        while "caught-up" not in reader.types():
            reader.take(connection.recv(65536))
    assert reader.log_id not in (None, first)
    assert bytes(reader.bytes["0.stdout"]) == b"hello\n"


def test_a_log_on_a_lasting_mount_goes_on_where_it_was(pods: Pods) -> None:
    lasting = pods.folder / "mount/run-1"
    pods.shell("echo hello; until [ -e go ]; do sleep 0.05; done", folder=str(lasting))
    log = lasting / "node-0/log/0/stdout.00000000000000000000.log"
    pods.start()
    wait_until(lambda: log.exists() and log.read_bytes())
    reader = Reader(pods.ports[0]).read_until("caught-up")
    first = reader.log_id
    pods.launchers[0].terminate()
    assert pods.wait() == 75
    pods.start()
    wait_until(lambda: len(list(log.parent.glob("stdout.*.log"))) == 2)
    reader.read_until("caught-up")
    assert reader.log_id == first
    wait_until(lambda: bytes(reader.read_until("caught-up").bytes["0.stdout"]) == b"hello\nhello\n")
    (pods.folder / "go").touch()
    assert pods.wait() == 0


def test_a_position_beyond_the_end_is_answered_when_bytes_come_there(pods: Pods) -> None:
    pods.shell("printf 0123; until [ -e go ]; do sleep 0.02; done; printf 456789; sleep 300").start()
    wait_until(lambda: pods.log())
    reader = Reader(pods.ports[0])
    reader.bytes["0.stdout"] = bytearray(b"012345")
    with reader.connect() as connection:
        while "caught-up" not in reader.types():
            reader.take(connection.recv(65536))
        (pods.folder / "go").touch()
        while len(reader.bytes["0.stdout"]) < 10:
            reader.take(connection.recv(65536))
    assert bytes(reader.bytes["0.stdout"]) == b"0123456789"


def test_who_leaves_tells_its_readers_the_end(pods: Pods) -> None:
    pods.shell("trap 'echo last words; exit 0' TERM; echo first; while :; do sleep 0.05; done", grace_seconds=5).start()
    wait_until(lambda: pods.log())
    reader = Reader(pods.ports[0])
    with reader.connect() as connection:
        pods.launchers[0].terminate()
        reader.read_on(connection)
    assert pods.wait() == 75
    assert bytes(reader.bytes["0.stdout"]) == b"first\nlast words\n"
    assert reader.types()[-1] == "end"
