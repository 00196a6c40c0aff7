"""What a cluster says before a job is submitted: storage and secrets that are not there, quotas over all nodes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.kubernetes.beforehand import (
    ClaimObject,
    ScopedQuota,
    in_queue,
    missing_claims,
    over_quota,
)
from jupyter_aiarts.engines.kubernetes.expected import in_a_queue, on_nodes
from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.cluster import ClusterView, Node
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.queue import Ahead, Place, Queue
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.times import seconds_between
from tests.engines.kubernetes.making import make_order

GPU = "nvidia_gpu_amd64"
CARDS = "nvidia.com/gpu"
NOW = "2026-05-01T12:00:00.000000Z"


def quota(hard: dict[str, str], used: dict[str, str], **spec: Any) -> ScopedQuota:
    raw = {"metadata": {"name": "team", "namespace": "team-a"}, "status": {"hard": hard, "used": used}, "spec": spec}
    return msgspec.convert(raw, ScopedQuota)


# -- storage -------------------------------------------------------------------------------------------------------


def test_a_claim_that_is_not_there_is_what_stands_in_the_way() -> None:
    lost = msgspec.convert({"spec": {"volumeName": "pv-1"}, "status": {"phase": "Lost"}}, ClaimObject)
    cause = missing_claims({"data": None, "old": lost}, "team-a")
    assert cause is not None and cause.code == "mount-missing"
    assert cause.evidence[0] == 'persistentvolumeclaim "data" not found' and "pv-1" in cause.evidence[1]
    for lang in ("en", "zh"):
        assert explain(cause, lang).code == "mount-missing"


def test_claims_that_are_there_or_may_not_be_asked_about_are_no_obstacle() -> None:
    bound = msgspec.convert({"spec": {"volumeName": "pv-1"}, "status": {"phase": "Bound"}}, ClaimObject)
    pending = msgspec.convert({"status": {"phase": "Pending"}}, ClaimObject)  # bound when its first pod comes
    assert missing_claims({"data": bound, "new": pending}, "team-a") is None and missing_claims({}, "team-a") is None


# -- quotas --------------------------------------------------------------------------------------------------------


def test_all_nodes_of_a_job_are_counted_against_a_quota() -> None:
    """A dry run of one pod fits; two of them do not."""
    hard, used = {"requests.nvidia.com/gpu": "8", "pods": "10"}, {"requests.nvidia.com/gpu": "2"}
    order = make_order(raw={"device": GPU, "devices": 4, "nodes": 2})
    cause = over_quota([quota(hard, used)], order)
    assert cause is not None and cause.code == "quota-exceeded"
    assert {key: cause.values[key] for key in ("whose", "asked", "used", "quota", "missing", "nodes")} == {
        "whose": "team", "asked": 8, "used": 2, "quota": 8, "missing": 2, "nodes": 2,
    }  # fmt: skip
    assert over_quota([quota(hard, used)], make_order(raw={"device": GPU, "devices": 3, "nodes": 2})) is None


@pytest.mark.parametrize(
    ("hard", "over"),
    [
        ({"cpu": "3"}, True),
        ({"limits.cpu": "3"}, True),
        ({"requests.memory": "20Gi"}, False),
        ({"requests.memory": "19Gi"}, True),
        ({"pods": "1"}, True),
        ({"services": "0", "count/jobs.batch": "0"}, False),
        ({"requests.nvidia.com/gpu": "0"}, False),
        ({"cpu": "many"}, False),
    ],
)
def test_of_what_a_quota_counts_only_what_the_job_takes_matters(hard: dict[str, str], over: bool) -> None:
    order = make_order(raw={"cpu": 2, "memory_gb": 10, "nodes": 2})
    assert (over_quota([quota(hard, {})], order) is not None) is over


def test_the_sum_reads_like_the_clusters_own_refusal_so_that_one_rule_explains_both() -> None:
    cause = over_quota([quota({"cpu": "3"}, {"cpu": "1500m"})], make_order(raw={"cpu": 2}))
    assert cause is not None
    assert cause.evidence == ("exceeded quota: team, requested: cpu=2, used: cpu=1.5, limited: cpu=3",)
    assert explain(cause, "en").code == "quota-exceeded"


# -- a Kueue queue -------------------------------------------------------------------------------------------------


def queue(**more: Any) -> Queue:
    return Queue(
        **{
            "name": "own", "cluster": "k8s", "kind": "kueue", "namespace": "team-a", "lends_from": "shared",
            "quota": {CARDS: 8.0, "cpu": 100.0}, "used": {CARDS: 6.0, "cpu": 1.0}, "pending": 0, "active": True, **more,
        }
    )  # fmt: skip


def test_a_queue_whose_quota_is_used_up_says_whose_and_how_much_is_missing() -> None:
    order = make_order(raw={"device": GPU, "devices": 2, "nodes": 2, "queue": "own"})
    cause, notes = in_queue(queue(), order)
    assert cause is not None and (cause.code, cause.values["whose"], cause.values["missing"]) == (
        "quota-exceeded", "shared", 2,
    )  # fmt: skip
    assert notes == () and in_queue(queue(used={CARDS: 4.0}), order) == (None, ())


def test_a_queue_that_may_borrow_is_no_obstacle_but_it_is_said() -> None:
    cause, notes = in_queue(queue(borrows=True), make_order(raw={"device": GPU, "devices": 4, "queue": "own"}))
    assert cause is None and notes == (
        "2 of nvidia.com/gpu are missing in the quota of shared: 6 of 8 are used. It may borrow them from its cohort.",
    )


def test_who_waits_already_is_said_with_the_place_that_follows() -> None:
    cause, notes = in_queue(queue(pending=3), make_order(raw={"queue": "own"}))
    assert cause is None and notes[0].startswith("3 jobs wait in the queue own: this one would be number 4 there")


def test_a_queue_that_takes_no_jobs_or_cannot_be_seen() -> None:
    why = Cause(code="queue-inactive", values={"queue": "own"})
    order = make_order(raw={"queue": "own"})
    assert in_queue(queue(active=False, why=why), order)[0] is why
    assert in_queue(queue(quota={CARDS: None}, used={CARDS: None}), order) == (None, ())


# -- expected start ------------------------------------------------------------------------------------------------


def record(job: str, phase: Phase, cards: int = 8, started: str | None = None, **more: Any) -> JobRecord:
    spec = JobSpec(name=job, device=GPU, devices=cards, queue=more.pop("queue", "own"), grace_seconds=0, **more)
    created = f"2026-05-01T11:00:{int(job[1:]):02}Z" if job[1:].isdigit() else NOW
    return JobRecord(
        id=job, cluster="k8s", owner="al", phase=phase, run=1, created=created, spec=spec,
        cause=Cause(code="queue-position"), started=started,
    )  # fmt: skip


def standing(job: str, *ahead: str | None) -> Place:
    before = tuple(Ahead(job=one) for one in ahead)
    return Place(job=job, name=job, owner="al", position=len(ahead) + 1, ahead=len(ahead), before=before)


def seconds(found: Any) -> Any:
    return found and (round(seconds_between(NOW, found.earliest)), round(seconds_between(NOW, found.latest)))


RUNS = record("r1", Phase.RUNNING, 8, "2026-05-01T11:30:00Z", max_hours=1)
MINE = record("w2", Phase.QUEUED, 4)


def test_a_queues_running_jobs_with_limits_bound_the_wait() -> None:
    full = queue(used={CARDS: 8.0}, places=(standing("w2"),))
    assert seconds(in_a_queue(MINE, [full], [RUNS, MINE], CARDS, at=NOW)) == (0, 1860)


def test_one_that_was_paused_or_evicted_may_have_all_of_its_limit_left() -> None:
    full = queue(used={CARDS: 8.0}, places=(standing("w2"),))
    assert seconds(in_a_queue(MINE, [full], [RUNS, MINE], CARDS, {"r1"}, NOW)) == (0, 3660)


def test_what_strangers_hold_bounds_nothing() -> None:
    full = queue(used={CARDS: 8.0}, places=(standing("w2"),))
    part = record("r1", Phase.RUNNING, 4, "2026-05-01T11:30:00Z", max_hours=1)
    assert in_a_queue(MINE, [full], [part, MINE], CARDS, at=NOW) is None


def test_those_ahead_are_waited_for_and_a_stranger_ahead_makes_it_unknown() -> None:
    first = record("w1", Phase.QUEUED, 8, max_hours=2)
    known = queue(used={CARDS: 8.0}, places=(standing("w2", "w1"),))
    assert seconds(in_a_queue(MINE, [known], [RUNS, first, MINE], CARDS, at=NOW)) == (0, 1860 + 7260)
    stranger = queue(used={CARDS: 8.0}, places=(standing("w2", None),))
    assert in_a_queue(MINE, [stranger], [RUNS, MINE], CARDS, at=NOW) is None


def test_how_often_somebody_starts_tells_about_strangers_and_about_jobs_without_cards() -> None:
    ended = [record(f"e{n}", Phase.STOPPED, 1, f"2026-05-01T11:{n}0:00Z") for n in range(6)]
    stranger = queue(used={CARDS: 8.0}, places=(standing("w2", None),))
    found = in_a_queue(MINE, [stranger], [*ended, MINE], CARDS, at=NOW)
    assert found is not None and found.basis == "rate" and seconds(found) == (600, 1800)
    plain = record("w3", Phase.QUEUED, 0)
    found = in_a_queue(plain, [queue(places=(standing("w3"),))], [*ended, plain], None, at=NOW)
    assert found is not None and found.basis == "rate"


def test_a_place_that_is_not_known_gives_no_band() -> None:
    unseen = Place(job="w2", name="x", owner="al", position=1, ahead=None)
    assert in_a_queue(MINE, [queue(places=(unseen,))], [RUNS, MINE], CARDS, at=NOW) is None
    assert in_a_queue(MINE, [], [RUNS, MINE], CARDS, at=NOW) is None


def test_without_a_queue_the_cards_of_all_nodes_are_the_pool() -> None:
    def view(free: int | None, **more: Any) -> ClusterView:
        node = Node(cluster="k8s", name="n", ready=True, device=GPU, cards=8, free=free)
        return ClusterView(cluster="k8s", at=NOW, nodes=(node,), **more)

    runs, mine = (
        record("r1", Phase.RUNNING, 8, "2026-05-01T11:30:00Z", max_hours=1, queue=None),
        record("w2", Phase.QUEUED, 4, queue=None),
    )
    assert seconds(on_nodes(mine, view(0), [runs, mine], at=NOW)) == (0, 1860)
    assert on_nodes(mine, view(None), [runs, mine], at=NOW) is None
    assert on_nodes(mine, view(0), [mine], at=NOW) is None
    assert on_nodes(mine, view(0, unknown=(Cause(code="x"),)), [runs, mine], at=NOW) is None
