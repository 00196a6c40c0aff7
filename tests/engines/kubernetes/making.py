"""Orders for tests: one call with only what a test is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_aiarts.engines.kubernetes.checks import settle
from jupyter_aiarts.engines.kubernetes.code import Shipment
from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings, read_settings
from jupyter_aiarts.engines.kubernetes.storage import Person
from jupyter_aiarts.model.reading import Reading, read_spec

ALICE = Person(owner="alice", user="alice", group="vision", uid=1000, gid=100)
IMAGE = "registry.local/aiarts-test:1"
NPU = "huawei_npu_arm64"
SHIPPED = Shipment(
    kind="shipped",
    script_in_pod="/aiarts/run/code/train.py",
    workdir_in_pod="/aiarts/run/code",
    files=("train.py",),
    zip=b"PK-code",
)


def make_settings(**raw: Any) -> ClusterSettings:
    """A cluster named k8s."""
    return read_settings("k8s", raw)


def make_reading(**raw: Any) -> Reading:
    """A small CPU job with a start file, unless it is told otherwise."""
    start = {} if "command" in raw else {"script": "train.py"}
    return read_spec({"cluster": "k8s", "image": IMAGE, "workdir": "/work", "name": "train", **start, **raw})


def make_order(settings: dict[str, Any] | None = None, raw: dict[str, Any] | None = None, **more: Any) -> Order:
    """An order for `raw` on a cluster with these settings; `more` are the order's own fields."""
    cluster = make_settings(**(settings or {}))
    reading = settle(make_reading(**(raw or {})), Path("/"), cluster)
    shipment = SHIPPED if reading.spec.script else Shipment(workdir_in_pod=".")
    fields: dict[str, Any] = {
        "shipment": shipment,
        "person": ALICE,
        "namespace": "team-a",
        "job_id": "abcdefghij",
        "token": "0123456789abcdef",
        "fingerprint": "f00d",
        **more,
    }
    return Order(settings=cluster, reading=reading, **fields)
