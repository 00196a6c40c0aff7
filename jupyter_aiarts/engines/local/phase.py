"""From what the folder says to a phase and its cause: a pure function, the same for every door.

The order matters: what is settled stands; then a summary; then live launchers; and only when none lives and none left
a summary is a job `lost`. A folder written on another host is *elsewhere*: its processes cannot be seen from here, so
nothing is concluded from not seeing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from msgspec import Struct, structs

from jupyter_aiarts.engines.local.records import (
    Failure,
    Intent,
    JobFile,
    NodeStatus,
    Placed,
    RankStatus,
    Settled,
    Summary,
    SummaryRank,
)
from jupyter_aiarts.engines.notes import notes_of
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Rank
from jupyter_aiarts.model.phase import Phase


class Life(str, Enum):
    """Whether the run's launchers live."""

    UNBORN = "unborn"  # decided, not one of them has spoken yet
    ALIVE = "alive"
    DEAD = "dead"
    ELSEWHERE = "elsewhere"


class RunFacts(Struct, frozen=True, kw_only=True):
    """What was read of the current run; `life` is looked at before `summary`, which a dying launcher writes last."""

    placed: Placed | None = None
    life: Life = Life.DEAD
    statuses: tuple[NodeStatus, ...] = ()
    summary: Summary | None = None


def view(job: JobFile, facts: RunFacts, *, settling: bool = False) -> Settled:
    """The phase of a job, why, since when its run has been going, and its ranks.

    Only the supervisor, who is `settling` it, calls a job lost: until it has ended what was left behind and kept the
    last words, everybody else sees a job that is ending.
    """
    if job.settled is not None:
        return job.settled
    seen = _attempt(job, facts, settling)
    notes = notes_of([(status.node, status.notes) for status in facts.statuses], job.spec.nodes)
    again = seen.started if job.started else None
    return structs.replace(seen, started=job.started or seen.started, again=again, notes=notes)


def _attempt(job: JobFile, facts: RunFacts, settling: bool) -> Settled:
    """The same of the latest attempt alone; each pause begins another one."""
    if facts.placed is None:
        return Settled(phase=Phase.QUEUED, cause=Cause(code="queue-position"))
    if facts.summary is not None and facts.summary.attempt == facts.placed.attempt:
        return _ended(job, facts.summary)
    if facts.life is Life.DEAD and settling:
        return _lost(job, facts)
    return _live(job, facts)


def _live(job: JobFile, facts: RunFacts) -> Settled:
    current = tuple(status for status in facts.statuses if facts.placed and status.attempt == facts.placed.attempt)
    running = len(current) == job.spec.nodes and all(s.phase in ("running", "stopping", "ended") for s in current)
    phase = Phase.RUNNING if running else Phase.STARTING
    started = min((s.since for s in current), default=None) if running else None
    firsts = [rank.started for s in current for rank in s.ranks if rank.started]
    return Settled(
        phase=phase,
        cause=_live_cause(job, facts, phase),
        started=min(firsts, default=started),
        ranks=ranks_of(current),
        idle_since=idle_since([status.idle_since for status in current]) if running else None,
        progress=next((status.progress for status in current if status.node == 0), None) if running else None,
    )


def idle_since(nodes: Sequence[str | None]) -> str | None:
    """Since when no card of any node does anything; None where one does, or somebody does not tell."""
    known = [one for one in nodes if one is not None]
    return max(known) if known and len(known) == len(nodes) else None


def _live_cause(job: JobFile, facts: RunFacts, phase: Phase) -> Cause:
    if facts.life is Life.ELSEWHERE:
        return Cause(code="elsewhere", values={"host": job.host})
    if facts.life is Life.DEAD:
        return Cause(code="ending")
    if job.intent is not Intent.RUN:
        return Cause(code="stopping", values={"intent": job.intent.value, "grace": job.spec.grace_seconds})
    return Cause(code=phase.value)


def _ended(job: JobFile, summary: Summary) -> Settled:
    phase, cause = _verdict(job, summary)
    ranks = tuple(_rank(rank, rank.node, rank_phase(summary.started, rank.exit_code, phase)) for rank in summary.ranks)
    return Settled(phase=phase, cause=cause, started=summary.started, ended=summary.ended, ranks=ranks)


def _verdict(job: JobFile, summary: Summary) -> tuple[Phase, Cause]:
    if summary.result == "succeeded":
        return Phase.SUCCEEDED, Cause(code="succeeded", values={"seconds": round(summary.running_seconds, 1)})
    if summary.result == "stopped":
        return _stopped(job)
    if summary.result == "failed":
        return Phase.FAILED, failure_cause(summary)
    if summary.result == "time-limit":
        return Phase.FAILED, Cause(code="time-limit", values={"hours": job.spec.max_hours})
    if summary.result == "meeting-failed":
        return Phase.LOST, Cause(code="waiting-for-peers", values={"nodes": job.spec.nodes})
    if summary.problem is not None:
        return Phase.LOST, failure_cause(summary)
    return Phase.LOST, Cause(code="launcher-lost", evidence=_evidence(summary))


def _stopped(job: JobFile) -> tuple[Phase, Cause]:
    if job.intent is Intent.PAUSE:
        return Phase.PAUSED, Cause(code="paused-by-user")
    if job.intent is Intent.RUN:  # nobody asked us: the machine shuts down, or somebody signalled the launcher
        return Phase.LOST, Cause(code="launcher-lost", values={"signal": "SIGTERM"})
    return Phase.STOPPED, Cause(code="stopped-by-user")


def failure_cause(summary: Summary) -> Cause:
    """Nothing is invented: a problem the launcher named, or the code and the last lines."""
    if summary.problem is not None:
        said = {"message": summary.problem.message, "hint": summary.problem.hint}
        return Cause(code=summary.problem.code, values=said)
    failure = summary.first_failure
    if failure is None:
        return Cause(code="unknown")
    values = {
        "rank": failure.rank,
        "node": failure.node,
        "exit_code": failure.exit_code,
        "signal": failure.signal,
        "restarts": summary.restarts,
        **_seen_beside(failure),
    }
    if summary.others:
        values["others"] = [_other(one) for one in summary.others]
    return Cause(code="exit-code", values=values, evidence=_evidence(summary))


def _seen_beside(failure: Failure) -> dict[str, Any]:
    """What the rank's machine knew when it failed; nothing where there was nothing to know."""
    seen: dict[str, Any] = {}
    if failure.oom_kills > 0:
        seen.update(oom_kills=failure.oom_kills, oom_scope=failure.oom_scope or "machine")
    if failure.full:
        seen["full"] = list(failure.full)
    return seen


def _other(failure: Failure) -> dict[str, Any]:
    """A rank that failed after the first: perhaps a consequence, perhaps the one to blame that took longer to end."""
    return {
        "rank": failure.rank,
        "node": failure.node,
        "exit_code": failure.exit_code,
        "signal": failure.signal,
        "lines": list(failure.last_lines),
        **_seen_beside(failure),
    }


def _evidence(summary: Summary) -> tuple[str, ...]:
    return summary.first_failure.last_lines if summary.first_failure else ()


def _lost(job: JobFile, facts: RunFacts) -> Settled:
    """No launcher and no summary: the platform lost it, unless its owner had asked it to end anyway."""
    asked = {Intent.STOP: Phase.STOPPED, Intent.DELETE: Phase.STOPPED, Intent.PAUSE: Phase.PAUSED}.get(job.intent)
    cause = Cause(code="launcher-lost")
    if asked is not None:
        cause = Cause(code="paused-by-user" if asked is Phase.PAUSED else "stopped-by-user")
    started = [rank.started for status in facts.statuses for rank in status.ranks if rank.started]
    return Settled(
        phase=asked or Phase.LOST,
        cause=cause,
        started=min(started, default=None),
        ranks=ranks_of(facts.statuses, over=asked or Phase.LOST),
    )


def ranks_of(statuses: tuple[NodeStatus, ...], over: Phase | None = None) -> tuple[Rank, ...]:
    """The ranks as their launchers report them; `over` is the phase of those that did not live to report an end."""
    found = [
        _rank(rank, status.node, rank_phase(rank.started, rank.exit_code, over))
        for status in statuses
        for rank in status.ranks
    ]
    return tuple(sorted(found, key=lambda rank: rank.rank))


def _rank(seen: RankStatus | SummaryRank, node: int, phase: Phase) -> Rank:
    return Rank(rank=seen.rank, node=node, phase=phase, exit_code=seen.exit_code, devices=list(seen.devices))


def rank_phase(started: str | None, exit_code: int | None, over: Phase | None = None) -> Phase:
    """One rank's own phase from what its launcher saw of it; one that was asked to end did not fail."""
    if exit_code is not None:
        ended = over if over in (Phase.STOPPED, Phase.PAUSED) else Phase.FAILED
        return Phase.SUCCEEDED if exit_code == 0 else ended
    if over is not None:
        return over
    return Phase.RUNNING if started else Phase.STARTING
