"""A process that submits one job and may be killed at any moment: `python submitter.py KUBECONFIG NAMESPACE FOLDER`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.kubernetes import open_cluster
from jupyter_aiarts.model.reading import read_spec


async def main(kubeconfig: str, namespace: str, folder: Path) -> None:
    engine = open_cluster("test", {"kubeconfig": kubeconfig, "namespaces": [namespace]}, folder / "state")
    raw = {"cluster": "test", "command": "true", "image": "registry.local/aiarts-test:1", "cpu": 0.1, "memory_gb": 0.2}
    record, _ = await engine.submit(
        read_spec({**raw, "submission_id": "mine", "secret_env": {"A_TOKEN": "x"}}),
        Caller(owner="alice", python="python3", folder=folder),
    )
    print(record.id, flush=True)
    await engine.aclose()


asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
