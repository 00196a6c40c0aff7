"""A node: containerd and a kubelet in a cell of their own, with eight declared cards of each kind.

Inside the cell everything is where a node has it (/var/lib/kubelet, /run/containerd, /var/log/pods), because folders
of the cluster are mounted over the machine's own.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from pathlib import Path

from tests.cluster.api import Api, holds, place, until
from tests.cluster.build import program
from tests.cluster.cells import ENVIRONMENT, Cell
from tests.cluster.cgroups import make_cgroups
from tests.cluster.control_plane import kubeconfig_of
from tests.cluster.paths import NODES, Instance, Unavailable

CARDS = {"huawei.com/Ascend910": "8", "nvidia.com/gpu": "8"}
LABELS = {
    "accelerator": "huawei-Ascend910",
    "accelerator-type": "module",
    "host-arch": "huawei-arm" if platform.machine() == "aarch64" else "huawei-x86",
    "servertype": "Ascend910",
    "worker": "active",
}
REGISTRY = "registry.local:5000"
# The kubelet insists on these; here it sets copies, so that the machine keeps its own.
KERNEL_SETTINGS = {
    "kernel/keys/root_maxbytes": "25000000",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
}
# Mounted over the machine's: whatever is written there stays in the cluster's folder.
COVERED = {"lib": "/var/lib", "log": "/var/log", "run": "/run"}
CRI = 'plugins."io.containerd.grpc.v1.cri"'
# No plugin that writes outside the covered folders; nothing is asked of the kernel that a container may not have.
CONTAINERD = f"""version = 2
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.zfs"]
[{CRI}]
  sandbox_image = "registry.local/pause:1"
  restrict_oom_score_adj = true
  max_concurrent_downloads = 10
[{CRI}.cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "/var/lib/cni/net.d"
[{CRI}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[{CRI}.registry.mirrors."{REGISTRY}"]
  endpoint = ["http://{REGISTRY}"]
"""


def make_files(instance: Instance, cell: Cell) -> list[list[str]]:
    """Everything the node reads; gives the mounts of its cell."""
    for name in (*COVERED, "lib/kubelet/pki", "lib/containerd", "lib/cni/net.d", "run/lock"):
        (cell.folder / name).mkdir(parents=True, exist_ok=True)
    library = cell.folder / "lib"
    _link_network(instance, cell)
    (library / "containerd" / "config.toml").write_text(CONTAINERD)
    (library / "kubelet" / "config.json").write_text(json.dumps(kubelet_config(instance, cell.name)))
    shutil.copy(kubeconfig_of(instance, cell.name), library / "kubelet" / "kubeconfig")
    for file in ("ca.crt", "server.crt", "server.key"):
        shutil.copy(instance.folder / "pki" / file, library / "kubelet" / "pki")
    covers = [["--bind", str(cell.folder / name), place] for name, place in COVERED.items()]
    covers.sort(key=lambda cover: cell.folder.is_relative_to(cover[-1]))  # what hides this folder comes last
    return [*_kernel_settings(cell.folder / "settings"), _hosts(instance, cell.folder / "hosts"), *covers]


def start_containerd(cell: Cell) -> None:
    """Start it and wait for its socket to answer."""
    cell.spawn("containerd", [str(program("containerd")), "--config", "/var/lib/containerd/config.toml"])
    until(f"containerd of {cell.name}", lambda: ctr(cell, "version"))


def start_kubelet(instance: Instance, cell: Cell) -> None:
    """Start it and wait until it has registered; only then do declared cards stay."""
    log = cell.log_file("kubelet")
    before = log.stat().st_size if log.exists() else 0
    labels = ",".join(f"{key}={value}" for key, value in LABELS.items())
    flags = ["--config=/var/lib/kubelet/config.json", "--kubeconfig=/var/lib/kubelet/kubeconfig",
             f"--hostname-override={cell.name}", f"--node-ip={instance.node_address(cell.name)}",
             f"--node-labels={labels}"]  # fmt: skip
    cell.spawn("kubelet", [str(program("kubelet")), *flags])
    until(f"{cell.name} to register", lambda: b"Successfully registered node" in log.read_bytes()[before:])


def declare_cards(api: Api, node: str) -> None:
    """Advertise the cards; a kubelet that starts without a device plugin's notes sets them to zero."""
    api.patch(f"{place('Node', name=node)}/status", {"status": {"capacity": CARDS, "allocatable": CARDS}})


def is_ready(api: Api, node: str) -> bool:
    """Whether the node takes pods now: ready, and no taint left from having been silent."""
    found = api.get(place("Node", name=node))
    return holds(found, "Ready") and not found["spec"].get("taints")


def import_image(cell: Cell, archive: Path) -> None:
    ctr(cell, "--namespace=k8s.io", "images", "import", str(archive))


def ctr(cell: Cell, *arguments: str) -> str:
    """Ask a node's containerd through its socket, from outside the cell."""
    socket = cell.folder / "run" / "containerd" / "containerd.sock"
    command = [str(program("ctr")), "--address", str(socket), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode:
        raise OSError(f"ctr {' '.join(arguments)} on {cell.name}: {done.stderr.strip()}")
    return done.stdout


def kubelet_config(instance: Instance, node: str) -> dict[str, object]:
    """No eviction and no image clean-up for want of disk; leases short enough for a grace period of 12 s."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": "/var/lib/kubelet/pki/ca.crt"},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "tlsCertFile": "/var/lib/kubelet/pki/server.crt",
        "tlsPrivateKeyFile": "/var/lib/kubelet/pki/server.key",
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": make_cgroups(instance, node),
        "failCgroupV1": False,
        "failSwapOn": False,
        "enforceNodeAllocatable": [],
        "localStorageCapacityIsolation": False,
        "makeIPTablesUtilChains": False,
        "oomScoreAdj": 0,
        "clusterDNS": [instance.address(1)],
        "clusterDomain": "cluster.local",
        "resolvConf": "",
        "nodeLeaseDurationSeconds": 8,
        "serializeImagePulls": False,
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "0%", "imagefs.available": "0%"},
        "kubeAPIQPS": 100,
        "kubeAPIBurst": 200,
        "eventRecordQPS": 0,
        "maxPods": 200,
    }


def _link_network(instance: Instance, cell: Cell) -> None:
    """Pods hang on a bridge of their node; addresses are not translated on the way to the other node."""
    bridge = {
        "cniVersion": "0.4.0",
        "name": "pods",
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": instance.pods(cell.name)}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    (cell.folder / "lib" / "cni" / "net.d" / "10-pods.conf").write_text(json.dumps(bridge))


def _hosts(instance: Instance, file: Path) -> list[str]:
    """What the node itself knows by name; the machine's own file stays as it is."""
    names = {"127.0.0.1": "localhost", instance.address(1): REGISTRY.split(":")[0]}
    names |= {instance.node_address(node): node for node in NODES}
    file.write_text("".join(f"{address} {name}\n" for address, name in names.items()))
    return ["--bind", str(file), "/etc/hosts"]


def _kernel_settings(folder: Path) -> list[list[str]]:
    mounts = []
    folder.mkdir()
    for name, value in KERNEL_SETTINGS.items():
        copy = folder / name.replace("/", ".")
        copy.write_text(value)
        mounts.append(["--bind", str(copy), f"/proc/sys/{name}"])
    return mounts


def require_images(cell: Cell, names: list[str]) -> None:
    """Say so at the start, not in the first pod, when an import went wrong."""
    there = ctr(cell, "--namespace=k8s.io", "images", "list", "--quiet").split()
    absent = [name for name in names if name not in there]
    if absent:
        raise Unavailable(f"{cell.name} has no {', '.join(absent)}")
