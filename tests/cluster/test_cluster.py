"""What the other tests rely on: two nodes with cards that reach each other, people with their rights, a queue."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.api import until
from tests.cluster.cleanup import cells_of
from tests.cluster.cluster import Cluster, CommandFailed
from tests.cluster.images import BARE, IMAGES, TEST
from tests.cluster.nodes import ctr
from tests.cluster.paths import NODES, Unavailable

pytestmark = pytest.mark.cluster


def pod(name: str, command: list[str], **spec: Any) -> str:
    """A pod as alice may run it anywhere, also under `restricted`."""
    guarded = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsUser": 1000,
               "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}  # fmt: skip
    image = spec.pop("image", TEST)
    container = {"name": "main", "image": image, "command": command, "securityContext": guarded}
    content = {"restartPolicy": "Never", "automountServiceAccountToken": False, "containers": [container], **spec}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
                       "spec": content})  # fmt: skip


def job(name: str, cards: int, seconds: int = 300) -> str:
    """A job that asks for a place in the queue."""
    limits = {"huawei.com/Ascend910": cards, "cpu": "100m", "memory": "64Mi"}
    container = {"name": "main", "image": BARE, "command": ["sleep", str(seconds)], "resources": {"limits": limits}}
    template = {"spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}}
    return json.dumps({"apiVersion": "batch/v1", "kind": "Job",
                       "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "cards"}},
                       "spec": {"suspend": True, "template": template}})  # fmt: skip


@pytest.fixture
def space(cluster: Cluster) -> Iterator[str]:
    with cluster.namespace() as name:
        yield name


@pytest.fixture
def reaches(cluster: Cluster, space: str) -> Callable[..., None]:
    """Wait until a pod is in this phase; its events when it doesn't get there."""

    def wait(name: str, phase: str = "Succeeded", seconds: float = 40) -> None:
        path = f"api/v1/namespaces/{space}/pods/{name}"
        with cluster.admin() as api:
            try:
                until(f"{name} to be {phase}", lambda: api.get(path)["status"]["phase"] == phase, seconds)
            except Unavailable:
                print(cluster.kubectl("describe", "pod", name, "-n", space))
                raise

    return wait


def test_each_node_has_eight_cards_of_each_kind_and_the_labels(cluster: Cluster) -> None:
    with cluster.admin() as api:
        found = [api.get(f"api/v1/nodes/{name}") for name in NODES]
    for node in found:
        cards = {key: value for key, value in node["status"]["allocatable"].items() if "." in key}
        assert cards == {"huawei.com/Ascend910": "8", "nvidia.com/gpu": "8"}
        assert node["metadata"]["labels"]["accelerator"] == "huawei-Ascend910"
        assert node["metadata"]["labels"]["host-arch"].startswith("huawei-")


def test_both_nodes_have_the_images(cluster: Cluster) -> None:
    for node in NODES:
        there = ctr(cells_of(cluster.instance)[node], "--namespace=k8s.io", "images", "list", "--quiet").split()
        assert set(IMAGES) <= set(there)


def test_pods_of_both_nodes_resolve_and_reach_each_other(cluster: Cluster, space: str, reaches: Any) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "all"},
               "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"group": "all"},
                        "ports": [{"port": 9410}]}}  # fmt: skip
    cluster.kubectl("create", "-n", space, "-f", "-", user="alice", input=json.dumps(service))
    source = f"""
import socket, time
server = socket.create_server(("", 9410))
for peer in {list(NODES)!r}:
    while True:
        try:
            socket.create_connection((f"{{peer}}.all.{space}.svc.cluster.local", 9410), 2).close()
            break
        except OSError:
            time.sleep(0.1)
heard = set()
while len(heard) < {len(NODES)}:  # not gone before everybody has been here
    heard.add(server.accept()[1][0])
print("met")
"""
    for node in NODES:
        body = json.loads(pod(node, ["python3", "-c", source], nodeName=node, hostname=node, subdomain="all"))
        body["metadata"]["labels"] = {"group": "all"}
        cluster.kubectl("create", "-n", space, "-f", "-", input=json.dumps(body))
    for node in NODES:
        reaches(node)
        assert cluster.kubectl("logs", node, "-n", space, user="alice") == "met\n"


def test_a_pod_reaches_the_api_server_as_the_service_kubernetes(cluster: Cluster, space: str, reaches: Any) -> None:
    source = (
        "import ssl, os, urllib.request as u; c = ssl.create_default_context(cafile='/var/run/secrets/kubernetes.io/"
        "serviceaccount/ca.crt'); print(u.urlopen('https://%s:%s/version' % (os.environ['KUBERNETES_SERVICE_HOST'],"
        " os.environ['KUBERNETES_SERVICE_PORT']), context=c).status)"
    )
    cluster.kubectl("create", "-n", space, "-f", "-",
                    input=pod("inside", ["python3", "-c", source], automountServiceAccountToken=True))  # fmt: skip
    reaches("inside")
    assert cluster.kubectl("logs", "inside", "-n", space) == "200\n"


@pytest.mark.parametrize(
    ("user", "question", "answer"),
    [
        ("alice", ["create", "jobs", "-n", "team-a"], True),
        ("alice", ["create", "jobs", "-n", "queued"], True),
        ("alice", ["list", "jobs", "-n", "team-b"], False),
        ("alice", ["get", "secrets", "-n", "team-b"], False),
        ("alice", ["list", "secrets", "-n", "team-a"], False),
        ("alice", ["create", "pods", "--subresource=exec", "-n", "team-a"], False),
        ("alice", ["get", "pods", "--subresource=proxy", "-n", "team-a"], True),
        ("alice", ["list", "nodes"], False),
        ("alice", ["patch", "workloads.kueue.x-k8s.io", "-n", "queued"], True),
        ("alice", ["watch", "resourcequotas", "-n", "team-a"], True),
        ("alice", ["list", "clusterqueues.kueue.x-k8s.io"], False),
        ("alice", ["list", "localqueues.kueue.x-k8s.io", "-n", "team-b"], False),
        ("bob", ["delete", "jobs", "-n", "team-b"], True),
        ("bob", ["list", "pods", "-n", "team-a"], False),
        ("viewer", ["watch", "nodes"], True),
        ("viewer", ["watch", "clusterqueues.kueue.x-k8s.io"], True),
        ("viewer", ["watch", "localqueues.kueue.x-k8s.io", "-n", "team-b"], True),
        ("viewer", ["list", "pods", "-n", "team-b"], True),
        ("viewer", ["get", "pods", "--subresource=log", "-n", "team-b"], False),
        ("noproxy", ["create", "jobs", "-n", "team-a"], True),
        ("noproxy", ["get", "pods", "--subresource=proxy", "-n", "team-a"], False),
        ("nobody", ["list", "pods", "-n", "team-a"], False),
    ],
)
def test_people_may_do_what_their_role_says_and_no_more(
    cluster: Cluster, user: str, question: list[str], answer: bool
) -> None:
    try:
        said = cluster.kubectl("auth", "can-i", *question, user=user)
    except CommandFailed:  # it exits with 1 for a no
        said = "no"
    assert (said.strip() == "yes") is answer


def test_kubeconfigs_are_for_their_owner_only(cluster: Cluster) -> None:
    assert {cluster.kubeconfig(user).stat().st_mode & 0o777 for user in ("admin", "alice", "nobody")} == {0o600}


def test_kueue_admits_what_fits_and_says_why_the_rest_waits(cluster: Cluster) -> None:
    jobs = "apis/batch/v1/namespaces/queued/jobs"
    with cluster.admin() as api:
        try:
            cluster.kubectl("create", "-f", "-", "-n", "queued", user="alice", input=job("first", cards=8))
            until("the first to run", lambda: api.get(f"{jobs}/first")["status"].get("active"))
            cluster.kubectl("create", "-f", "-", "-n", "queued", user="alice", input=job("second", cards=8))
            until("the second's reason", lambda: "8 more needed" in _waiting(api, "second"))
            assert api.get(f"{jobs}/second")["spec"]["suspend"]
            cluster.kubectl("delete", "job", "first", "-n", "queued", user="alice")
            until("the second to run", lambda: api.get(f"{jobs}/second")["status"].get("active"))
        finally:
            cluster.kubectl("delete", "jobs", "first", "second", "--ignore-not-found", "-n", "queued")


def _waiting(api: Any, name: str) -> str:
    """What Kueue says about this job's workload."""
    for workload in api.get("apis/kueue.x-k8s.io/v1beta2/namespaces/queued/workloads")["items"]:
        if workload["metadata"]["ownerReferences"][0]["name"] == name:
            return " ".join(one["message"] for one in workload.get("status", {}).get("conditions") or [])
    return ""


def test_a_namespace_that_enforces_restricted_refuses_root(cluster: Cluster) -> None:
    body = json.loads(pod("root", ["true"]))
    body["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    with pytest.raises(CommandFailed, match="violates PodSecurity"):
        cluster.kubectl("create", "-n", "restricted", "-f", "-", input=json.dumps(body))
    cluster.kubectl("create", "-n", "restricted", "--dry-run=server", "-f", "-", input=pod("good", ["true"]))


def test_the_quota_refuses_a_third_job(cluster: Cluster) -> None:
    try:
        for name in ("one", "two"):
            cluster.kubectl("create", "job", name, f"--image={BARE}", "-n", "quota", user="alice")
        with pytest.raises(CommandFailed, match="exceeded quota"):
            cluster.kubectl("create", "job", "three", f"--image={BARE}", "-n", "quota", user="alice")
    finally:
        cluster.kubectl("delete", "jobs", "one", "two", "--ignore-not-found", "-n", "quota")


def test_the_audit_log_has_people_s_requests_and_not_the_cluster_s_own(cluster: Cluster) -> None:
    before = cluster.audit_log.stat().st_size
    cluster.kubectl("get", "pods", user="alice")
    until("the event", lambda: any(event["verb"] == "list" for event in cluster.audited(before)))
    assert not [event for event in cluster.audited(before) if event["user"]["username"].startswith("system:node")]


def test_starting_a_running_cluster_says_so_and_ends_with_the_line_for_the_shell(cluster: Cluster) -> None:
    command = [sys.executable, "-m", "tests.cluster", "up"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert "the cluster is running" in said[:2]
    assert said[-1] == f"export KUBECONFIG={cluster.kubeconfig('admin')}"


def test_paper_nodes_stay_ready_and_go(cluster: Cluster) -> None:
    def ready() -> int:
        with cluster.admin() as api:
            nodes = api.get("api/v1/nodes?labelSelector=paper=true")["items"]
        return sum(one["status"] == "True" for node in nodes for one in node["status"]["conditions"])

    with cluster.paper_nodes(50) as names:
        assert names[-1] == "paper-0049"
        time.sleep(14)  # longer than a silent node counts as alive
        assert ready() == 50
    assert ready() == 0
