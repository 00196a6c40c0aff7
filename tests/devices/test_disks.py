"""How full disks are, of whatever is mounted; one that does not answer hides no other, and not the machine."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from jupyter_aiarts.devices import disks, lookout
from jupyter_aiarts.devices.disks import DiskProbe, Disks, mounted
from jupyter_aiarts.model.mounttable import read_table
from jupyter_aiarts.usage import UsageWatch

TABLE = r"""
22 27 0:21 / /proc rw - proc proc rw
24 27 0:6 / /dev/shm rw - tmpfs tmpfs rw
27 1 254:0 / / rw - overlay overlay rw
31 27 254:1 / /scratch rw - xfs /dev/nvme0n1 rw
32 27 0:40 /alice /home/alice rw - nfs4 filer:/home rw,addr=10.0.0.9
33 27 0:41 / /mnt/data\040sets rw - lustre 10.0.0.8@tcp:/fs rw
34 27 0:42 / /mnt/bucket rw - fuse.juicefs JuiceFS:one rw
35 27 0:43 / /var/lib/lxcfs rw - fuse.lxcfs lxcfs rw
36 27 254:1 /hosts /etc/hosts rw - ext4 /dev/nvme0n1 rw
37 27 254:1 /x /var/lib/kubelet/pods/x rw - ext4 /dev/nvme0n1 rw
38 27 7:1 / /snap/core rw - squashfs /dev/loop1 ro
39 27 254:1 /nvidia-smi /usr/bin/nvidia-smi ro - ext4 /dev/nvme0n1 rw
40 27 254:1 /libcuda.so /lib/x86_64-linux-gnu/libcuda.so ro - ext4 /dev/nvme0n1 rw
"""


def test_of_what_is_mounted_storage_is_known_and_the_network_comes_first() -> None:
    assert mounted(read_table(TABLE)) == ["/home/alice", "/mnt/data sets", "/mnt/bucket", "/scratch"]
    many = "".join(f"{n} 27 0:{n} / /mnt/{n} rw - nfs filer:/{n} rw\n" for n in range(1000))
    assert len(mounted(read_table(many))) == disks.MOST


def test_a_disk_is_as_full_as_statvfs_says_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    found = DiskProbe(str(tmp_path)).look()
    size = os.statvfs(tmp_path)
    assert found is not None and found[0] == tmp_path.stat().st_dev
    assert found[1].total <= size.f_blocks * size.f_frsize and 0 < found[1].used < found[1].total
    (tmp_path / "file").touch()
    assert [DiskProbe(path).look() for path in (str(tmp_path / "file"), "/nowhere/at/all", "/proc")] == [None] * 3


def test_a_folder_whose_name_is_no_utf8_is_asked_by_it_and_told_in_a_name_that_can_travel(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/donn\xe9es")
    os.mkdir(folder)
    table, told = tmp_path / "mountinfo", threading.Event()
    table.write_bytes(b"32 27 0:40 / %s rw - nfs4 filer:/one rw\n" % os.fsencode(folder))
    found = Disks([], told.set, table)
    found.ask()
    assert told.wait(10)
    [disk] = found.seen(60)
    assert disk.path == f"{tmp_path}/donn\ufffdes"
    assert [sentry.name for sentry in found.sentries] == [disk.path]
    assert msgspec.json.decode(msgspec.json.encode(disk))["path"] == disk.path
    found.close()


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder whose disk answers nobody, as that of an NFS server which is away: asking for it ends with the test."""
    path, over, really = str(tmp_path / "away"), threading.Event(), os.path.isdir
    monkeypatch.setattr(os.path, "isdir", lambda one: over.wait(60) if one == path else really(one))
    yield path
    over.set()


async def test_a_disk_that_does_not_answer_is_told_of_and_hides_nothing_else(
    stuck: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookout, "SILENT", 1.5)  # longer than what is well takes on a machine that is busy
    watch = UsageWatch([stuck, str(tmp_path), str(tmp_path / ".")])
    monkeypatch.setattr(lookout, "PATIENCE", 5.0)  # the first look waits for the disk so long, and for nobody longer
    seen = await asyncio.wait_for(watch.latest(), 30)
    assert seen.host.memory_total and seen.host.cpu is not None
    assert [disk.path for disk in seen.host.disks][:1] == [str(tmp_path)]
    while not (said := [one.code for one in seen.silent if one.probe == stuck]):  # others may be late, too
        await asyncio.sleep(0.05)
        seen = await watch.latest()
    assert said == ["probe-silent"]
    assert seen.host.disks and stuck not in {disk.path for disk in seen.host.disks}
    [problem] = json.loads(watch.said("zh") or b"")["problems"]
    assert problem["title"] == f"{stuck} 没有响应"
    await watch.aclose()


def test_disks_are_looked_at_every_ten_seconds_and_leave_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disks, "LINGER", 0.01)
    table, told = tmp_path / "mountinfo", threading.Event()
    table.write_text("")
    found = Disks([str(tmp_path)], told.set, table)
    found.ask()
    assert told.wait(10)
    first = [sentry.last for sentry in found.sentries]
    found.ask()  # at once again: what was seen is new enough
    assert [sentry.last for sentry in found.sentries] == first
    for thread in threading.enumerate():
        if thread.name == f"aiarts-{tmp_path}":
            thread.join(10)
            assert not thread.is_alive()
    found.close()


def test_what_is_unmounted_is_forgotten_and_what_is_mounted_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disks, "PERIOD", 0.0)
    table = tmp_path / "mountinfo"
    table.write_text("32 27 0:40 / /mnt/one rw - nfs4 filer:/one rw\n")
    found = Disks(["/"], lambda: None, table)
    found.ask()
    assert [sentry.name for sentry in found.sentries] == ["/", "/mnt/one"]
    table.write_text("32 27 0:40 / /mnt/two rw - nfs4 filer:/two rw\n")
    found.ask()
    assert [sentry.name for sentry in found.sentries] == ["/", "/mnt/two"]
    table.unlink()
    found.ask()
    assert [sentry.name for sentry in found.sentries] == ["/"]
    found.close()
