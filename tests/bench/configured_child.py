"""One measurement of `bench_configured` in a Python of its own: `python configured_child.py FOLDER [KUBECONFIG]`.

Opens the service as the server does, until the first list is ready; prints milliseconds and MB as one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from jupyter_server.serverapp import ServerApp  # noqa: F401
from memory import peak

from jupyter_aiarts.server.app import AiartsApp  # every server has paid for this


async def main(folder: Path, kubeconfig: str | None) -> None:
    before, start = _peak(), time.perf_counter()
    from jupyter_aiarts.picture import ListQuery
    from jupyter_aiarts.server.opening import open_service

    clusters = {} if kubeconfig is None else {"lab": {"kubeconfig": kubeconfig}}
    service = await open_service(AiartsApp(state_dir=str(folder), clusters=clusters))
    await service.jobs(ListQuery())
    said = {"ms": (time.perf_counter() - start) * 1000, "mb": _peak() - before}
    print(json.dumps({**said, "loaded": "kubernetes" in sys.modules}), flush=True)
    os._exit(0)  # what is to be measured was measured


def _peak() -> float:
    return peak() / 2**20


asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
