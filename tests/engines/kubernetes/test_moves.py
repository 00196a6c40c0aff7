"""Stop, pause and resume mean the same with Kueue and without, in every phase, and nothing is deleted by them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.model.reading import read_spec
from tests.engines.kubernetes.engines import FOREVER, SMALL, laboratory
from tests.startfile import start_file

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

ASCEND = {"huawei_npu_arm64": {"resource": "huawei.com/Ascend910", "node_selector": {}}}
WAYS = pytest.mark.parametrize("queue", [None, "cards"], ids=["plain", "kueue"])


def put(queue: str | None) -> dict[str, Any]:
    return {"queue": queue} if queue else {}


@WAYS
async def test_a_running_job_is_paused_resumed_and_stopped_and_its_log_is_whole(
    cluster: Cluster, tmp_path: Path, queue: str | None
) -> None:
    source = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(0)))\n"
        "print('up', flush=True)\ntime.sleep(600)"
    )
    async with laboratory(cluster, tmp_path, queue=bool(queue)) as lab:
        job = await lab.submit(source, **put(queue))
        await lab.printed(job.id, "up")
        await lab.engine.act(job.id, Move.PAUSE)
        paused = await lab.until(job.id, Phase.PAUSED)
        assert (paused.cause.code, paused.run) == ("paused-by-user", 1)
        assert await lab.texts(job.id) == ["up", "saved"]  # the script had its grace, and what it said then is there
        assert [pod for pod in lab.pods() if pod["status"]["phase"] in ("Pending", "Running")] == []
        await lab.engine.act(job.id, Move.RESUME)
        await lab.until(job.id, Phase.RUNNING)
        await lab.printed(job.id, "up", times=2)
        await lab.engine.act(job.id, Move.STOP)
        stopped = await lab.until(job.id)
        assert (stopped.phase, stopped.cause.code, stopped.run) == (Phase.STOPPED, "stopped-by-user", 1)
        assert stopped.started == paused.started  # of the run, not of its last attempt
        assert (await lab.texts(job.id))[:3] == ["up", "saved", "up"]


@WAYS
async def test_a_job_that_is_still_starting_can_be_stopped_and_run_again(
    cluster: Cluster, tmp_path: Path, queue: str | None
) -> None:
    async with laboratory(cluster, tmp_path, queue=bool(queue)) as lab:
        job = await lab.submit(FOREVER, **put(queue))  # it cannot end before it is stopped
        if job.phase is Phase.QUEUED:
            job = await lab.until(job.id, Phase.STARTING, Phase.RUNNING)
        await lab.engine.act(job.id, Move.STOP)
        stopped = await lab.until(job.id)
        assert (stopped.phase, stopped.cause.code) == (Phase.STOPPED, "stopped-by-user")
        other = start_file(lab.folder, "print('second')")
        second = read_spec({**SMALL, "script": other, "workdir": str(lab.folder), **put(queue)})
        await lab.engine.edit(job.id, second)
        again = await lab.engine.act(job.id, Move.RERUN)
        assert (again.id, again.run) == (job.id, 2)
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED
        assert await lab.texts(job.id, 2) == ["second"]


async def test_a_job_that_kueue_holds_back_says_why_and_can_be_stopped(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path, queue=True, devices=ASCEND) as lab:
        first = await lab.submit(FOREVER, queue="cards", device="huawei_npu_arm64", devices=8)
        await lab.printed(first.id, "up")
        second = await lab.submit(queue="cards", device="huawei_npu_arm64", devices=1)
        held = await lab.until(second.id, code="quota-exceeded")
        assert held.phase is Phase.QUEUED
        assert any("insufficient unused quota" in line for line in held.cause.evidence)
        await lab.engine.act(second.id, Move.STOP)
        assert (await lab.until(second.id)).phase is Phase.STOPPED
        await lab.engine.act(first.id, Move.STOP)
        assert (await lab.until(first.id)).phase is Phase.STOPPED
        left = [pod["status"]["phase"] for pod in lab.pods()]
        assert "Running" not in left and "Pending" not in left  # the second one did not start on the freed cards


async def test_a_stop_that_was_cut_off_between_two_requests_is_finished_by_whoever_looks_next(
    cluster: Cluster, tmp_path: Path
) -> None:
    """The intent is on the Job, the rest never came: a server that died there, or somebody with kubectl."""
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(FOREVER)
        await lab.printed(job.id, "up")
        lab.cluster.kubectl(
            "-n", lab.namespace, "annotate", "job", "-l", f"jupyter-aiarts/job={job.id}", "--overwrite",
            "jupyter-aiarts/intent=stop", user="alice",
        )  # fmt: skip
        stopped = await lab.until(job.id)
        assert (stopped.phase, stopped.cause.code) == (Phase.STOPPED, "stopped-by-user")


async def test_an_edit_is_used_by_the_next_run_and_a_waiting_job_is_replaced(cluster: Cluster, tmp_path: Path) -> None:
    from jupyter_aiarts.model.reading import read_spec
    from tests.engines.kubernetes.engines import SMALL

    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit("import os\nprint(os.environ['WORD'])", env={"WORD": "one"}, cpu=500)
        await lab.until(job.id, code="no-node-fits")
        raw = {**SMALL, "script": "train.py", "workdir": str(lab.folder), "env": {"WORD": "two"}}
        edited = await lab.engine.edit(job.id, read_spec(raw))
        assert edited.spec.env == {"WORD": "two"}
        done = await lab.until(job.id)
        assert (done.phase, await lab.texts(job.id)) == (Phase.SUCCEEDED, ["two"])
        later = await lab.engine.edit(job.id, read_spec({**raw, "env": {"WORD": "three"}}))
        assert (later.phase, later.spec.env) == (Phase.SUCCEEDED, {"WORD": "three"})
        await lab.engine.act(job.id, Move.RERUN)
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED
        assert await lab.texts(job.id) == ["three"]
