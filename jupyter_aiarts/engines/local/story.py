"""What can be told of one run afterwards: its events and the environment its ranks had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.local.folder import read_bytes, read_file
from jupyter_aiarts.engines.local.records import JobFile, NodeStatus, Placed, RunFile, Summary
from jupyter_aiarts.engines.notes import events_of as said
from jupyter_aiarts.engines.npulog import Gap, NpuLog, cards_of, gap_of, told
from jupyter_aiarts.engines.tables import no_rank_table
from jupyter_aiarts.errors import RunNotFound
from jupyter_aiarts.launcher.podenv import parse
from jupyter_aiarts.model.job import Event, Rank
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.placement import has_rings
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.wording import worded

if TYPE_CHECKING:
    from jupyter_aiarts.launcher.ascend.slog import Line
    from jupyter_aiarts.model.usage import NodeUsage


def environment_of(job: JobFile, run: Path, rank: int) -> dict[str, str | None]:
    """The variables of pod.env for one rank, and the names of its secrets with None."""
    made = read_file(run / "run.json", RunFile)
    spec = made.spec if made else job.spec  # the job's own is the next run's, once it was edited
    name = f"pod.env.{rank}" if spec.processes == "card" else "pod.env"
    content = read_bytes(run / f"node-{rank_node(spec, rank)}" / name)
    if content is None:
        raise RunNotFound(
            f"Run {run.name} of job {job.id} has no environment for rank {rank}.",
            "It exists from the moment its ranks start; see the ranks with `aiarts show`.",
        )
    secret: dict[str, str | None] = dict.fromkeys(spec.secret_env)
    return {**parse(content), **secret}


def rank_table_of(job: JobFile, run: Path) -> bytes:
    """The table that the ranks of this run were started with."""
    from jupyter_aiarts.launcher.ascend.table import NAMES
    from jupyter_aiarts.launcher.plan import TABLES

    made = read_file(run / "run.json", RunFile)
    content = read_bytes(run / NAMES[TABLES[(made.spec if made else job.spec).rank_table]])
    if content is None:
        raise no_rank_table(job.id, run.name)
    return content


def rank_node(spec: JobSpec, rank: int) -> int:
    """Which node a rank runs on."""
    return rank // max(spec.devices, 1) if spec.processes == "card" else rank


def npu_log_of(job: JobFile, run: Path) -> NpuLog:
    """The driver's errors about the cards of this run since it began; the machine's own folder is read."""
    from jupyter_aiarts.launcher.ascend import slog

    statuses = _statuses(run)
    ranks = [
        Rank(rank=one.rank, node=status.node, phase=Phase.RUNNING, devices=list(one.devices))
        for status in statuses
        for one in status.ranks
    ]
    started = [one.started for status in statuses for one in status.ranks if one.started]
    made = read_file(run / "run.json", RunFile)
    if not has_rings((made.spec if made else job.spec).device):
        return NpuLog(gaps=(Gap("no-npu"),))
    if not started:
        return NpuLog(gaps=(Gap("not-started"),))
    cards = [card for rank in ranks for card in rank.devices or ()]
    errors = slog.errors(cards, datetime.fromisoformat(min(started).replace("Z", "+00:00")).timestamp())
    nodes = {status.node: cards_of(ranks, status.node) for status in statuses}
    lines = [
        line for node in nodes for line in told(errors._replace(lines=_own(errors.lines, nodes, node)), node, ranks)
    ]
    return NpuLog(lines=tuple(lines), gaps=gap_of(errors, None))


def _own(lines: Sequence[Line], nodes: Mapping[int, list[int]], node: int) -> list[Line]:
    """The lines that are this node's among several on one machine; the host's are told once."""
    return [line for line in lines if line.card in nodes[node] or (line.card is None and node == min(nodes))]


def usage_in(run: Path, history: bool) -> tuple[NodeUsage, ...]:
    """What the launchers of a run saw of its cards and ranks."""
    from jupyter_aiarts.engines.jobuse import PAST, usage_of
    from jupyter_aiarts.model.usage import RunHistory

    statuses = _statuses(run)
    if not history:
        return usage_of(statuses)
    found = {one.node: read_file(run / f"node-{one.node}" / PAST, RunHistory) for one in statuses}
    return usage_of(statuses, {node: past for node, past in found.items() if past is not None})


def events_of(job: JobFile, run: Path) -> tuple[Event, ...]:
    """What the platform did, oldest first, from the files it left."""
    thing = f"job/{job.id}"
    found: list[Event] = []

    def say(t: str | None, kind: str, reason: str, message: str) -> None:
        if t:
            found.append(Event(t=t, type=kind, reason=reason, message=message, object=thing))

    made = read_file(run / "run.json", RunFile)
    if made:
        message = worded("Run {run} joined the queue of {host}.", run=made.run, host=job.host)
        say(made.created, "Normal", "Queued", message)
    for path in sorted(run.glob("placed*.json")):
        placed = read_file(path, Placed)
        if placed:
            say(placed.placed, "Normal", "Placed", _place(job, placed))
    for status in _statuses(run):
        started = min((rank.started for rank in status.ranks if rank.started), default=None)
        count = len(status.ranks)
        message = worded("Node {node} started {count} ranks.", node=status.node, count=count)
        say(started, "Normal", "Started", message)
        found += said(status, thing)
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
    cpus = f"{placed.cpus:g}"
    if not cards:
        return worded("Given {cpus} CPUs.", cpus=cpus)
    return worded("Given {cpus} CPUs and {device} {cards}.", cpus=cpus, device=job.spec.device, cards=cards)


def _end(summary: Summary) -> str:
    seconds, result = f"{summary.running_seconds:.1f}", summary.result
    if summary.problem is None:
        return worded("The run ended after {seconds} s: {result}.", seconds=seconds, result=result)
    told = "The run ended after {seconds} s: {result}. {sentence}"
    return worded(told, seconds=seconds, result=result, sentence=summary.problem.message)
