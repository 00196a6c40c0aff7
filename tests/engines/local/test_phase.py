"""Every situation a folder can be in, and the one phase it means."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from jupyter_aiarts.engines.local.phase import Life, RunFacts, idle_since, view
from jupyter_aiarts.engines.local.records import (
    Failure,
    Intent,
    JobFile,
    NodeStatus,
    Placed,
    Problem,
    RankStatus,
    Settled,
    Summary,
    SummaryRank,
)
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.spec import JobSpec

JOB = JobFile(id="a123456789", owner="alice", host="here", created="1", queued="1", spec=JobSpec(command="true"))
PLACED = Placed(attempt=1, placed="2", cpus=1, devices=((),))
RUNNING = NodeStatus(node=0, attempt=1, phase="running", since="3", ranks=(RankStatus(rank=0, pid=5, started="3"),))


def summary(result: str, **keys: Any) -> Summary:
    return Summary(attempt=1, result=result, ended="9", started="3", **keys)


def facts(**keys: Any) -> RunFacts:
    return RunFacts(placed=PLACED, **keys)


@pytest.mark.parametrize(
    ("intent", "given", "phase", "code"),
    [
        (Intent.RUN, RunFacts(), Phase.QUEUED, "queue-position"),
        (Intent.RUN, facts(life=Life.UNBORN), Phase.STARTING, "starting"),
        (Intent.RUN, facts(life=Life.ALIVE), Phase.STARTING, "starting"),
        (Intent.RUN, facts(life=Life.ALIVE, statuses=(RUNNING,)), Phase.RUNNING, "running"),
        (Intent.STOP, facts(life=Life.ALIVE, statuses=(RUNNING,)), Phase.RUNNING, "stopping"),
        (Intent.RUN, facts(life=Life.ELSEWHERE, statuses=(RUNNING,)), Phase.RUNNING, "elsewhere"),
        (Intent.RUN, facts(life=Life.DEAD, statuses=(RUNNING,)), Phase.LOST, "launcher-lost"),
        (Intent.STOP, facts(life=Life.DEAD, statuses=(RUNNING,)), Phase.STOPPED, "stopped-by-user"),
        (Intent.PAUSE, facts(life=Life.DEAD, statuses=(RUNNING,)), Phase.PAUSED, "paused-by-user"),
        (Intent.RUN, facts(summary=summary("succeeded")), Phase.SUCCEEDED, "succeeded"),
        (Intent.STOP, facts(summary=summary("succeeded")), Phase.SUCCEEDED, "succeeded"),
        (Intent.STOP, facts(summary=summary("stopped")), Phase.STOPPED, "stopped-by-user"),
        (Intent.PAUSE, facts(summary=summary("stopped")), Phase.PAUSED, "paused-by-user"),
        (Intent.RUN, facts(summary=summary("stopped")), Phase.LOST, "launcher-lost"),
        (Intent.RUN, facts(summary=summary("time-limit")), Phase.FAILED, "time-limit"),
        (Intent.RUN, facts(summary=summary("meeting-failed")), Phase.LOST, "waiting-for-peers"),
        (Intent.RUN, facts(summary=summary("lost")), Phase.LOST, "launcher-lost"),
        (Intent.RUN, facts(summary=summary("failed")), Phase.FAILED, "unknown"),
    ],
)
def test_a_situation_means_one_phase(intent: Intent, given: RunFacts, phase: Phase, code: str) -> None:
    seen = view(structs.replace(JOB, intent=intent), given, settling=True)
    assert (seen.phase, seen.cause.code) == (phase, code)


def test_what_is_settled_stands() -> None:
    settled = Settled(phase=Phase.STOPPED, cause=Cause(code="stopped-by-user"))
    assert view(structs.replace(JOB, settled=settled), facts(life=Life.ALIVE)) == settled


def test_the_summary_of_an_earlier_attempt_does_not_count() -> None:
    later = RunFacts(placed=structs.replace(PLACED, attempt=2), life=Life.ALIVE, summary=summary("stopped"))
    assert view(JOB, later).phase is Phase.STARTING


@pytest.mark.parametrize(
    "given",
    [RunFacts(), facts(life=Life.ALIVE, statuses=(RUNNING,)), facts(summary=summary("succeeded"))],
    ids=["queued again", "running", "ended"],
)
def test_a_run_that_was_paused_started_when_it_first_did(given: RunFacts) -> None:
    assert view(structs.replace(JOB, started="1"), given).started == "1"


def test_a_failure_names_the_first_rank_and_brings_its_last_lines() -> None:
    first = Failure(node=1, rank=3, exit_code=137, signal="SIGKILL", last_lines=("bye",))
    ranks = (SummaryRank(rank=3, node=1, exit_code=137), SummaryRank(rank=0, node=0, exit_code=0))
    seen = view(JOB, facts(summary=summary("failed", first_failure=first, ranks=ranks)))
    assert (seen.cause.values["rank"], seen.cause.values["signal"], seen.cause.evidence) == (3, "SIGKILL", ("bye",))
    assert [rank.phase for rank in seen.ranks] == [Phase.FAILED, Phase.SUCCEEDED]


def test_a_failure_brings_what_was_seen_beside_it_and_nothing_where_nothing_was() -> None:
    first = Failure(node=0, rank=0, exit_code=1)
    plain = view(JOB, facts(summary=summary("failed", first_failure=first))).cause
    assert set(plain.values) == {"rank", "node", "exit_code", "signal", "restarts"}
    first = structs.replace(first, oom_kills=2, oom_scope="container", full=("/dev/shm",))
    later = Failure(node=1, rank=3, exit_code=137, signal="SIGKILL", last_lines=("bye",))
    seen = view(JOB, facts(summary=summary("failed", first_failure=first, others=(later,)))).cause.values
    assert (seen["oom_kills"], seen["oom_scope"], seen["full"]) == (2, "container", ["/dev/shm"])
    assert seen["others"] == [{"rank": 3, "node": 1, "exit_code": 137, "signal": "SIGKILL", "lines": ["bye"]}]


def test_a_problem_the_launcher_named_is_the_cause() -> None:
    problem = Problem(code="start-file-missing", message="the start file is not there", hint="look")
    seen = view(JOB, facts(summary=summary("failed", problem=problem)))
    assert (seen.cause.code, seen.cause.values["hint"]) == ("start-file-missing", "look")


def test_only_who_settles_a_job_calls_it_lost() -> None:
    seen = view(JOB, facts(life=Life.DEAD, statuses=(RUNNING,)))
    assert (seen.phase, seen.cause.code) == (Phase.RUNNING, "ending")


@pytest.mark.parametrize(
    ("nodes", "since"), [([], None), ([None], None), (["b"], "b"), (["b", "a"], "b"), (["b", None], None)]
)
def test_a_job_is_idle_only_if_all_of_its_nodes_are(nodes: list[str | None], since: str | None) -> None:
    assert idle_since(nodes) == since
