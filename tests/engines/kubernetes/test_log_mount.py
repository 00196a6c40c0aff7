"""A log mount on a real cluster: whoever a pod runs as can write there, its owner reads it, and nobody else does."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

from jupyter_aiarts import engines
from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore
from tests.engines.kubernetes.engines import FOREVER, Lab, laboratory
from tests.engines.reaching import reached
from tests.engines.somebody import as_somebody

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

T = TypeVar("T")
UID, GID = 1234, 2345
USERS = {"alice": {"uid": UID, "gid": GID}}
SAYS = "import os\nprint('written by', os.getuid())\nopen(os.environ['SAVE_PATH'] + '/kept.txt', 'w').write('kept')"
AS = pytest.mark.parametrize(("run_as", "uid"), [("image", 0), ("user", UID), ("4321:4321", 4321)])


@pytest.fixture
def storage() -> Iterator[Path]:
    """Storage that nodes and server see, writable for everybody, as the guide wants it.

    Not below pytest's own folder, which every session that starts makes private again.
    """
    with TemporaryDirectory(prefix="aiarts-logs-") as made:
        Path(made).chmod(0o1777)
        yield Path(made)


def read_as(uid: int, gid: int, folder: Path) -> subprocess.CompletedProcess[str]:
    """Every log below a folder, as a process of this user gets to see it."""
    command = ["find", str(folder), "-name", "*.log", "-exec", "cat", "{}", "+"]
    return subprocess.run(command, user=uid, group=gid, extra_groups=[], capture_output=True, text=True)


async def run_and_remove_the_pod(lab: Lab, run_as: str) -> str:
    """A job that has ended, and whose pod is gone; its id."""
    job = await lab.submit(SAYS, run_as=run_as)
    assert (await lab.until(job.id)).phase is Phase.SUCCEEDED
    lab.cluster.kubectl("-n", lab.namespace, "delete", "pods", "-l", f"jupyter-aiarts/job={job.id}")
    return job.id


def settings(source: str, path: Path | None) -> dict[str, Any]:
    mount = {"source": source} if path is None else {"source": source, "path": str(path)}
    return {"log_mount": mount, "users": USERS, "allow_run_as": ["*"]}


async def test_a_log_followed_before_its_pod_came_is_found_on_the_mount_when_it_has(
    cluster: Cluster, tmp_path: Path, storage: Path
) -> None:
    async with laboratory(cluster, tmp_path, **settings(str(storage), storage)) as lab:
        service = JobService({"test": lab.engine}, TemplateStore(tmp_path / "templates"))
        job = await lab.submit("print('first words')")
        assert not (storage / job.id).exists()
        told = [line.text async for lines in service.follow(job.id, LogQuery()) for line in lines]
        assert told == ["first words"]


@AS
async def test_whoever_the_pod_is_its_log_is_on_the_mount_and_its_owners_server_alone_reads_it(
    cluster: Cluster, tmp_path: Path, storage: Path, run_as: str, uid: int
) -> None:
    async with laboratory(cluster, tmp_path, **settings(str(storage), storage)) as lab:
        job_id = await run_and_remove_the_pod(lab, run_as)
        assert await lab.texts(job_id) == [f"written by {uid}"]
        run = storage / job_id / "run-1"
        assert run.stat().st_uid == uid
        assert (run / "output/kept.txt").read_text() == "kept"
        assert not list((tmp_path / "state").rglob("*.log"))  # nothing was copied
        assert read_as(UID, GID, run).stdout == f"written by {uid}\n"
        stranger = read_as(999, 999, run)
        assert (stranger.stdout, "Permission denied" in stranger.stderr) == ("", True)


@AS
async def test_a_folder_of_the_owners_own_is_used_by_whoever_may_write_there(
    cluster: Cluster, tmp_path: Path, storage: Path, run_as: str, uid: int
) -> None:
    """Nobody but its owner and root can write to it, and it stays so."""
    own = storage / "alice"
    own.mkdir(mode=0o700)
    subprocess.run(["chown", f"{UID}:{GID}", str(own)], check=True)
    async with laboratory(cluster, tmp_path, **settings(f"{storage}/{{user}}/jobs", storage / "alice/jobs")) as lab:
        job = await lab.submit(SAYS, run_as=run_as)
        ended = await lab.until(job.id)
        if uid not in (0, UID):
            assert (ended.phase, ended.cause.code) == (Phase.FAILED, "permission-denied")
            assert "cannot write to the log mount as user 4321" in json.dumps(ended.cause.values)
            return
        assert await lab.texts(job.id) == [f"written by {uid}"]
        assert read_as(UID, GID, own / "jobs" / job.id).stdout == f"written by {uid}\n"
        assert own.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def volume(cluster: Cluster, storage: Path) -> Iterator[dict[str, Any]]:
    """A claim, to be made in a namespace, that is bound to the storage."""
    common = {"storageClassName": "", "accessModes": ["ReadWriteMany"], "volumeMode": "Filesystem"}
    name = f"logs-{uuid.uuid4().hex[:8]}"
    spec = {**common, "capacity": {"storage": "1Gi"}, "hostPath": {"path": str(storage)}}
    made = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
    cluster.kubectl("create", "-f", "-", input=json.dumps(made))
    asked = {**common, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": name}
    yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "logs"}, "spec": asked}
    cluster.kubectl("delete", "pv", name, "--wait=false")


@AS
async def test_a_claim_is_written_by_whoever_the_pod_is(
    cluster: Cluster, tmp_path: Path, storage: Path, volume: dict[str, Any], run_as: str, uid: int
) -> None:
    async with laboratory(cluster, tmp_path, **settings("logs/of/jobs", storage / "of/jobs")) as lab:
        cluster.kubectl("-n", lab.namespace, "create", "-f", "-", input=json.dumps(volume))
        job_id = await run_and_remove_the_pod(lab, run_as)
        assert await lab.texts(job_id) == [f"written by {uid}"]
        found = read_as(UID, GID, storage / "of/jobs" / job_id)
        assert (found.stdout, found.stderr) == (f"written by {uid}\n", "")


async def test_a_mount_that_the_pod_cannot_write_to_is_said_with_the_cure(
    cluster: Cluster, tmp_path: Path, storage: Path
) -> None:
    storage.chmod(0o755)
    async with laboratory(cluster, tmp_path, **settings(str(storage), storage)) as lab:
        job = await lab.submit(SAYS, run_as="user")
        ended = await lab.until(job.id)
        assert (ended.phase, ended.cause.code) == (Phase.FAILED, "permission-denied")
        assert "chmod 1777" in json.dumps(ended.cause.values)


async def test_a_job_that_is_deleted_while_it_runs_leaves_nothing_on_the_mount(
    cluster: Cluster, tmp_path: Path, storage: Path
) -> None:
    async with laboratory(cluster, tmp_path, **settings(str(storage), storage)) as lab:
        job = await lab.submit(FOREVER)
        await lab.until(job.id, Phase.RUNNING)  # before that its log would be looked for where copies are
        await lab.printed(job.id, "up")
        assert await lab.engine.delete(job.id) == ()
        label = f"jupyter-aiarts/job={job.id}"
        cluster.kubectl("-n", lab.namespace, "wait", "pods", "-l", label, "--for=delete", "--timeout=60s")
        assert list(storage.iterdir()) == []


# -- a server that is not root -----------------------------------------------------------------------------------------


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[Path]:
    """Everything that alice's own server needs, where she can read it."""
    asyncio.run(load_all(cluster, tmp_path))
    with TemporaryDirectory(prefix="aiarts-home-") as made:
        shutil.copy(cluster.kubeconfig("alice"), Path(made) / "kubeconfig")
        for path in (Path(made), Path(made) / "kubeconfig"):
            os.chown(path, UID, GID)
        yield Path(made)


def served(home: Path, namespace: str, more: dict[str, Any], ask: Callable[[Lab, JobService], Awaitable[T]]) -> T:
    """What alice's server answers, which runs as her and not as root."""

    async def serve() -> T:
        raw = {"kubeconfig": str(home / "kubeconfig"), "namespaces": [namespace], **more}
        engine = open_cluster("test", raw, home / "state")
        (home / "work").mkdir(exist_ok=True)
        try:
            lab = Lab(cast("Cluster", None), namespace, home / "work", engine, raw)
            return await ask(lab, JobService({"test": engine}, TemplateStore(home / "templates")))
        finally:
            await engine.aclose()

    return as_somebody(lambda: asyncio.run(serve()), UID, GID)


async def load_all(cluster: Cluster, folder: Path) -> None:
    """Import what is otherwise imported when it is needed: Python itself may be where only root reads."""
    for module in pkgutil.walk_packages(engines.__path__, "jupyter_aiarts.engines."):
        importlib.import_module(module.name)
    importlib.import_module("jupyter_aiarts.reading")
    engine = open_cluster("test", {"kubeconfig": str(cluster.kubeconfig("alice"))}, folder / "state")
    await engine.snapshot()
    await engine.aclose()


def test_of_a_job_that_ran_as_root_its_owners_server_reads_the_log_and_cannot_remove_it(
    cluster: Cluster, storage: Path, home: Path
) -> None:
    async def run(lab: Lab, service: JobService) -> tuple[str, list[str], list[str]]:
        job = await lab.submit(SAYS)
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED
        lines = [line.text for line in await service.logs(job.id, LogQuery())]
        return job.id, lines, await service.delete(job.id)

    with cluster.namespace() as namespace:
        job_id, lines, stayed = served(home, namespace, settings(str(storage), storage), run)
    assert lines == ["written by 0"]
    assert len(stayed) == 1 and f"stayed in {storage}/{job_id}: this server runs as uid {UID}" in stayed[0]
    assert "what belongs to root (uid 0)" in stayed[0] and "run_as: user" in stayed[0]
    assert (storage / job_id / "run-1/output/kept.txt").read_text() == "kept"


def test_of_a_job_that_ran_as_its_owner_nothing_stays_and_nothing_is_said(
    cluster: Cluster, storage: Path, home: Path
) -> None:
    async def run(lab: Lab, service: JobService) -> tuple[str, list[str]]:
        job = await lab.submit(SAYS, run_as="user")
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED
        return job.id, await service.delete(job.id)

    with cluster.namespace() as namespace:
        job_id, stayed = served(home, namespace, settings(str(storage), storage), run)
    assert (stayed, list((storage / job_id).iterdir())) == ([], [])


def test_a_log_that_came_while_no_server_ran_and_may_not_be_read_says_so(
    cluster: Cluster, storage: Path, home: Path
) -> None:
    """The pod gave its files to a group that this server's process does not have, and is gone."""
    strange = {**settings(str(storage), storage), "users": {"alice": {"uid": UID, "gid": 777}}}

    async def submit(lab: Lab, service: JobService) -> str:
        return (await lab.submit(SAYS)).id

    async def read(lab: Lab, service: JobService) -> tuple[list[Any], str | None, list[str]]:
        [job] = await asyncio.wait_for(reached(lab.engine, lab.engine.snapshot, bool), 60)
        lines, why = await service.logs(job.id, LogQuery()), await service.no_log(job.id, LogQuery())
        followed = [line.text async for batch in service.follow(job.id, LogQuery()) for line in batch]
        return lines, why, followed

    with cluster.namespace() as namespace:
        job_id = served(home, namespace, strange, submit)
        label = f"jupyter-aiarts/job={job_id}"
        cluster.kubectl("-n", namespace, "wait", "job", "-l", label, "--for=condition=complete", "--timeout=60s")
        cluster.kubectl("-n", namespace, "delete", "pods", "-l", label)
        shutil.rmtree(home / "state", ignore_errors=True)  # it may have begun to copy
        lines, why, followed = served(home, namespace, strange, read)
    assert (lines, followed) == ([], [])
    assert why is not None and why.startswith(f"{storage}/{job_id}/run-1 may not be read by this server, which runs as")
    assert "it belongs to root (uid 0), with mode 2750" in why
