"""What this server holds of one node of one run, over all the pods that node has had.

    node-<k>/log/<rank>/…     segments, as `launcher/segments.py` forms them, so that `engines/logs` reads them
    node-<k>/status.json      the launcher's newest status; its drops are those of *this* copy
    node-<k>/env.<rank>.json  the variables a rank was started with
    node-<k>/npulog.json      the NPU driver's errors about its cards, as its launcher found them at the end
    node-<k>/usage.json       what its ranks and cards did since the run began, as its launcher saw it
    node-<k>/source.json      where the log comes from and what is missing of it, for people
    node-<k>/pods.json        which pods and launcher's folders the log comes from, and where each begins in it
    node-<k>/lock             held by the one server that writes here

A launcher in a new pod has an empty folder and counts from byte 0; here its bytes go on where the pod before ended,
so a run has one log. Everything here blocks on files: it belongs in a thread, one call at a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from jupyter_aiarts.engines.jobuse import PAST
from jupyter_aiarts.engines.kubernetes.book import Book, Drops, LogEntry, PodEntry, Source, keep_summary, read
from jupyter_aiarts.engines.kubernetes.frames import Chunk, Gap, Garbled, Hello, Item, Told
from jupyter_aiarts.engines.kubernetes.held import HeldLog, Stamp
from jupyter_aiarts.engines.kubernetes.lacks import WENT_AWAY, Lack
from jupyter_aiarts.engines.local.records import NodeStatus
from jupyter_aiarts.engines.logs.reasons import Drop
from jupyter_aiarts.engines.npulog import NpuPage
from jupyter_aiarts.launcher import record, segments
from jupyter_aiarts.launcher.ascend.lastlog import NAME as NPU_LOG
from jupyter_aiarts.model.times import now
from jupyter_aiarts.model.usage import RunHistory

MOST_RANKS = 16  # beyond those that were named: what was said of a job may be older than what runs
UNKNOWN_AMOUNT = "unknown-amount: "  # begins the reason of a drop of one byte that stands for nobody knows how many
_RESERVE = 4096
Key = tuple[int, str]  # rank, stream


class NodeArchive:
    """Opened by the server that mirrors a node; nobody else writes until it is closed."""

    def __init__(self, folder: Path, node: int, limit: int, ranks: tuple[int, ...], lock: int) -> None:
        self.folder, self.node, self.ranks = folder, node, ranks
        self._limit, self._lock = limit, lock
        self._book: Book = read(folder / "pods.json", Book) or Book()
        self._status: dict[str, Any] = read(folder / "status.json", dict[str, Any]) or {}
        self._drops: Drops = read(folder / "status.json", Drops) or Drops()
        self._drops_changed = False
        self._logs: dict[int, HeldLog] = {}
        self._bases: dict[str, int] | None = None
        self.trouble: Lack | None = None
        self.said: NodeStatus | None = None  # what a launcher said of itself since this was opened
        self._adopt_ranks()
        self._keep_reserve()

    @classmethod
    def open(cls, folder: Path, node: int, limit: int, ranks: tuple[int, ...], job_uid: str) -> NodeArchive | None:
        """Make or continue the archive in an existing run's folder; None while another server has it."""
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _discard_of_other_job(folder, job_uid)
            archive = cls(folder, node, limit, ranks, lock)
        except BlockingIOError:
            os.close(lock)
            return None
        except BaseException:
            os.close(lock)
            raise
        archive._book.job_uid = job_uid
        return archive

    def close(self) -> None:
        """Let another server go on from here."""
        with contextlib.suppress(OSError):  # the folder may have been deleted with its job
            self._write_status()
        os.close(self._lock)

    # -- pods ------------------------------------------------------------------------------------------------------

    def pod(self, uid: str, name: str) -> PodEntry:
        """The entry of a pod; a new one begins where all streams end now."""
        entry = self._book.pod(uid)
        if entry is None:
            entry = self._book.add_pod(PodEntry(uid, name, begins=self._ends()))
            self._write_book()
        return entry

    def settle(self, entry: PodEntry, **changes: Any) -> None:
        """Write down what became of a pod's log."""
        for key, value in changes.items():
            setattr(entry, key, value)
        self._write_book()
        self.tell()

    def settle_gone(self, there: set[str]) -> None:
        """Close the entries of pods that no longer exist and whose end nobody saw."""
        for entry in self._book.pods:
            if not entry.done and entry.uid not in there:
                lack = Lack(WENT_AWAY, entry.name)
                self.mark_loss(lack.said())
                self.settle(entry, done=True, missing=[*entry.missing, lack])

    def tell(self, trouble: Lack | None = None) -> None:
        """source.json as things stand; `trouble` is what keeps us from writing the log at this moment."""
        self.trouble = trouble
        if trouble:
            with contextlib.suppress(OSError):
                os.unlink(self.folder / ".reserve")
        record.write_json(str(self.folder / "source.json"), msgspec.to_builtins(self.source()))
        if not trouble:
            self._keep_reserve()

    def recover(self) -> None:
        """The disk takes writes again."""
        if self.trouble:
            self.tell()

    def source(self) -> Source:
        """What source.json says."""
        return self._book.source(self.trouble)

    def _ends(self) -> dict[str, int]:
        keys = [(rank, stream) for rank in self._logs for stream in segments.STREAMS]
        return {_name(key): self._logs[key[0]].end(key[1]) for key in keys}

    # -- the launcher's frames -------------------------------------------------------------------------------------

    def position(self) -> dict[str, str]:
        """The query that asks a launcher for what is not held: its log's id as we know it, and our places in it.

        Called before each connection: what comes then must begin by saying whose log it is.
        """
        self._bases = None
        if not self._book.logs:
            return {}
        last = self._book.logs[-1]
        places = {name: end - last.bases.get(name, 0) for name, end in self._ends().items()}
        return {"log": last.id, "at": ",".join(f"{name}.{at}" for name, at in places.items() if at > 0)}

    def take(self, items: Iterable[Item]) -> None:
        """Keep what frames brought; raises `OSError` when the disk refuses and `Garbled` for what cannot be."""
        batch = Batch(self)
        for item in items:
            if isinstance(item, Chunk):
                batch.add(item.rank, item.stream, item.at + self._base(item.rank, item.stream), item.t, item.data)
            elif isinstance(item, Gap):
                base = self._base(item.rank, item.stream)
                batch.gap(item.rank, item.stream, base + item.start, base + item.end, item.reason)
            elif isinstance(item, Hello):
                self._begin(item)
            elif isinstance(item, Told):
                self._hear(item)
        batch.write()
        self.recover()

    def _begin(self, hello: Hello) -> None:
        if hello.node != self.node:
            raise Garbled(f"node {hello.node} answered where node {self.node} was asked")
        if self._bases is not None:
            raise Garbled("two logs in one answer")
        log = self._book.log(hello.id)
        if log is None:
            log = self._book.add_log(LogEntry(hello.id, self._ends()))
            self._write_book()  # before the first byte: a restart must find the same base
        self._bases = log.bases

    def _base(self, rank: int, stream: str) -> int:
        if self._bases is None:
            raise Garbled("a log that does not say which one it is")
        return self._bases.get(_name((rank, stream)), 0)

    def _hear(self, told: Told) -> None:
        """Documents of a form we don't know are passed over: the log goes on."""
        content = told.content
        with contextlib.suppress(msgspec.ValidationError):
            if told.kind == "status":
                self.said = msgspec.convert(content, NodeStatus)
                self._status = content
                self._write_status()
            elif told.kind == "summary" and self.node == 0:
                keep_summary(self.folder.parent, content)
            elif told.kind == "environment":
                self.keep_environment(msgspec.convert(content.get("rank"), int), content.get("variables"))
            elif told.kind == "npulog":
                record.write_json(str(self.folder / NPU_LOG), msgspec.to_builtins(msgspec.convert(content, NpuPage)))
            elif told.kind == "usage":
                record.write_json(str(self.folder / PAST), msgspec.to_builtins(msgspec.convert(content, RunHistory)))

    def keep_environment(self, rank: int, variables: Any) -> None:
        """Keep a rank's variables for the time after its pod."""
        self._check_rank(rank)
        found = msgspec.convert(variables, dict[str, str])
        record.write_json(str(self.folder / f"env.{rank}.json"), found)

    # -- streams ---------------------------------------------------------------------------------------------------

    def log(self, rank: int) -> HeldLog:
        """One rank's log; raises `Garbled` for a rank that this node does not have."""
        if rank not in self._logs:
            self._check_rank(rank)
            folder = self.folder / "log"
            folder.mkdir(mode=0o700, exist_ok=True)
            self._logs[rank] = HeldLog(folder / str(rank), self._limit, lambda drop: self._dropped(rank, drop))
        return self._logs[rank]

    def known_ranks(self, pod: PodEntry) -> list[int]:
        """The ranks of which something is held that this pod printed."""
        ends = self._ends()
        keys = [(rank, stream) for rank in self._logs for stream in segments.STREAMS]
        return sorted({key[0] for key in keys if ends[_name(key)] > pod.begins.get(_name(key), 0)})

    def _check_rank(self, rank: int) -> None:
        if rank < 0 or len({*self._logs, rank} - {*self.ranks}) > MOST_RANKS:
            raise Garbled(f"rank {rank} is not one of node {self.node}")

    def _adopt_ranks(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            names = os.listdir(self.folder / "log")
            for rank in sorted(int(name) for name in names if name.isascii() and name.isdecimal()):
                with contextlib.suppress(Garbled):
                    self.log(rank)
        for drop in self._drops.drops:  # bytes lost at the end of a stream are no bytes of the next pod
            if drop.rank in self._logs and drop.stream in segments.STREAMS:
                self._logs[drop.rank].skip(drop.stream, drop.end)

    def drop(self, rank: int, stream: str, start: int, end: int, reason: str) -> None:
        """Bytes that are not in this copy."""
        self._drops.add(Drop(rank, stream, start, end, reason))
        self._drops_changed = True

    def write_drops(self) -> None:
        """Tell readers what is missing, if that changed."""
        if self._drops_changed:
            self._write_status()

    def mark_loss(self, sentence: str) -> None:
        """Mark in every rank's log that an unknown amount may be missing after what is held."""
        batch = Batch(self)
        for rank in sorted(self._logs) or self.ranks[:1]:
            batch.lose(rank, sentence)
        batch.write()

    def _dropped(self, rank: int, drop: segments.Drop) -> None:
        self.drop(rank, drop.stream, drop.start, drop.end, drop.reason)

    # -- files -----------------------------------------------------------------------------------------------------

    def _write_status(self) -> None:
        """A node of which nothing is known but its log has a status only where bytes are missing."""
        if not self._status and not self._drops.drops:
            return
        unknown = {"schema": 1, "node": self.node, "attempt": 0, "phase": "unknown", "since": now(), "ranks": []}
        content = {**(self._status or unknown), **msgspec.to_builtins(self._drops)}
        record.write_json(str(self.folder / "status.json"), content)
        self._drops_changed = False

    def _write_book(self) -> None:
        record.write_json(str(self.folder / "pods.json"), msgspec.to_builtins(self._book), lasting=True)

    def _keep_reserve(self) -> None:
        """Some room, so that a full disk can still be told about."""
        with contextlib.suppress(OSError):
            if not (self.folder / ".reserve").exists():
                record.write(str(self.folder / ".reserve"), os.urandom(_RESERVE))


class Batch:
    """Chunks that came together, so that a stream is written once for all of them."""

    def __init__(self, node: NodeArchive) -> None:
        self._node = node
        self._parts: dict[Key, list[bytes]] = {}
        self._stamps: dict[Key, list[Stamp]] = {}
        self._ends: dict[Key, int] = {}

    def add(self, rank: int, stream: str, at: int, t: int, data: bytes) -> None:
        """Bytes for offset `at`; those that are held already are passed over."""
        key = (rank, stream)
        end = self._end(key)
        if at + len(data) <= end:
            return
        if at > end:
            self.gap(rank, stream, end, at, "")
        elif at < end:
            data = data[end - at :]
        stamps = self._stamps.setdefault(key, [])
        # Readers rely on times that never go back; another node's clock may have been ahead.
        t = max(t, stamps[-1][1] if stamps else self._node.log(rank).newest(stream))
        if not stamps or t != stamps[-1][1]:
            stamps.append((self._ends[key], t))
        self._parts.setdefault(key, []).append(data)
        self._ends[key] += len(data)

    def append(self, rank: int, stream: str, t: int, data: bytes) -> None:
        """Bytes for the stream's end."""
        self.add(rank, stream, self._end((rank, stream)), t, data)

    def gap(self, rank: int, stream: str, start: int, end: int, reason: str) -> None:
        """Bytes that will not come; only what is not held is lost."""
        key = (rank, stream)
        held = self._end(key)
        if end > held:
            self._write(key)
            self._node.log(rank).skip(stream, end)
            self._node.drop(rank, stream, max(start, held), end, reason)
            self._ends[key] = end

    def lose(self, rank: int, sentence: str) -> None:
        """Mark that an unknown amount of a rank's output is missing here."""
        end = self._end((rank, "stdout"))
        self.gap(rank, "stdout", end, end + 1, f"{UNKNOWN_AMOUNT}{sentence}")

    def write(self) -> None:
        """Put it all on disk, and what was lost beside it."""
        for key in list(self._parts):
            self._write(key)
        self._node.write_drops()

    def _end(self, key: Key) -> int:
        if key not in self._ends:
            self._ends[key] = self._node.log(key[0]).end(key[1])
        return self._ends[key]

    def _write(self, key: Key) -> None:
        parts, stamps = self._parts.pop(key, []), self._stamps.pop(key, [])
        if parts:
            self._node.log(key[0]).extend(key[1], b"".join(parts), stamps)


def _discard_of_other_job(folder: Path, job_uid: str) -> None:
    """An id made from a `submission_id` may come back after its job was deleted: that one's log is not this one's."""
    book = read(folder / "pods.json", Book)
    if book is None or not job_uid or book.job_uid in ("", job_uid):
        return
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        elif entry.name != "lock":
            os.unlink(entry.path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(folder.parent / "summary.json")


def _name(key: Key) -> str:
    return f"{key[0]}.{key[1]}"
