"""64 ranks that flush 1,000 lines a second each: nothing is lost, on disk or on its way to a follower."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import Settings
from jupyter_aiarts.engines.logs import LogQuery
from jupyter_aiarts.model.job import LogLine
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore

from .measure import Aim, Figure, keep, short

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

RANKS, RATE, SECONDS = 64, 1000, 5
LINES = RATE * SECONDS
SCRIPT = f"""
import time
start = time.monotonic()
for number in range({LINES}):
    if number % 10 == 0:
        time.sleep(max(start + number / {RATE} - time.monotonic(), 0))
    print(f"{{number:079d}}", flush=True)
print("took", time.monotonic() - start, flush=True)
"""


async def test_many_ranks(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    engine = open_local(tmp_path / "state", Settings(devices={"nvidia_gpu_amd64": RANKS}, cpus=RANKS))
    service = JobService({"local": engine}, TemplateStore(tmp_path / "templates"))
    caller = Caller(owner="alice", python=sys.executable, environ=dict(os.environ), folder=tmp_path)
    spec = {"script": "script.py", "device": "nvidia_gpu_amd64", "devices": RANKS, "processes": "card"}
    try:
        job = (await service.submit(spec, caller)).job
        followed, late = await follow(service, job.id)
        log = await service.run_log(job.id)
        kept = await asyncio.to_thread(lambda: list(log.walk(LogQuery(), ended=True)))
        assert (await service.get(job.id)).phase.value == "succeeded"
    finally:
        await service.aclose()
    slowest = max(float(line.text.split()[1]) for line in kept if line.text.startswith("took"))
    report(lost(kept), lost(followed), slowest, late)


async def follow(service: JobService, job_id: str) -> tuple[list[LogLine], float]:
    """All lines as a follower gets them, and how old the oldest line of a batch ever was, in seconds."""
    lines: list[LogLine] = []
    late = 0.0
    async for batch in service.follow(job_id, LogQuery()):
        lines += batch
        late = max(late, time.time() - _seconds(batch[0].t))
    return lines, late


def _seconds(moment: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def lost(lines: list[LogLine]) -> int:
    """How many of all lines are missing; also one that came twice or out of its rank's order is a mistake."""
    numbers: dict[int, list[str]] = {rank: [] for rank in range(RANKS)}
    for line in lines:
        if not line.text.startswith("took"):
            numbers[line.rank].append(line.text)
    wanted = [f"{number:079d}" for number in range(LINES)]
    for said in numbers.values():
        assert max(Counter(said).values(), default=1) == 1, "a line came twice"
        assert said == sorted(said), "a rank's lines came out of order"
    return sum(len(set(wanted) - set(said)) for said in numbers.values())


def report(on_disk: int, on_the_way: int, slowest: float, late: float) -> None:
    keep(
        "2 lost lines",
        Figure(
            title=f"Lines lost: {RANKS} ranks flushing {RATE:,} lines a second each for {SECONDS} s",
            unit="lines",
            peer_name="nothing lost",
            ours=[on_disk + on_the_way],
            peer=[0],
            aim=Aim(by="ours", bound=0),
            more={
                "lines": RANKS * LINES,
                "lost on disk": on_disk,
                "lost on the way to a follower": on_the_way,
                "slowest rank, s": short(slowest),
                "follower's largest delay, s": short(late),
            },
        ),
    )
