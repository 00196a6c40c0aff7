"""Copies the log of one pod into the archive while the pod lives, and what the kubelet has of it afterwards.

From the launcher's port, through the API server, where that is allowed: then nothing is missing, however long the
log. Else from the kubelet, and the archive says what that one does not have. A connection that breaks is made again
and goes on where the copy ends; a disk that refuses is told about and tried again.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.engines.kubernetes.book import KUBELET, PodEntry
from jupyter_aiarts.engines.kubernetes.door import DiskTrouble, Door, PodFacts, Unanswered
from jupyter_aiarts.engines.kubernetes.frames import Chunk, FrameReader, Garbled, Item, Mark, Told
from jupyter_aiarts.engines.kubernetes.kubelet_log import CUT, KubeletCopy, LineReader
from jupyter_aiarts.engines.kubernetes.lacks import NO_REST, NOT_KEPT, ON_MOUNT, REST, WENT_AWAY, WITHOUT_PORT, Lack
from jupyter_aiarts.engines.kubernetes.node_archive import NodeArchive
from jupyter_aiarts.waiting import within

if TYPE_CHECKING:
    from aiohttp import ClientResponse

SILENCE = 45.0  # seconds; a launcher speaks every 15
QUIET = 1.0  # seconds without a line after which the kubelet's log counts as read to its present end
IDLE = 600.0  # seconds after which a silent connection to the kubelet is made anew
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 15.0
UNREACHABLE = 30.0  # seconds of trying a port that never answered before the kubelet's log must do
TRIES = 8  # of asking for the log of a container that has ended
STRANGE = 3  # of asking who gives answers that will hardly change


class Mirror:
    """The copy of one pod's log; whoever runs it passes on by `update` what becomes of the pod."""

    def __init__(self, door: Door, node: NodeArchive, pod: PodFacts) -> None:
        self._door, self._node, self._pod = door, node, pod
        self._is_gone = False
        self._entry = PodEntry(pod.key, pod.name)
        self._changed = asyncio.Event()
        self._pause = FIRST_PAUSE
        self._begun = time.monotonic()
        self._failures = 0  # in a row
        self._has_answered = False  # the launcher
        self._token = ""
        self._copy: KubeletCopy | None = None
        self._is_followed = False  # the kubelet's log was, to the container's end
        self.is_settled = False  # everything there was at some moment is held, and nothing has come since

    def update(self, pod: PodFacts | None) -> None:
        """What the cluster says about the pod now; None when it is gone."""
        if pod != (None if self._is_gone else self._pod):
            self._changed.set()
        self._is_gone = pod is None
        self._pod = pod or self._pod

    async def run(self) -> None:
        """Copy until nothing more can come; what the copy lacks is written down beside it."""
        while not self._entry.done:
            try:
                await self._try()
            except DiskTrouble as error:
                if error.is_vanished:
                    break  # the job was deleted, and its archive with it
                await self._tell_trouble(error)
        self.is_settled = True

    async def _try(self) -> None:
        try:
            self._entry = await self._door.files(self._node.pod, self._pod.key, self._pod.name)
            await self._next_step()
        except Unanswered as error:
            await self._cope(error)
        except Garbled as error:
            await self._cope(Unanswered(0, f"what it sends cannot be understood ({error})", is_garbled=True))

    async def _next_step(self) -> None:
        if self._entry.done:
            return
        if self._is_gone:
            await self._end_without_pod()
        elif self._entry.source == KUBELET or (self._pod.is_over and not self._pod.lasting):
            await self._from_kubelet()
        elif self._pod.is_over:
            await self._finish(missing=ON_MOUNT)
        else:
            await self._from_launcher()

    # -- the launcher's port ---------------------------------------------------------------------------------------

    async def _from_launcher(self) -> None:
        self._token = self._token or await self._door.token(self._pod)
        query = await self._door.files(self._node.position)
        async with self._door.launcher(self._pod, self._token, "v1/log", **query) as response:
            self._has_answered = True
            reader = FrameReader()
            while await self._take_frames(reader, response):
                pass
        await self._finish(complete=True)

    async def _take_frames(self, reader: FrameReader, response: ClientResponse) -> bool:
        """Keep what came; False when the launcher has said that this was all."""
        received = await within(SILENCE, response.content.readany())
        if not received:
            raise Unanswered(0, "the connection ended")
        items = await self._door.files(self._keep_frames, reader, received)
        self._note_progress()
        if self._node.said is not None and any(isinstance(item, Told) and item.kind == "status" for item in items):
            self._door.heard(self._pod, self._node.said)
        last = next((item for item in reversed(items) if isinstance(item, (Chunk, Mark))), None)
        if last is not None:
            self.is_settled = last is Mark.CAUGHT_UP
        return Mark.END not in items

    def _keep_frames(self, reader: FrameReader, received: bytes) -> list[Item]:
        """In a thread, so that a flood of small frames does not keep the loop from others."""
        items = reader.feed(received)
        self._node.take(items)
        return items

    def _note_progress(self) -> None:
        self._pause, self._failures = FIRST_PAUSE, 0

    # -- the kubelet -----------------------------------------------------------------------------------------------

    async def _from_kubelet(self) -> None:
        """Follow while the container runs; once it has ended, read what there is and be done."""
        follow, self._is_followed = not self._pod.is_over, False
        if self._copy is None:
            self._copy = await self._door.files(KubeletCopy, self._node, self._entry)
        copy = self._copy
        query = {"follow": "true"} if follow else {}
        since = copy.reconnect()
        if since:
            query["sinceTime"] = datetime.fromtimestamp(since, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        reader = LineReader()
        async with self._door.kubelet(self._pod, **query) as response:
            while received := await self._next_lines(copy, response):
                if await self._door.files(lambda: copy.take(reader.feed(received))):
                    self._note_progress()
        if follow:
            self._is_followed = not reader.notes
            await self._wait()  # for the cluster to say what became of the container
        else:
            await self._end_of_kubelet(copy, reader)

    async def _next_lines(self, copy: KubeletCopy, response: ClientResponse) -> bytes:
        """What comes next; empty at the end, or when nothing has come for long."""
        with contextlib.suppress(asyncio.TimeoutError):
            received = await within(QUIET, response.content.readany())
            self.is_settled = False
            return received
        await self._door.files(copy.settle)
        self.is_settled = True
        with contextlib.suppress(asyncio.TimeoutError):
            return await within(IDLE, response.content.readany())
        return b""

    async def _end_of_kubelet(self, copy: KubeletCopy, reader: LineReader) -> None:
        await self._door.files(copy.take, reader.end())
        is_cut = await self._door.files(copy.close)
        said = "; ".join(note.rstrip(".") for note in reader.notes)
        if said:
            await self._finish(missing=NO_REST, why=f"the kubelet says: {said}")
        elif is_cut:
            await self._finish(missing=NO_REST, why=CUT)
        elif self._entry.source == KUBELET:
            await self._finish()
        else:
            await self._finish(complete=not copy.has_added, missing=REST if copy.has_added else "")

    # -- trouble ---------------------------------------------------------------------------------------------------

    async def _cope(self, error: Unanswered) -> None:
        """Nobody answered, or not as hoped: go another way, or wait and try again."""
        self.is_settled = False
        self._failures += 1
        if error.http == 404 and f'"{self._pod.name}" not found' in str(error):
            self._is_gone = True
        elif self._entry.source == KUBELET or self._pod.is_over:
            await self._cope_with_kubelet(error)
        elif self._is_out_of_reach(error):
            await self._settle(source=KUBELET, missing=WITHOUT_PORT, why=str(error))
        else:
            await self._wait()

    def _is_out_of_reach(self, error: Unanswered) -> bool:
        """Whether trying the launcher's port again would not help."""
        if error.http == 403 and self._token and "pods/proxy" not in str(error) and self._failures < 2:
            self._token = ""  # the launcher's own no: a Secret that was made again has another token
            return False
        is_strange = error.is_garbled or error.http == 404
        never = error.http >= 500 and not self._has_answered and time.monotonic() - self._begun > UNREACHABLE
        return error.http == 403 or never or (is_strange and self._failures >= STRANGE)

    async def _cope_with_kubelet(self, error: Unanswered) -> None:
        never_ran = error.http == 400 and not self._has_answered
        if not self._pod.is_over or self._failures < (STRANGE if never_ran else TRIES):
            await self._wait()
        elif never_ran:
            await self._finish(complete=True)  # the container has no log because it never started
        else:
            await self._lose(NO_REST, str(error))

    async def _wait(self) -> None:
        """Before another try: longer each time, less when the pod is known to have changed."""
        self._changed.clear()
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
        with contextlib.suppress(asyncio.TimeoutError):
            await within(pause * random.uniform(0.8, 1.2), self._changed.wait())

    async def _tell_trouble(self, error: DiskTrouble) -> None:
        self.is_settled = False
        self._copy = None  # what it had in hand is lost; a new one finds its place by what is on disk
        with contextlib.suppress(DiskTrouble):
            await self._door.files(self._node.tell, Lack(NOT_KEPT, why=str(error)))
        await self._wait()

    # -- the end ---------------------------------------------------------------------------------------------------

    async def _end_without_pod(self) -> None:
        if self._is_followed:
            await self._finish()
        elif self._pod.lasting:
            await self._finish(missing=ON_MOUNT)
        else:
            await self._lose(WENT_AWAY)

    async def _lose(self, missing: str, why: str = "") -> None:
        """The end, with a mark in the log itself that some of it may be missing."""
        await self._door.files(self._node.mark_loss, Lack(missing, self._pod.name, why).said())
        await self._finish(missing=missing, why=why)

    async def _finish(self, *, complete: bool = False, missing: str = "", why: str = "") -> None:
        await self._settle(done=True, complete=complete, missing=missing, why=why)

    async def _settle(self, *, missing: str = "", why: str = "", **changes: Any) -> None:
        lacks = [Lack(missing, self._pod.name, why)] if missing else []
        changes["missing"] = [*self._entry.missing, *lacks]
        await self._door.files(lambda: self._node.settle(self._entry, **changes))
