"""Why one pod is not up, or none could be made, from what the platform says about it: pure, one sentence per rule.

The words matched here are those of the kubelet, containerd, the scheduler, the Job controller and Kueue; the recorded
objects in the tests show where each was seen. What no rule knows is `unknown`, with the sentence as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes.policies import policy_cause
from jupyter_aiarts.engines.kubernetes.seen import Notice, Pod, Trouble, Workload
from jupyter_aiarts.engines.local.records import Problem
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.times import seconds_between

BY_SCHEDULER = "PreemptionByScheduler"
DISRUPTIONS = {
    BY_SCHEDULER: "preempted",
    "EvictionByEvictionAPI": "evicted",
    "TerminationByKubelet": "evicted",
    "DeletionByTaintManager": "node-lost",
    "DeletionByPodGC": "node-lost",
}
"""The reasons of a pod's DisruptionTarget condition."""

_IMAGE_WAITS = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
)
_IMAGE_WORDS = (  # the first that is found says it; words of access come before "not found", which both have
    ("image-not-https", ("server gave http response to https client",)),
    ("image-wrong-arch", ("no match for platform", "no matching manifest", "exec format error")),
    (
        "image-no-access",
        ("authorization failed", "unauthorized", "forbidden", "access denied", "authentication", "no basic auth"),
    ),
    (
        "image-not-found",
        ("not found", "manifest unknown", "name unknown", "not present with pull policy of never", "invalid reference"),
    ),
    (
        "image-unreachable",
        (
            "no such host",
            "connection refused",
            "i/o timeout",
            "deadline exceeded",
            "handshake timeout",
            "x509:",
            "no route to host",
            "network is unreachable",
            "server misbehaving",
            "connection reset",
            "registry is unavailable",
        ),
    ),
)
_IMAGE_CODES = frozenset((*(code for code, _ in _IMAGE_WORDS), "unknown"))
_PULL = "failed to pull image"
_QUOTED = re.compile(r'"[^"]{0,600}"')
_STORAGE_MISSING = (
    "not found",
    "unbound immediate persistentvolumeclaims",
    "no such file or directory",
    "does not exist",
    "hostpath type check failed",
)
_STORAGE_DENIED = ("permission denied", "access denied", "operation not permitted")
_PASSING = ("failed to sync secret cache", "failed to sync configmap cache", "not registered")
"""A kubelet that is not done yet with fetching what a new pod mounts."""
PASSING_SECONDS = 60.0
_PREEMPTOR = re.compile(r"JobUID: ([\w-]+)")
_PREEMPTOR_PATH = re.compile(r"preemptor path: (/[^\s;]+)")
_NOT_ROOT = ("runasnonroot", "cannot verify user is non-root")


def disruption_of(pod: Pod) -> Cause | None:
    """What the platform did to a pod that was fine: evicted, preempted, or its node went away."""
    trouble = pod.trouble
    if trouble is None:
        return None
    values = {"node": pod.node}
    if trouble.disrupted is not None:
        said = _joined(trouble.disrupted, trouble.disruption, trouble.message)
        return Cause(code=DISRUPTIONS.get(trouble.disrupted, "evicted"), values=values, evidence=said)
    if trouble.reason == "Evicted":
        return Cause(code="evicted", values=values, evidence=_said(trouble.message))
    if trouble.unreachable:
        said = _said(f"{pod.name} is not ready, though all its containers are: its node does not report")
        return Cause(code="node-lost", values=values, evidence=said)
    return None


def is_taker_unknown(cause: Cause) -> bool:
    """Whether the scheduler, not Kueue, gave a job's place to another, and nobody has said yet to whom."""
    return cause.code == "preempted" and cause.values.keys().isdisjoint(("queue", "by_job"))


def pod_cause(pod: Pod, notices: Iterable[Notice], image: str | None) -> Cause | None:
    """Why a pod is not up; None where nothing says so, as in the first moments of every pod."""
    trouble = pod.trouble or Trouble()
    if trouble.unscheduled is not None:
        return _unscheduled(trouble.unscheduled)
    if trouble.container is not None:
        return _start_cause(trouble.container, trouble.container_message or pod.message or "", image)
    if trouble.waiting not in (None, "ContainerCreating", "PodInitializing"):
        told = _waiting_cause(trouble.waiting or "", trouble.waiting_message or "", image)
        return _on_node(told if told.code != "unknown" else _pull_cause(pod, notices, image) or told, pod)
    if pod.is_over:
        said = _joined(trouble.reason, trouble.message)
        return Cause(code="unknown", evidence=said) if said else None
    return _creating_cause(pod, notices)


def _on_node(cause: Cause, pod: Pod) -> Cause:
    """Which machine it is that has not got an image: others may have it."""
    return structs.replace(cause, values={**cause.values, "node": pod.node}) if cause.code in _IMAGE_CODES else cause


def _pull_cause(pod: Pod, notices: Iterable[Notice], image: str | None) -> Cause | None:
    """Why an image cannot be had where the container says no more than that it is tried again, as older kubelets do."""
    failed = [one for one in notices if one.about == pod.name and one.reason == "Failed"]
    found = [one for one in failed if _PULL in one.message.lower()]
    if not found:
        return None
    message = max(found, key=lambda one: one.at).message
    return Cause(code=image_code(message.lower(), image), values={"image": image}, evidence=_said(message))


def _unscheduled(message: str) -> Cause:
    code = "mount-missing" if "persistentvolumeclaim" in message.lower() else "no-node-fits"
    return Cause(code=code, evidence=_said(message))


def _waiting_cause(reason: str, message: str, image: str | None) -> Cause:
    evidence = _said(message or reason)
    text = message.lower()
    if reason in _IMAGE_WAITS:
        code = "image-not-found" if reason == "InvalidImageName" else image_code(text, image)
        return Cause(code=code, values={"image": image}, evidence=evidence)
    if reason == "CreateContainerConfigError":
        return _config_cause(text, evidence, image)
    return _start_cause(reason, message, image) or Cause(code="unknown", evidence=_joined(reason, message))


def image_code(text: str, image: str | None = None) -> str:
    """Why an image could not be had, from the runtime's sentence in small letters; its name may be any words."""
    text = _QUOTED.sub('""', text)
    if image:
        text = text.replace(image.lower(), "")
    return next((code for code, words in _IMAGE_WORDS if any(word in text for word in words)), "unknown")


def _config_cause(text: str, evidence: tuple[str, ...], image: str | None) -> Cause:
    if any(word in text for word in _NOT_ROOT):
        return Cause(code="policy-refused", values={"policy": "runAsNonRoot", "image": image}, evidence=evidence)
    if "not found" in text and ("secret" in text or "configmap" in text):
        return Cause(code="mount-missing", evidence=evidence)
    return Cause(code="unknown", evidence=evidence)


def _start_cause(reason: str, message: str, image: str | None) -> Cause | None:
    """Why a container could not be started, or what ended it; None for a start that went well and an end that says
    nothing, which is the launcher's to tell."""
    text = message.lower()
    if reason == "OOMKilled":
        return Cause(code="out-of-memory", evidence=())
    problem = _problem(message)
    if problem is not None:
        return Cause(code=problem.code, values={"message": problem.message, "hint": problem.hint})
    if "python3" in text and ("executable file not found" in text or "no such file or directory" in text):
        return Cause(code="image-no-python", values={"image": image}, evidence=_said(message))
    if "exec format error" in text:
        return Cause(code="image-wrong-arch", values={"image": image}, evidence=_said(message))
    if reason in ("StartError", "CreateContainerError", "RunContainerError", "ContainerCannotRun"):
        code = "image-user-permission" if "permission denied" in text else "unknown"
        return Cause(code=code, values={"image": image}, evidence=_said(message or reason))
    return None


class _Words(Struct):
    problem: Problem | None = None


def _problem(message: str) -> Problem | None:
    """What the init container found wrong, in its own words."""
    try:
        return msgspec.json.decode(message, type=_Words).problem
    except msgspec.DecodeError:
        return None  # not our words


def _creating_cause(pod: Pod, notices: Iterable[Notice]) -> Cause | None:
    """What keeps a placed pod from being made, from the newest warning about it."""
    about = [one for one in notices if one.about == pod.name and one.reason in _CREATING and not _passes(one, pod)]
    pull = newest_pull(pod, notices)
    if pull is not None:
        about = [one for one in about if one.at > pull.at]  # what was in the way before is not any more
    telling = [one for one in about if _WAITED not in one.message.lower()]
    if not about:
        return None
    newest = max(telling or about, key=lambda one: one.at)
    code = _storage_code(newest.message.lower()) if newest.reason in _STORAGE else "unknown"
    return Cause(code=code, evidence=_said(newest.message))


def newest_pull(pod: Pod, notices: Iterable[Notice]) -> Notice | None:
    """When the pod's node last began to fetch an image, which it does after all volumes are mounted."""
    pulls = [one for one in notices if one.about == pod.name and one.reason == PULLING]
    return max(pulls, key=lambda one: one.at, default=None)


def _passes(notice: Notice, pod: Pod) -> bool:
    """Whether a warning is of the kind that goes away by itself: it is said again and again where it does not."""
    text = notice.message.lower()
    return any(word in text for word in _PASSING) and seconds_between(pod.created, notice.at) < PASSING_SECONDS


_STORAGE = ("FailedMount", "FailedAttachVolume", "FailedMapVolume")
_CREATING = (*_STORAGE, "FailedCreatePodSandBox", "FailedCreatePodContainer")
_WAITED = "unable to attach or mount volumes"
"""A kubelet that says only that it has waited: the reason stands in another of its warnings."""
PULLING = "Pulling"
TELLING = frozenset((*_CREATING, "Failed", "FailedCreate", PULLING))
"""The reasons of events that causes are found from; others are not kept."""


def _storage_code(text: str) -> str:
    if any(word in text for word in _STORAGE_DENIED):
        return "mount-denied"
    return "mount-missing" if any(word in text for word in _STORAGE_MISSING) else "unknown"


def refusal_cause(notices: Iterable[Notice], since: str) -> Cause | None:
    """Why the Job controller could make no pod, from its newest warning; older ones are about an earlier start."""
    found = [one for one in notices if one.kind == "Job" and one.reason == "FailedCreate" and one.at >= since]
    if not found:
        return None
    message = max(found, key=lambda one: one.at).message
    text = message.lower()
    if "exceeded quota" in text:
        return Cause(code="quota-exceeded", evidence=_said(message))
    if "is forbidden" in text:
        return policy_cause(message)
    return Cause(code="unknown", evidence=_said(message))


_TAKEN_BACK = {
    "ClusterQueueStopped": "queue-inactive",
    "LocalQueueStopped": "queue-inactive",
    "PodsReadyTimeout": "evicted",
}
"""Why Kueue ended a job that it had let go, but for others' sake."""


def queue_cause(workload: Workload) -> Cause | None:
    """What Kueue says about a Job that it holds back; None once it let it go, or before it said anything."""
    evicted, reserved = workload.condition("Evicted"), workload.condition("QuotaReserved")
    if evicted is not None and evicted.status == "True" and evicted.reason == "Preempted":
        said = (*_said(evicted.message), *(_said(reserved.message) if reserved is not None else ()))
        return Cause(code="preempted", values={"queue": workload.queue, **_taker(evicted.message)}, evidence=said)
    if evicted is not None and evicted.status == "True" and evicted.reason in _TAKEN_BACK:
        said = (*_said(evicted.message), *(_said(reserved.message) if reserved is not None else ()))
        return Cause(code=_TAKEN_BACK[evicted.reason], values={"queue": workload.queue}, evidence=said)
    if reserved is None:
        return Cause(code="queue-position", values={"queue": workload.queue})
    if reserved.status == "True":
        return None
    text = (reserved.message or "").lower()
    code = "queue-position"
    if "insufficient" in text:
        code = "quota-exceeded"
    elif "inactive" in text or "doesn't exist" in text or ("queue" in text and "not found" in text):
        code = "queue-inactive"
    return Cause(code=code, values={"queue": workload.queue}, evidence=_said(reserved.message))


def _taker(message: str | None) -> dict[str, str]:
    """For whom Kueue took a place: the uid of that Job (`by_job`) and its ClusterQueue, as far as it says so."""
    job, path = _PREEMPTOR.search(message or ""), _PREEMPTOR_PATH.search(message or "")
    found = {"by_job": job[1]} if job is not None else {}
    return found if path is None else {**found, "by_queue": path[1].rpartition("/")[2]}


def _said(text: str | None) -> tuple[str, ...]:
    return (text,) if text else ()


def _joined(*parts: str | None) -> tuple[str, ...]:
    return _said(": ".join(part for part in parts if part))
