"""Submitting leaves all of a run or nothing of it, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from aiohttp import web

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.paths import jobs
from jupyter_aiarts.engines.kubernetes.settings import read_settings
from jupyter_aiarts.engines.kubernetes.submit import sweep
from jupyter_aiarts.errors import NotAllowed, SubmissionConflict
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.reading import read_spec
from tests.cluster.api import until as cluster_until
from tests.cluster.cluster import CommandFailed
from tests.engines.kubernetes.engines import laboratory
from tests.engines.kubernetes.middleman import Middleman, is_change
from tests.engines.reaching import reached

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

RAW = {"cluster": "test", "command": "true", "image": "registry.local/aiarts-test:1", "cpu": 0.1, "memory_gb": 0.2}
ROLE = Path(__file__).parents[3] / "docs" / "rbac" / "aiarts-user.yaml"


def left_of_jobs(cluster: Cluster, namespace: str) -> list[str]:
    """Every object of ours in a namespace."""
    kinds = "jobs,services,configmaps,secrets,pods"
    found = cluster.kubectl("-n", namespace, "get", kinds, "-l", "jupyter-aiarts/job", "-o", "name")
    return sorted(found.split())


async def until_nothing_is_left(cluster: Cluster, namespace: str, seconds: float = 30) -> None:
    """The cluster's garbage collector needs a moment for what belonged to a Job."""

    async def look() -> None:
        while await asyncio.to_thread(left_of_jobs, cluster, namespace):
            await asyncio.sleep(0.2)

    try:
        await asyncio.wait_for(look(), seconds)
    except asyncio.TimeoutError:
        raise AssertionError(f"left behind: {left_of_jobs(cluster, namespace)}") from None


LAST = 6
"""The requests of a submission: Job, claim, Service, ConfigMap, Secret, and the release."""


@pytest.mark.parametrize("request_number", range(1, LAST + 1))
async def test_a_submitter_killed_between_two_requests_leaves_nothing_that_a_sweep_does_not_remove(
    cluster: Cluster, tmp_path: Path, request_number: int
) -> None:
    middleman = Middleman(cluster, "alice")
    child: list[asyncio.subprocess.Process] = []
    killed = asyncio.Event()
    answered: list[web.Request] = []

    async def kill(request: web.Request) -> None:
        answered.extend([request] if is_change(request.method, request.path_qs) else [])
        if len(answered) >= request_number and not killed.is_set():
            child[0].kill()
            killed.set()

    middleman.after = kill
    with cluster.namespace() as namespace:
        async with middleman.listening():
            arguments = (str(middleman.kubeconfig(tmp_path)), namespace, str(tmp_path))
            script = str(Path(__file__).with_name("submitter.py"))
            child.append(await asyncio.create_subprocess_exec(sys.executable, script, *arguments))
            await asyncio.wait_for(killed.wait(), 60)
            assert await child[0].wait() == -9
        api = await Api.open(read_settings("test", {"kubeconfig": str(cluster.kubeconfig("alice"))}))
        try:
            async for page in api.pages(jobs(namespace), JobObject):
                marked = [job for job in page.items if job.is_creating]
                assert await sweep(api, marked) == []  # it may be somebody who is still at work
                later = datetime.now(timezone.utc) + timedelta(minutes=11)
                assert await sweep(api, marked, later) == [job.name for job in marked]
                whole = [job for job in page.items if not job.is_creating]
        finally:
            await api.aclose()
        if request_number < LAST:
            assert whole == []
            await until_nothing_is_left(cluster, namespace)
        else:  # the last request had been carried out: then it is a job, and all of it is there
            kinds = [name.partition("/")[0] for name in left_of_jobs(cluster, namespace)]
            assert set(kinds) >= {"job.batch", "service", "configmap", "secret"}


def without(resource: str) -> dict[str, Any]:
    """The role of docs/, short of the right to create one kind of object."""
    role: dict[str, Any] = yaml.safe_load(ROLE.read_text())
    for rule in role["rules"]:
        if resource in rule["resources"]:
            rest = [one for one in rule["resources"] if one != resource]
            role["rules"].append({**rule, "resources": rest} if rest else {**rule, "resources": ["nothing"]})
            rule["resources"], rule["verbs"] = [resource], [verb for verb in rule["verbs"] if verb != "create"]
            break
    return {**role, "metadata": {"name": "short"}}


@pytest.mark.parametrize("resource", ["services", "configmaps", "secrets"])
async def test_a_refusal_at_any_step_is_told_and_leaves_nothing(
    cluster: Cluster, tmp_path: Path, resource: str
) -> None:
    with cluster.namespace() as namespace:
        cluster.kubectl("-n", namespace, "apply", "-f", "-", input=json.dumps(without(resource)))
        account = cluster.service_account_kubeconfig(namespace, "short", role="short")
        engine = open_cluster("test", {"kubeconfig": str(account.kubeconfig), "namespaces": [namespace]}, tmp_path)
        try:
            with pytest.raises(NotAllowed, match=resource):
                await engine.submit(read_spec(RAW), Caller(owner="alice", python="python3", folder=tmp_path))
            await until_nothing_is_left(cluster, namespace)
            assert await engine.snapshot() == ()
        finally:
            await engine.aclose()


async def test_a_quota_refusal_is_told_with_its_numbers_and_leaves_nothing(cluster: Cluster, tmp_path: Path) -> None:
    with cluster.namespace() as namespace:
        cluster.kubectl("-n", namespace, "create", "quota", "few", "--hard=count/services=0")
        await asyncio.to_thread(cluster_until, "the quota to count", lambda: is_full(cluster, namespace))
        engine = open_cluster("test", alice(cluster, namespace), tmp_path)
        try:
            with pytest.raises(NotAllowed, match="exceeded quota: few"):
                await engine.submit(read_spec(RAW), Caller(owner="alice", python="python3", folder=tmp_path))
            await until_nothing_is_left(cluster, namespace)
        finally:
            await engine.aclose()


def is_full(cluster: Cluster, namespace: str) -> bool:
    """Whether the API server goes by the quota already: one that nobody has counted yet refuses nothing."""
    try:
        cluster.kubectl("-n", namespace, "create", "service", "clusterip", "probe", "--tcp=80", "--dry-run=server")
    except CommandFailed as error:
        return "exceeded quota" in str(error)
    return False


async def test_a_cancelled_submission_leaves_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """A browser that goes away in the middle takes its job with it."""
    middleman = Middleman(cluster, "alice")
    reached = asyncio.Event()

    async def hold(request: web.Request) -> None:
        if request.method == "POST" and request.path.endswith("/configmaps"):
            reached.set()
            await asyncio.sleep(1)

    middleman.before = hold
    with cluster.namespace() as namespace:
        async with middleman.listening():
            settings = {"kubeconfig": str(middleman.kubeconfig(tmp_path)), "namespaces": [namespace]}
            engine = open_cluster("test", settings, tmp_path / "state")
            caller = Caller(owner="alice", python="python3", folder=tmp_path)
            submitting = asyncio.create_task(engine.submit(read_spec(RAW), caller))
            await asyncio.wait_for(reached.wait(), 30)
            submitting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await submitting
            await until_nothing_is_left(cluster, namespace)
            await engine.aclose()


async def test_objects_are_called_after_the_job_and_an_id_of_ones_own_still_gives_one_job(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Two servers at once, under the same id and two names: one job, and the other is told whose the id is."""
    with cluster.namespace() as namespace:
        caller = Caller(owner="alice", python="python3", folder=tmp_path)
        engines = [open_cluster("test", alice(cluster, namespace), tmp_path / name) for name in ("a", "b")]
        try:
            asked = [{**RAW, "name": name, "submission_id": "1754035200-mine"} for name in ("First try", "other")]
            tries = [one.submit(read_spec(raw), caller) for one, raw in zip(engines, asked, strict=True)]
            done = await asyncio.gather(*tries, return_exceptions=True)
            made = [one[0] for one in done if not isinstance(one, BaseException)]
            assert [type(one) for one in done if isinstance(one, BaseException)] == [SubmissionConflict]
            assert len(made) == 1
            same = {"First try": "first-try", "other": "other"}[made[0].name]
            await until_only(cluster, namespace, f"job.batch/{same}-{made[0].id}-1")
            again = next(raw for raw in asked if raw["name"] == made[0].name)
            for engine in engines:
                assert (await engine.submit(read_spec(again), caller))[1] is False
            await engines[0].delete(made[0].id)
            await until_nothing_is_left(cluster, namespace)
        finally:
            for engine in engines:
                await engine.aclose()


async def until_only(cluster: Cluster, namespace: str, job: str) -> None:
    """Until what a refused submission had made is gone again."""

    async def look() -> None:
        while job not in (left := await asyncio.to_thread(left_of_jobs, cluster, namespace)) or [
            one for one in left if one.startswith("job.batch/")
        ] != [job]:
            await asyncio.sleep(0.2)

    await asyncio.wait_for(look(), 30)


def alice(cluster: Cluster, namespace: str, **more: Any) -> dict[str, Any]:
    """Settings of a cluster as alice has it."""
    return {"kubeconfig": str(cluster.kubeconfig("alice")), "namespaces": [namespace], **more}


async def test_what_was_submitted_comes_back_unchanged_and_another_server_sees_the_same(
    cluster: Cluster, tmp_path: Path
) -> None:
    raw = {**RAW, "name": "训练 😀", "env": {"A": "=\n'\"$x"}, "secret_env": {"S": "s"}, "priority": 7}
    with cluster.namespace() as namespace:
        caller = Caller(owner="alice", python="python3", folder=tmp_path)
        first, second = (open_cluster("test", alice(cluster, namespace), tmp_path / name) for name in ("a", "b"))
        try:
            record, created = await first.submit(read_spec(raw), caller)
            await asyncio.wait_for(_until_seen(second, record.id), 30)
            theirs = await second.get(record.id)
            assert created
            assert theirs.spec == record.spec
            assert (record.spec.name, record.spec.env, record.spec.priority) == (raw["name"], raw["env"], 7)
            assert (theirs.owner, theirs.created, theirs.notes) == (record.owner, record.created, record.notes)
            assert (await second.asked(record.id)).given["env"] == raw["env"]
        finally:
            await first.aclose()
            await second.aclose()


async def test_an_edit_is_seen_by_a_server_that_knew_the_spec_before(cluster: Cluster, tmp_path: Path) -> None:
    """Also where nothing changed that lists show."""
    with cluster.namespace() as namespace:
        caller = Caller(owner="alice", python="python3", folder=tmp_path)
        first, second = (open_cluster("test", alice(cluster, namespace), tmp_path / name) for name in ("a", "b"))
        try:
            record, _ = await first.submit(read_spec({**RAW, "env": {"WORD": "one"}}), caller)
            await asyncio.wait_for(_until(first, record.id, lambda job: job.phase.is_terminal), 60)
            await asyncio.wait_for(_until(second, record.id, lambda job: job.spec.env == {"WORD": "one"}), 30)
            await first.edit(record.id, read_spec({**RAW, "env": {"WORD": "two"}}))
            await asyncio.wait_for(_until(second, record.id, lambda job: job.spec.env == {"WORD": "two"}), 30)
        finally:
            await first.aclose()
            await second.aclose()


async def _until(engine: Any, job_id: str, true: Callable[[Any], bool]) -> None:
    await _until_seen(engine, job_id)
    await reached(engine, lambda: engine.get(job_id), true)


async def _until_seen(engine: Any, job_id: str) -> None:
    await reached(engine, engine.snapshot, lambda jobs: job_id in [record.id for record in jobs])


async def test_a_job_is_told_as_it_is_when_its_launchers_have_answered(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may take long, and the job goes on meanwhile: what was known before is old by then."""
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit()

        async def slowly(job_id: str) -> None:
            await reached(lab.engine, lab.engine.snapshot, lambda jobs: jobs[0].phase.is_terminal)

        monkeypatch.setattr(lab.engine._link, "hear", slowly)  # type: ignore[attr-defined]
        assert (await asyncio.wait_for(lab.engine.get(job.id), 60)).phase is Phase.SUCCEEDED
