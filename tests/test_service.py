"""One picture of all jobs: lists, names, languages, followers and subscribers, over the real local engine."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.process import take_lock
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.local.supervisor import lock_of
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.errors import BadRequest, ClusterNotFound, JobNotFound, TemplateNotFound
from jupyter_aiarts.model.job import Job
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.picture import ListQuery
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore


@pytest_asyncio.fixture
async def service(tmp_path: Path) -> AsyncIterator[JobService]:
    engine = open_local(tmp_path / "state", Settings(devices={"huawei_npu_arm64": 8}, cpus=8))
    made = JobService({"local": engine}, TemplateStore(tmp_path / "templates"))
    yield made
    for job in json.loads(await made.jobs(ListQuery())):
        await made.delete(job["id"])
    async for _ in made.subscribe():
        if not json.loads(await made.jobs(ListQuery())):
            break
    await made.aclose()


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    (tmp_path / "train.py").write_text("print('hello')")
    (tmp_path / "slow.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(600)")
    return Caller(owner="alice", python=sys.executable, environ=dict(os.environ), folder=tmp_path)


async def finished(service: JobService, job_id: str) -> Job:
    async for _ in service.subscribe():
        job = await service.get(job_id)
        if job.phase.is_terminal:
            return job
    raise AssertionError("the service closed")


async def submitted(service: JobService, caller: Caller, **keys: Any) -> Job:
    raw = {"script": "train.py", "grace_seconds": 1, **keys}
    return (await service.submit(raw, caller)).job


async def names(service: JobService, **query: Any) -> list[str]:
    return [job["name"] for job in json.loads(await service.jobs(ListQuery(**query)))]


async def test_lists_are_newest_first_and_filtered(service: JobService, caller: Caller) -> None:
    made = [await submitted(service, caller, name=name) for name in ("一号", "second-one", "three")]
    for job in made:
        await finished(service, job.id)
    assert await names(service) == ["three", "second-one", "一号"]
    assert await names(service, limit=1) == ["three"]
    assert await names(service, after=made[2].id) == ["second-one", "一号"]
    assert await names(service, q="SECOND-ONE") == ["second-one"]
    assert await names(service, q=made[0].id) == ["一号"]
    assert await names(service, phase="running,queued") == []
    assert await names(service, owner="nobody") == []
    with pytest.raises(BadRequest):
        await service.jobs(ListQuery(phase="done"))
    with pytest.raises(JobNotFound):
        await service.jobs(ListQuery(after="abcdefghij"))


async def test_a_list_shows_only_the_small_spec(service: JobService, caller: Caller) -> None:
    await submitted(service, caller, env={"X": "1"})
    [job] = json.loads(await service.jobs(ListQuery()))
    assert set(job["spec"]) == {"kind", "device", "devices", "nodes", "image", "queue", "priority", "script"}


async def test_a_job_is_found_by_id_prefix_or_name(service: JobService, caller: Caller) -> None:
    one, two = await submitted(service, caller, name="twin"), await submitted(service, caller, name="twin")
    other = await submitted(service, caller, name="only")
    assert [await service.resolve(text) for text in (one.id, other.id[:9], "only")] == [one.id, other.id, other.id]
    with pytest.raises(BadRequest, match="2 jobs"):
        await service.resolve("twin")
    with pytest.raises(JobNotFound):
        await service.resolve("nothing")
    assert two.id != one.id


async def test_follow_tells_everything_and_ends_with_the_run(service: JobService, caller: Caller) -> None:
    job = await submitted(service, caller)
    lines = [line.text async for batch in service.follow(job.id, LogQuery()) for line in batch]
    assert lines == ["hello"]


async def test_subscribers_get_a_snapshot_then_changes_then_removals(
    service: JobService, caller: Caller, tmp_path: Path
) -> None:
    await service.start()
    stream = service.subscribe()
    assert json.loads(await anext(stream)) == {"type": "snapshot", "jobs": []}
    first = asyncio.ensure_future(anext(stream))  # a reader who waits passes nothing over
    lock = take_lock(lock_of(tmp_path / "state"))  # nobody starts the job before its first state is read
    assert lock is not None
    job = await submitted(service, caller)
    seen = [one["phase"] for one in json.loads(await first)["jobs"]]
    assert seen == ["queued"]
    os.close(lock)
    while seen[-1] != "succeeded":
        seen += [one["phase"] for one in json.loads(await anext(stream)).get("jobs", [])]
    order = ["queued", "starting", "running", "succeeded"]
    assert seen == sorted(seen, key=order.index), "a state may be passed over, never come back"
    await service.delete(job.id)
    removed = [json.loads(await anext(stream)) for _ in range(1)][-1]
    while removed["type"] != "removed":
        removed = json.loads(await anext(stream))
    assert removed == {"type": "removed", "ids": [job.id]}


async def test_a_slow_subscriber_gets_the_last_state_once(service: JobService, caller: Caller) -> None:
    await service.start()
    slow = service.subscribe()
    await anext(slow)
    job = await submitted(service, caller)
    await finished(service, job.id)
    message = json.loads(await anext(slow))
    assert [(one["id"], one["phase"]) for one in message["jobs"]] == [(job.id, "succeeded")]


async def test_who_shows_no_usage_is_not_woken_by_looks_at_the_machine(service: JobService) -> None:
    await service.start()
    shows, sleeps = service.subscribe(), service.subscribe(usage=False)
    await anext(shows)
    await anext(sleeps)
    told, woken = (asyncio.ensure_future(anext(one)) for one in (shows, sleeps))
    await service.usage()
    assert json.loads(await told)["type"] == "usage"
    assert json.loads(await anext(shows))["type"] == "usage"  # a second look has been told, and still
    assert not woken.done()
    woken.cancel()


async def test_explanations_come_in_the_readers_language(service: JobService, caller: Caller) -> None:
    job = await submitted(service, caller)
    await finished(service, job.id)
    titles = [(await service.explain(job.id, lang)).title for lang in ("en", "zh")]
    assert titles == ["Succeeded", "已成功"]


async def test_a_dry_run_changes_nothing_and_tells_what_would_happen(service: JobService, caller: Caller) -> None:
    raw = {"script": "train.py", "device": "huawei_npu_arm64", "devices": 2, "image": "x:1"}
    answer = await service.try_out(raw, caller)
    assert (answer.fits, answer.spec.framework, answer.spec.workdir) == (True, "none", str(caller.folder))
    assert any("ignored" in note for note in answer.notes)
    full = await service.try_out({**raw, "nodes": 2, "devices": 8}, caller)
    assert (full.fits, full.explanation and full.explanation.code) == (False, "never-fits")
    assert await names(service) == []


async def test_an_edit_keeps_secrets_it_does_not_name(service: JobService, caller: Caller) -> None:
    (caller.folder / "train.py").write_text("import os\nprint(os.environ['MY_TOKEN'], os.environ.get('B'))")
    job = await submitted(service, caller, secret_env={"MY_TOKEN": "sesame"})
    await finished(service, job.id)
    edited = await service.edit(job.id, {"env": {"B": "2"}})
    assert edited.spec.secret_env == {"MY_TOKEN": None}
    await service.act(job.id, Move.RERUN)
    await finished(service, job.id)
    assert [line.text for line in await service.logs(job.id, LogQuery())] == ["sesame 2"]


async def test_an_edit_changes_what_was_named_and_defaults_follow(service: JobService, caller: Caller) -> None:
    job = await submitted(service, caller, args=["x"])
    await finished(service, job.id)
    wide = await service.edit(job.id, {"nodes": 2})
    assert (wide.spec.kind, wide.spec.nodes, wide.name) == ("distributed", 2, "train")
    own = await service.edit(job.id, {"command": "true", "nodes": None})
    assert (own.spec.kind, own.spec.script, own.spec.args, own.spec.command) == ("regular", None, [], "true")
    assert (await service.edit(job.id, {"cluster": "local", "priority": 6})).spec.priority == 6
    with pytest.raises(BadRequest, match="cluster"):
        await service.edit(job.id, {"cluster": "mars"})


async def test_templates_are_saved_listed_used_and_deleted(service: JobService, caller: Caller) -> None:
    await service.save_template("mine", {"priority": 7, "env": {"A": "1", "MY_TOKEN": "x"}})
    found = {template.name: template for template in await service.templates()}
    assert found["mine"].spec == {"priority": 7, "env": {"A": "1"}}
    assert found["npu-8"].preset
    job = await submitted(service, caller, template="mine", env={"B": "2"})
    assert (job.spec.priority, job.spec.env) == (7, {"A": "1", "B": "2"})
    await service.delete_template("mine")
    with pytest.raises(TemplateNotFound):
        await service.template("mine")
    with pytest.raises(BadRequest, match="preset"):
        await service.delete_template("npu-8")


async def test_a_postjob_body_is_understood(service: JobService, caller: Caller) -> None:
    body = {
        "userName": "alice", "jobName": "resnet", "vcName": "platform", "jobType": "artsTraining",
        "jobtrainingtype": "RegularJob", "gpuType": "huawei_npu_arm64", "resourcegpu": 2, "cmd": "echo $RANK_SIZE",
    }  # fmt: skip
    job = (await service.submit(body, caller)).job
    assert (job.name, job.spec.queue, job.spec.devices) == ("resnet", "platform", 2)
    await finished(service, job.id)
    assert [line.text for line in await service.logs(job.id, LogQuery())] == ["2"]


async def test_an_unknown_cluster_is_named_with_those_that_exist(service: JobService, caller: Caller) -> None:
    with pytest.raises(ClusterNotFound) as refused:
        await submitted(service, caller, cluster="mars")
    assert "local" in refused.value.hint


async def test_two_services_on_one_folder_show_the_same(service: JobService, caller: Caller, tmp_path: Path) -> None:
    other = JobService({"local": open_local(tmp_path / "state")}, TemplateStore(tmp_path / "templates"))
    await other.start()
    stream = other.subscribe()
    await anext(stream)
    job = await submitted(service, caller, script="slow.py")
    async for raw in stream:
        if [one for one in json.loads(raw)["jobs"] if one["phase"] == "running"]:
            break
    assert (await other.act(job.id, Move.STOP)).id == job.id
    assert (await finished(service, job.id)).phase is Phase.STOPPED
    await other.aclose()


async def test_active_here_counts_what_runs(service: JobService, caller: Caller) -> None:
    await service.start()
    job = await submitted(service, caller, script="slow.py")
    async for _ in service.subscribe():
        if (await service.get(job.id)).phase is Phase.RUNNING:
            break
    assert service.active_here() == 1
    await asyncio.wait_for(service.act(job.id, Move.STOP), 60)
    await finished(service, job.id)
    assert service.active_here() == 0
