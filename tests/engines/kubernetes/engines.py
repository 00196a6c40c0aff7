"""An engine as alice has it on the test cluster, and ways to wait for its jobs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.engines.base import Caller, Engine, JobRecord
from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.reading import read_spec
from tests.engines.reaching import job_reached
from tests.startfile import start_file

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

IMAGE = "registry.local/aiarts-test:1"
BARE = "registry.local/aiarts-bare:1"
SMALL = {"cluster": "test", "image": IMAGE, "cpu": 0.25, "memory_gb": 0.25, "grace_seconds": 2}
FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(600)"


class Lab:
    """One namespace, one engine, one folder of start files; what a test needs and no more."""

    def __init__(
        self, cluster: Cluster, namespace: str, folder: Path, engine: Engine, raw: dict[str, Any] | None = None
    ) -> None:
        self.cluster, self.namespace, self.folder, self.engine = cluster, namespace, folder, engine
        self.raw = raw or {}  # the cluster's entry, for another server with the same
        self.caller = Caller(owner="alice", python="python3", folder=folder)

    async def submit(self, source: str = "print('hello')", **keys: Any) -> JobRecord:
        """Submit a start file; the spec's other keys as given."""
        raw = {**SMALL, **keys}
        if "command" not in raw:
            raw.setdefault("script", start_file(self.folder, source))
        record, _ = await self.engine.submit(read_spec(raw), self.caller)
        return record

    async def until(self, job_id: str, *phases: Phase, code: str | None = None, seconds: float = 60) -> JobRecord:
        """Wait, by the engine's own news, for a phase (an end, if none is named) or a cause."""
        wanted = phases or (Phase.SUCCEEDED, Phase.FAILED, Phase.LOST, Phase.STOPPED)

        def there(record: JobRecord) -> bool:
            return record.cause.code == code if code else record.phase in wanted

        return await self.when(job_id, there, seconds)

    async def when(self, job_id: str, there: Callable[[JobRecord], bool], seconds: float = 60) -> JobRecord:
        """Wait until this is true of a job."""
        return await job_reached(self.engine, job_id, there, seconds)

    async def printed(self, job_id: str, text: str, seconds: float = 60, times: int = 1) -> None:
        """Wait until so many lines with this text are in the job's log, of all attempts of its run."""

        async def look() -> None:
            follower, seen = (await self.engine.log(job_id)).follow(LogQuery(tail=1000)), 0
            while seen < times:
                seen += sum(text in line.text for line in await asyncio.to_thread(follower.step, False))
                await asyncio.sleep(0.02)

        await asyncio.wait_for(look(), seconds)

    async def texts(self, job_id: str, run: int | None = None) -> list[str]:
        """What a job printed, merged."""
        log = await self.engine.log(job_id, run)
        lines = await asyncio.to_thread(lambda: log.lines(LogQuery(tail=10_000), ended=True))
        return [line.text for line in lines]

    def pods(self, *more: str) -> list[dict[str, Any]]:
        """The pods of this namespace, as kubectl shows them."""
        found = self.cluster.kubectl("-n", self.namespace, "get", "pods", "-o", "json", *more)
        return list(json.loads(found)["items"])


@asynccontextmanager
async def laboratory(cluster: Cluster, tmp_path: Path, *, queue: bool = False, **settings: Any) -> AsyncIterator[Lab]:
    """A fresh namespace, with a Kueue LocalQueue called `cards` if wanted, and alice's engine on it."""
    folder = tmp_path / "work"
    folder.mkdir()
    with cluster.namespace() as namespace:
        if queue:
            add_queue(cluster, namespace)
        raw = {"kubeconfig": str(cluster.kubeconfig("alice")), "namespaces": [namespace], **settings}
        engine = open_cluster("test", raw, tmp_path / "state")
        try:
            yield Lab(cluster, namespace, folder, engine, raw)
        finally:
            await engine.aclose()


def add_queue(cluster: Cluster, namespace: str) -> None:
    """A LocalQueue `cards` that leads to the cluster's own."""
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "LocalQueue",
        "metadata": {"name": "cards", "namespace": namespace},
        "spec": {"clusterQueue": "cards"},
    }
    cluster.kubectl("apply", "-f", "-", input=json.dumps(queue))
