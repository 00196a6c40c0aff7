"""A log mount on a real cluster: whoever a pod runs as can write there, its owner reads it, and nobody else does."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore
from tests.engines.kubernetes.engines import Lab, laboratory

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

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
