"""The NPU driver's log through every door: this machine's, a pod's, REST, the command line; silence has a reason."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts import cli
from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.npulog import Gap, NpuLog
from jupyter_aiarts.launcher.ascend import slog
from jupyter_aiarts.model.phase import Phase
from tests.engines.kubernetes.engines import FOREVER, laboratory

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

NPU = "huawei_npu_arm64"
UNTIL_TOLD = "import os, time\nwhile not os.path.exists('/var/log/npu/go'):\n    time.sleep(0.05)"


def write(root: Path, folder: str, text: str) -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    path = root / folder / f"{folder}_{time.time_ns()}.log"
    path.write_text(f"[ERROR] DRV(1,python):2026-11-16-08:00:00.000.000 {text}\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine's driver log, which this one has not."""
    folder = tmp_path / "slog"
    monkeypatch.setattr(slog, "PLACES", (str(folder),))
    return folder


@pytest.fixture
def aiarts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """The command on a machine with eight declared NPUs."""
    monkeypatch.setenv("AIARTS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("AIARTS_SERVER", "JPY_PARENT_PID", "JUPYTER_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    asyncio.run(_closed(tmp_path))

    def run(*words: str) -> tuple[int, str, str]:
        code = cli.main(words)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


async def _closed(tmp_path: Path) -> None:
    """The declared cards are recorded in the state folder."""
    await open_local(tmp_path / "state", Settings(devices={NPU: 8}, cpus=16)).aclose()


@pytest.fixture
def shared() -> Iterator[Path]:
    """Storage that nodes and server see; not below pytest's own folder, which sessions make private again."""
    with TemporaryDirectory(prefix="aiarts-logs-") as made:
        Path(made).chmod(0o1777)
        yield Path(made)


Command = Callable[..., tuple[int, str, str]]


def test_a_jobs_cards_errors_are_shown_with_their_ranks(aiarts: Command, machine: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('done')")
    write(machine, "device-7", "somebody else's")
    keys = ["--device", NPU, "--devices", "2", "--processes", "card", "--name", "npu"]
    code, _, err = aiarts("submit", "train.py", *keys, "--wait")
    assert code == 0, err
    for folder in ("device-0", "device-1", "host-0", "device-os-0", "device-os-4"):
        write(machine, folder, f"from {folder}")
    code, out, err = aiarts("logs", "npu", "--npu")
    assert code == 0 and err == ""
    assert sorted(line[:12] for line in out.splitlines()) == [
        "[0] device-0",
        "[0] device-o",
        "[0] host-0: ",
        "[1] device-1",
    ]
    lines = [json.loads(line) for line in aiarts("logs", "npu", "--npu", "--rank", "1", "--json")[1].splitlines()]
    assert [(line["rank"], line["stream"], line["node"]) for line in lines] == [(1, "npu", 0)]
    assert lines[0]["text"].endswith("from device-1")
    assert len(aiarts("logs", "npu", "--npu", "--tail", "2")[1].splitlines()) == 2
    for wrong in (["-f"], ["--grep", "x"], ["--fold"]):
        assert aiarts("logs", "npu", "--npu", *wrong)[0] == 2


def test_why_there_is_nothing_is_said(aiarts: Command, machine: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('done')")
    assert aiarts("submit", "train.py", "--name", "plain", "--wait")[0] == 0
    assert "uses no NPU" in aiarts("logs", "plain", "--npu")[1]
    assert aiarts("submit", "train.py", "--device", NPU, "--devices", "1", "--name", "npu", "--wait")[0] == 0
    assert aiarts("logs", "npu", "--npu")[1].startswith(f"There is no {machine} on this machine.")
    assert "本机没有" in aiarts("logs", "npu", "--npu", "--lang", "zh")[1]
    machine.mkdir()
    assert aiarts("logs", "npu", "--npu")[1] == "The NPU driver has logged no error for this job's cards.\n"
    assert "no error" in aiarts("logs", "npu", "--npu", "--json")[2]


@pytest.mark.parametrize("code", ["no-npu", "not-started", "absent", "denied", "gone", "unanswered", "nothing"])
def test_every_gap_has_a_sentence_in_both_languages(code: str) -> None:
    gap = Gap(code, "/var/log/npu/slog", 3, "why not")
    english, chinese = gap.sentence("en"), gap.sentence("zh")
    assert english.endswith(".") and chinese.endswith("。") and "{" not in english + chinese


@pytest.mark.cluster
async def test_in_a_pod_the_launcher_reads_what_is_mounted(cluster: Cluster, tmp_path: Path) -> None:
    host = tmp_path / "npu"
    for folder in ("host-0", "device-0"):
        write(host / "slog", folder, f"from {folder}")
    profile: dict[str, Any] = {
        "resource": "huawei.com/Ascend910",
        "node_selector": {},
        "volumes": [{"source": str(host), "target": "/var/log/npu"}],
    }
    async with laboratory(cluster, tmp_path, devices={NPU: profile}) as lab:
        job = await lab.submit(FOREVER, device=NPU, devices=1)
        await lab.printed(job.id, "up")
        write(host / "slog", "host-0", "while it runs")
        found: NpuLog = await lab.engine.npu_log(job.id, None)
        assert found.gaps == ()
        assert [line.text[-13:] for line in found.lines if "while" in line.text] == ["while it runs"]
        assert all(line.node == line.rank == 0 for line in found.lines)
        plain = await lab.submit(FOREVER)
        assert (await lab.engine.npu_log(plain.id, None)).gaps == (Gap("no-npu"),)


@pytest.mark.cluster
@pytest.mark.parametrize("mounted", [False, True], ids=["archived", "on the log mount"])
async def test_after_the_pod_what_its_launcher_kept_is_shown(
    cluster: Cluster, tmp_path: Path, shared: Path, mounted: bool
) -> None:
    """Also by the next server, when the pod is not even in the cluster any more; notes of the launcher likewise."""
    host = tmp_path / "npu"
    profile: dict[str, Any] = {
        "resource": "huawei.com/Ascend910",
        "node_selector": {},
        "volumes": [{"source": str(host), "target": "/var/log/npu"}],
    }
    write(host / "slog", "host-0", "before")
    settings: dict[str, Any] = {"devices": {NPU: profile}}
    if mounted:
        settings["log_mount"] = {"source": str(shared), "path": str(shared)}
    async with laboratory(cluster, tmp_path, **settings) as lab:
        job = await lab.submit(UNTIL_TOLD, device=NPU, devices=1)
        await lab.until(job.id, Phase.RUNNING)
        write(host / "slog", "host-0", "while it runs")
        (host / "go").touch()
        done = await lab.until(job.id)
        await lab.texts(job.id)  # all of it has been fetched by then
        kept = await lab.engine.npu_log(job.id, None)
        assert kept.gaps == () and "while it runs" in [line.text[-13:] for line in kept.lines]
        cluster.kubectl("-n", lab.namespace, "delete", "pods", "--all", "--wait=true")
        raw = {"kubeconfig": str(cluster.kubeconfig("alice")), "namespaces": [lab.namespace], **settings}
        after = open_cluster("test", raw, tmp_path / "state")
        try:
            assert await after.npu_log(job.id, None) == kept
            said = [note for note in (await after.get(job.id)).notes if "IP address is known" in note]
            assert len(said) == 1 and said[0] in (await lab.engine.get(job.id)).notes, (done.notes, said)
        finally:
            await after.aclose()


@pytest.mark.cluster
async def test_in_a_pod_without_the_mount_this_is_said(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(
        cluster, tmp_path, devices={NPU: {"resource": "huawei.com/Ascend910", "node_selector": {}}}
    ) as lab:
        job: JobRecord = await lab.submit(FOREVER, device=NPU, devices=1)
        await lab.printed(job.id, "up")
        found = await lab.engine.npu_log(job.id, None)
        assert found.gaps == (Gap("absent", "/var/log/npu/slog", 0),)
        assert "`volumes`" in found.sentence("en")
