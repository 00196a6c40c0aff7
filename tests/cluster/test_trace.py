"""A stopped cluster has left the machine as it was, and so has one that was killed, with whoever started it.

Tried on a cluster of its own beside the one that the other tests share.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cluster import start
from tests.cluster.build import missing
from tests.cluster.cleanup import cells_of
from tests.cluster.cluster import Cluster
from tests.cluster.fixture import refuse
from tests.cluster.images import BARE
from tests.cluster.paths import NODES, Instance, Unavailable

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
# Where the programs of a node write, wherever they run.
FOLDERS = ("/etc/cni", "/opt/cni", "/opt/containerd", "/run/containerd", "/run/netns", "/var/lib/cni",
           "/var/lib/containerd", "/var/lib/kubelet", "/var/log/containers", "/var/log/pods", "/etc/kueue",
           "/visibility")  # fmt: skip
SETTINGS = ("kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "net/ipv4/ip_forward",
            "vm/overcommit_memory", "vm/panic_on_oom")  # fmt: skip
UP = [sys.executable, "-u", "-m", "tests.cluster", "up"]


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Iterator[Instance]:
    """The ninth cluster of this machine; nothing of it runs before and after."""
    absent = list(missing())
    if absent:
        refuse(f"NO CLUSTER, SO ITS TESTS DID NOT RUN: it needs {'; '.join(absent)}")
    monkeypatch.setenv("AIARTS_CLUSTER_INSTANCE", "9")
    start.down(Instance.current())
    yield Instance.current()
    start.down(Instance.current())


def traces(instance: Instance) -> dict[str, object]:
    """All that a cluster could leave on the machine. What other programs do meanwhile is left out by its name."""
    return {
        "processes": [str(process) for process in psutil.process_iter() if _belongs(process, instance)],
        "mounts": sorted(line.split(" ", 3)[3] for line in _lines("/proc/self/mountinfo")),
        "links": sorted(name for name in os.listdir("/sys/class/net") if not _of_shared(name)),
        "routes": [line for line in _lines("/proc/net/route") if instance.name in line],
        "firewall": _said("iptables-save", "-t", "nat") + _said("iptables-save", "-t", "filter"),
        "cgroups": [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/{instance.name}")],
        "hosts": _lines("/etc/hosts"),
        "settings": {name: _lines(f"/proc/sys/{name}") for name in SETTINGS},
        "folders": {name: sorted(os.listdir(name)) if os.path.isdir(name) else None for name in FOLDERS},
        "state": instance.folder.exists(),
    }


def _of_shared(link: str) -> bool:
    """The link of the cluster that the other tests use may be there or not."""
    return link.startswith("aiarts") and link != "aiarts9"


def _belongs(process: psutil.Process, instance: Instance) -> bool:
    """By its arguments, its cgroup, or what it sees mounted."""
    try:
        seen = [*process.cmdline(), *_lines(f"/proc/{process.pid}/cgroup"), *_lines(f"/proc/{process.pid}/mountinfo")]
    except (psutil.Error, OSError):
        return False
    return any(str(instance.folder) in word or f"/{instance.name}/" in word for word in seen)


def _lines(file: str) -> list[str]:
    return Path(file).read_text().splitlines()


def _said(*command: str) -> list[str]:
    said = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return [line for line in said if not line.startswith("#")]


def _run_pods(cluster: Cluster) -> None:
    """One on each node, so that there are containers, their mounts and their links."""
    for node in NODES:
        container = {"name": "main", "image": BARE, "command": ["sleep", "1000"]}
        spec = {"nodeName": node, "containers": [container]}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": node}, "spec": spec}
        cluster.kubectl("create", "-n", "team-a", "-f", "-", input=json.dumps(body))
    pods = [f"pod/{node}" for node in NODES]
    cluster.kubectl("wait", "--for=condition=Ready", "--timeout=60s", *pods, "-n", "team-a")


def test_a_stopped_cluster_leaves_no_trace(other: Instance) -> None:
    before = traces(other)
    assert before["processes"] == [] and before["cgroups"] == [] and not before["state"]
    cluster, started = Cluster.start(print)
    assert started
    _run_pods(cluster)
    meanwhile = traces(other)
    assert len(list(meanwhile["processes"])) > 20  # type: ignore[call-overload]
    assert meanwhile["mounts"] == before["mounts"] and meanwhile["hosts"] == before["hosts"]
    cells_of(other)["control"].kill("kube-scheduler")
    assert list(start.dead(other)) == ["control/kube-scheduler"]
    assert Cluster.running() is None  # a start would take this one away and begin anew
    cluster.stop()
    assert traces(other) == before


def test_a_killed_cluster_leaves_no_trace_once_the_next_has_looked(other: Instance) -> None:
    before = traces(other)
    _kill_while_starting()
    assert traces(other) != before
    cluster, started = Cluster.start(print)  # beside the remains of the other
    assert started
    _run_pods(cluster)
    for process in [process for process in psutil.process_iter() if _belongs(process, other)]:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            pass
    assert Cluster.running() is None
    start.down(other)
    assert traces(other) == before


def _kill_while_starting() -> None:
    """Kill -9 the starter half-way; what it had started goes on."""
    with subprocess.Popen(UP, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        for line in starter.stdout:
            if "API server is ready" in line:
                starter.send_signal(signal.SIGKILL)
                return
    raise AssertionError("the cluster did not start")


def test_a_start_that_fails_says_what_ended_and_why(other: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Instance, "services", "not a network")
    with pytest.raises(Unavailable, match="(?s)control/kube-apiserver has ended.*is not a valid cidr"):
        Cluster.start(print)
