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
from jupyter_aiarts.errors import NotAllowed
from jupyter_aiarts.model.reading import read_spec
from tests.engines.kubernetes.middleman import Middleman

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


@pytest.mark.parametrize("request_number", [1, 2, 3, 4, 5])
async def test_a_submitter_killed_between_two_requests_leaves_nothing_that_a_sweep_does_not_remove(
    cluster: Cluster, tmp_path: Path, request_number: int
) -> None:
    middleman = Middleman(cluster, "alice")
    child: list[asyncio.subprocess.Process] = []
    killed = asyncio.Event()

    async def kill(request: web.Request) -> None:
        if len(middleman.changes) >= request_number and not killed.is_set():
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
        if request_number < 5:
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
        engine = open_cluster("test", alice(cluster, namespace), tmp_path)
        try:
            with pytest.raises(NotAllowed, match="exceeded quota: few"):
                await engine.submit(read_spec(RAW), Caller(owner="alice", python="python3", folder=tmp_path))
            await until_nothing_is_left(cluster, namespace)
        finally:
            await engine.aclose()


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


async def _until_seen(engine: Any, job_id: str) -> None:
    seen: Callable[[], Any] = engine.snapshot
    if job_id in [record.id for record in await seen()]:
        return
    async for _ in engine.watch():
        if job_id in [record.id for record in await seen()]:
            return
