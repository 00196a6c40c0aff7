"""A container's numbers are its own, in both versions of control groups, with the limit wherever it stands."""

from __future__ import annotations

from pathlib import Path

from jupyter_aiarts.devices.cgroup import Taken, taken
from jupyter_aiarts.devices.host import HostProbe


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def second(root: Path, group: str = "/", **files: str) -> Path:
    base = "sys/fs/cgroup" + group.rstrip("/")
    return tree(
        root,
        {
            "proc/self/cgroup": f"0::{group}\n",
            "sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
            **{f"{base}/{name.replace('_', '.', 1)}": text for name, text in files.items()},
        },
    )


def test_version_2_in_a_container(tmp_path: Path) -> None:
    root = second(
        tmp_path,
        memory_max="1073741824\n",
        memory_current="524288000\n",
        memory_stat="anon 1\ninactive_file 24288000\n",
        cpu_max="150000 100000\n",
        cpu_stat="usage_usec 2500000\nuser_usec 1\n",
    )
    assert taken(root) == Taken(memory_limit=1 << 30, memory_used=500_000_000, cpus=1.5, cpu_seconds=2.5)


def test_the_tightest_limit_of_all_groups_above_counts(tmp_path: Path) -> None:
    root = second(tmp_path, "/a/b", memory_max="max\n", memory_current="10\n", cpu_max="max 100000\n")
    tree(root, {"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"})
    found = taken(root)
    assert (found.memory_limit, found.cpus, found.memory_used) == (1000, 0.5, 10)


def test_version_1_where_the_path_is_that_of_the_world_outside(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/self/cgroup": "9:memory:/kubepods/x\n8:cpu,cpuacct:/kubepods/x\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "2147483648\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "3000\n",
            "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 1000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpuacct.usage": "7000000000\n",
        },
    )
    assert taken(root) == Taken(memory_limit=2 << 30, memory_used=2000, cpus=2.0, cpu_seconds=7.0)


def test_no_limits_are_no_limits_in_both_versions(tmp_path: Path) -> None:
    new = second(tmp_path / "2", memory_max="max\n", memory_current="5\n", cpu_max="max 100000\n")
    old = tree(
        tmp_path / "1",
        {
            "proc/self/cgroup": "9:memory:/\n8:cpu:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
    )
    assert [(found.memory_limit, found.cpus) for found in (taken(new), taken(old))] == [(None, None)] * 2


def test_nothing_to_read_is_nothing_known(tmp_path: Path) -> None:
    assert taken(tmp_path) == Taken()


def test_a_container_with_limits_shows_them_and_says_whose_they_are(tmp_path: Path) -> None:
    root = second(
        tmp_path, memory_max="1000000\n", memory_current="400\n", cpu_max="50000 100000\n", cpu_stat="usage_usec 0\n"
    )
    probe = HostProbe(root=root)
    assert probe.look().cpu == 0.0
    (root / "sys/fs/cgroup/cpu.stat").write_text("usage_usec 60000000\n")
    seen = probe.look()
    assert (seen.memory_used, seen.memory_total, seen.cpus, seen.own) == (400, 1_000_000, 0.5, ("cpu", "memory"))
    assert seen.cpu is not None and seen.cpu > 0


def test_this_machine_is_told_as_psutil_sees_it(tmp_path: Path) -> None:
    import psutil

    probe = HostProbe([str(tmp_path), str(tmp_path), "/nowhere/at/all"], root=tmp_path)
    probe.look()
    seen = probe.look()
    assert (seen.memory_total, seen.own) == (psutil.virtual_memory().total, ())
    assert seen.cpu is not None and 0 <= seen.cpu <= (seen.cpus or 0) + 1
    assert [disk.path for disk in seen.disks] == [str(tmp_path)]
    assert seen.received is not None and seen.received >= 0
