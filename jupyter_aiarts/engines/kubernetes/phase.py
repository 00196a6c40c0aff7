"""From what the cluster says to a phase and its cause: a pure function, the same for every server that watches.

The order matters: an end that the Job reports stands; then what its owner asked for; then what its pods are doing.
Only evidence counts: where a fact is missing the answer is the same or says less, never something else.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct, field, structs

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.causes import disruption_of, pod_cause, queue_cause, refusal_cause
from jupyter_aiarts.engines.kubernetes.clocks import delay_of, moved, span
from jupyter_aiarts.engines.kubernetes.meta import in_full
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.ranks import (
    last_ranks,
    last_words,
    latest,
    live_ranks,
    summary_ranks,
    with_killed,
)
from jupyter_aiarts.engines.kubernetes.said import RING_WAIT, Said
from jupyter_aiarts.engines.kubernetes.seen import Notice, Pod, Workload
from jupyter_aiarts.engines.kubernetes.starting import pulling_cause, with_those_up
from jupyter_aiarts.engines.local.phase import failure_cause
from jupyter_aiarts.engines.local.records import Settled, Summary
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Rank
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.times import seconds_between

STUCK = 30.0
"""Seconds after which a pod that should be gone counts as stuck."""

LEFT = 75
"""The one exit code of a launcher after which its pod is replaced: its peers did not come, or it was asked to leave."""

_FINAL = ("succeeded", "failed", "time-limit", "lost")
_ASKED = {"stop": Phase.STOPPED, "delete": Phase.STOPPED, "pause": Phase.PAUSED}


class Facts(Struct, frozen=True, kw_only=True):
    """Everything that is known about the current run of a job; what is not known is empty."""

    job: JobObject
    spec: JobSpec
    runs: Mapping[int, JobObject] = field(default_factory=dict)
    pods: tuple[Pod, ...] = ()
    workload: Workload | None = None
    notices: tuple[Notice, ...] = ()
    had_pods: bool = False  # whether any were ever seen
    started: str | None = None  # the earliest start of the run that was ever seen
    disruption: Cause | None = None  # what the platform did to it since it last ran as a whole
    said: Mapping[int, Said] = field(default_factory=dict)  # what launchers say of themselves, by node

    @property
    def summary(self) -> Summary | None:
        """The launcher's account of this attempt: as a server kept it, or as node 0 left it in its last words."""
        kept = read_summary(self.job.metadata.annotations.summary)
        if kept is not None and kept.attempt == self.job.attempt:
            return kept
        first = latest(self.pods).get(0)
        said = read_summary(first.message) if first is not None else None
        return said if said is not None and said.attempt == self.job.attempt else None


def read_summary(text: str | None) -> Summary | None:
    """A summary from an annotation or a pod's last words; None for anything else that stands there."""
    if not text:
        return None
    try:
        return msgspec.json.decode(text, type=Summary)
    except msgspec.DecodeError:
        return None  # an image's own words, or a node other than the first


def view(facts: Facts, now: str) -> Settled:
    """The phase of a job, why, since when, and its ranks; `now` decides only whether a pod is stuck."""
    summary = facts.summary
    if facts.job.condition("Complete"):
        return _ended(facts, summary, Phase.SUCCEEDED, _success(facts, summary))
    if facts.job.condition("Failed"):
        return _ended(facts, summary, *_failure(facts, summary))
    if summary is not None and _all_over(facts, summary):
        return _ended(facts, summary, *_verdict(facts, summary))
    if facts.job.suspended and not _is_asked(facts) and not has_first_failed(facts):
        return _held_back(facts, now)
    if (facts.job.suspended or facts.job.is_deleting) and not _pods_left(facts):
        return _stopped(facts, summary) if _is_asked(facts) else _ended(facts, summary, *_failure(facts, summary))
    return _live(facts, now)


def next_look(facts: Facts, now: str) -> float | None:
    """Seconds until time alone may change the answer; None when only the cluster can."""
    waits = [STUCK + seconds_between(now, pod.deleted) for pod in facts.pods if pod.deleted]
    return min((seconds for seconds in waits if seconds > 0), default=None)


# -- ended ---------------------------------------------------------------------------------------------------------


def _all_over(facts: Facts, summary: Summary) -> bool:
    """Whether every node ended for good, though the Job controller has not counted them yet."""
    pods = latest(facts.pods)
    if len(pods) < facts.job.nodes or summary.result not in _FINAL or _is_asked(facts):
        return False
    codes = [pod.exit_code for pod in pods.values() if pod.is_over and disruption_of(pod) is None]
    if len(codes) < len(pods) or LEFT in codes:
        return False
    return summary.result != "succeeded" or not any(codes)


def _verdict(facts: Facts, summary: Summary) -> tuple[Phase, Cause]:
    if summary.result == "succeeded":
        return Phase.SUCCEEDED, _success(facts, summary)
    return _failure(facts, summary)


def _success(facts: Facts, summary: Summary | None) -> Cause:
    if summary is not None:
        return Cause(code="succeeded", values={"seconds": round(summary.running_seconds, 1)})
    started, ended = _started(facts, None), facts.job.status.completion_time
    return Cause(code="succeeded", values={"seconds": span(started, ended)})


def _failure(facts: Facts, summary: Summary | None) -> tuple[Phase, Cause]:
    """Why a run failed: what stands in the pods where it says more than the launcher could know, else its summary."""
    if summary is not None and summary.result == "stopped" and _is_asked(facts):
        return _asked(facts)
    platform = _pod_failure(facts, summary)
    if platform is not None:
        return Phase.FAILED, platform
    evicted = next((pod for pod in latest(facts.pods).values() if _is_evicted_for_good(pod)), None)
    if evicted is not None:
        return Phase.LOST, disruption_of(evicted) or _plain("evicted")
    if summary is None:
        return _unexplained(facts)
    if summary.result == "time-limit":
        return Phase.FAILED, Cause(code="time-limit", values={"hours": facts.spec.max_hours})
    if summary.result == "meeting-failed":
        return Phase.LOST, Cause(code="waiting-for-peers", values={"nodes": facts.job.nodes})
    if summary.result == "failed":
        return Phase.FAILED, with_killed(failure_cause(summary), facts.spec, facts.pods)
    return Phase.LOST, failure_cause(summary) if summary.problem else Cause(code="launcher-lost")


def _pod_failure(facts: Facts, summary: Summary | None) -> Cause | None:
    """A container that could not start, or that the kernel ended for want of memory where the first failure was."""
    first = summary.first_failure.node if summary is not None and summary.first_failure else None
    for pod in latest(facts.pods).values():
        cause = pod_cause(pod, (), facts.spec.image) if pod.is_over and pod.trouble else None
        if cause is None or cause.code == "unknown":
            continue
        if cause.code != "out-of-memory":
            return cause if summary is None or summary.started is None else None
        if summary is None or first in (None, pod.index):
            said = summary.first_failure.last_lines if summary and summary.first_failure else ()
            return Cause(code="out-of-memory", values={"node": pod.index}, evidence=said)
    return None


def _is_evicted_for_good(pod: Pod) -> bool:
    """Whether a kubelet ended it for what it used, which nobody counts as a disruption: it is not replaced."""
    return pod.is_over and pod.trouble is not None and pod.trouble.reason == "Evicted" and not pod.trouble.disrupted


def _unexplained(facts: Facts) -> tuple[Phase, Cause]:
    """Failed without a summary: a launcher that was killed could not write one; about others nothing is known."""
    failed = facts.job.condition("Failed")
    if failed is not None and failed.reason == "DeadlineExceeded":
        return Phase.FAILED, Cause(code="time-limit", values={"hours": facts.spec.max_hours})
    for pod in latest(facts.pods).values():
        if pod.exit_code is not None and pod.exit_code > 128:
            return Phase.LOST, Cause(code="launcher-lost", values={"node": pod.index, "exit_code": pod.exit_code})
    causes = [pod_cause(pod, facts.notices, facts.spec.image) for pod in latest(facts.pods).values()]
    known = next((cause for cause in causes if cause), None)
    said = (failed.message,) if failed is not None and failed.message else ()
    return Phase.FAILED, known or Cause(code="unknown", evidence=said)


def _ended(facts: Facts, summary: Summary | None, phase: Phase, cause: Cause) -> Settled:
    if summary is not None:
        ranks = summary_ranks(summary.ranks, summary.started, phase)
    else:
        ranks = last_ranks(facts.spec, facts.pods, phase)
    started, ended = _started(facts, summary), _end_time(facts, summary)
    if started and ended and ended < started:  # a node wrote one and the controller the other, by clocks that differ
        started = ended
    return Settled(phase=phase, cause=cause, started=started, ended=ended, ranks=ranks)


def _end_time(facts: Facts, summary: Summary | None) -> str | None:
    """When it was over, by the launcher's clock, the Job's or the pods'."""
    job = facts.job
    if summary is not None:
        return moved(summary.ended, delay_of(summary.started, in_full(job.created)))
    held = [job.condition(kind) for kind in ("Complete", "Failed", "Suspended")]
    switched_off = facts.workload.condition("Evicted") if facts.workload is not None else None
    times = [one.last_transition_time for one in (*held, switched_off) if one is not None]
    ends = [pod.ended for pod in facts.pods]
    return in_full(job.status.completion_time or _last(times) or _last(ends))


def _last(times: Iterable[str | None]) -> str | None:
    return max((time for time in times if time), default=None)


def has_first_failed(facts: Facts) -> bool:
    """Whether node 0, where the others meet, has failed for good."""
    failed = facts.job.status.failed_indexes
    return failed == "0" or failed.startswith(("0,", "0-"))


# -- held back, or asked to end ------------------------------------------------------------------------------------


def _is_asked(facts: Facts) -> bool:
    """Whether somebody wants it to end, or it is being deleted."""
    return facts.job.intent != "run" or facts.job.is_deleting


def _asked(facts: Facts) -> tuple[Phase, Cause]:
    phase = _ASKED.get(facts.job.intent, Phase.STOPPED)
    return phase, Cause(code="paused-by-user" if phase is Phase.PAUSED else "stopped-by-user")


def _pods_left(facts: Facts) -> bool:
    """Whether pods still hold something; where pods are not seen, whether the Job's controller counts any.

    Its count comes later than the news of the pods themselves, so it is not asked where those are seen.
    """
    if facts.pods or facts.had_pods:
        return any(not pod.is_over for pod in facts.pods)
    return facts.job.status.active > 0 or facts.job.status.terminating > 0


def _stopped(facts: Facts, summary: Summary | None) -> Settled:
    """A Job whose owner wants it to end, that may make no pods and has none."""
    if facts.workload is not None and facts.workload.active and not facts.job.is_deleting:
        return Settled(phase=Phase.QUEUED, cause=_stopping(facts))  # Kueue may still let it go
    return _ended(facts, summary, *_asked(facts))


def _held_back(facts: Facts, now: str) -> Settled:
    """A Job that may make no pods, though its owner wants it to run: a queue holds it, perhaps again."""
    said = queue_cause(facts.workload) if facts.workload is not None else None
    if facts.job.gives_way:
        said = Cause(code="gives-way", values={"to": facts.job.gives_way})
    # A queue's job that Kueue has made no workload for: Kueue has not seen it yet, or is away.
    unseen = Cause(code="queued", values={"queue": facts.job.queue}) if facts.job.queue and not facts.workload else None
    cause = _stuck_cause(facts, now) or said or facts.disruption or unseen or _plain("queued")
    return Settled(phase=Phase.QUEUED, cause=cause, started=_started(facts, None))


def _stopping(facts: Facts) -> Cause:
    intent = "delete" if facts.job.is_deleting else facts.job.intent
    return Cause(code="stopping", values={"intent": intent, "grace": facts.spec.grace_seconds})


# -- alive ---------------------------------------------------------------------------------------------------------


def _live(facts: Facts, now: str) -> Settled:
    phase = _live_phase(facts)
    return Settled(
        phase=phase,
        cause=_live_cause(facts, phase, now),
        started=_started(facts, None),
        ranks=_live_ranks(facts, phase),
    )


def _live_ranks(facts: Facts, phase: Phase) -> tuple[Rank, ...]:
    """The ranks by their pods; a launcher that waits has started none."""
    ranks = live_ranks(facts.spec, facts.pods)
    if phase is Phase.STARTING and _said_wait(facts) is not None:
        return tuple(structs.replace(rank, phase=Phase.STARTING) for rank in ranks)
    return ranks


def _live_phase(facts: Facts) -> Phase:
    nodes, status = facts.job.nodes, facts.job.status
    if not facts.pods:  # perhaps they cannot be seen: the Job's own count says whether they are up
        up = nodes > 0 and status.ready >= nodes
        return Phase.RUNNING if up else Phase.STARTING if status.ready else Phase.QUEUED
    pods = latest(facts.pods)
    if len(pods) >= nodes and all(_was_up(pod) for pod in pods.values()):
        return Phase.RUNNING if _said_wait(facts) is None else Phase.STARTING
    return Phase.STARTING if any(pod.node and not _is_replaced(pod) for pod in pods.values()) else Phase.QUEUED


def _said_wait(facts: Facts) -> Cause | None:
    """What the launchers wait for though all of their pods are up, in node 0's words."""
    said = facts.said.get(0)
    if said is None or said.code != RING_WAIT or said.attempt != facts.job.attempt or _is_asked(facts):
        return None
    first = latest(facts.pods).get(0)
    if first is None or first.ended is not None or said.pod not in ("", first.name):
        return None  # that one is gone, and what it waited for with it
    evidence = (said.message,) if said.message else ()
    return Cause(code=said.code, values={"table": names.ring_name(facts.job.name)}, evidence=evidence)


def _is_replaced(pod: Pod) -> bool:
    """Whether it is over and another pod takes its place."""
    return pod.exit_code == LEFT or (pod.is_over and disruption_of(pod) is not None)


def _was_up(pod: Pod) -> bool:
    """Whether its launcher runs or has run to an end of its own; one that is to be replaced has not."""
    if pod.started is None or disruption_of(pod) is not None:
        return False
    return pod.exit_code != LEFT


def _live_cause(facts: Facts, phase: Phase, now: str) -> Cause:
    stuck = _stuck_cause(facts, now)
    if stuck is not None:
        return stuck
    if _is_asked(facts):
        return _stopping(facts)
    if phase is Phase.RUNNING:
        over = facts.pods and not any(pod.ended is None for pod in latest(facts.pods).values())
        return _plain("ending" if over else "running")
    if has_first_failed(facts):
        return _plain("ending")
    pods = latest(facts.pods)
    waits = _waiting_cause(facts) or pulling_cause(pods.values(), facts.notices, facts.spec.image)
    return with_those_up(waits, pods, facts.job.nodes) if waits is not None else _plain(phase.value)


@functools.lru_cache
def _plain(code: str) -> Cause:
    """A cause that only says where a job is; one for all jobs."""
    return Cause(code=code)


def is_stuck(pod: Pod, now: str) -> bool:
    """Whether a pod should be gone and is not."""
    return pod.deleted is not None and not pod.is_over and seconds_between(pod.deleted, now) >= STUCK


def _stuck_cause(facts: Facts, now: str) -> Cause | None:
    """A pod that should be gone and is not: nobody on its node says that its containers ended."""
    for pod in facts.pods:
        if is_stuck(pod, now):
            values = {"node": pod.node, "pod": pod.name, "since": in_full(pod.deleted)}
            sign = disruption_of(pod)
            return Cause(code="pod-stuck", values=values, evidence=sign.evidence if sign is not None else ())
    return None


def _waiting_cause(facts: Facts) -> Cause | None:
    """Why not every node is up: what was done to it first, then what its pods wait for, then why there are none."""
    pods = latest(facts.pods)
    down = [pod for _, pod in sorted(pods.items()) if not pod.is_up]
    found = [pod_cause(pod, facts.notices, facts.spec.image) for pod in down if not _is_replaced(pod)]
    waits = next((cause for cause in found if cause is not None), None if down else _said_wait(facts))
    disruption = _disruption(facts, {pod.index for pod in down})
    if disruption is not None:
        more = waits.evidence if waits is not None else ()
        return Cause(code=disruption.code, values=disruption.values, evidence=(*disruption.evidence, *more))
    if waits is None and len(pods) < facts.job.nodes:
        waits = refusal_cause(facts.notices, in_full(facts.job.status.start_time or facts.job.created) or "")
    return waits if waits is not None else _meeting_cause(facts, down)


def _disruption(facts: Facts, indexes: set[int]) -> Cause | None:
    """What was done to a node that is not up again; the last such thing, or what was seen before its pod was gone."""
    signs = [disruption_of(pod) for pod in facts.pods if pod.index in indexes]
    return next((sign for sign in reversed(signs) if sign is not None), facts.disruption)


def _meeting_cause(facts: Facts, down: list[Pod]) -> Cause | None:
    """Launchers that waited in vain for each other, and whose pods are about to be made again."""
    indexes = {pod.index for pod in down}
    if any(last_words(pod).result == "meeting-failed" for pod in facts.pods if pod.index in indexes):
        return Cause(code="waiting-for-peers", values={"nodes": facts.job.nodes})
    return None


def _started(facts: Facts, summary: Summary | None) -> str | None:
    """The first moment the run is known to have run; an earlier attempt's summary knows it after pods are gone."""
    kept = summary or read_summary(facts.job.metadata.annotations.summary)
    seen = [in_full(pod.started) for pod in facts.pods if pod.started]
    times = [kept.started if kept is not None else None, in_full(facts.started), *seen]
    found = min((time for time in times if time), default=None)
    return max(found, in_full(facts.job.created) or "") if found else None  # no clock knew of it before it was made
