"""What a start file finds in its pod: its code, its environment, the old platform's command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.engines.kubernetes.kubectl import kubectl_yaml
from jupyter_aiarts.engines.kubernetes.orders import Place
from jupyter_aiarts.model.names import new_id
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.model.reading import read_spec
from tests.engines.kubernetes.engines import FOREVER, SMALL, Lab, laboratory

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

ALICE = {"alice": {"uid": 1000, "gid": 1000}}


async def done(lab: Lab, job_id: str) -> list[str]:
    """What a job printed that ended well."""
    record = await lab.until(job_id)
    assert record.phase is Phase.SUCCEEDED, record.cause
    return await lab.texts(job_id)


@pytest.mark.parametrize("run_as", ["image", "user"], ids=["root", "normal user"])
async def test_pod_env_can_be_sourced_by_bash_and_dash(cluster: Cluster, tmp_path: Path, run_as: str) -> None:
    hard = "a'b\n$c=d `e`"
    look = '. /pod.env; printf "%s|%s|%s\\n" "$DLWS_JOB_ID" "$RANK_SIZE" "${#HARD}"'
    line = f"for shell in bash sh; do env -i $shell -c '{look}'; done; id -u"
    async with laboratory(cluster, tmp_path, users=ALICE) as lab:
        job = await lab.submit(command=line, env={"HARD": hard}, run_as=run_as)
        told = f"{job.id}|1|{len(hard)}"
        assert await done(lab, job.id) == [told, told, "0" if run_as == "image" else "1000"]


async def test_the_old_platforms_line_works_in_a_root_pod_without_sudo(cluster: Cluster, tmp_path: Path) -> None:
    line = "sudo -E bash -c 'source /pod.env && echo $DLWS_JOB_ID $FROM_USER'"
    async with laboratory(cluster, tmp_path) as lab:
        job = await lab.submit(command=line, env={"FROM_USER": "kept"})
        assert await done(lab, job.id) == [f"{job.id} kept"]


async def test_code_that_is_on_no_mount_is_shipped_with_the_modules_it_imports(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        (lab.folder / "helper").mkdir()
        (lab.folder / "helper" / "__init__.py").write_text("from .deep import word")
        (lab.folder / "helper" / "deep.py").write_text("word = '模块'")
        (lab.folder / "secret.txt").write_text("not imported, not shipped")
        job = await lab.submit("import os, helper\nprint(helper.word, sorted(os.listdir()))")
        assert await done(lab, job.id) == ["模块 ['helper', 'train.py']"]


async def test_code_on_a_mount_is_used_in_place(cluster: Cluster, tmp_path: Path) -> None:
    homes = {"default_mounts": [{"source": f"{tmp_path}/{{user}}", "target": "/home/{user}"}]}
    async with laboratory(cluster, tmp_path, **homes) as lab:
        lab.folder = tmp_path / "alice"
        lab.folder.mkdir()
        (lab.folder / "data.txt").write_text("beside it")
        job = await lab.submit("print(__file__, open('data.txt').read())", workdir=str(lab.folder))
        assert await done(lab, job.id) == ["/home/alice/train.py beside it"]


async def test_stderr_and_ranks_are_told_apart_and_kubectl_logs_shows_the_same_lines(
    cluster: Cluster, tmp_path: Path
) -> None:
    source = (
        "import os, sys, time\nprint('out', os.environ['RANK'], flush=True)\n"
        "print('err', file=sys.stderr, flush=True)\ntime.sleep(5)"
    )
    npu = {"huawei_npu_arm64": {"resource": "huawei.com/Ascend910", "node_selector": {}}}
    async with laboratory(cluster, tmp_path, devices=npu) as lab:
        job = await lab.submit(source, device="huawei_npu_arm64", devices=2, processes="card")
        await done(lab, job.id)
        lines = (await lab.engine.log(job.id)).lines(_everything(), ended=True)
        assert sorted((line.rank, line.stream, line.text) for line in lines) == [
            (0, "stderr", "err"),
            (0, "stdout", "out 0"),
            (1, "stderr", "err"),
            (1, "stdout", "out 1"),
        ]
        pod = lab.pods()[0]["metadata"]["name"]
        shown = cluster.kubectl("-n", lab.namespace, "logs", pod, "-c", "main", user="alice").splitlines()
        notes = [line for line in shown if line.startswith("[aiarts] ")]  # of the launcher: no IPs were given
        assert len(notes) == 2 and any("no IP address" in note for note in notes)
        assert sorted(line for line in shown if line not in notes) == ["[0] err", "[0] out 0", "[1] err", "[1] out 1"]


def _everything() -> object:
    from jupyter_aiarts.engines.logs import LogQuery

    return LogQuery(tail=1000)


async def test_a_job_made_by_kubectl_shows_up_like_any_other_and_goes_with_all_it_has(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        (lab.folder / "train.py").write_text(FOREVER)
        link = await lab.engine._link.up()  # type: ignore[attr-defined]
        reading = read_spec({**SMALL, "script": "train.py", "name": "copied"})
        order = await link.orders.fresh(reading, lab.folder, "alice", new_id(), Place(lab.namespace))
        text = kubectl_yaml(order)
        cluster.kubectl("apply", "--server-side", "-f", "-", user="alice", input=text)
        await asyncio.wait_for(link.seen(order.job_id), 30)
        record = await lab.when(order.job_id, lambda one: one.phase is Phase.RUNNING)
        assert (record.name, record.owner, record.spec) == ("copied", "alice", order.spec)
        await lab.printed(order.job_id, "up")
        await lab.engine.act(order.job_id, Move.STOP)
        await lab.until(order.job_id)
        await lab.engine.delete(order.job_id)
        kinds = "jobs,services,configmaps,secrets"
        left = json.loads(cluster.kubectl("-n", lab.namespace, "get", kinds, "-l", "jupyter-aiarts/job", "-o", "json"))
        assert left["items"] == []
