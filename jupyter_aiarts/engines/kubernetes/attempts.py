"""When the current run of a Job ran, paused and waited: written beside it at each resume, for nobody else remembers.

A cluster's own events are gone after an hour, and the pods of an attempt with its pause.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec import structs

from jupyter_aiarts.engines.kubernetes.meta import in_full
from jupyter_aiarts.engines.kubernetes.phase import Facts
from jupyter_aiarts.engines.local.records import Settled
from jupyter_aiarts.model.job import MOST_EARLIER, Attempt


def attempts_of(facts: Facts, seen: Settled) -> tuple[Attempt, ...]:
    """The attempts of the current run, the latest last; of a run that was never resumed it is the only one."""
    job = facts.job
    if job.attempt == 1:
        return (Attempt(queued=in_full(job.created), started=seen.started, ended=seen.ended),)
    text = job.metadata.annotations.attempts
    known = _read(text) if text else ()
    # Resumed by a server that did not write it down, or damaged: when it paused is not known.
    *before, latest = known or (Attempt(queued=in_full(job.created), started=seen.started), Attempt())
    return (*before, structs.replace(latest, started=_started(facts), ended=seen.ended))


def resumed(facts: Facts, seen: Settled, now: str) -> str:
    """The annotation of a Job that is resumed now; `seen` is how it paused."""
    return msgspec.json.encode((*attempts_of(facts, seen), Attempt(queued=now))[-MOST_EARLIER:]).decode()


def _started(facts: Facts) -> str | None:
    """The start of the latest attempt alone, by its launcher's account or its pods."""
    if facts.summary is not None:
        return facts.summary.started
    return in_full(min((pod.started for pod in facts.pods if pod.started and not pod.is_over), default=None))


@lru_cache(maxsize=1000)
def _read(text: str) -> tuple[Attempt, ...]:
    try:
        return msgspec.json.decode(text, type=tuple[Attempt, ...])
    except msgspec.DecodeError:
        return ()
