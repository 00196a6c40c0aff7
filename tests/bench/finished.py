"""State folders with finished jobs, written as the engine writes them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from jupyter_aiarts.engines.local.folder import StateFolder, make_folder, this_host, write_file
from jupyter_aiarts.engines.local.phase import RunFacts, view
from jupyter_aiarts.engines.local.records import CallerFile, Failure, JobFile, Placed, RunFile, Summary, SummaryRank
from jupyter_aiarts.model.names import new_id
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.times import from_ns


def with_finished_jobs(root: Path, count: int) -> Path:
    """A state folder in which so many jobs have ended and none runs."""
    folder = StateFolder.open(root)
    for number in range(count):
        finished_job(folder, number)
    return folder.root


def finished_job(folder: StateFolder, number: int) -> None:
    """One job, its run and its end, settled by the engine's own judgement; every fifth failed."""
    raw = {"name": f"train {number}", "script": "/data/train.py", "params": {"lr": 0.1, "epochs": 10}}
    spec = read_spec({**raw, "args": ["--seed", str(number)], "workdir": "/data"}).spec
    created, started, ended = moments(number)
    job_id = new_id()
    job = JobFile(id=job_id, owner="alice", host=this_host(), created=created, queued=created, spec=spec)
    placed = Placed(attempt=1, placed=started, cpus=1, devices=((),))
    summary = summary_of(started, ended, failed=number % 5 == 0)
    place = folder.job(job_id)
    for path in (place.root, place.root / "runs", place.run(1)):
        make_folder(path)
    place.write(structs.replace(job, settled=view(job, RunFacts(placed=placed, summary=summary))))
    caller = CallerFile(python=sys.executable, environ={"PATH": "/usr/bin"})
    write_file(place.run(1) / "run.json", RunFile(run=1, created=created, spec=spec, caller=caller))
    write_file(place.run(1) / "placed.json", placed)
    write_file(place.run(1) / "summary.json", summary)


def summary_of(started: str, ended: str, failed: bool) -> Summary:
    """What a launcher writes last; a failure keeps its last lines."""
    code = 1 if failed else 0
    last = tuple(f"  step {step}: loss nan, gradient norm inf, learning rate 0.1" for step in range(20))
    return Summary(
        attempt=1,
        result="failed" if failed else "succeeded",
        started=started,
        ended=ended,
        running_seconds=49.0,
        first_failure=Failure(node=0, rank=0, exit_code=1, last_lines=last) if failed else None,
        ranks=(SummaryRank(rank=0, node=0, exit_code=code),),
    )


def moments(number: int) -> Iterator[str]:
    """Created, started, ended: one job a minute."""
    base = 1_700_000_000 * 10**9 + number * 60 * 10**9
    return (from_ns(base + seconds * 10**9) for seconds in (0, 1, 50))
