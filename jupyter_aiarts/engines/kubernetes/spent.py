"""How long the replaced pods of an attempt ran: `max_hours` and `max_restarts` go on counting where they ended.

A launcher counts for itself and says the count with its last words; the first node of a larger job also hears it from
the others. A pod that takes the place of a job's only one would begin at nothing: a server writes beside its plan what
is known of those before it. Pure, but for `keep`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.causes import disruption_of
from jupyter_aiarts.engines.kubernetes.client import configmaps, jobs
from jupyter_aiarts.engines.kubernetes.manifest import LEFT
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.phase import Facts, read_summary
from jupyter_aiarts.model.times import seconds_between

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.seen import Pod


class Count(Struct, frozen=True, omit_defaults=True):
    """What an attempt has used up: seconds that its ranks ran, and restarts."""

    running: float = 0.0
    restarts: int = 0


class Spent(Struct, frozen=True, omit_defaults=True):
    """The annotation: the count at the end of the newest replaced pod, and before it, for when more becomes known."""

    attempt: int = 1
    pod: tuple[str, str] = ("", "")  # when it was made, and its name: the order of pods
    before: Count = Count()
    after: Count = Count()


def news(facts: Facts) -> Spent | None:
    """What is to be written down about replaced pods; None nearly always."""
    if not (facts.spec.max_hours or facts.spec.max_restarts) or not _goes_on(facts):
        return None
    known = spent = _known(facts)
    for pod in facts.pods:
        if pod.index == 0 and (pod.created, pod.name) >= spent.pod and _is_replaced(pod):
            spent = _counted(spent, pod)
    return None if spent == known else spent


async def keep(api: Api, facts: Facts) -> JobObject:
    """Tell the next pod, then remember that it was told; a crash in between has it told again."""
    job, found = facts.job, news(facts) or _known(facts)
    used = float(job.metadata.annotations.used or 0)
    told = {"attempt": job.attempt, "used_seconds": used, "history": found.after}
    await api.patch(configmaps(job.namespace, job.name), {"data": {names.ATTEMPT_FILE: _text(told)}})
    body = {"metadata": {"annotations": {names.SPENT: _text(found)}}}
    return await api.patch(jobs(job.namespace, job.name), body, JobObject)


def _goes_on(facts: Facts) -> bool:
    """Whether another pod comes in the place of one that went; after a pause the next attempt is told otherwise."""
    job = facts.job
    return job.intent == "run" and not job.is_deleting and not (job.condition("Complete") or job.condition("Failed"))


def _known(facts: Facts) -> Spent:
    """What was written down of this attempt; nothing, where somebody damaged it."""
    text = facts.job.metadata.annotations.spent
    try:
        known = msgspec.json.decode(text, type=Spent) if text else Spent()
    except msgspec.DecodeError:
        known = Spent()
    attempt = facts.job.attempt
    return known if known.attempt == attempt else Spent(attempt=attempt)


def _is_replaced(pod: Pod) -> bool:
    if pod.started is None:
        return False
    return (pod.exit_code == LEFT or disruption_of(pod) is not None) if pod.is_over else pod.deleted is not None


def _counted(spent: Spent, pod: Pod) -> Spent:
    """With this pod: by its launcher's word, else, where that never came, from its start until it was to be gone."""
    key = (pod.created, pod.name)
    before = spent.before if key == spent.pod else spent.after
    words = read_summary(pod.message)
    if words is not None and words.attempt == spent.attempt:
        after = Count(max(words.running_seconds, before.running), max(words.restarts, before.restarts))
    else:
        after = Count(round(before.running + _lifetime(pod), 3), before.restarts)
    return Spent(attempt=spent.attempt, pod=key, before=before, after=after)


def _lifetime(pod: Pod) -> float:
    end = pod.ended or pod.deleted
    return max(seconds_between(pod.started, end), 0.0) if pod.started and end else 0.0


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
