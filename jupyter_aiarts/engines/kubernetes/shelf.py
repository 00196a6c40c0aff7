"""One node's place in the archive while its pods are mirrored, one pod after the other."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from msgspec import Struct

from jupyter_aiarts.engines.kubernetes.door import DiskTrouble, Door, PodFacts
from jupyter_aiarts.engines.kubernetes.lacks import NOT_KEPT, Lack
from jupyter_aiarts.engines.kubernetes.mirror import Mirror
from jupyter_aiarts.engines.kubernetes.node_archive import NodeArchive

log = logging.getLogger(__name__)

TAKE_OVER = 2.0  # seconds between looks whether the server that mirrors this node still lives
REST = 60.0  # seconds after a failure that should not be
RETRY = 5.0  # seconds before a folder that could not be made is tried again
APPEARS = 10.0  # seconds in which what a launcher makes on a log mount is seen from here: NFS remembers what was not
LOOK = 0.2  # seconds between looks for it


class NodeKey(Struct, frozen=True):
    """Which node of which run, and where its archive is."""

    root: Path
    folder: Path
    job: str
    run: int
    node: int

    def is_of(self, job: str, run: int) -> bool:
        return (self.job, self.run) == (job, run)


class Shelf:
    """Mirrors the pods that a node has had, oldest first, and ends when there is none left to mirror."""

    def __init__(
        self, door: Door, state: Path, key: NodeKey, limit: int, done: frozenset[str], mounted: Path | None = None
    ) -> None:
        self.key = key
        self.done = done
        self._mounted = mounted  # where this server should see what the launcher itself writes
        self._trouble: Lack | None = None
        self._node: NodeArchive | None = None
        self._door, self._state, self._limit = door, state, limit
        self._pods: dict[str, PodFacts] = {}
        self._mirror: tuple[str, Mirror] | None = None
        self._is_elsewhere = False  # another server does this
        self._task: asyncio.Task[None] | None = None

    def start(self, late: asyncio.Semaphore, ended: Callable[[Shelf], None]) -> None:
        """Begin; `ended` is called once, in the loop. Pods that ended without us take turns by `late`."""
        self._task = asyncio.create_task(self._run(late))
        self._task.add_done_callback(lambda task: self._end(task, ended))

    def _end(self, task: asyncio.Task[None], ended: Callable[[Shelf], None]) -> None:
        """What nobody foresaw is written to the server's log; the pods it happened to are left alone for a while."""
        error = None if task.cancelled() else task.exception()
        if error is None:
            ended(self)
            return
        log.error("The log of job %s cannot be mirrored.", self.key.job, exc_info=error)
        asyncio.get_running_loop().call_later(REST, ended, self)

    def update(self, pods: list[PodFacts]) -> None:
        """The node's pods as they are now."""
        self._pods = {pod.key: pod for pod in sorted(pods, key=lambda pod: (pod.attempt, pod.created, pod.name))}
        if self._mirror is not None:
            key, mirror = self._mirror
            mirror.update(self._pods.get(key))

    def cancel(self) -> None:
        """Stop soon; `ended` will be called."""
        if self._task is not None:
            self._task.cancel()

    async def stop(self) -> None:
        """Stop now."""
        self.cancel()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def forget(self) -> None:
        """Stop now, and for good with the pods there are."""
        self.done |= set(self._pods)
        await self.stop()

    @property
    def is_settled(self) -> bool:
        """Whether everything printed up to a moment ago is held, here or by the server that has this node."""
        if self._is_elsewhere or self._next() is None:
            return True
        return self._mirror is not None and self._mirror[1].is_settled and len(self._unfinished()) == 1

    @property
    def trouble(self) -> Lack | None:
        """What keeps the log from being written at this moment."""
        return self._node.trouble if self._node is not None else self._trouble

    def _unfinished(self) -> list[PodFacts]:
        return [pod for pod in self._pods.values() if pod.key not in self.done and pod.has_log]

    def _next(self) -> PodFacts | None:
        return next(iter(self._unfinished()), None)

    async def _run(self, late: asyncio.Semaphore) -> None:
        turn = contextlib.nullcontext() if any(pod.is_up for pod in self._pods.values()) else late
        async with turn:
            if self._mounted is not None and await self._is_mounted(self._mounted):
                self.done |= set(self._pods)
            else:
                await self._copy()

    async def _is_mounted(self, folder: Path) -> bool:
        """Whether the node's log can be read on the log mount, so that nothing needs copying."""
        deadline = time.monotonic() + APPEARS
        while not await self._door.files(is_readable, folder):
            is_late = time.monotonic() > deadline or not any(pod.is_up for pod in self._pods.values())
            if is_late or await self._door.files(is_denied, folder):
                return False
            await asyncio.sleep(LOOK)
        return True

    async def _copy(self) -> None:
        async with self._opened() as node:
            await self._settle_gone(node)
            while (pod := self._next()) is not None:
                mirror = Mirror(self._door, node, pod)
                self._mirror = (pod.key, mirror)
                await mirror.run()
                self.done |= {pod.key}
                self._mirror = None

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[NodeArchive]:
        self._node = node = await self._open()
        try:
            yield node
        finally:
            self._node = None
            await self._door.files(node.close)

    async def _open(self) -> NodeArchive:
        """Wait for the folder to be ours."""
        while True:
            try:
                node = await self._door.files(self._try_to_open)
            except DiskTrouble as error:
                self._trouble = Lack(NOT_KEPT, why=str(error))
                await asyncio.sleep(RETRY)
                continue
            self._trouble = None
            self._is_elsewhere = node is None
            if node is not None:
                return node
            await asyncio.sleep(TAKE_OVER)

    def _try_to_open(self) -> NodeArchive | None:
        pods = list(self._pods.values())
        make_private(self.key.folder.parent, self._state)
        ranks = tuple(sorted({rank for pod in pods for rank in pod.ranks}))
        job_uid = pods[-1].job_uid if pods else ""
        return NodeArchive.open(self.key.folder, self.key.node, self._limit, ranks, job_uid)

    async def _settle_gone(self, node: NodeArchive) -> None:
        """Pods that went away while no server looked: what they printed last is not coming any more."""
        with contextlib.suppress(DiskTrouble):  # then it is told with the next one that ends
            await self._door.files(node.settle_gone, set(self._pods))


def is_readable(folder: Path) -> bool:
    """Whether this server may read what is in a folder; False also where there is none."""
    return os.access(folder, os.R_OK | os.X_OK)


def is_denied(folder: Path) -> bool:
    """Whether there is a folder that this server may not read: then it does not help to wait for it."""
    try:
        os.stat(folder)
    except PermissionError:
        return True
    except OSError:
        return False
    return not is_readable(folder)


def make_private(folder: Path, state: Path) -> None:
    """Make a folder below the state folder, readable by us alone at every step."""
    missing = [path for path in [folder, *folder.parents] if path.is_relative_to(state)]
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
