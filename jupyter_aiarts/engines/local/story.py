"""What can be told of one run afterwards: its events and the environment its ranks had."""

from __future__ import annotations

from pathlib import Path

from jupyter_aiarts.engines.local.folder import read_bytes, read_file
from jupyter_aiarts.engines.local.records import JobFile, NodeStatus, Placed, RunFile, Summary
from jupyter_aiarts.errors import RunNotFound
from jupyter_aiarts.launcher.podenv import parse
from jupyter_aiarts.model.job import Event


def environment_of(job: JobFile, run: Path, rank: int) -> dict[str, str | None]:
    """The variables of pod.env for one rank, and the names of its secrets with None."""
    node = rank_node(job, rank)
    folder = run / f"node-{node}"
    content = read_bytes(folder / f"pod.env.{rank}") or read_bytes(folder / "pod.env")
    if content is None:
        raise RunNotFound(
            f"Run {run.name} of job {job.id} has no environment for rank {rank}.",
            "It exists from the moment its ranks start; see the ranks with `aiarts show`.",
        )
    secret: dict[str, str | None] = dict.fromkeys(job.spec.secret_env)
    return {**parse(content), **secret}


def rank_node(job: JobFile, rank: int) -> int:
    """Which node a rank runs on."""
    return rank // max(job.spec.devices, 1) if job.spec.processes == "card" else rank


def events_of(job: JobFile, run: Path) -> tuple[Event, ...]:
    """What the platform did, oldest first, from the files it left."""
    thing = f"job/{job.id}"
    found: list[Event] = []

    def say(t: str | None, kind: str, reason: str, message: str) -> None:
        if t:
            found.append(Event(t=t, type=kind, reason=reason, message=message, object=thing))

    made = read_file(run / "run.json", RunFile)
    if made:
        say(made.created, "Normal", "Queued", f"Run {made.run} joined the queue of {job.host}.")
    for path in sorted(run.glob("placed*.json")):
        placed = read_file(path, Placed)
        if placed:
            say(placed.placed, "Normal", "Placed", _place(job, placed))
    for status in _statuses(run):
        started = min((rank.started for rank in status.ranks if rank.started), default=None)
        say(started, "Normal", "Started", f"Node {status.node} started {len(status.ranks)} ranks.")
    for path in sorted(run.glob("summary*.json")):
        summary = read_file(path, Summary)
        if summary:
            kind = "Normal" if summary.result in ("succeeded", "stopped") else "Warning"
            say(summary.ended, kind, summary.result.title(), _end(summary))
    return tuple(sorted(found, key=lambda event: event.t))


def _statuses(run: Path) -> list[NodeStatus]:
    found = (read_file(path, NodeStatus) for path in sorted(run.glob("node-*/status.json")))
    return [status for status in found if status is not None]


def _place(job: JobFile, placed: Placed) -> str:
    cards = " + ".join(",".join(map(str, node)) for node in placed.devices if node)
    return f"Given {placed.cpus:g} CPUs" + (f" and {job.spec.device} {cards}." if cards else ".")


def _end(summary: Summary) -> str:
    text = f"The run ended after {summary.running_seconds:.1f} s: {summary.result}."
    if summary.problem:
        return f"{text} {summary.problem.message}"
    return text
