"""What manifests promise, seen from inside a running pod: ids, capabilities, memory, mounts, and no way around them.

The pod is the one of a manifest with a shell in the launcher's place: what launchers do is tested elsewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.engines.kubernetes import manifest
from jupyter_aiarts.engines.kubernetes.order import Order
from tests.cluster.api import until
from tests.engines.kubernetes.making import make_order

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def namespace(cluster: Cluster) -> Iterator[str]:
    with cluster.namespace() as name:
        yield name


Run = Callable[[Order, str], str]
ENDED = "{.status.containerStatuses[0].state.terminated.reason}=Completed"
REFUSED = "{.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError"


def create(cluster: Cluster, order: Order, line: str) -> str:
    """Start an order's pod with a shell line in the launcher's place; its name."""
    made = manifest.objects(order)
    pod = json.loads(json.dumps(manifest.pod(order)))
    pod["spec"]["initContainers"][0]["command"] = ["sh", "-c", "touch /aiarts/run/pod.env"]
    pod["spec"]["containers"][0]["command"] = ["sh", "-c", line]
    items = {"apiVersion": "v1", "kind": "List", "items": [made.config, made.secret, pod]}
    cluster.kubectl("create", "-f", "-", input=json.dumps(items))
    return str(pod["metadata"]["name"])


def wait(cluster: Cluster, namespace: str, pod: str, condition: str) -> None:
    cluster.kubectl("wait", f"pod/{pod}", "-n", namespace, "--timeout=60s", f"--for=jsonpath={condition}")


@pytest.fixture
def run(cluster: Cluster) -> Run:
    """What a shell line prints in the main container of an order's pod."""

    def start(order: Order, line: str) -> str:
        name = create(cluster, order, line)
        wait(cluster, order.namespace, name, ENDED)
        return cluster.kubectl("logs", name, "-n", order.namespace, "-c", "main")

    return start


def small(settings: dict[str, Any] | None, raw: dict[str, Any], namespace: str, job_id: str, **more: Any) -> Order:
    asked = {"cpu": 0.1, "memory_gb": 0.125, "shm_gb": 0.0625, **raw}
    return make_order(settings, asked, namespace=namespace, job_id=job_id, **more)


LOOK = (
    "id -u; id -g; id -G; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; "
    "grep Seccomp: /proc/self/status; df -k /dev/shm | tail -1 | awk '{print $2}'; cat /aiarts/secret/token; echo; "
    "ls /var/run/secrets/kubernetes.io 2>&1 | wc -l; echo hello > /pod.env && cat /aiarts/run/pod.env"
)


def test_a_root_pod_keeps_six_capabilities_and_no_more(run: Run, namespace: str) -> None:
    lines = run(small({}, {}, namespace, "rootpodaaa"), LOOK).split("\n")
    assert lines[0:3] == ["0", "0", "0"]
    six = sum(1 << bit for bit in (0, 1, 3, 5, 6, 7))  # CHOWN DAC_OVERRIDE FOWNER KILL SETGID SETUID
    assert int(lines[3].split()[1], 16) == six
    assert [line.split()[1] for line in lines[4:6]] == ["1", "2"]
    assert int(lines[6]) == 65536
    assert lines[7] == "0123456789abcdef"
    assert "hello" in lines[-2]


def test_a_users_pod_has_the_users_ids_and_no_capability(run: Run, namespace: str) -> None:
    settings = {"devices": {"cpu": {"supplemental_groups": [4242]}}}
    lines = run(small(settings, {"run_as": "user"}, namespace, "userpodaaa"), LOOK).split("\n")
    assert lines[0:2] == ["1000", "100"] and set(lines[2].split()) == {"100", "4242"}
    assert int(lines[3].split()[1], 16) == 0
    assert lines[7] == "0123456789abcdef" and "hello" in lines[-2]


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """A folder that nodes see, with one person's files beside another's."""
    for name in ("alice", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text(f"{name}'s\n")
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == os.getuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o055)
    return tmp_path


def test_allowed_paths_of_the_host_are_mounted_where_asked(run: Run, namespace: str, storage: Path) -> None:
    settings = {
        "allow_host_paths": [str(storage)],
        "default_mounts": [{"source": f"{storage}/{{user}}", "target": "/home/{user}"}],
        "log_mount": str(storage),
    }
    raw = {"mounts": [{"source": f"{storage}/bob", "target": "/bob", "read_only": True}]}
    order = small(settings, raw, namespace, "hostpathaa")
    line = (
        "cat /home/alice/mine.txt /bob/mine.txt; touch /bob/x 2>&1; touch /home/alice/y; touch /aiarts/log/hostpathaa/z"
    )
    said = run(order, line)
    assert said.splitlines()[:2] == ["alice's", "bob's"] and "Read-only file system" in said
    assert (storage / "alice" / "y").exists() and (storage / "hostpathaa" / "z").exists()
    assert not (storage / "bob" / "x").exists()


def test_a_link_in_a_persons_folder_leads_a_root_pod_nowhere(cluster: Cluster, namespace: str, storage: Path) -> None:
    """Anybody can plant a link in their own folder; mounted by its path it would open the whole node."""
    (storage / "alice" / "escape").symlink_to("/etc")
    (storage / "alice" / "other").symlink_to(storage / "bob")
    settings = {"allow_host_paths": [f"{storage}/{{user}}"]}
    pods = []
    for job_id, folder in (("linketcaaa", "escape"), ("linkbobaaa", "other")):
        raw = {"mounts": [{"source": f"{storage}/{{user}}/{folder}", "target": "/m"}]}
        pods.append(create(cluster, small(settings, raw, namespace, job_id), "ls /m"))
    for pod in pods:
        wait(cluster, namespace, pod, REFUSED)


@pytest.fixture
def claim(cluster: Cluster, namespace: str, storage: Path) -> Iterator[str]:
    """A volume claim with a folder for each person, bound to a volume of the nodes' own."""
    name = f"claim-{namespace}"
    common = {"storageClassName": "", "accessModes": ["ReadWriteMany"], "volumeMode": "Filesystem"}
    volume = {"capacity": {"storage": "1Gi"}, "hostPath": {"path": str(storage)}}
    asked = {"resources": {"requests": {"storage": "1Gi"}}, "volumeName": name}
    items = [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {**common, **volume}},
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {**common, **asked},
        },
    ]
    cluster.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    yield name
    cluster.kubectl("delete", "pv", name, "--wait=false")


def test_claims_and_folders_in_them_are_mounted(run: Run, namespace: str, claim: str, storage: Path) -> None:
    settings = {
        "default_mounts": [{"source": claim + "/{user}", "target": "/home/{user}"}],
        "log_mount": f"{claim}/logs",
    }
    order = small(
        settings, {"mounts": [{"source": claim, "target": "/all", "read_only": True}]}, namespace, "claimpodaa"
    )
    said = run(order, "cat /home/alice/mine.txt; ls /all; touch /all/x 2>&1; touch /aiarts/log/claimpodaa/z")
    assert said.splitlines()[0] == "alice's" and {"alice", "bob"} <= set(said.split()) and "Read-only" in said
    assert (storage / "logs" / "claimpodaa" / "z").exists()


# -- where pods land: the scheduler's word ---------------------------------------------------------------------------

CARDS = {"resource": "nvidia.com/gpu"}


def placed(cluster: Cluster, order: Order) -> list[str]:
    """The nodes that a run's pods were given."""
    job = manifest.objects(order).job
    job["spec"]["suspend"] = False
    cluster.kubectl("create", "-f", "-", input=json.dumps(job))
    where = ("pod", "-n", order.namespace, "-l", f"jupyter-aiarts/job={order.job_id}")

    def nodes() -> list[str]:
        return cluster.kubectl("get", *where, "-o", "jsonpath={.items[*].spec.nodeName}").split()

    until("every pod to have a node", lambda: len(nodes()) == order.spec.nodes)
    return nodes()


def test_nodes_of_a_job_land_on_machines_of_their_own(cluster: Cluster, namespace: str) -> None:
    order = small({}, {"nodes": 2}, namespace, "twonodesaa")
    assert sorted(placed(cluster, order)) == ["node-a", "node-b"]


def test_a_small_job_lands_on_the_fuller_node(cluster: Cluster, namespace: str) -> None:
    """Fuller by cards: one pod with four of them counts more than two with one each."""

    def order(job_id: str, cards: int, node: str | None = None) -> Order:
        selector = {"kubernetes.io/hostname": node} if node else {}
        settings = {"devices": {"fuller": {**CARDS, "node_selector": selector}}}
        return small(settings, {"device": "fuller", "devices": cards}, namespace, job_id)

    for number in "12":
        assert placed(cluster, order(f"smallaaaa{number}", 1, "node-a")) == ["node-a"]
    assert placed(cluster, order("bigaaaaaaa", 4, "node-b")) == ["node-b"]
    for number in "12":
        assert placed(cluster, order(f"newaaaaaa{number}", 1)) == ["node-b"]
