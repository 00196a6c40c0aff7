"""A run that `kubectl apply` made does not own what it has; deleted here, it leaves nothing of ours and takes nothing
of others'."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.kubectl import kubectl_yaml
from jupyter_aiarts.engines.kubernetes.meta import Labels, Meta, OwnerReference
from jupyter_aiarts.engines.kubernetes.moves import is_left_of
from jupyter_aiarts.engines.kubernetes.objects import JobObject
from jupyter_aiarts.engines.kubernetes.orders import Place
from jupyter_aiarts.model.names import new_id
from jupyter_aiarts.model.reading import read_spec
from tests.engines.kubernetes.engines import FOREVER, SMALL, Lab, laboratory
from tests.engines.kubernetes.making import NPU

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.order import Order
    from tests.cluster.cluster import Cluster

OURS = Labels(job="abcdefghij", run="2")
LOGIN = {"registry": "registry.local", "username": "alice", "password": "x"}
PROFILE = {NPU: {"resource": "huawei.com/Ascend910", "node_selector": {}, "ring_controller": "ascend-910"}}


@pytest.mark.parametrize(
    ("found", "left"),
    [
        (Meta(labels=OURS), True),
        (Meta(), False),  # a controller's own
        (Meta(labels=Labels(job="abcdefghij", run="1")), False),
        (Meta(labels=Labels(job="jihgfedcba", run="2")), False),
        (Meta(labels=OURS, owner_references=(OwnerReference(kind="Job", name="x"),)), False),  # goes with its owner
    ],
)
def test_only_what_was_made_for_a_run_and_belongs_to_nobody_is_left_of_it(found: Meta, left: bool) -> None:
    assert is_left_of(JobObject(metadata=Meta(labels=OURS)), found) is left


async def applied(lab: Lab) -> Order:
    """A run with everything that a run can have, made by kubectl and seen by the engine."""
    link = await lab.engine._link.up()  # type: ignore[attr-defined]
    reading = read_spec({**SMALL, "script": "train.py", "name": "copied", "device": NPU, "image_pull_secret": LOGIN})
    order = await link.orders.fresh(reading, lab.folder, "alice", new_id(), Place(lab.namespace))
    assert order.ring is not None and reading.pull_secret is not None
    lab.cluster.kubectl("apply", "--server-side", "-f", "-", user="alice", input=kubectl_yaml(order))
    await asyncio.wait_for(link.seen(order.job_id), 30)
    return order


@pytest.mark.cluster
async def test_its_rank_table_and_its_login_go_with_it_but_not_a_controllers_table(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path, devices=PROFILE) as lab:
        (lab.folder / "train.py").write_text(FOREVER)
        orders = [await applied(lab), await applied(lab)]
        table = names.ring_name(orders[1].name)
        cluster.kubectl("-n", lab.namespace, "label", "configmap", table, f"{names.JOB}-")
        for order in orders:
            await lab.engine.delete(order.job_id)
        kinds = "services,configmaps,secrets"
        left = json.loads(cluster.kubectl("-n", lab.namespace, "get", kinds, "-l", names.MANAGED_BY, "-o", "json"))
        assert [one["metadata"]["name"] for one in left["items"]] == [table]
