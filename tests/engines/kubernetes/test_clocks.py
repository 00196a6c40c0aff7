"""Clocks that differ, of nodes and of this server: no duration is negative, and nobody is called stuck for it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.clocks import delay_of, lead_of, moved, span
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.times import seconds_between
from tests.engines.kubernetes.engines import FOREVER, Lab, laboratory
from tests.engines.kubernetes.replay import load, record_of
from tests.engines.kubernetes.standins import Gate, rewritten

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

SKEWS = pytest.mark.parametrize("minutes", [-10, 10], ids=["behind", "ahead"])


def later(time: str, minutes: float) -> str:
    return moved(time, minutes * 60)


@SKEWS
@pytest.mark.parametrize("case", ["succeeded", "succeeded-two-nodes", "failed", "running-two-nodes", "evicted"])
def test_a_node_whose_clock_is_wrong_never_makes_a_run_begin_before_it_was_made_or_end_before_it_began(
    case: str, minutes: int
) -> None:
    content, right = load(case), record_of(load(case))
    record = record_of(with_clock(content, minutes))
    assert (record.phase, record.cause.code) == (right.phase, right.cause.code)
    assert record.started is None or record.started >= record.created
    if record.started and record.ended and right.ended:
        took = seconds_between(record.started, record.ended)
        assert 0 <= took <= seconds_between(right.created, right.ended)
    assert (record.cause.values.get("seconds") or 0) >= 0


def with_clock(content: dict[str, list[dict[str, object]]], minutes: int) -> dict[str, list[dict[str, object]]]:
    """Recorded objects with all that a kubelet or a launcher wrote so much later; the API server's own as they were."""

    def turn(value: object, key: str = "") -> object:
        if isinstance(value, dict):
            return {name: turn(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [turn(one) for one in value]
        if key in ("startedAt", "finishedAt") and isinstance(value, str):
            return later(value, minutes)
        if key == "message" and isinstance(value, str) and value.startswith("{"):
            said = json.loads(value)
            return json.dumps(
                said | {name: later(said[name], minutes) for name in ("started", "ended") if said.get(name)}
            )
        return value

    return {**content, "pods": [turn(pod) for pod in content["pods"]]}  # type: ignore[dict-item,misc]


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_no_time_breaks_nothing(one: str, other: str) -> None:
    assert moved(one, 0) == one
    moved(one, 600)
    assert (span(one, other) or 0.0) >= 0.0 and delay_of(one, other) >= 0.0
    assert lead_of(one, 0.0) == lead_of(one, 0.0)


def test_a_date_that_is_hardly_another_is_the_same() -> None:
    now = datetime(2026, 11, 16, 5, 0, 0, tzinfo=timezone.utc)
    leads = [lead_of(format_datetime(now + timedelta(seconds=by), usegmt=True), now.timestamp()) for by in (-4, 4, 600)]
    assert leads == [0.0, 0.0, 600.0]


@pytest.mark.cluster
@pytest.mark.timeout(180)
class TestOnACluster:
    async def test_an_answer_of_the_api_server_says_how_far_its_clock_is_from_ours(
        self, cluster: Cluster, tmp_path: Path
    ) -> None:
        behind = format_datetime(datetime.now(timezone.utc) - timedelta(minutes=10), usegmt=True)
        gate = Gate(cluster.kubeconfig("alice"))
        async with gate.open():
            file = rewritten(cluster.kubeconfig("alice"), tmp_path / "kubeconfig", {"server": gate.url})
            api = await Api.open(ClusterSettings(name="test", kubeconfig=str(file)))
            try:
                await api.raw("/version")
                assert api.lead == 0.0
                gate.rule = lambda request: web.json_response({}, headers={"Date": behind})
                await api.raw("/version")
                assert -610 < api.lead < -590
            finally:
                await api.aclose()

    @SKEWS
    async def test_a_pod_on_a_node_whose_clock_is_wrong_is_shown_as_it_is(
        self, cluster: Cluster, tmp_path: Path, minutes: int
    ) -> None:
        """The node has no kubelet: the test writes what one with such a clock would."""
        hostname = {"kubernetes.io/hostname": "skewed-0000"}
        device = {"huawei_npu_arm64": {"resource": "huawei.com/Ascend910", "node_selector": hostname,
                                       "tolerations": [{"key": "paper", "operator": "Exists"}]}}  # fmt: skip
        with cluster.paper_nodes(1, "skewed"):
            async with laboratory(cluster, tmp_path, devices=device) as lab:
                job = await lab.submit(FOREVER, device="huawei_npu_arm64", devices=1)
                await lab.until(job.id, Phase.STARTING)
                begin = later(datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), minutes)
                write_status(lab, "Running", {"running": {"startedAt": begin}}, begin)
                up = await lab.until(job.id, Phase.RUNNING)
                assert up.started is not None and up.started >= up.created
                end = later(begin, 0.05)
                over = {"exitCode": 0, "reason": "Completed", "startedAt": begin, "finishedAt": end}
                write_status(lab, "Succeeded", {"terminated": over}, begin)
                done = await lab.until(job.id)
                assert done.phase is Phase.SUCCEEDED
                assert done.started is not None and done.ended is not None
                assert done.created <= done.started <= done.ended
                assert 0 <= (done.cause.values["seconds"] or 0) <= 60
                assert await lab.engine.turns(job.id) == ()


def write_status(lab: Lab, phase: str, state: dict[str, object], begin: str) -> None:
    """Write a pod's status by the kubelet's clock."""
    [pod] = lab.pods()
    ready = phase == "Running"
    container = {"name": pod["spec"]["containers"][0]["name"], "image": "x", "imageID": "x", "ready": ready,
                 "started": ready, "restartCount": 0, "state": state}  # fmt: skip
    conditions = [{"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": begin[:19] + "Z"}]
    status = {"phase": phase, "startTime": begin[:19] + "Z", "conditions": conditions, "containerStatuses": [container]}
    patch = json.dumps({"status": status})
    lab.cluster.kubectl("patch", "pod", pod["metadata"]["name"], "-n", lab.namespace, "--subresource=status",
                        "--type=merge", "-p", patch)  # fmt: skip
