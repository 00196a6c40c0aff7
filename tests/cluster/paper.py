"""Nodes on paper: they look ready and offer cards, but nothing runs there. A thousand of them cost little."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timezone

from tests.cluster.api import Api, ApiError, Json, place
from tests.cluster.nodes import CARDS, LABELS

THREADS = 4
PERIOD = 5.0  # seconds between two signs of life; after 12 a node counts as lost
TAINT = {"key": "paper", "effect": "NoSchedule"}  # keeps other tests' pods away


@contextmanager
def paper_nodes(connect: Callable[[], Api], count: int, prefix: str, taint: bool) -> Iterator[list[str]]:
    """`count` nodes that stay ready inside the block; with their pods they are gone after it."""
    names = [f"{prefix}-{index:04}" for index in range(count)]
    stopped = threading.Event()
    _each(connect, names, lambda api, name: _create(api, name, taint))
    keepers = [threading.Thread(target=_keep, args=(connect(), names[start::THREADS], stopped), daemon=True)
               for start in range(THREADS)]  # fmt: skip
    for keeper in keepers:
        keeper.start()
    try:
        yield names
    finally:
        stopped.set()
        for keeper in keepers:
            keeper.join()
        _each(connect, names, _delete)


def _each(connect: Callable[[], Api], names: list[str], act: Callable[[Api, str], None]) -> None:
    """Do it for all, over a few connections at once."""

    def some(part: list[str]) -> None:
        with connect() as api:
            for name in part:
                act(api, name)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(some, (names[start::THREADS] for start in range(THREADS))))


def _create(api: Api, name: str, taint: bool) -> None:
    api.create(_node(name, taint))
    api.create({"kind": "Lease", "metadata": {"name": name}, "spec": _life(name)}, "kube-node-lease")


def _node(name: str, taint: bool) -> Json:
    room = {"cpu": "64", "memory": "512Gi", "pods": "110", **CARDS}
    ready = {"type": "Ready", "status": "True", "reason": "OnPaper", "message": "", "lastHeartbeatTime": _now(),
             "lastTransitionTime": _now()}  # fmt: skip
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {**LABELS, "kubernetes.io/hostname": name, "paper": "true"}},
        "spec": {"taints": [TAINT] if taint else []},
        "status": {"capacity": room, "allocatable": room, "conditions": [ready]},
    }


def _keep(api: Api, names: list[str], stopped: threading.Event) -> None:
    """Signs of life, spread over the period; an API server that is away is tried again."""
    with api:
        while names and not stopped.is_set():
            for name in names:
                due = time.monotonic() + PERIOD / len(names)
                try:
                    api.patch(place("Lease", "kube-node-lease", name), {"spec": _life(name)})
                except (OSError, http.client.HTTPException, ApiError):
                    pass
                stopped.wait(max(due - time.monotonic(), 0.0))


def _life(name: str) -> Json:
    return {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": _now(fraction=True)}


def _delete(api: Api, name: str) -> None:
    """Its pods first: nobody would confirm their end."""
    pods = api.get(f"api/v1/pods?fieldSelector=spec.nodeName={name}")["items"]
    for namespace in {pod["metadata"]["namespace"] for pod in pods}:
        path = f"api/v1/namespaces/{namespace}/pods?fieldSelector=spec.nodeName={name}"
        api.request("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
    api.delete(place("Node", name=name))
    api.delete(place("Lease", "kube-node-lease", name))


def _now(fraction: bool = False) -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ" if fraction else "%Y-%m-%dT%H:%M:%SZ")
