"""Noticing environments and kernels that come and go: while somebody looks, and all the time where new environments are
to become kernels by themselves. Nobody looks and nothing is to be done: nothing runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_aiarts.errors import Unavailable

if TYPE_CHECKING:
    from jupyter_aiarts.kernelbook import Deed, KernelBook

PERIOD = 2.0  # seconds between looks at the few files and folders that name environments
WATCHED = 60.0  # seconds after somebody looked in which changes are told


class KernelWatch:
    """One per server. `changed` is called when there is something new to see, `did` for every deed of ours."""

    def __init__(
        self,
        book: KernelBook,
        changed: Callable[[], None],
        did: Callable[[Deed], None],
        memory: Path | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        self._book = book
        self._changed = changed
        self._did = did
        self._memory = memory  # where auto_register remembers; None where it is off
        self._log = log or logging.getLogger(__name__)
        self._until = 0.0
        self._begun = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._complaint = ""  # said once, not at every look
        self._failed: set[tuple[str, str]] = set()

    async def look(self) -> None:
        """Somebody looks: from here on until a while later changes are told."""
        self._until = time.monotonic() + WATCHED
        self.start()
        await self._begun.wait()

    def start(self) -> None:
        """Begin, if it has not; called by the server at once where new environments are to be registered."""
        if self._task is None or self._task.done():
            self._begun.clear()
            self._task = asyncio.create_task(self._watch())

    async def aclose(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _watch(self) -> None:
        try:
            await self._tell(first=True)
        finally:
            self._begun.set()
        while self._memory is not None or time.monotonic() < self._until:
            await asyncio.sleep(PERIOD)
            await self._tell()

    async def _tell(self, first: bool = False) -> None:
        try:
            news = await self._book.has_news()
            if (news or first) and self._memory is not None:
                deeds = await self._book.tend(self._memory)
                self._report(deeds)
                news = news or any(not deed.problem for deed in deeds)
        except (OSError, ValueError, Unavailable) as error:  # a disk that is away for a moment must not end the watch
            if str(error) != self._complaint:
                self._complaint = str(error)
                self._log.warning("Environments cannot be looked for: %s", error)
            return
        self._complaint = ""
        if news:
            self._changed()

    def _report(self, deeds: Iterable[Deed]) -> None:
        """Each deed once, and what could not be done not at every look."""
        for deed in deeds:
            if deed.problem and (deed.path, deed.problem) in self._failed:
                continue
            if deed.problem:
                self._failed.add((deed.path, deed.problem))
            self._did(deed)
