"""A Job on the real cluster that `record.py` brings into a situation, what to wait for, and how its objects are kept.

The containers stand in for launchers: they leave the last words that launchers leave.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_aiarts.engines.kubernetes import names
from tests.cluster.cluster import Cluster
from tests.cluster.images import TEST

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
    return sum(state_of(pod, "running") is not None for pod in case.pods) == case.nodes and ready == [case.nodes]


def waiting(*reasons: str) -> Test:
    return lambda case: any((state_of(pod, "waiting") or {}).get("reason") in reasons for pod in case.pods)


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


def state_of(pod: Json, kind: str) -> Json | None:
    statuses = [*pod["status"].get("initContainerStatuses", []), *pod["status"].get("containerStatuses", [])]
    return next((one["state"][kind] for one in statuses if kind in one["state"]), None)
