"""What an archive knows about where a node's log came from: its pods, its launchers' folders, what is missing."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes.lacks import Lack
from jupyter_aiarts.engines.local.folder import read_bytes
from jupyter_aiarts.engines.local.records import Summary
from jupyter_aiarts.engines.logs.reasons import Drop
from jupyter_aiarts.errors import JobUnreadable
from jupyter_aiarts.launcher import record

LAUNCHER, KUBELET = "launcher", "kubelet"
MOST_DROPS, MOST_PODS = 1000, 500


class PodEntry(Struct):
    """One pod's part of the log; `begins` is where it starts in each stream, by `<rank>.<stream>`."""

    uid: str
    name: str
    begins: dict[str, int] = field(default_factory=dict)
    source: str = LAUNCHER
    since: int = 0  # of the kubelet's log everything older is held, in seconds since the epoch
    done: bool = False
    complete: bool = False
    missing: list[Lack] = field(default_factory=list)


class LogEntry(Struct):
    """A launcher's folder by its id; `bases` is what its offsets are raised by here."""

    id: str
    bases: dict[str, int]


class Source(Struct, frozen=True, kw_only=True):
    """source.json: what may be said about a log beside its lines."""

    source: str = LAUNCHER
    complete: bool = False
    missing: tuple[Lack, ...] = ()


class Book(Struct):
    """pods.json."""

    schema: int = 1
    job_uid: str = ""
    pods: list[PodEntry] = field(default_factory=list)
    logs: list[LogEntry] = field(default_factory=list)

    def pod(self, uid: str) -> PodEntry | None:
        return next((pod for pod in self.pods if pod.uid == uid), None)

    def log(self, log_id: str) -> LogEntry | None:
        return next((log for log in self.logs if log.id == log_id), None)

    def add_pod(self, pod: PodEntry) -> PodEntry:
        self.pods = [*self.pods[1 - MOST_PODS :], pod]
        return pod

    def add_log(self, log: LogEntry) -> LogEntry:
        self.logs = [*self.logs[1 - MOST_PODS :], log]
        return log

    def source(self, trouble: Lack | None) -> Source:
        """What source.json says while `trouble`, if any, keeps the log from being written."""
        lacks = [lack for pod in self.pods for lack in pod.missing] + ([trouble] if trouble else [])
        return Source(
            source=self.pods[-1].source if self.pods else LAUNCHER,
            complete=all(pod.complete for pod in self.pods) and bool(self.pods),
            missing=tuple(dict.fromkeys(lacks)),
        )


class Drops(Struct):
    """The part of status.json that tells which bytes this copy does not have."""

    drops: list[Drop] = field(default_factory=list)

    def add(self, drop: Drop) -> None:
        """What follows on another loss of the same kind is one loss."""
        same = (drop.rank, drop.stream, drop.reason)
        for number in range(len(self.drops) - 1, max(-1, len(self.drops) - 9), -1):
            last = self.drops[number]
            if (last.rank, last.stream, last.reason) == same and last.start <= drop.start <= last.end:
                self.drops[number] = Drop(*same[:2], last.start, max(drop.end, last.end), drop.reason)
                return
        self.drops = [*self.drops[1 - MOST_DROPS :], drop]


def read(path: Path, kind: type[Any]) -> Any:
    """A file of ours; None when it is not there or damaged, which costs what it said and no more."""
    try:
        content = read_bytes(path)
        return None if content is None else msgspec.json.decode(content, type=kind)
    except (JobUnreadable, msgspec.MsgspecError):
        return None


def keep_summary(run: Path, content: dict[str, Any]) -> None:
    """Keep how an attempt ended; the summary of an earlier attempt stays beside it."""
    attempt = msgspec.convert(content, Summary).attempt
    before = read(run / "summary.json", Summary)
    if before is not None and before.attempt != attempt:
        with contextlib.suppress(FileNotFoundError):
            os.rename(run / "summary.json", run / f"summary.{before.attempt}.json")
    record.write_json(str(run / "summary.json"), content, lasting=True)
