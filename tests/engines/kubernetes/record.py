"""Make situations on the real cluster and keep its objects in `recorded/`, for the tables of `test_phase.py`.

`python -m tests.engines.kubernetes.record [CASE…]`; it breaks a node for some of them, so use a cluster of your own
(`AIARTS_CLUSTER_INSTANCE`). The containers stand in for launchers: they leave the last words that launchers leave.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jupyter_aiarts.engines.kubernetes import names
from tests.cluster.cluster import Cluster
from tests.cluster.images import BARE, TEST
from tests.cluster.kueue import local_queue

RECORDED = Path(__file__).with_name("recorded")
Json = dict[str, Any]
Test = Callable[["Case"], bool]
SLEEP = ["sleep", "600"]
PROBLEM = {"code": "start-file-missing", "message": "There is no start file /jobs/train.py.", "hint": "Check it."}


def summary(result: str, **more: Any) -> Json:
    """Node 0's last words, as `launcher/summary.py` writes them."""
    ranks = [{"rank": 0, "node": 0, "exit_code": 0 if result == "succeeded" else 3, "devices": []}]
    times = {"started": "2026-11-16T05:00:01.000000Z", "ended": "2026-11-16T05:00:02.500000Z"}
    said = {"schema": 1, "attempt": 1, "restarts": 0, "result": result, **times, "running_seconds": 1.5}
    return {**said, "first_failure": None, "problem": None, "ranks": ranks, **more}


FAILURE = {"node": 0, "rank": 0, "exit_code": 3, "signal": None, "last_lines": ["ValueError: no data"]}


def ends(code: int, words: Json | None = None) -> list[str]:
    """A container that leaves these words and ends."""
    said = "" if words is None else f"open('/dev/termination-log','w').write({json.dumps(words)!r});"
    return ["python3", "-c", f"import sys;{said}sys.exit({code})"]


class Case:
    """One job in a namespace of its own, until it is recorded."""

    def __init__(self, cluster: Cluster, namespace: str, name: str, nodes: int = 1) -> None:
        self.cluster, self.namespace, self.name, self.nodes = cluster, namespace, name, nodes
        digest = hashlib.sha256(name.encode()).hexdigest()
        self.id = "r" + digest[:9]
        self.object = names.object_name("train", self.id, 1)

    def job(
        self,
        command: list[str],
        *,
        image: str = TEST,
        prepare: list[str] | None = None,
        queue: str | None = None,
        limits: Json | None = None,
        pod: Json | None = None,
        mounts: list[Json] | None = None,
        **main: Any,
    ) -> None:
        """Create it, shaped as the manifests are."""
        labels = {names.JOB: self.id, names.RUN: "1"}
        short = {"name": self.name, "nodes": self.nodes, "image": image, "queue": queue, "script": "/jobs/train.py"}
        limits = {"cpu": "100m", "memory": "64Mi", **(limits or {})}
        common = {"image": image, "imagePullPolicy": "IfNotPresent", "resources": {"limits": limits}}
        init = [{**common, "name": names.PREPARE, "command": prepare}] if prepare else []
        rules = [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            {"action": "Ignore", "onExitCodes": {"containerName": "main", "operator": "In", "values": [75]}},
        ]
        template = {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": False,
            "initContainers": init,
            "containers": [{**common, "name": "main", "command": command, "volumeMounts": mounts or [], **main}],
            **(pod or {}),
        }
        self.apply({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": self.object,
                "labels": {**labels, **({names.QUEUE: queue} if queue else {})},
                "annotations": {names.EXACT_OWNER: "alice", names.INTENT: "run", names.HASH: "f00d",
                                names.SHORT: json.dumps(short), names.ATTEMPT: "1"},
            },
            "spec": {
                "completionMode": "Indexed", "completions": self.nodes, "parallelism": self.nodes,
                "backoffLimitPerIndex": 0, "podFailurePolicy": {"rules": rules}, "suspend": queue is not None,
                "template": {"metadata": {"labels": labels}, "spec": template},
            },
        })  # fmt: skip

    def apply(self, item: Json) -> None:
        self.cluster.kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(item))

    def intend(self, intent: str, **spec: Any) -> None:
        """What a stop or pause does to the Job."""
        change = {"metadata": {"annotations": {names.INTENT: intent}}, "spec": spec}
        place = ("-n", self.namespace, "job", self.object)
        self.cluster.kubectl("patch", *place, "--type=merge", "-p", json.dumps(change))

    def list(self, kind: str, *more: str) -> list[Json]:
        found = json.loads(self.cluster.kubectl("get", "-n", self.namespace, kind, "-o", "json", *more))["items"]
        return [_trimmed(item) for item in found]

    @property
    def jobs(self) -> list[Json]:
        return self.list("jobs", "-l", f"{names.JOB}={self.id}")

    @property
    def pods(self) -> list[Json]:
        return self.list("pods", "-l", f"{names.JOB}={self.id}")

    @property
    def events(self) -> list[Json]:
        return self.list("events", "--field-selector", "type=Warning")

    @property
    def workloads(self) -> list[Json]:
        return self.list("workloads.v1beta1.kueue.x-k8s.io")

    def until(self, test: Test, seconds: float = 90) -> None:
        deadline = time.monotonic() + seconds
        while not test(self):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}: waited in vain\n{json.dumps(self.pods, indent=1)}{self.jobs}")
            time.sleep(0.3)

    def keep(self, what: str) -> None:
        """Write what the cluster says now."""
        made = {"what": what, "with": "Kubernetes v1.34.4, Kueue v0.15.0, containerd 1.6.20; `record.py`"}
        made["at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        content = {"provenance": made, "jobs": self.jobs, "pods": self.pods, "events": self.events}
        text = json.dumps({**content, "workloads": self.workloads}, indent=1, ensure_ascii=False)
        RECORDED.joinpath(f"{self.name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{self.name}: {what}", flush=True)


def _trimmed(item: Json) -> Json:
    item["metadata"].pop("managedFields", None)
    item["metadata"].get("annotations", {}).pop("kubectl.kubernetes.io/last-applied-configuration", None)
    return item


# -- what to wait for ----------------------------------------------------------------------------------------------


def finished(case: Case) -> bool:
    conditions = [one for job in case.jobs for one in job["status"].get("conditions", [])]
    return any(one["type"] in ("Complete", "Failed") and one["status"] == "True" for one in conditions)


def running(case: Case) -> bool:
    """Every main container runs, and the Job controller has counted it."""
    ready = [job["status"].get("ready", 0) for job in case.jobs]
    return sum(_state(pod, "running") is not None for pod in case.pods) == case.nodes and ready == [case.nodes]


def waiting(*reasons: str) -> Test:
    return lambda case: any((_state(pod, "waiting") or {}).get("reason") in reasons for pod in case.pods)


def event(reason: str) -> Test:
    return lambda case: any(one["reason"] == reason for one in case.events)


def unscheduled(case: Case) -> bool:
    found = [one for pod in case.pods for one in pod["status"].get("conditions", [])]
    return any(one["type"] == "PodScheduled" and one["status"] == "False" for one in found)


def no_pods(case: Case) -> bool:
    return not case.pods and case.jobs[0]["status"].get("terminating", 0) == 0


def deleting(case: Case) -> bool:
    return any("deletionTimestamp" in pod["metadata"] for pod in case.pods)


def quota(status: str) -> Test:
    def test(case: Case) -> bool:
        found = [one for item in case.workloads for one in item.get("status", {}).get("conditions", [])]
        return any(one["type"] == "QuotaReserved" and one["status"] == status for one in found)

    return test


def condition(kind: str, reason: str | None = None) -> Test:
    def test(case: Case) -> bool:
        found = [one for pod in case.pods for one in pod["status"].get("conditions", [])]
        return any(one["type"] == kind and reason in (None, one.get("reason")) for one in found)

    return test


def _state(pod: Json, kind: str) -> Json | None:
    statuses = [*pod["status"].get("initContainerStatuses", []), *pod["status"].get("containerStatuses", [])]
    return next((one["state"][kind] for one in statuses if kind in one["state"]), None)


# -- the situations ------------------------------------------------------------------------------------------------

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
        one.until(lambda case: any(_state(pod, "running") for pod in case.pods))
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
        one.until(lambda case: any(_state(pod, "terminated") for pod in case.pods))
        one.until(lambda case: any(_state(pod, "running") for pod in case.pods))
        one.keep("two nodes, one has ended well and the other not yet")
    with made(cluster, "left-and-replaced") as one:
        words = summary("meeting-failed", problem={"code": "waiting-for-peers", "message": "-", "hint": ""})
        one.job(ends(75, words))
        one.until(lambda case: any(_state(pod, "terminated") for pod in case.pods))
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
