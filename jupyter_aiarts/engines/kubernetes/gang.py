"""Jobs of several nodes get all of their nodes or give back what they hold: pure, from the picture alone.

Kubernetes places pods one by one, so two jobs can each hold half of what both need. Their launchers would give up
after `gang_timeout`; long before that the one that came later gives way here. And a job whose first node failed for
good will never meet: its late nodes would come, wait and go again for ever.
"""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_aiarts.engines.kubernetes.causes import disruption_of
from jupyter_aiarts.engines.kubernetes.phase import LEFT, Facts, has_first_failed
from jupyter_aiarts.engines.kubernetes.ranks import latest
from jupyter_aiarts.engines.kubernetes.seen import Pod


def is_half_placed(facts: Facts) -> bool:
    """Whether some of its nodes hold a place while the scheduler has none for others."""
    if facts.job.nodes < 2 or facts.job.suspended or not _is_wanted(facts):
        return False
    pods = [pod for pod in latest(facts.pods).values() if not pod.is_over]
    return any(pod.node and pod.deleted is None for pod in pods) and any(_has_no_place(pod) for pod in pods)


def ahead(facts: Facts, others: Iterable[Facts]) -> Facts | None:
    """The first of the half-placed jobs that need the same device, if that is another one than this.

    Every server answers alike: by priority, then by age; what decides between equally old ones is only constant.
    """
    rivals = [one for one in others if is_half_placed(one) and one.spec.device == facts.spec.device]
    first = min(rivals, key=_turn, default=None)
    return first if first is not None and _turn(first) < _turn(facts) else None


def gives_way(facts: Facts) -> bool:
    """Whether it was told to give its place back, and has not been called again."""
    return bool(facts.job.gives_way) and facts.job.suspended and _is_wanted(facts)


def is_forsaken(facts: Facts) -> bool:
    """Whether its first node failed for good and nodes are still to come, or to come again: in vain.

    Those that ran with it end by themselves, and keep their logs by that.
    """
    if facts.job.suspended or not _is_wanted(facts) or not has_first_failed(facts):
        return False
    pods = latest(facts.pods)
    first = pods.get(0)
    rest = [pods.get(index) for index in range(1, facts.job.nodes)]
    if any(pod is not None and pod.is_up and _was_there(pod, first) for pod in rest):
        return False
    return any(pod is None or not pod.is_over or _comes_again(pod) for pod in rest)


def _is_wanted(facts: Facts) -> bool:
    ended = facts.job.condition("Complete") or facts.job.condition("Failed")
    return facts.job.intent == "run" and not facts.job.is_deleting and ended is None


def _turn(facts: Facts) -> tuple[int, str, str]:
    return -facts.spec.priority, facts.job.created, facts.job.uid


def _has_no_place(pod: Pod) -> bool:
    return pod.trouble is not None and pod.trouble.unscheduled is not None


def _was_there(pod: Pod, first: Pod | None) -> bool:
    """Whether a node was up when the first one ended."""
    return first is not None and (first.ended is None or (pod.started or "") <= first.ended)


def _comes_again(pod: Pod) -> bool:
    return pod.exit_code == LEFT or disruption_of(pod) is not None
