"""One measurement of `bench_list` in a Python of its own; prints its steps in seconds as one JSON line.

`service STATE`: import, open the folder, the first list, then further ones
`bare STATE`: read and decode every job.json with the standard library
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from pathlib import Path

Steps = dict[str, float]
FURTHER = 21


def service(state: Path) -> Steps:
    start = time.perf_counter()
    from jupyter_aiarts.engines.local import open_local
    from jupyter_aiarts.engines.local.engine import LocalEngine  # noqa: F401
    from jupyter_aiarts.picture import ListQuery
    from jupyter_aiarts.service import JobService
    from jupyter_aiarts.templates import TemplateStore

    imported = time.perf_counter()

    async def lists() -> Steps:
        jobs = JobService({"local": open_local(state)}, TemplateStore(state / "templates"))
        await jobs.start()
        content = await jobs.jobs(ListQuery())
        first = time.perf_counter()
        assert len(json.loads(content)) == len(os.listdir(state / "jobs"))
        warm = []
        for _ in range(FURTHER):
            before = time.perf_counter()
            await jobs.jobs(ListQuery())
            warm.append(time.perf_counter() - before)
        steps = {"imports": imported - start, "first list": first - imported, "total": first - start}
        return {**steps, "warm": statistics.median(warm)}

    return asyncio.run(lists())


def bare(state: Path) -> Steps:
    start = time.perf_counter()
    folder = f"{state}/jobs"
    for name in os.listdir(folder):
        with open(f"{folder}/{name}/job.json", "rb") as file:
            json.loads(file.read())
    return {"total": time.perf_counter() - start}


if __name__ == "__main__":
    print(json.dumps({"service": service, "bare": bare}[sys.argv[1]](Path(sys.argv[2]))), flush=True)
    os._exit(0)  # what is to be measured was measured
