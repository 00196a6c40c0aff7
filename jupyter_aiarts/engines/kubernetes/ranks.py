"""The ranks of a job, from its pods and their last words.

What a launcher reports while it runs is not in the cluster's objects: until then a node's ranks are what its pod is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import msgspec
from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes.causes import disruption_of
from jupyter_aiarts.engines.kubernetes.seen import Pod
from jupyter_aiarts.engines.local.phase import rank_phase
from jupyter_aiarts.engines.local.records import SummaryRank
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Rank
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec


class Words(Struct, kw_only=True):
    """The last words of any node's launcher."""

    result: str = ""
    ranks: tuple[SummaryRank, ...] = ()


def last_words(pod: Pod) -> Words:
    """What the launcher of this pod said at its end; nothing, where it could not or something else spoke."""
    try:
        return msgspec.json.decode(pod.message, type=Words) if pod.message else Words()
    except msgspec.DecodeError:
        return Words()


def latest(pods: tuple[Pod, ...]) -> dict[int, Pod]:
    """The pod that stands for each node: the newest, and of equally old ones that which is not over."""
    found: dict[int, Pod] = {}
    for pod in pods:
        known = found.get(pod.index)
        if known is None or (pod.created, not pod.is_over) >= (known.created, not known.is_over):
            found[pod.index] = pod
    return found


def summary_ranks(ranks: Iterable[SummaryRank], started: str | None, phase: Phase) -> tuple[Rank, ...]:
    """Ranks at the end of a run, as their launchers saw them."""
    return tuple(
        Rank(
            rank=one.rank,
            node=one.node,
            phase=rank_phase(started, one.exit_code, phase),
            exit_code=one.exit_code,
            devices=list(one.devices),
        )
        for one in ranks
    )


def last_ranks(spec: JobSpec, pods: tuple[Pod, ...], phase: Phase) -> tuple[Rank, ...]:
    """Ranks of a run that left no summary: what each node said of its own, else that they ended with it."""
    found = latest(pods)
    said = [rank for pod in found.values() for rank in last_words(pod).ranks]
    if said:
        return summary_ranks(sorted(said, key=lambda rank: rank.rank), None, phase)
    return tuple(rank for index in sorted(found) for rank in node_ranks(index, _ranks_per_node(spec), phase))


def live_ranks(spec: JobSpec, pods: tuple[Pod, ...]) -> tuple[Rank, ...]:
    """One entry per rank of every node that has a place; the launchers' own reports are not in the cluster."""
    found, per_node = latest(pods), _ranks_per_node(spec)
    placed = [index for index in sorted(found) if found[index].node]
    return tuple(rank for index in placed for rank in node_ranks(index, per_node, _node_phase(found[index])))


def with_killed(cause: Cause, spec: JobSpec, pods: tuple[Pod, ...]) -> Cause:
    """The cause of a failure, with the nodes beside it that the kernel ended for want of memory, launcher and all.

    Those could tell nothing themselves, and the first that failed may only have noticed that they were gone.
    """
    if cause.code != "exit-code":
        return cause
    gone = [pod for pod in latest(pods).values() if pod.index != cause.values.get("node") and _was_killed_whole(pod)]
    if not gone:
        return cause
    end = {"signal": "SIGKILL", "lines": [], "oom_kills": 1, "oom_scope": "container"}
    first = _ranks_per_node(spec)
    killed = [{"rank": pod.index * first, "node": pod.index, "exit_code": pod.exit_code, **end} for pod in gone[:8]]
    return structs.replace(cause, values={**cause.values, "others": [*killed, *cause.values.get("others", [])][:8]})


def _was_killed_whole(pod: Pod) -> bool:
    """Whether its launcher was killed too, as version 2 of cgroups does it: a launcher that lived left its words."""
    return pod.trouble is not None and pod.trouble.container == "OOMKilled" and not last_words(pod).result


def _node_phase(pod: Pod) -> Phase:
    if pod.started is not None and pod.ended is None and disruption_of(pod) is None:
        return Phase.RUNNING  # also while it is asked to end
    return Phase.SUCCEEDED if pod.exit_code == 0 else Phase.FAILED if pod.ended else Phase.STARTING


def _ranks_per_node(spec: JobSpec) -> int:
    return max(spec.devices, 1) if spec.processes == "card" else 1


@functools.lru_cache(maxsize=4096)
def node_ranks(node: int, count: int, phase: Phase) -> tuple[Rank, ...]:
    """The ranks of one node, all in one phase; equal ones are shared by all jobs."""
    return tuple(Rank(rank=node * count + number, node=node, phase=phase) for number in range(count))
