"""From a row of `situations.json` to what a real cluster would have said, and from that to the explanation.

Nothing is handed to the rules by hand: a row becomes the objects that an API server sends (Job, pod, events, Kueue's
workload) with the launcher's summary in the pod's last words, and those go through the picture and the phase.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.explain import explain
from jupyter_aiarts.explain.rules import root
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Explanation
from jupyter_aiarts.model.spec import JobSpec
from tests.engines.kubernetes.replay import record_of

Json = dict[str, Any]
TABLE = Path(__file__).with_name("situations.json")
ID, NAME, POD = "rsituation", "train-rsituation-1", "train-rsituation-1-0-abcde"
CREATED, SEEN, NOW = "2026-11-16T05:00:00Z", "2026-11-16T05:04:00Z", "2026-11-16T05:05:00Z"
SPEC = {"cluster": "k8s", "memory_gb": 20.0, "shm_gb": 8.0, "image": "registry.example/train:1"}
SUSPENDING = ("QuotaReserved", "Evicted", "Admitted", "PodsReady", "Requeued")


def situations() -> list[Json]:
    """All rows."""
    rows: list[Json] = json.loads(TABLE.read_text(encoding="utf-8"))
    return rows


def spec_of(row: Json) -> JobSpec:
    return JobSpec(**{**SPEC, **row.get("spec", {})})


def cause_of(row: Json) -> Cause:
    """What the engine finds in the objects of a row."""
    return record_of(content_of(row), NOW).cause


def found_in(row: Json) -> Cause:
    """The cause behind it."""
    return root(cause_of(row), spec_of(row))


def told(row: Json, lang: str = "en") -> Explanation:
    """The explanation as every door shows it."""
    return explain(cause_of(row), lang, ID, spec_of(row))


def content_of(row: Json) -> Json:
    """The objects of a row, as they would have been watched."""
    facts = row["facts"]
    held = facts.get("conditions") is not None and not any(one["type"] == "Failed" for one in facts["conditions"])
    return {
        "provenance": {"at": NOW},
        "jobs": [_job(facts, held)],
        "pods": [] if facts.get("pod_phase", "Failed") is None else [_pod(facts)],
        "events": _events(facts),
        "workloads": [_workload(facts)] if held else [],
    }


def _meta(name: str, **more: Any) -> Json:
    labels = {names.JOB: ID, names.RUN: "1", "batch.kubernetes.io/job-name": NAME}
    return {
        "name": name,
        "namespace": "lab",
        "uid": f"u-{name}",
        "creationTimestamp": CREATED,
        "labels": labels,
        **more,
    }


def _job(facts: Json, held: bool) -> Json:
    given = {names.ATTEMPT: "1", names.INTENT: "run", names.EXACT_OWNER: "alice", names.HASH: "f00d"}
    given[names.SHORT] = json.dumps({"name": "train", "nodes": 1, "image": SPEC["image"], "script": "/jobs/train.py"})
    conditions = [
        {**one, "lastTransitionTime": SEEN} for one in facts.get("conditions") or () if one["type"] == "Failed"
    ]
    if not conditions and _is_over(facts):
        conditions = [_condition("Failed", "True", "FailedIndexes", "Job has failed indexes")]
    status = {"conditions": conditions, "startTime": CREATED, "failedIndexes": "0" if conditions else ""}
    return {
        "metadata": _meta(NAME, annotations=given),
        "spec": {"suspend": held, "parallelism": 1},
        "status": status if not held else {"conditions": [_condition("Suspended", "True", "JobSuspended", "")]},
    }


def _condition(kind: str, status: str, reason: str, message: str) -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": SEEN}


def _is_over(facts: Json) -> bool:
    """Whether the launcher's container ended, or the kubelet refused the pod; a pod that was evicted is replaced."""
    ended = "terminated" in facts.get("container_state", {}) or "log_tail" in facts
    return ended or facts.get("event_reason") == "UnexpectedAdmissionError"


def _pod(facts: Json) -> Json:
    state = facts.get("container_state", {})
    phase = "Failed" if _is_over(facts) else facts.get("pod_phase") or "Pending"
    status: Json = {"phase": phase, "conditions": _pod_conditions(facts)}
    if _is_over(facts) and facts.get("event_reason") is None:
        status["containerStatuses"] = [{"name": names.MAIN, "state": {"terminated": _ended(facts)}}]
    elif "waiting" in state:
        message = "" if state["waiting"] == "ContainerCreating" else facts.get("event_message", "")
        waits = {"reason": state["waiting"], "message": message}
        status["containerStatuses"] = [{"name": names.MAIN, "state": {"waiting": waits}}]
    elif phase == "Running":
        status["containerStatuses"] = [
            {"name": names.MAIN, "ready": True, "state": {"running": {"startedAt": CREATED}}}
        ]
    if facts.get("event_reason") in ("Evicted", "UnexpectedAdmissionError"):
        status.update(reason=facts["event_reason"], message=facts["event_message"])
    deleted = {"deletionTimestamp": CREATED} if facts.get("deletion_timestamp") else {}
    meta = _meta(
        POD, **deleted, ownerReferences=[{"kind": "Job", "name": NAME, "uid": f"u-{NAME}", "controller": True}]
    )
    meta["labels"]["batch.kubernetes.io/job-completion-index"] = "0"
    placed = {} if _is_unplaced(facts) else {"nodeName": "node-a"}
    return {"metadata": meta, "spec": placed, "status": status}


def _is_unplaced(facts: Json) -> bool:
    return facts.get("event_reason") in ("FailedScheduling", "Unschedulable")


def _pod_conditions(facts: Json) -> list[Json]:
    if _is_unplaced(facts):
        return [_condition("PodScheduled", "False", "Unschedulable", facts["event_message"])]
    placed = [_condition("PodScheduled", "True", "", "")]
    if facts.get("node_ready") == "False":
        placed.append(_condition("Ready", "False", "", ""))
    if facts.get("event_reason") == "Evicted":
        placed.append(_condition("DisruptionTarget", "True", "TerminationByKubelet", facts["event_message"]))
    return placed


def _ended(facts: Json) -> Json:
    """A container that never started, or the launcher's with the summary of the rank that failed in its last words."""
    given = facts.get("container_state", {}).get("terminated", {})
    if given.get("reason") == "StartError":
        return {**given, "startedAt": "1970-01-01T00:00:00Z", "finishedAt": SEEN}
    said = json.dumps(_summary(facts))
    return {"exitCode": 1, "reason": "Error", "message": said, "startedAt": CREATED, "finishedAt": SEEN}


def _summary(facts: Json) -> Json:
    code = facts.get("exit_code", 1)
    by = facts.get("signal") or (signal.Signals(code - 128).name if 128 < code < 160 else None)
    first = {"node": 0, "rank": facts.get("rank", 0), "exit_code": code, "signal": by}
    first["last_lines"] = [line for line in facts.get("log_tail", "").split("\n") if line]
    first.update({key: facts[key] for key in ("oom_kills", "oom_scope", "full") if key in facts})
    others = [{"node": 0, "exit_code": 1, "signal": None, **other} for other in facts.get("others", ())]
    times = {"started": "2026-11-16T05:00:01.000000Z", "ended": "2026-11-16T05:04:00.000000Z", "running_seconds": 239.0}
    more = {"others": others} if others else {}
    said = {"schema": 1, "attempt": 1, "restarts": 0, "result": "failed", **times, "problem": None, "ranks": []}
    return {**said, "first_failure": first, **more}


def _events(facts: Json) -> list[Json]:
    given = facts.get("events") or []
    if facts.get("event_reason"):
        given = [*given, {"reason": facts["event_reason"], "message": facts["event_message"]}]
    return [_event(number, one, facts.get("pod_phase", "Failed") is None) for number, one in enumerate(given)]


def _event(number: int, given: Json, about_job: bool) -> Json:
    about = {"kind": "Job", "name": NAME} if about_job else {"kind": "Pod", "name": POD}
    said = {"reason": given["reason"], "message": given["message"], "type": given.get("type", "Warning")}
    at = given.get("at", SEEN)
    return {"metadata": _meta(f"e{number}"), "involvedObject": about, **said, "lastTimestamp": at}


def _workload(facts: Json) -> Json:
    conditions = [{"lastTransitionTime": SEEN, **one} for one in facts["conditions"]]
    owners = [{"kind": "Job", "name": NAME, "uid": f"u-{NAME}"}]
    return {
        "metadata": _meta(f"job-{NAME}-1234", ownerReferences=owners),
        "spec": {"queueName": "user-queue"},
        "status": {"conditions": conditions},
    }
