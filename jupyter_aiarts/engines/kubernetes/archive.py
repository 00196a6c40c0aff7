"""The logs of a cluster's jobs on this server's disk, so that they outlive their pods.

    <state>/clusters/<cluster>/<namespace>/<job>/run-<n>/node-<k>/…   own jobs, kept until the job is deleted
    <state>/clusters/<cluster>/.looked/<namespace>/…                  others', while somebody looks and a day after

The engine calls `keep` with every change of its picture; all else follows: a pod that runs is mirrored, one that ended
without us is asked for what is left. Two servers on one folder share the work: a node's archive has one writer.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex
from typing import TypeVar
from urllib.parse import quote

import msgspec

from jupyter_aiarts.engines.kubernetes.book import Book, Source, read
from jupyter_aiarts.engines.kubernetes.door import DiskTrouble, Door, Heard, PodFacts, Streams, TokenSource, Unanswered
from jupyter_aiarts.engines.kubernetes.lacks import WENT_AWAY, Lack
from jupyter_aiarts.engines.kubernetes.shelf import NodeKey, Shelf, is_denied, is_readable, make_private
from jupyter_aiarts.engines.leftover import Leftover, clear
from jupyter_aiarts.engines.tables import no_rank_table
from jupyter_aiarts.errors import RunNotFound
from jupyter_aiarts.launcher import record
from jupyter_aiarts.model.names import check_id

log = logging.getLogger(__name__)

LIMIT = 2 << 30  # bytes per rank
THREADS = 4
CONNECTING = 8
LATE = 4  # pods that ended without us and are asked at once
LOOK = 1.0  # seconds between looks what became of others' pods
LOOKED_SECONDS = 24 * 3600.0
_LARGEST_ENVIRONMENT = 4 << 20
_LARGEST_TABLE = 4 << 20
_POLL = 0.02
Lease = Callable[[], Sequence[PodFacts]]
T = TypeVar("T")


class Archive:
    """One cluster's archive, owned by its engine. Nothing happens before `keep` or `lease`; made inside a loop."""

    def __init__(
        self,
        api: Streams,
        state: Path,
        cluster: str,
        token: TokenSource,
        *,
        limit: int = LIMIT,
        log_path: Path | None = None,
        heard: Heard = lambda *_: None,
    ) -> None:
        self._root = state / "clusters" / _part(cluster)
        self._looked = self._root / ".looked"
        self._state, self._limit, self._log_path = state, limit, log_path
        self._threads = ThreadPoolExecutor(THREADS, "aiarts-archive")
        self._door = Door(api, token, self._threads, CONNECTING, heard)
        self._late = asyncio.Semaphore(LATE)
        self._kept: dict[str, tuple[PodFacts, ...]] = {}  # of our own jobs, by job
        self._leases: list[Lease] = []
        self._shelves: dict[NodeKey, Shelf] = {}
        self._done: dict[NodeKey, frozenset[str]] = {}
        self._is_closed = False

    # -- what the engine tells -------------------------------------------------------------------------------------

    def keep(self, pods: Iterable[PodFacts]) -> None:
        """All pods of this owner's jobs as they are now. A pod that is no longer among them is gone."""
        found: dict[str, list[PodFacts]] = {job_id: [] for job_id in self._kept}
        for pod in pods:
            found.setdefault(pod.job, []).append(pod)
        for job_id, some in found.items():
            self.keep_job(job_id, some)

    def keep_job(self, job_id: str, pods: Iterable[PodFacts]) -> None:
        """The same for one job, when only that one changed."""
        found = tuple(pods)
        if found != self._kept.get(job_id, ()):
            self._kept[job_id] = found
            self._reconcile(job_id)
        if not found:
            self._kept.pop(job_id, None)

    def _reconcile(self, job_id: str) -> None:
        """Begin what is to be mirrored of a job, and pass on to what runs what became of its pods."""
        own = _by_node(self._root, self._kept.get(job_id, ()))
        looked = {} if job_id in self._kept else _by_node(self._looked, self._leased(job_id))
        wanted = {**looked, **own}
        for key, shelf in self._shelves_of(job_id):
            if key in wanted or key.root == self._root:
                shelf.update(wanted.get(key, []))
            else:
                shelf.cancel()  # nobody looks any more
        for key, pods in wanted.items():
            if key not in self._shelves and not self._is_closed:
                self._start(key, pods)
        for key in [key for key in self._done if key.job == job_id and key not in wanted]:
            del self._done[key]

    def _leased(self, job_id: str) -> list[PodFacts]:
        return [pod for lease in self._leases for pod in lease() if pod.job == job_id]

    def _shelves_of(self, job_id: str) -> list[tuple[NodeKey, Shelf]]:
        return [(key, shelf) for key, shelf in self._shelves.items() if key.job == job_id]

    def _mounted(self, job_id: str, run: int) -> Path | None:
        """Where the launchers of a run write, seen from this server; None where there is no log mount."""
        return None if self._log_path is None else self._log_path / check_id(job_id) / f"run-{run}"

    def _start(self, key: NodeKey, pods: list[PodFacts]) -> None:
        done = self._done.get(key, frozenset())
        if any(pod.key not in done and pod.has_log for pod in pods):
            mounted = self._mounted(key.job, key.run) if pods[-1].lasting else None
            node = None if mounted is None else mounted / key.folder.name
            shelf = Shelf(self._door, self._state, key, self._limit, done, node)
            shelf.update(pods)
            shelf.start(self._late, self._ended)
            self._shelves[key] = shelf

    def _ended(self, shelf: Shelf) -> None:
        """A node's pods are all done with, for now: one that came at the last moment begins anew."""
        self._shelves.pop(shelf.key, None)
        self._done[shelf.key] = shelf.done
        self._reconcile(shelf.key.job)

    # -- what the engine asks --------------------------------------------------------------------------------------

    def log_folder(self, namespace: str, job_id: str, run: int) -> Path:
        """Where `engines.logs` reads the log of a run; it may not exist yet.

        A mount that may not be read is that place only where nothing of the log was copied: then the reader says why.
        """
        mounted = self._mounted(job_id, run)
        if mounted is not None and is_readable(mounted):
            return mounted
        own = _run_folder(self._root, namespace, job_id, run)
        looked = _run_folder(self._looked, namespace, job_id, run)
        copied = next((folder for folder in (own, looked) if folder.is_dir()), None)
        if copied is None and mounted is not None and is_denied(mounted):
            return mounted
        return copied or own

    async def beside(self, namespace: str, job_id: str, run: int, name: str, kind: type[T]) -> dict[int, T]:
        """A file that launchers keep beside their logs, by node; what is missing or damaged is left out."""
        with contextlib.suppress(DiskTrouble):
            return await self._door.files(_beside, self.log_folder(namespace, job_id, run), name, kind)
        return {}

    def is_mounted(self, job_id: str, run: int) -> bool:
        """Whether the launchers of a run write where this server reads, so that nobody tells of it."""
        mounted = self._mounted(job_id, run)
        return mounted is not None and is_readable(mounted)

    async def complete(self, job_id: str, run: int, seconds: float) -> bool:
        """Wait until what the run's pods have printed up to now is held; False when that takes longer."""
        deadline = time.monotonic() + seconds
        while not all(shelf.is_settled for shelf in self._shelves.values() if shelf.key.is_of(job_id, run)):
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(_POLL)
        return True

    async def source(self, namespace: str, job_id: str, run: int) -> Source:
        """Where a run's log comes from, whether it is all there, and if not, what is missing."""
        folder = self.log_folder(namespace, job_id, run)
        live = [shelf for shelf in self._shelves.values() if shelf.key.folder.parent == folder]
        found = await self._door.files(_sources, folder, {shelf.key.folder for shelf in live})
        troubles = [shelf.trouble for shelf in live if shelf.trouble]
        return _joined([*found, *(Source(missing=(trouble,)) for trouble in troubles)])

    async def environment(self, namespace: str, job_id: str, run: int, rank: int) -> dict[str, str]:
        """The variables a rank was started with: those that were kept, else its launcher's word."""
        root = self._root if job_id in self._kept else self._looked
        for place in (self._root, self._looked):
            found = await self._door.files(_kept_environment, _run_folder(place, namespace, job_id, run), rank)
            if found is not None:
                return found
        there = [*self._kept.get(job_id, ()), *self._leased(job_id)]
        pods = [pod for pod in there if pod.run == run and pod.is_up]
        return await self._ask_environment(_run_folder(root, namespace, job_id, run), pods, rank)

    async def rank_table(self, namespace: str, job_id: str, run: int) -> bytes:
        """The table a run was started with: the one that was kept, else its launchers' word, which is kept then."""
        root = self._root if job_id in self._kept else self._looked
        for place in (self._root, self._looked):
            found = await self._door.files(_kept_table, _run_folder(place, namespace, job_id, run))
            if found is not None:
                return found
        why = "none of its pods runs any more"
        for pod in [*self._kept.get(job_id, ()), *self._leased(job_id)]:
            if pod.run != run or not pod.is_up:
                continue
            try:
                content = await self.ask(pod, "v1/ranktable", _LARGEST_TABLE)
            except Unanswered as error:
                why = str(error)
                continue
            folder = _run_folder(root, namespace, job_id, run) / f"node-{pod.node}"
            with contextlib.suppress(DiskTrouble):
                await self._door.files(_keep_table, self._state, folder, content)
            return content
        raise no_rank_table(job_id, run, why)

    async def ask(self, pod: PodFacts, path: str, most: int, **params: str) -> bytes:
        """One page of a pod's launcher, at most so many bytes of it; raises `Unanswered`."""
        token = await self._door.token(pod)
        content = b""
        async with self._door.launcher(pod, token, path, **params) as response:
            while len(content) < most and (piece := await response.content.read(most - len(content))):
                content += piece
        return content

    async def _ask_environment(self, folder: Path, pods: list[PodFacts], rank: int) -> dict[str, str]:
        why = "none of its pods runs any more"
        for pod in [pod for pod in pods if rank in pod.ranks or not pod.ranks]:
            try:
                content = await self.ask(pod, "v1/environment", _LARGEST_ENVIRONMENT, rank=str(rank))
                found = msgspec.json.decode(content, type=dict[str, str])
            except (Unanswered, msgspec.DecodeError) as error:
                why = str(error)
                continue
            with contextlib.suppress(DiskTrouble):
                await self._door.files(_keep_environment, self._state, folder / f"node-{pod.node}", rank, found)
            return found
        raise RunNotFound(
            f"{folder.name} of job {folder.parent.name} has no environment for rank {rank}: {why}.",
            "It exists from the moment its ranks start; see the ranks with `aiarts show`.",
        )

    @contextlib.asynccontextmanager
    async def lease(self, pods: Lease) -> AsyncIterator[None]:
        """Mirror a job of somebody else while this is open; `pods` is asked again and again what it has."""
        self._leases.append(pods)
        await self._door.files(_tidy, self._looked)
        jobs = {pod.job for pod in pods()}
        looking = asyncio.create_task(self._look(jobs))
        try:
            yield
        finally:
            looking.cancel()
            self._leases.remove(pods)
            for job_id in jobs:
                self._reconcile(job_id)

    async def _look(self, jobs: set[str]) -> None:
        while True:
            for job_id in jobs:
                self._reconcile(job_id)
            await asyncio.sleep(LOOK)

    async def fetch_once(self, pods: Lease, seconds: float) -> bool:
        """Bring somebody else's log here as it is now; False when it took longer and is not all there."""
        runs = {(pod.job, pod.run) for pod in pods()}
        async with self.lease(pods):
            await asyncio.sleep(0)  # so that the first look has been
            return all([await self.complete(job, run, seconds) for job, run in runs])

    async def forget(self, job_id: str) -> tuple[Leftover, ...]:
        """Delete everything kept of a job; what this server's user may not delete stays, and is told."""
        check_id(job_id)
        for key, pods in _by_node(self._root, self._kept.get(job_id, ())).items():
            self._done[key] = frozenset(pod.key for pod in pods)
        await asyncio.gather(*(shelf.forget() for _, shelf in self._shelves_of(job_id)))
        try:
            left = await self._door.files(_delete, job_id, [self._root, self._looked], self._log_path)
        except DiskTrouble as error:
            left = [Leftover(path=str(self._root), is_all=False, why=str(error))]
        for one in left:
            log.warning("Job %s was deleted, but not all of it: %s", job_id, one.said())
        return tuple(left)

    async def aclose(self) -> None:
        """Stop mirroring; the next server goes on where this one ends."""
        self._is_closed = True
        await asyncio.gather(*(shelf.stop() for shelf in list(self._shelves.values())))
        self._threads.shutdown(wait=False)


# -- folders -----------------------------------------------------------------------------------------------------------


def _part(name: str) -> str:
    """A name from outside as one part of a path."""
    return quote(name, safe=" @+,=").replace(".", "%2E", 1) if name.startswith(".") else quote(name, safe=" @+,=")


@functools.lru_cache(maxsize=4096)  # ten thousand pods are told about at once when a server starts
def _run_folder(root: Path, namespace: str, job_id: str, run: int) -> Path:
    return root / _part(namespace) / check_id(job_id) / f"run-{run}"


def key_of(root: Path, pod: PodFacts) -> NodeKey:
    """Which archive a pod's log belongs to."""
    folder = _run_folder(root, pod.namespace, pod.job, pod.run) / f"node-{pod.node}"
    return NodeKey(root, folder, pod.job, pod.run, pod.node)


def _by_node(root: Path, pods: Iterable[PodFacts]) -> dict[NodeKey, list[PodFacts]]:
    found: dict[NodeKey, list[PodFacts]] = {}
    for pod in pods:
        found.setdefault(key_of(root, pod), []).append(pod)
    return found


def _delete(job_id: str, roots: list[Path], log_path: Path | None) -> list[Leftover]:
    """Out of sight in one step, then give the disk back; on a log mount an empty folder of the kubelet's may stay."""
    left = [] if log_path is None else [clear(log_path / job_id)]
    for folder in [folder for root in roots for folder in root.glob(f"*/{job_id}")]:
        grave = folder.with_name(f".gone-{job_id}-{token_hex(4)}")
        try:
            folder.rename(grave)
        except OSError:
            grave = folder  # as far as it goes where it is
        left.append(clear(grave))
    return [one for one in left if one is not None and not one.is_empty]


def _tidy(looked: Path) -> None:
    """Remove what nobody has looked at for a day."""
    oldest = time.time() - LOOKED_SECONDS
    for folder in looked.glob("*/*"):
        with contextlib.suppress(OSError):
            if max(os.stat(path).st_mtime for path in [folder, *folder.glob("run-*/node-*")]) < oldest:
                shutil.rmtree(folder, ignore_errors=True)


# -- files -------------------------------------------------------------------------------------------------------------


def _sources(run: Path, live: set[Path]) -> list[Source]:
    found = []
    for folder in sorted(run.glob("node-*")):
        said: Source = read(folder / "source.json", Source) or Source()
        book: Book = read(folder / "pods.json", Book) or Book()
        left = [pod for pod in book.pods if not pod.done] if folder not in live else []
        unfetched = tuple(Lack(WENT_AWAY, pod.name) for pod in left)
        found.append(Source(source=said.source, complete=said.complete, missing=(*said.missing, *unfetched)))
    return found


def _beside(run: Path, name: str, kind: type[T]) -> dict[int, T]:
    numbers = [path.name.removeprefix("node-") for path in run.glob("node-*")]
    nodes = sorted(int(number) for number in numbers if number.isascii() and number.isdecimal())
    found = {node: read(run / f"node-{node}" / name, kind) for node in nodes}
    return {node: content for node, content in found.items() if content is not None}


def _joined(sources: list[Source]) -> Source:
    names = dict.fromkeys(source.source for source in sources)
    return Source(
        source="+".join(names) or Source().source,
        complete=all(source.complete for source in sources) and bool(sources),
        missing=tuple(dict.fromkeys(lack for source in sources for lack in source.missing)),
    )


def _kept_table(run: Path) -> bytes | None:
    for path in run.glob("node-*/ranktable.json"):
        with contextlib.suppress(OSError):
            return path.read_bytes()
    return None


def _keep_table(state: Path, folder: Path, content: bytes) -> None:
    make_private(folder, state)
    record.write(str(folder / "ranktable.json"), content)


def _kept_environment(run: Path, rank: int) -> dict[str, str] | None:
    for path in run.glob(f"node-*/env.{int(rank)}.json"):
        found: dict[str, str] | None = read(path, dict[str, str])
        if found is not None:
            return found
    return None


def _keep_environment(state: Path, folder: Path, rank: int, variables: dict[str, str]) -> None:
    make_private(folder, state)
    record.write_json(str(folder / f"env.{rank}.json"), variables)
