"""Every way to break the cluster breaks what it says, and mending it gives back the cluster there was before."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from typing import Any

import pytest

from tests.cluster import users
from tests.cluster.api import Api, ApiError, holds, place, until
from tests.cluster.cluster import Cluster, CommandFailed
from tests.cluster.hearing import wait_for_everybody
from tests.cluster.images import BARE
from tests.cluster.nodes import CARDS, REGISTRY
from tests.cluster.paths import NODES
from tests.cluster.start import dead

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]  # the cluster is mended after each


def touch(api: Api, times: int = 1) -> str:
    """Write something `times` times; the resourceVersion before the first."""
    path = "api/v1/namespaces/team-b"
    before = str(api.get(path)["metadata"]["resourceVersion"])
    for turn in range(times):
        api.patch(path, {"metadata": {"annotations": {"touched": f"{time.time()}-{turn}"}}})
    return before


def first_event(api: Api, version: str) -> Any:
    """What a watch of that namespace from this version says first; others may still be going."""
    watch = f"api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dteam-b&resourceVersion={version}&timeoutSeconds=2"
    answer = api.get(watch)
    return json.loads(answer["text"].splitlines()[0]) if "text" in answer else answer


def test_the_api_server_stops_and_starts(cluster: Cluster) -> None:
    cluster.stop_api()
    with pytest.raises(CommandFailed, match="refused"):
        cluster.kubectl("get", "nodes")
    cluster.start_api()
    cluster.settle()
    assert "node-a" in cluster.kubectl("get", "nodes")
    assert list(dead(cluster.instance)) == []
    try:
        cluster.kubectl("create", "-n", "queued", "-f", "-", user="alice", input=queued_job("after"))
        cluster.kubectl("wait", "--for=condition=Complete", "--timeout=60s", "job/after", "-n", "queued")
    finally:
        cluster.kubectl("delete", "job", "after", "--ignore-not-found", "-n", "queued")


def test_once_the_api_server_was_away_for_long_everybody_hears_it_as_soon_as_the_cluster_is_settled(
    cluster: Cluster,
) -> None:
    cluster.stop_api()
    time.sleep(25)  # what is left to itself asks only every ten seconds and more by now
    cluster.start_api()
    cluster.settle()
    with cluster.admin() as api:
        began = time.monotonic()
        wait_for_everybody(api)
        assert time.monotonic() - began < 5


def test_kueue_stops_and_starts(cluster: Cluster) -> None:
    cluster.stop_kueue()
    try:
        with pytest.raises(CommandFailed, match="webhook"):
            cluster.kubectl("create", "-n", "queued", "-f", "-", user="alice", input=queued_job("without"))
    finally:
        cluster.start_kueue()
    try:
        cluster.kubectl("create", "-n", "queued", "-f", "-", user="alice", input=queued_job("with"))
        cluster.kubectl("wait", "--for=condition=Complete", "--timeout=60s", "job/with", "-n", "queued")
    finally:
        cluster.kubectl("delete", "job", "with", "--ignore-not-found", "-n", "queued")
    assert list(dead(cluster.instance)) == []


def queued_job(name: str) -> str:
    """A job that ends at once, once the controllers, the scheduler, Kueue and a kubelet have done their part."""
    limits = {"huawei.com/Ascend910": 1, "cpu": "100m", "memory": "64Mi"}
    container = {"name": "main", "image": BARE, "command": ["true"], "resources": {"limits": limits}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    meta = {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "cards"}}
    spec = {"suspend": True, "template": template}
    return json.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec})


def test_a_list_from_before_a_compaction_is_gone(cluster: Cluster) -> None:
    with cluster.admin() as api:
        before = touch(api, 3)
        assert cluster.compact_etcd() > int(before)
        with pytest.raises(ApiError) as caught:
            api.get(f"api/v1/namespaces?resourceVersion={before}&resourceVersionMatch=Exact")
    assert caught.value.status == 410


def test_a_watch_from_before_is_gone_once_the_api_server_has_forgotten(cluster: Cluster) -> None:
    with cluster.admin() as api:
        before = touch(api, 3)
        assert first_event(api, before)["type"] == "MODIFIED"
    cluster.forget_watches()
    with cluster.admin() as api:
        try:
            answer = first_event(api, before)
            status = answer.get("object", answer).get("code")
        except ApiError as error:
            status = error.status
    assert status == 410


def test_a_silent_api_server_leaves_connections_half_open(cluster: Cluster) -> None:
    with socket.create_connection((cluster.instance.address(1), 443)) as held:
        with cluster.silent_api():
            held.settimeout(2)
            with pytest.raises(TimeoutError):
                held.recv(1)
            with pytest.raises(TimeoutError):
                socket.create_connection((cluster.instance.address(1), 443), 2)
        assert "node-a" in cluster.kubectl("get", "nodes")


def test_a_killed_kubelet_makes_the_node_not_ready_and_it_comes_back_with_its_cards(cluster: Cluster) -> None:
    with cluster.admin() as api:
        cluster.kill_kubelet("node-b")
        until("node-b to be lost", lambda: not holds(api.get(place("Node", name="node-b")), "Ready"), 30)
        cluster.start_kubelet("node-b")
        found = api.get(place("Node", name="node-b"))
        assert holds(found, "Ready")
        assert {key: found["status"]["allocatable"][key] for key in CARDS} == CARDS


def test_a_kubelet_restarted_at_once_keeps_its_cards(cluster: Cluster) -> None:
    cluster.kill_kubelet("node-a")
    cluster.start_kubelet("node-a")
    time.sleep(3)
    with cluster.admin() as api:
        assert api.get(place("Node", name="node-a"))["status"]["allocatable"]["nvidia.com/gpu"] == "8"


def test_containers_outlive_containerd(cluster: Cluster) -> None:
    with cluster.namespace() as space:
        for node in NODES:
            _sleeper(cluster, space, node)
        cluster.kill_containerd("node-a")
        assert "sleep 1000" in cluster.in_node("node-a", "ps", "-eo", "args")
        cluster.start_containerd("node-a")
        assert cluster.kubectl("exec", "node-a", "-n", space, "--", "echo", "still here") == "still here\n"


def _sleeper(cluster: Cluster, space: str, node: str) -> None:
    container = {"name": "main", "image": BARE, "command": ["sleep", "1000"]}
    spec = {"nodeName": node, "containers": [container], "terminationGracePeriodSeconds": 0}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": node}, "spec": spec}
    cluster.kubectl("create", "-n", space, "-f", "-", input=json.dumps(body))
    cluster.kubectl("wait", "--for=condition=Ready", "--timeout=40s", f"pod/{node}", "-n", space)


def test_an_unplugged_node_is_lost_and_comes_back(cluster: Cluster) -> None:
    with cluster.admin() as api:
        with cluster.unplugged("node-b"):
            until("node-b to be lost", lambda: not holds(api.get(place("Node", name="node-b")), "Ready"), 30)
        assert holds(api.get(place("Node", name="node-b")), "Ready")


def test_a_service_account_s_token_is_revoked_and_restored(cluster: Cluster) -> None:
    with cluster.namespace() as space:
        account = cluster.service_account_kubeconfig(space, "robot")

        def may() -> bool:
            command = ["kubectl", f"--kubeconfig={account.kubeconfig}", "get", "jobs"]
            return subprocess.run(command, capture_output=True).returncode == 0

        assert may()
        account.revoke()
        until("the token to be worthless", lambda: not may(), 20)
        account.restore()
        assert may()


def test_pods_pull_from_a_locked_registry_with_the_secret_only(cluster: Cluster) -> None:
    with cluster.namespace() as space, cluster.registry(locked=True) as registry:
        image = registry.push(BARE, "team/bare:1")
        foreign = registry.push(BARE, "team/foreign:1", architecture="s390x")
        assert image == f"{REGISTRY}/team/bare:1"
        cluster.kubectl("create", "secret", "generic", "pull", "-n", space, "--type=kubernetes.io/dockerconfigjson",
                        f"--from-literal=.dockerconfigjson={registry.pull_secret}")  # fmt: skip
        _puller(cluster, space, "allowed", image, secret="pull")
        _puller(cluster, space, "refused", image, secret=None)
        _puller(cluster, space, "missing", f"{REGISTRY}/team/bare:2", secret="pull")
        _puller(cluster, space, "foreign", foreign, secret="pull")
        cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=40s", "pod/allowed", "-n", space)
        said = {"refused": "401 Unauthorized", "missing": "bare:2: not found", "foreign": "no match for platform"}
        until("the reasons", lambda: all(text in _waiting(cluster, space, name) for name, text in said.items()), 30)


def test_a_paused_registry_keeps_a_pull_waiting(cluster: Cluster) -> None:
    with cluster.namespace() as space, cluster.registry() as registry:
        image = registry.push(BARE, "team/slow:1")
        registry.pause()
        _puller(cluster, space, "slow", image, secret=None)
        time.sleep(3)
        assert cluster.kubectl("get", "pod", "slow", "-n", space, "-o", "jsonpath={.status.phase}") == "Pending"
        registry.resume()
        cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=40s", "pod/slow", "-n", space)


def _puller(cluster: Cluster, space: str, name: str, image: str, secret: str | None) -> None:
    container = {"name": "main", "image": image, "command": ["true"], "imagePullPolicy": "Always"}
    secrets = [{"name": secret}] if secret else []
    spec = {"containers": [container], "restartPolicy": "Never", "imagePullSecrets": secrets}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    cluster.kubectl("create", "-n", space, "-f", "-", input=json.dumps(body))


def _waiting(cluster: Cluster, space: str, name: str) -> str:
    """All that the kubelet says about the image."""
    return cluster.kubectl("get", "events", "-n", space, f"--field-selector=involvedObject.name={name}",
                           "-o", "jsonpath={.items[*].message}")  # fmt: skip


def test_the_cluster_uses_the_very_roles_that_are_shipped(cluster: Cluster) -> None:
    with cluster.admin() as api:
        applied = api.get(place("Role", "team-a", "aiarts-user"))["rules"]
        assert applied == users.shipped("aiarts-user")["rules"]
        applied = api.get(place("ClusterRole", name="aiarts-viewer"))["rules"]
        assert applied == users.shipped("aiarts-viewer")["rules"]
