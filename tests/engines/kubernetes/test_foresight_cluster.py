"""Before a job runs, on a real cluster: what a dry run finds, where storage is, and when a job may start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.engines.base import Fit
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.times import seconds_between
from tests.engines.kubernetes.engines import FOREVER, SMALL, Lab, laboratory
from tests.engines.kubernetes.queueing import another_second, apply, queue_laboratory, queue_when, viewing

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

GPU = {"nvidia_gpu_amd64": {"resource": "nvidia.com/gpu", "node_selector": {}}}
CARDS: dict[str, Any] = {"device": "nvidia_gpu_amd64"}


async def tried(lab: Lab, **keys: Any) -> Fit:
    return await lab.engine.fits(read_spec({**SMALL, "command": "true", **keys}), lab.caller)


async def test_storage_and_logins_that_are_not_there_are_found_by_asking(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        fit = await tried(lab, mounts=[{"source": "no-such/folder", "target": "/in"}])
        assert fit.now is False and fit.cause is not None
        assert (fit.cause.code, fit.cause.values["claim"]) == ("mount-missing", "no-such")
        claim = {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "there", "namespace": lab.namespace},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }  # fmt: skip
        apply(cluster, claim)
        there = await tried(lab, mounts=[{"source": "there", "target": "/in"}])
        assert there.cause is None or there.cause.code != "mount-missing"
        assert any(one.source == "there" for one in await lab.engine.places()) is False  # nobody mounts it by default

        missing = await tried(lab, image_pull_secret="nobody")
        assert any("There is no Secret nobody" in note for note in missing.notes)
        cluster.kubectl("-n", lab.namespace, "create", "secret", "generic", "plain", "--from-literal=a=b")
        plain = await tried(lab, image_pull_secret="plain")
        assert any("The Secret plain has no login" in note for note in plain.notes)


async def test_a_quota_is_held_against_all_nodes_of_a_job(cluster: Cluster, tmp_path: Path) -> None:
    """The API server's dry run counts one pod, which fits."""
    async with laboratory(cluster, tmp_path) as lab:
        quota = {
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small", "namespace": lab.namespace},
            "spec": {"hard": {"requests.cpu": "600m", "limits.cpu": "8", "requests.memory": "8Gi"}},
        }  # fmt: skip
        apply(cluster, quota)
        counted = "--for=jsonpath={.status.hard.requests\\.cpu}"
        cluster.kubectl("-n", lab.namespace, "wait", "resourcequota/small", counted, "--timeout=30s")
        fit = await tried(lab, nodes=3)
        assert fit.now is False and fit.cause is not None and fit.cause.code == "quota-exceeded"
        assert (fit.cause.values["whose"], fit.cause.values["asked"], fit.cause.values["missing"]) == (
            "small", 0.75, 0.15,
        )  # fmt: skip
        two = await tried(lab, nodes=2)
        assert two.cause is None or two.cause.code != "quota-exceeded"


async def test_a_queue_says_before_submitting_who_waits_and_whose_quota_is_used_up(
    cluster: Cluster, tmp_path: Path
) -> None:
    with viewing(cluster, "alice"):
        async with queue_laboratory(cluster, tmp_path, cpu="1") as lab:
            first = await lab.submit(FOREVER, name="first", queue="own", cpu=1)
            await lab.until(first.id, Phase.RUNNING)
            second = await lab.submit(FOREVER, name="second", queue="own", cpu=1)
            await lab.until(second.id, code="quota-exceeded")
            await queue_when(lab, lambda queue: queue.pending == 1)  # Kueue counts a moment later
            fit = await tried(lab, queue="own", cpu=1)
            assert fit.now is False and fit.cause is not None and fit.cause.code == "quota-exceeded"
            assert (fit.cause.values["whose"], fit.cause.values["missing"]) == (lab.namespace, 1)
            assert any("1 jobs wait in the queue own: this one would be number 2" in note for note in fit.notes)


async def test_a_job_that_waits_for_cards_is_told_when_it_may_start(cluster: Cluster, tmp_path: Path) -> None:
    with viewing(cluster, "alice"):
        async with laboratory(cluster, tmp_path, queue=True, devices=GPU) as lab:
            first = await lab.submit(FOREVER, name="first", queue="cards", devices=8, max_hours=1, **CARDS)
            first = await lab.until(first.id, Phase.RUNNING)
            second = await lab.submit(FOREVER, name="second", queue="cards", devices=8, max_hours=2, **CARDS)
            second = await lab.until(second.id, code="quota-exceeded")
            await queue_when(lab, lambda queue: len(queue.places) == 1, "cards")
            band = await lab.engine.expected(second.id)
            assert band is not None and band.basis == "limits" and band.values["ahead"] == 0
            assert first.started is not None
            assert 3600 <= seconds_between(first.started, band.latest) < 3600 + 120
            await another_second()
            third = await lab.submit(FOREVER, name="third", queue="cards", devices=8, **CARDS)
            await lab.until(third.id, code="quota-exceeded")
            await queue_when(lab, lambda queue: [one.ahead for one in queue.places] == [0, 1], "cards")
            later = await lab.engine.expected(third.id)
            assert later is not None and seconds_between(band.latest, later.latest) >= 2 * 3600


async def test_the_volume_behind_a_claim_is_asked_for_and_a_cluster_tells_its_places(
    cluster: Cluster, tmp_path: Path
) -> None:
    mounts = [{"source": "data", "target": "/data"}, {"source": "nas:/home/{user}", "target": "/home/{user}"}]
    async with laboratory(cluster, tmp_path, default_mounts=mounts) as lab:
        found = {one.pod: one for one in await lab.engine.places()}
        assert (found["/data"].kind, found["/data"].here) == ("claim", None)
        assert json.dumps(found["/home/alice"].source) == '"nas:/home/alice"'
