"""Watchers on the real cluster for tests: what they told, and ways to wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from jupyter_aiarts.engines.base import Change, JobRecord
from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.picture import Picture
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from jupyter_aiarts.engines.kubernetes.watch import Watcher
from tests.cluster.images import TEST

Json = dict[str, Any]


class Watch:
    """A watcher with its picture, and everything it told."""

    def __init__(self, api: Api, namespaces: tuple[str, ...]) -> None:
        self.api = api
        self.picture = Picture("k8s")
        self.told: list[Change] = []
        self._news = asyncio.Event()
        self.watcher = Watcher(api, self.picture, namespaces, self._hear)

    def _hear(self, change: Change) -> None:
        self.told.append(change)
        self._news.set()

    @property
    def shown(self) -> dict[str, JobRecord]:
        """What somebody knows who listened to every change."""
        shown: dict[str, JobRecord] = {}
        for change in self.told:
            shown.update((record.id, record) for record in change.jobs)
            for job_id in change.removed:
                del shown[job_id]
        return shown

    async def until(self, test: Callable[[], Any], seconds: float = 30) -> None:
        """Wait for news until the test is true."""
        await asyncio.wait_for(self._until(test), seconds)

    async def _until(self, test: Callable[[], Any]) -> None:
        while not test():
            self._news.clear()
            await self._news.wait()


@contextlib.asynccontextmanager
async def watching(kubeconfig: Path, *namespaces: str) -> AsyncIterator[Watch]:
    """A watcher that has begun."""
    api = await Api.open(ClusterSettings(name="test", kubeconfig=str(kubeconfig)))
    watch = Watch(api, namespaces)
    watch.watcher.start()
    try:
        yield watch
    finally:
        await watch.watcher.aclose()
        await api.aclose()


def job(job_id: str, *, nodes: int = 1, command: tuple[str, ...] = ("sleep", "600"), suspend: bool = False) -> Json:
    """A Job of ours, small."""
    labels = {names.JOB: job_id, names.RUN: "1"}
    notes = {names.EXACT_OWNER: "alice", names.SHORT: json.dumps({"name": job_id, "nodes": nodes})}
    limits = {"cpu": "10m", "memory": "32Mi"}
    main = {"name": "main", "image": TEST, "command": list(command), "resources": {"limits": limits}}
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": names.object_name("train", job_id, 1), "labels": labels, "annotations": notes},
        "spec": {
            "completionMode": "Indexed", "completions": nodes, "parallelism": nodes, "backoffLimitPerIndex": 0,
            "suspend": suspend,
            "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
            "template": {"metadata": {"labels": labels}, "spec": {**pod, "containers": [main]}},
        },
    }  # fmt: skip
