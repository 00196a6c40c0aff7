"""What every engine promises. One sentence per test, the same for all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from jupyter_aiarts.engines.base import Caller, Engine, JobRecord
from jupyter_aiarts.errors import InvalidSpec, JobNotFound, RunNotFound, SubmissionConflict, WrongPhase
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.usage import NodeUsage
from tests.engines.reaching import job_reached, none_left

Submit = Callable[..., Awaitable[JobRecord]]
Until = Callable[..., Awaitable[JobRecord]]
TextOf = Callable[..., Awaitable[list[str]]]
Printed = Callable[..., Awaitable[None]]
Keys = dict[str, Any]

FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(600)"
HOSTILE = ["$(whoami)", "`id`", "; rm -rf x", "a'b\"c", "two\nlines", "😀 训练", "", " ", "--", "$HOME", "\\", "%s"]


async def test_a_submitted_job_runs_and_succeeds(submit: Submit, until: Until, text_of: TextOf) -> None:
    job = await submit("print('hello')")
    done = await until(job.id)
    assert (done.phase, done.cause.code, [rank.exit_code for rank in done.ranks]) == (Phase.SUCCEEDED, "succeeded", [0])
    assert done.created <= (done.started or "") <= (done.ended or "")
    assert await text_of(job.id) == ["hello"]


async def test_arguments_and_variables_arrive_byte_for_byte(submit: Submit, until: Until, text_of: TextOf) -> None:
    source = "import sys, os, json\nprint(json.dumps([sys.argv[1:], os.environ['X']]))"
    params = {f"p{index}": value for index, value in enumerate(HOSTILE)}
    job = await submit(source, args=HOSTILE, params=params, env={"X": "\n".join(HOSTILE)})
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    expected = [*HOSTILE, *(word for key, value in params.items() for word in (f"--{key}", value))]
    assert json.loads((await text_of(job.id))[0]) == [expected, "\n".join(HOSTILE)]


async def test_a_failing_job_says_which_rank_and_its_last_lines(submit: Submit, until: Until) -> None:
    done = await until((await submit("import sys\nprint('before')\nsys.exit('boom')")).id)
    assert (done.phase, done.cause.code, done.cause.values["exit_code"]) == (Phase.FAILED, "exit-code", 1)
    assert "boom" in done.cause.evidence


async def test_stop_ends_a_running_job_and_keeps_it(
    engine: Engine, submit: Submit, until: Until, printed: Printed, text_of: TextOf
) -> None:
    job = await submit(FOREVER)
    await printed(job.id, "up")
    await engine.act(job.id, Move.STOP)
    done = await until(job.id)
    assert (done.phase, done.cause.code) == (Phase.STOPPED, "stopped-by-user")
    assert await text_of(job.id) == ["up"]


async def test_pause_frees_and_resume_runs_again_in_the_same_run(
    engine: Engine, submit: Submit, until: Until, printed: Printed, text_of: TextOf
) -> None:
    job = await submit("import os\nprint('up', flush=True)\nif not os.path.exists('go'): import time; time.sleep(600)")
    await printed(job.id, "up")
    await engine.act(job.id, Move.PAUSE)
    paused = await until(job.id, Phase.PAUSED)
    assert paused.cause.code == "paused-by-user"
    folder = paused.spec.workdir
    assert folder is not None
    open(f"{folder}/go", "w").close()
    await engine.act(job.id, Move.RESUME)
    done = await until(job.id)
    assert (done.phase, done.run, done.started) == (Phase.SUCCEEDED, 1, paused.started)
    first, second = done.attempts  # what was paused is no time that it ran
    assert (first.started, first.ended, second.ended) == (paused.started, paused.ended, done.ended)
    assert (first.ended or "") <= (second.queued or "") <= (second.started or "") <= (second.ended or "")
    assert await text_of(job.id) == ["up", "up"]


async def test_a_job_that_is_stopped_out_of_its_pause_ran_until_that_and_no_longer(
    engine: Engine, submit: Submit, until: Until, printed: Printed
) -> None:
    job = await submit(FOREVER)
    await printed(job.id, "up")
    await engine.act(job.id, Move.PAUSE)
    paused = await until(job.id, Phase.PAUSED)
    await engine.act(job.id, Move.STOP)
    done = await until(job.id)
    assert done.phase is Phase.STOPPED
    assert (done.attempts[-1].ended if done.attempts else done.ended) == paused.ended


async def test_rerun_is_the_next_run_and_keeps_the_earlier_one(
    engine: Engine, submit: Submit, until: Until, text_of: TextOf, keys: Keys
) -> None:
    job = await submit("import os\nprint(os.environ.get('WORD', 'first'))")
    await until(job.id)
    await engine.edit(job.id, read_spec({"script": "train.py", **keys, "env": {"WORD": "second"}}))
    again = await engine.act(job.id, Move.RERUN)
    assert (again.id, again.run) == (job.id, 2)
    done = await until(job.id)
    assert done.phase is Phase.SUCCEEDED
    assert [await text_of(job.id, 1), await text_of(job.id, 2)] == [["first"], ["second"]]
    [before] = done.earlier
    assert before.started <= before.ended <= (done.ended or "")


async def test_a_deleted_job_is_gone(engine: Engine, submit: Submit, until: Until) -> None:
    job = await submit()
    await until(job.id)
    await engine.delete(job.id)
    with pytest.raises(JobNotFound):
        await engine.get(job.id)
    assert job.id not in [record.id for record in await engine.snapshot()]


async def test_deleting_a_running_job_stops_it_first(engine: Engine, submit: Submit, printed: Printed) -> None:
    job = await submit(FOREVER)
    await printed(job.id, "up")
    await engine.delete(job.id)
    await asyncio.wait_for(none_left(engine, job.id), 60)
    with pytest.raises(JobNotFound):
        await engine.get(job.id)


async def test_moves_that_a_phase_does_not_offer_are_refused(engine: Engine, submit: Submit, until: Until) -> None:
    job = await submit()
    await until(job.id)
    for move in (Move.STOP, Move.PAUSE, Move.RESUME):
        with pytest.raises(WrongPhase):
            await engine.act(job.id, move)


@pytest.mark.parametrize("job_id", ["abcdefghij", "nope", "../../etc", "", "ABCDEFGHIJ"])
async def test_an_unknown_id_is_not_found(engine: Engine, job_id: str) -> None:
    with pytest.raises(JobNotFound):
        await engine.get(job_id)
    with pytest.raises(JobNotFound):
        await engine.act(job_id, Move.STOP)


async def test_an_unknown_run_is_not_found(engine: Engine, submit: Submit) -> None:
    job = await submit()
    with pytest.raises(RunNotFound):
        await engine.log(job.id, 7)


async def test_a_submission_id_gives_one_job(engine: Engine, caller: Caller, keys: Keys) -> None:
    (caller.folder / "train.py").write_text("print(1)")
    raw = {"script": "train.py", "submission_id": "mine", **keys}
    answers = await asyncio.gather(*(engine.submit(read_spec(raw), caller) for _ in range(20)))
    assert len({record.id for record, _ in answers}) == 1
    assert sum(created for _, created in answers) == 1
    with pytest.raises(SubmissionConflict):
        await engine.submit(read_spec({**raw, "args": ["other"]}), caller)


async def test_secrets_reach_the_rank_and_nothing_else(
    engine: Engine, submit: Submit, until: Until, text_of: TextOf
) -> None:
    job = await submit("import os\nprint(len(os.environ['S3_SECRET']))", secret_env={"S3_SECRET": "open sesame"})
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    assert await text_of(job.id) == ["11"]
    assert (await engine.environment(job.id, None, 0))["S3_SECRET"] is None
    assert "open sesame" not in repr(await engine.get(job.id))


async def test_each_rank_substitutes_its_own_number(submit: Submit, until: Until, text_of: TextOf) -> None:
    job = await submit(
        "import sys\nprint(sys.argv[1:])",
        args=["${RANK_ID}", "$${RANK_ID}", "$RANK_ID"],
        device="huawei_npu_arm64",
        devices=2,
        processes="card",
    )
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    texts = sorted(await text_of(job.id))
    assert texts == ["['0', '${RANK_ID}', '$RANK_ID']", "['1', '${RANK_ID}', '$RANK_ID']"]


async def test_an_unknown_variable_is_refused_before_anything_starts(engine: Engine, submit: Submit) -> None:
    with pytest.raises(InvalidSpec) as refused:
        await submit(args=["${RANKID}"])
    assert refused.value.problems[0]["key"] == "args"
    assert "RANK_ID" in refused.value.problems[0]["message"]
    assert await engine.snapshot() == ()


async def test_two_nodes_know_each_other(submit: Submit, until: Until, text_of: TextOf) -> None:
    source = "import os\nprint(*(os.environ[n] for n in ('NODE_RANK','RANK','WORLD_SIZE','PET_NNODES','MASTER_ADDR')))"
    job = await submit(source, nodes=2)
    done = await until(job.id)
    assert (done.phase, [rank.node for rank in done.ranks]) == (Phase.SUCCEEDED, [0, 1])
    first, second = (line.split() for line in sorted(await text_of(job.id)))
    assert (first[:4], second[:4]) == (["0", "0", "2", "2"], ["1", "1", "2", "2"])
    assert first[4] == second[4]


async def test_one_failing_node_ends_all_and_is_named_first(submit: Submit, until: Until) -> None:
    source = "import os, sys, time\nif os.environ['NODE_RANK'] == '1': sys.exit(3)\ntime.sleep(600)"
    done = await until((await submit(source, nodes=2)).id)
    assert (done.phase, done.cause.values["rank"], done.cause.values["exit_code"]) == (Phase.FAILED, 1, 3)


async def test_a_restart_runs_the_whole_job_again(submit: Submit, until: Until, text_of: TextOf) -> None:
    source = "import os, sys\nprint('try', flush=True)\nif not os.path.exists('x'): open('x','w').close(); sys.exit(1)"
    job = await submit(source, max_restarts=1)
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    assert await text_of(job.id) == ["try", "try"]


async def test_max_hours_counts_running_time(submit: Submit, until: Until) -> None:
    done = await until((await submit(FOREVER, max_hours=1 / 3600)).id)
    assert (done.phase, done.cause.code) == (Phase.FAILED, "time-limit")


async def test_the_environment_of_a_rank_can_be_read(engine: Engine, submit: Submit, until: Until) -> None:
    job = await submit(env={"HARD": "a'b\n$c=d"})
    await until(job.id)
    found = await engine.environment(job.id, None, 0)
    assert (found["HARD"], found["DLWS_JOB_ID"], found["RANK_SIZE"]) == ("a'b\n$c=d", job.id, "1")


async def test_a_queued_job_says_what_it_waits_for_and_can_be_stopped(
    engine: Engine, submit: Submit, until: Until, printed: Printed
) -> None:
    nodes = 1 if engine.name == "local" else 2  # all there are, eight cards each
    first = await submit(FOREVER, device="huawei_npu_arm64", devices=8, nodes=nodes)
    await printed(first.id, "up")
    second = await submit(device="huawei_npu_arm64", devices=1)
    await _because(engine, second.id, "no-node-fits")
    await engine.act(second.id, Move.STOP)
    stopped = await until(second.id)
    assert (stopped.phase, stopped.cause.code) == (Phase.STOPPED, "stopped-by-user")


async def test_a_later_job_that_starts_first_is_written_down_with_the_reason(
    engine: Engine, submit: Submit, until: Until, printed: Printed
) -> None:
    nodes = 1 if engine.name == "local" else 2
    first = await submit(FOREVER, device="huawei_npu_arm64", devices=8, nodes=nodes, cpu=0.25)
    await printed(first.id, "up")
    assert await engine.turns() == ()
    second = await submit(FOREVER, device="huawei_npu_arm64", devices=1, cpu=0.25)
    await _because(engine, second.id, "no-node-fits")
    await asyncio.sleep(1.1)  # a cluster's times have whole seconds
    third = await submit("print('no card needed')", cpu=0.25)
    assert (await until(third.id)).phase is Phase.SUCCEEDED
    [turn] = await engine.turns(second.id)
    assert (turn.job, [(one.job, one.reason) for one in turn.passed]) == (
        third.id,
        [(second.id, "smaller-delays-nobody")],
    )
    assert (await engine.turns(third.id), await engine.turns(first.id)) == ((turn,), ())


async def test_queues_are_this_clusters_and_what_is_unknown_is_none(engine: Engine, submit: Submit) -> None:
    await submit()
    for queue in await engine.queues():
        assert (queue.cluster, queue.kind) in ((engine.name, "local"), (engine.name, "kueue"), (engine.name, "quota"))
        assert all(amount is None or amount >= 0 for amount in (*queue.quota.values(), *queue.used.values()))
    with pytest.raises(JobNotFound):
        await engine.turns("../../etc")


async def _because(engine: Engine, job_id: str, code: str) -> None:
    """Until the job is queued for this reason."""
    record = await job_reached(engine, job_id, lambda job: job.cause.code == code, 30)
    assert record.phase is Phase.QUEUED


async def test_the_machines_are_told_with_who_holds_their_cards(
    engine: Engine, submit: Submit, printed: Printed
) -> None:
    """What may be seen adds up; on a cluster where nodes may not be seen, what is free is unknown, not guessed."""
    job = await submit(FOREVER, device="huawei_npu_arm64", devices=4)
    await printed(job.id, "up")
    view = await engine.cluster()
    held = [(row, one) for row in view.nodes for one in row.held_by if one.job == job.id]
    assert [(row.device, one.owner, one.cards) for row, one in held] == [("huawei_npu_arm64", "alice", 4)]
    assert (held[0][0].cards, held[0][0].free) == ((8, 4) if engine.name == "local" else (None, None))
    assert bool(view.unknown) is (engine.name != "local")


async def test_what_a_rank_takes_is_told_while_it_runs_and_kept_with_its_past(
    engine: Engine, submit: Submit, until: Until
) -> None:
    """Launchers look by themselves, the first time after some seconds; nobody says when they have."""
    job = await submit(FOREVER)
    [node] = await asyncio.wait_for(_looked_at(engine, job.id), 60)
    assert [(rank.rank, rank.cpu is not None, (rank.memory_mb or 0) > 1) for rank in node.ranks] == [(0, True, True)]
    assert [(rank.read is not None, rank.written is not None) for rank in node.ranks] == [(True, True)]
    numbers = {"0 cpu", "0 memory", "0 read", "0 written"}
    assert node.history is not None and set(node.history.ranks.series) == numbers
    is_pod = engine.name != "local"  # on this machine the network is everybody's
    assert (node.received is not None, node.sent is not None, node.history.network is not None) == 3 * (is_pod,)
    await engine.act(job.id, Move.STOP)
    await until(job.id)
    [kept] = await engine.usage(job.id, None, True)
    assert (kept.ranks, kept.history) == (node.ranks, node.history)
    [plain] = await engine.usage(job.id, None, False)
    assert plain.history is None


async def _looked_at(engine: Engine, job_id: str) -> tuple[NodeUsage, ...]:
    while not (found := await engine.usage(job_id, None, True)):
        await asyncio.sleep(0.2)
    return found


async def test_events_tell_the_story_in_order(engine: Engine, submit: Submit, until: Until) -> None:
    job = await submit()
    await until(job.id)
    events = await engine.events(job.id, None)
    assert [event.t for event in events] == sorted(event.t for event in events)
    reasons = [event.reason for event in events]
    story = ["Queued", "Placed", "Started", "Succeeded"] if engine.name == "local" else ["Scheduled", "Started"]
    assert [reason for reason in dict.fromkeys(reasons) if reason in story] == story
