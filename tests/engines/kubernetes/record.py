"""Make situations on the real cluster and keep its objects in `recorded/`, for the tables of `test_phase.py`.

`python -m tests.engines.kubernetes.record [CASE…]`; it breaks a node for some of them, so use a cluster of your own
(`AIARTS_CLUSTER_INSTANCE`). How an object is made and kept is in `recording.py`.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from tests.cluster.cluster import Cluster
from tests.cluster.images import BARE
from tests.cluster.kueue import local_queue

from .recording import (
    FAILURE,
    PROBLEM,
    SLEEP,
    Case,
    condition,
    deleting,
    ends,
    event,
    finished,
    no_pods,
    quota,
    running,
    state_of,
    summary,
    unscheduled,
    waiting,
)

CASES: dict[str, Callable[[Cluster], None]] = {}


def case(make: Callable[[Cluster], None]) -> Callable[[Cluster], None]:
    CASES[make.__name__.replace("_", "-")] = make
    return make


@contextlib.contextmanager
def made(cluster: Cluster, name: str, nodes: int = 1, pod_security: str | None = None) -> Iterator[Case]:
    with cluster.namespace(f"lab-w-{name}"[:60], pod_security) as namespace:
        yield Case(cluster, namespace, name, nodes)


@case
def ends_well(cluster: Cluster) -> None:
    with made(cluster, "succeeded") as one:
        one.job(ends(0, summary("succeeded")))
        one.until(finished)
        one.keep("one node, exit code 0, the summary in its last words")
    with made(cluster, "succeeded-two-nodes", 2) as one:
        one.job(ends(0))
        one.until(finished)
        one.keep("two nodes, exit code 0, no last words")


@case
def ends_badly(cluster: Cluster) -> None:
    with made(cluster, "failed") as one:
        one.job(ends(1, summary("failed", first_failure=FAILURE)))
        one.until(finished)
        one.keep("exit code 1, the summary in its last words")
    with made(cluster, "failed-silent") as one:
        one.job(ends(1))
        one.until(finished)
        one.keep("exit code 1 and no last words")
    with made(cluster, "failed-init") as one:
        words = {"schema": 1, "result": "failed", "problem": PROBLEM}
        one.job(SLEEP, prepare=ends(1, words))
        one.until(finished)
        one.keep("the init container found a problem")
    with made(cluster, "failed-one-of-two", 2) as one:
        script = (
            "import os,sys,json;k=int(os.environ['JOB_COMPLETION_INDEX']);"
            f"w={summary('failed', first_failure={**FAILURE, 'node': 1, 'rank': 1})!r} if k==0 else "
            "{'schema':1,'node':1,'result':'failed','ranks':[{'rank':1,'node':1,'exit_code':3,'devices':[]}]};"
            "open('/dev/termination-log','w').write(json.dumps(w));sys.exit(1)"
        )
        one.job(["python3", "-c", script])
        one.until(finished)
        one.keep("two nodes, both launchers ended with 1 because rank 1 failed")


@case
def is_killed(cluster: Cluster) -> None:
    with made(cluster, "launcher-killed") as one:
        one.job(["sleep", "4242"])
        one.until(running)
        node = one.pods[0]["spec"]["nodeName"]
        cluster.in_node(node, "pkill", "-9", "-f", "^sleep 4242$")
        one.until(finished)
        one.keep("the container's first process got SIGKILL from the node")
    with made(cluster, "out-of-memory") as one:
        one.job(["python3", "-c", "import time;x=bytearray(200_000_000);time.sleep(60)"])
        one.until(finished)
        one.keep("a limit of 64 MiB and an array of 200 MB")


@case
def has_a_wrong_image(cluster: Cluster) -> None:
    with made(cluster, "image-no-python") as one:
        one.job(SLEEP, image=BARE, prepare=["python3", "-I", "/aiarts/job/launcher.zip", "prepare"])
        one.until(finished)
        one.keep("an image without python3")
    with made(cluster, "image-never") as one:
        one.job(SLEEP, image="registry.local/none:1", imagePullPolicy="Never")
        one.until(waiting("ErrImageNeverPull"))
        one.keep("an image that is on no node, and pulling forbidden")
    with made(cluster, "image-no-host") as one:
        one.job(SLEEP, image="nowhere.invalid/none:1")
        one.until(waiting("ErrImagePull", "ImagePullBackOff"))
        one.keep("a registry whose name does not resolve")
    with made(cluster, "image-bad-name") as one:
        one.job(SLEEP, image="Registry.local/UPPER:1")
        one.until(waiting("InvalidImageName"))
        one.keep("a name that is no image's")
    with made(cluster, "image-no-format") as one:
        script = "printf 'no program' > /tmp/x; chmod +x /tmp/x"
        one.job(["/proc/version"], prepare=["sh", "-c", script])
        one.until(finished)
        one.keep("a start command that may not be executed")


@case
def asks_a_registry(cluster: Cluster) -> None:
    with cluster.registry() as registry:
        with made(cluster, "image-not-found") as one:
            one.job(SLEEP, image="registry.local:5000/none:1")
            one.until(waiting("ErrImagePull", "ImagePullBackOff"))
            one.keep("a tag that the registry does not have")
        with made(cluster, "image-wrong-arch") as one:
            one.job(SLEEP, image=registry.push(BARE, "team/other:1", "s390x"))
            one.until(waiting("ErrImagePull", "ImagePullBackOff"))
            one.keep("an image for other machines only")
        with made(cluster, "image-not-https") as one:
            one.job(SLEEP, image=f"{cluster.instance.address(1)}:5000/none:1")
            one.until(waiting("ErrImagePull", "ImagePullBackOff"))
            one.keep("a registry that speaks HTTP where HTTPS is expected")
        with made(cluster, "image-backoff") as one:
            one.job(SLEEP, image="registry.local:5000/none:1")
            one.until(waiting("ImagePullBackOff"))
            one.keep("the same tag a while later")
    with cluster.registry(locked=True) as registry, made(cluster, "image-no-access") as one:
        one.job(SLEEP, image=registry.push(BARE, "team/private:1"))
        one.until(waiting("ErrImagePull", "ImagePullBackOff"))
        one.keep("a registry that wants a login")
    with made(cluster, "image-refused") as one:
        one.job(SLEEP, image="registry.local:5000/none:1")
        one.until(waiting("ErrImagePull", "ImagePullBackOff"))
        one.keep("a registry that does not run")


@case
def finds_no_node(cluster: Cluster) -> None:
    with made(cluster, "no-node-fits") as one:
        one.job(SLEEP, limits={"huawei.com/Ascend910": 9})
        one.until(unscheduled)
        one.keep("nine cards, and no node has more than eight")
    with made(cluster, "half-placed", 2) as one, made(cluster, "blocker") as other:
        other.job(SLEEP, limits={"nvidia.com/gpu": 5})
        other.until(running)
        one.job(SLEEP, limits={"nvidia.com/gpu": 8})
        one.until(unscheduled)
        one.until(lambda case: any(state_of(pod, "running") for pod in case.pods))
        one.keep("two nodes wanted whole, and another job holds a part of one")


@case
def misses_storage(cluster: Cluster) -> None:
    volumes = {
        "mount-claim": ({"persistentVolumeClaim": {"claimName": "data"}}, unscheduled, "a claim that does not exist"),
        "mount-configmap": ({"configMap": {"name": "none"}}, event("FailedMount"), "a ConfigMap that does not exist"),
        "mount-host-path": (
            {"hostPath": {"path": "/etc/hostname", "type": "Directory"}},
            event("FailedMount"),
            "a host path of another type",
        ),
    }
    for name, (volume, test, what) in volumes.items():
        with made(cluster, name) as one:
            claimed = [{"name": "data", **volume}]
            one.job(SLEEP, pod={"volumes": claimed}, mounts=[{"name": "data", "mountPath": "/data"}])
            one.until(test)
            one.keep(what)
    with made(cluster, "secret-missing") as one:
        one.job(SLEEP, envFrom=[{"secretRef": {"name": "none"}}])
        one.until(waiting("CreateContainerConfigError"))
        one.keep("a Secret that does not exist")


@case
def is_refused(cluster: Cluster) -> None:
    with made(cluster, "quota-refused") as one:
        one.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"},
                   "spec": {"hard": {"pods": "0"}}})  # fmt: skip
        one.job(SLEEP)
        one.until(event("FailedCreate"))
        one.keep("a quota of no pods")
    with made(cluster, "pod-security", pod_security="restricted") as one:
        one.job(SLEEP)
        one.until(event("FailedCreate"))
        one.keep("a namespace that enforces `restricted`")
    with made(cluster, "limit-range") as one:
        limit = {"type": "Container", "max": {"memory": "16Mi"}}
        kind = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small"}}
        one.apply({**kind, "spec": {"limits": [limit]}})
        one.job(SLEEP)
        one.until(event("FailedCreate"))
        one.keep("a LimitRange below what it asks for")
    with made(cluster, "not-as-root") as one:
        one.job(SLEEP, pod={"securityContext": {"runAsNonRoot": True}})
        one.until(waiting("CreateContainerConfigError"))
        one.keep("an image whose user is root where that is forbidden")


@case
def goes_on(cluster: Cluster) -> None:
    with made(cluster, "running-two-nodes", 2) as one:
        one.job(SLEEP)
        one.until(running)
        one.keep("two nodes, both up")
    with made(cluster, "running-one-ended", 2) as one:
        script = ["sh", "-c", "test $JOB_COMPLETION_INDEX = 0 || sleep 600"]
        one.job(script)
        one.until(lambda case: any(state_of(pod, "terminated") for pod in case.pods))
        one.until(lambda case: any(state_of(pod, "running") for pod in case.pods))
        one.keep("two nodes, one has ended well and the other not yet")
    with made(cluster, "left-and-replaced") as one:
        words = summary("meeting-failed", problem={"code": "waiting-for-peers", "message": "-", "hint": ""})
        one.job(ends(75, words))
        one.until(lambda case: any(state_of(pod, "terminated") for pod in case.pods))
        one.keep("a launcher that waited in vain for its peers, before its pod is replaced")


@case
def is_asked_to_end(cluster: Cluster) -> None:
    slow = ["sh", "-c", "trap 'sleep 3; exit 75' TERM; sleep 600 & wait"]
    for intent in ("stop", "pause"):
        with made(cluster, f"{intent}-asked") as one:
            one.job(slow, pod={"terminationGracePeriodSeconds": 20})
            one.until(running)
            one.intend(intent, suspend=True)
            one.until(deleting)
            one.keep(f"{intent} while it ran: its pod is ending")
            one.until(no_pods)
            one.name = f"{intent}-done"
            one.keep(f"{intent} while it ran: its pod is gone")
    with made(cluster, "stop-unplaced") as one:
        one.job(SLEEP, limits={"huawei.com/Ascend910": 9})
        one.until(unscheduled)
        one.intend("stop", suspend=True)
        one.until(no_pods)
        one.keep("stop before a node was found")
    with made(cluster, "deleted") as one:
        one.job(slow, pod={"terminationGracePeriodSeconds": 20})
        one.until(running)
        cluster.kubectl("delete", "-n", one.namespace, "job", one.object, "--cascade=foreground", "--wait=false")
        one.until(deleting)
        one.keep("the Job is being deleted, its pod is ending")


@case
def waits_in_a_queue(cluster: Cluster) -> None:
    cards = {"huawei.com/Ascend910": 8}
    with made(cluster, "queue-quota") as one, made(cluster, "queue-holder") as holder:
        for each in (one, holder):
            each.apply(local_queue("cards", "cards"))
        holder.job(SLEEP, queue="cards", limits=cards)
        holder.until(running)
        holder.name = "queue-admitted"
        holder.keep("Kueue let it go and it runs")
        one.job(SLEEP, queue="cards", limits=cards)
        one.until(quota("False"))
        one.keep("another job holds all eight cards of the queue")
        holder.cluster.kubectl("patch", "-n", holder.namespace, "workloads", holder.workloads[0]["metadata"]["name"],
                               "--type=merge", "-p", '{"spec":{"active":false}}')  # fmt: skip
        holder.intend("stop")
        holder.until(no_pods)
        holder.name = "queue-stopped"
        holder.keep("its Workload was switched off while it ran")
        one.until(running)
    with made(cluster, "queue-none") as one:
        one.job(SLEEP, queue="nowhere")
        one.until(quota("False"))
        one.keep("a queue that does not exist")
    with made(cluster, "queue-too-much") as one:
        one.apply(local_queue("cards", "cards"))
        one.job(SLEEP, queue="cards", limits={"huawei.com/Ascend910": 9})
        one.until(quota("False"))
        one.keep("more than the queue will ever have")
    own = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "lab-w"}}
    resources = [{"name": "cpu", "nominalQuota": "100m"}, {"name": "memory", "nominalQuota": "1Gi"}]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "default", "resources": resources}]}
    spec = {"namespaceSelector": {}, "resourceGroups": [group], "preemption": {"withinClusterQueue": "LowerPriority"}}
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "lab-w"}}
    with made(cluster, "queue-preempted") as one, made(cluster, "queue-winner") as winner:
        one.apply({**own, "spec": spec})
        one.apply({**priority, "value": 9})
        try:
            for each in (one, winner):
                each.apply(local_queue("own", "lab-w"))
            one.job(SLEEP, queue="own")
            one.until(running)
            winner.job(SLEEP, queue="own", pod={"priorityClassName": "lab-w"})
            winner.until(running)
            one.until(no_pods)
            one.keep("a job of higher priority took its place in the queue")
            one.apply({**own, "spec": {**spec, "stopPolicy": "Hold"}})
            with made(cluster, "queue-inactive") as held:
                held.apply(local_queue("own", "lab-w"))
                held.job(SLEEP, queue="own")
                held.until(quota("False"))
                held.keep("a queue that its admin has stopped")
        finally:
            cluster.kubectl("delete", "clusterqueue", "lab-w", "--wait=false")
            cluster.kubectl("delete", "priorityclass", "lab-w")


@case
def is_disrupted(cluster: Cluster) -> None:
    slow = ["sh", "-c", "trap 'sleep 3; exit 75' TERM; sleep 600 & wait"]
    with made(cluster, "evicted") as one:
        one.job(slow, pod={"terminationGracePeriodSeconds": 20})
        one.until(running)
        name = one.pods[0]["metadata"]["name"]
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": one.namespace}}
        with cluster.admin() as api:
            api.request("POST", f"api/v1/namespaces/{one.namespace}/pods/{name}/eviction", body)
        one.until(condition("DisruptionTarget"))
        one.keep("evicted by the API, as a drain does")
        one.until(lambda case: all(pod["metadata"]["name"] != name for pod in case.pods) and running(case))
        one.name = "evicted-back"
        one.keep("the same, replaced and running again")
    with made(cluster, "preempted") as one, made(cluster, "preemptor") as other:
        value = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "lab-w-high"}}
        one.apply({**value, "value": 1000})
        try:
            where = {"nodeSelector": {"kubernetes.io/hostname": "node-a"}}
            one.job(slow, limits={"nvidia.com/gpu": 8}, pod={**where, "terminationGracePeriodSeconds": 20})
            one.until(running)
            other.job(SLEEP, limits={"nvidia.com/gpu": 8}, pod={**where, "priorityClassName": "lab-w-high"})
            one.until(condition("DisruptionTarget"))
            one.keep("a pod of higher priority takes its node")
            other.until(running)
            one.until(lambda case: len(case.pods) == 1 and unscheduled(case))
            one.name = "preempted-waiting"
            one.keep("the same: its new pod finds no node")
        finally:
            cluster.kubectl("delete", "priorityclass", "lab-w-high")


@case
def loses_its_node(cluster: Cluster) -> None:
    with made(cluster, "node-unready") as one:
        one.job(SLEEP, pod={"nodeSelector": {"kubernetes.io/hostname": "node-b"}})
        one.until(running)
        cluster.kill_kubelet("node-b")
        try:
            one.until(event("NodeNotReady"))
            one.keep("the kubelet was killed: the node no longer reports")
            one.until(deleting)
            one.name = "node-lost"
            one.keep("a few seconds later: its pod is to go, and nobody there does it")
        finally:
            cluster.start_kubelet("node-b")


def main() -> None:
    cluster = Cluster.running()
    assert cluster is not None, "start a cluster of your own first"
    for name in sys.argv[1:] or list(CASES):
        CASES[name](cluster)


if __name__ == "__main__":
    main()
