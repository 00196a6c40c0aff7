"""A container's numbers are its own, in both versions of control groups, with the limit wherever it stands."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from jupyter_aiarts.devices import host
from jupyter_aiarts.devices.cgroup import Limits, cpu_seconds, limits, memory_used
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


def taken(root: Path) -> tuple[Limits, int | None, float | None]:
    found = limits(root)
    return found, memory_used(root, found.memory_above), cpu_seconds(root, found.cpus_above)


def test_version_2_in_a_container(tmp_path: Path) -> None:
    root = second(
        tmp_path,
        memory_max="1073741824\n",
        memory_current="524288000\n",
        memory_stat="anon 1\ninactive_file 24288000\n",
        cpu_max="150000 100000\n",
        cpu_stat="usage_usec 2500000\nuser_usec 1\n",
    )
    assert taken(root) == (Limits(memory=1 << 30, cpus=1.5), 500_000_000, 2.5)


def test_the_tightest_limit_of_all_groups_above_counts_and_what_all_who_share_it_have_taken(tmp_path: Path) -> None:
    """A person's slice with 1000 bytes, of which other sessions have most: 10 of 1000 would be a lie."""
    leaf = {"memory_max": "max\n", "memory_current": "10\n", "cpu_max": "max 100000\n", "cpu_stat": "usage_usec 1\n"}
    root = second(tmp_path, "/a/b", **leaf)
    shared = {"memory.max": "1000\n", "memory.current": "900\n", "cpu.max": "50000 100000\n"}
    tree(root, {f"sys/fs/cgroup/a/{name}": text for name, text in shared.items()})
    tree(root, {"sys/fs/cgroup/a/cpu.stat": "usage_usec 8000000\n"})
    above = Limits(memory=1000, cpus=0.5, memory_above=1, cpus_above=1)
    assert taken(root) == (above, 900, 8.0)
    seen = HostProbe(root=root).look()
    assert (seen.memory_used, seen.memory_total) == (900, 1000)


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
    assert taken(root) == (Limits(memory=2 << 30, cpus=2.0), 2000, 7.0)


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
    assert [limits(new), limits(old)] == [Limits(), Limits()]


def test_nothing_to_read_is_nothing_known(tmp_path: Path) -> None:
    assert taken(tmp_path) == (Limits(), None, None)


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


def test_limits_are_read_now_and_then_and_what_is_used_at_every_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = second(tmp_path, memory_max="1000\n", memory_current="400\n")
    probe = HostProbe(root=root)
    assert probe.look().memory_total == 1000
    tree(root, {"sys/fs/cgroup/memory.max": "2000\n", "sys/fs/cgroup/memory.current": "500\n"})
    seen = probe.look()
    assert (seen.memory_used, seen.memory_total) == (500, 1000)
    monkeypatch.setattr(host.time, "monotonic", lambda now=host.time.monotonic: now() + host.LIMITS)
    seen = probe.look()
    assert (seen.memory_used, seen.memory_total) == (500, 2000)


def test_a_number_is_taken_from_its_own_line_of_many(tmp_path: Path) -> None:
    stat = "active_file 7\nnot_inactive_file 8\ninactive_file 9\ninactive_file_more 10\n"
    used = [
        memory_used(second(tmp_path / name, memory_current="100\n", memory_stat=text))
        for name, text in (
            ("whole", stat),
            ("cut", "inactive_file 9"),
            ("none", "active_file 7\n"),
            ("odd", "inactive_file x\n"),
        )
    ]
    assert used == [91, 91, 100, 100]


def test_what_a_container_with_limits_does_not_tell_is_not_taken_from_the_machine(tmp_path: Path) -> None:
    root = second(tmp_path, memory_max="max\n", memory_current="400\n", cpu_max="50000 100000\n")
    seen = HostProbe(root=root).look()
    assert (seen.cpu, seen.cpus, seen.own) == (None, 0.5, ("cpu",))
    root = second(tmp_path / "silent", memory_max="1000\n")
    seen = HostProbe(root=root).look()
    assert (seen.memory_used, seen.memory_total, seen.own) == (None, 1000, ("memory",))


def test_a_container_that_is_bound_to_some_cpus_has_those(tmp_path: Path) -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) == 1:
        pytest.skip("one CPU cannot be fewer")
    os.sched_setaffinity(0, {min(allowed)})
    try:
        seen = HostProbe(root=second(tmp_path, cpu_max="max 100000\n", cpu_stat="usage_usec 0\n")).look()
    finally:
        os.sched_setaffinity(0, allowed)
    assert (seen.cpu, seen.cpus, seen.own) == (0.0, 1.0, ("cpu",))


def test_a_machine_that_does_nothing_is_known_to() -> None:
    """Its counters stand still, look after look, and that is no counter that began anew."""
    probe = HostProbe()
    assert None not in [probe.look().cpu for _ in range(200)]


def test_this_machine_is_told_as_psutil_sees_it(tmp_path: Path) -> None:
    import psutil

    probe = HostProbe(root=tmp_path)
    for _ in range(50):  # quick looks one after the other: a tick of the kernel's must not become more than there is
        seen = probe.look()
        assert seen.cpu is None or 0 <= seen.cpu <= (seen.cpus or 0)
    assert (seen.memory_total, seen.own) == (psutil.virtual_memory().total, ())
    has_network = any(name != "lo" for name in psutil.net_io_counters(pernic=True))
    assert (seen.received is not None and seen.received >= 0) is has_network


def test_what_a_bond_or_a_bridge_carries_is_not_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    counters = {name: SimpleNamespace(bytes_recv=1, bytes_sent=10) for name in ("lo", "eth0", "eth1", "bond0", "br0")}
    monkeypatch.setattr(psutil, "net_io_counters", lambda pernic: counters)
    assert host._network(tmp_path) == (4, 40), "none is a device, as in a container: all of them"
    for name in ("eth0", "eth1"):
        (tmp_path / "sys/class/net" / name / "device").mkdir(parents=True)
    assert host._network(tmp_path) == (2, 20)


def test_after_hours_in_which_nobody_looked_the_machine_is_told_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not as it was on average since then."""
    root = second(tmp_path, cpu_max="50000 100000\n", cpu_stat="usage_usec 0\n")
    probe = HostProbe(root=root)
    probe.look()
    (root / "sys/fs/cgroup/cpu.stat").write_text("usage_usec 3600000000\n")
    monkeypatch.setattr(host.time, "monotonic", lambda now=host.time.monotonic: now() + 7200)
    assert probe.look().cpu == 0.0


def test_a_machine_without_a_network_does_not_say_that_nothing_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it tells itself through the loopback is no network, and no network is no 0."""
    import psutil

    only = {name: told for name, told in psutil.net_io_counters(pernic=True).items() if name == "lo"}
    monkeypatch.setattr(psutil, "net_io_counters", lambda pernic: only)
    seen = HostProbe(root=tmp_path).look()
    assert (seen.received, seen.sent) == (None, None)
