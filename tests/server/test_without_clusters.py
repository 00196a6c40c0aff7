"""A server without a cluster pays nothing for clusters: neither their client nor their engine is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CODE = """
import asyncio, json, sys
from pathlib import Path
from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.server.app import AiartsApp
from jupyter_aiarts.server.opening import open_service
from jupyter_aiarts.picture import ListQuery

async def main(folder):
    service = await open_service(AiartsApp(state_dir=str(folder / "state")))
    caller = Caller(owner="alice", python=sys.executable, environ={}, folder=folder)
    job = (await service.submit({"command": "true"}, caller)).job
    async for _ in service.subscribe():
        if (await service.get(job.id)).phase.is_terminal:
            break
    listed = json.loads(await service.jobs(ListQuery()))
    health = await service.health()
    await service.aclose()
    print(json.dumps([[one["phase"] for one in listed], health["clusters"], sorted(sys.modules)]))

asyncio.run(main(Path(sys.argv[1])))
"""


def test_listing_and_submitting_here_imports_nothing_of_kubernetes(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("KUBERNETES_")}
    environ.pop("AIARTS_STATE_DIR", None)
    said = subprocess.check_output([sys.executable, "-c", CODE, str(tmp_path)], env=environ, text=True, timeout=60)
    phases, clusters, modules = json.loads(said)
    assert phases == ["succeeded"]
    assert clusters == [{"name": "local", "stale_since": None}]
    unwanted = ("kubernetes", "aiohttp", "jupyter_aiarts.engines.kubernetes")
    assert [name for name in modules if name in unwanted or name.startswith("jupyter_aiarts.engines.kubernetes.")] == []
