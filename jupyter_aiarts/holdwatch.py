"""Pointing out kernels whose cards do nothing: a look a minute while a kernel lives and the machine has cards.

It takes every look that others cause (`usage.py`) and never has a prober of its own. No kernel or no card: no timer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Protocol

from jupyter_aiarts.holding import Kernel, Rest, held, resting, since_text, telling
from jupyter_aiarts.launcher import tree
from jupyter_aiarts.model.usage import IdleKernel
from jupyter_aiarts.waiting import within

if TYPE_CHECKING:
    from jupyter_aiarts.usage import UsageWatch

log = logging.getLogger(__name__)
PERIOD = 60.0  # seconds between looks that nobody else wants


class OwnKernels(Protocol):
    """The kernels of this server. `listen` returns what ends it."""

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]: ...

    async def living(self) -> Sequence[Kernel]: ...

    def attend(self, ids: Iterable[str]) -> None:
        """Count the cells that these kernels run, and no others'."""
        ...

    async def notebooks(self) -> Mapping[str, tuple[str, str]]:
        """Name and path of what each kernel works for, by the kernel's id."""
        ...


class HoldWatch:
    """One per server, from when it is made. `told` is called with the kernels whose cards do nothing, whenever those
    are others."""

    def __init__(
        self, own: OwnKernels, machine: Callable[[], UsageWatch], told: Callable[[Sequence[IdleKernel]], None]
    ) -> None:
        self._own, self._machine, self._told = own, machine, told
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._listens = False
        self._rests: dict[str, Rest] = {}
        self._last: dict[str, IdleKernel] = {}
        self._names: Mapping[str, tuple[str, str]] = {}
        self._named = (frozenset[str](), 0.0)  # of which kernels, and when
        self._deafen = own.listen(self._wake)
        self._wake()  # there may be kernels already

    @property
    def is_watching(self) -> bool:
        """Whether there is a timer, which is to say kernels and cards."""
        return self._task is not None and not self._task.done()

    async def aclose(self) -> None:
        """Look no more."""
        self._deafen()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def _wake(self) -> None:
        self._news.set()
        if not self.is_watching:
            self._task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        try:
            self._news.clear()
            while await self._looked():
                with contextlib.suppress(asyncio.TimeoutError):
                    await within(PERIOD, self._news.wait())
                self._news.clear()
        finally:
            self._rests = {}
            self._own.attend(())
            self._tell({})

    async def _looked(self) -> bool:
        """A look that fails is said in the log, and the next one is taken all the same."""
        try:
            return await self._look()
        except Exception:  # whatever a driver or somebody else's manager of kernels and sessions raises
            log.exception("Whether notebooks hold cards that do nothing could not be seen this time.")
            return True

    async def _look(self) -> bool:
        """Whether there may be something to see at the next look too."""
        kernels = await self._own.living()  # asked after each news, so that none is lost
        if not kernels:
            return False
        alive = {kernel.id for kernel in kernels}
        # Those that ended are told of no more, before anybody waits for a slow tool.
        self._tell({key: one for key, one in self._last.items() if key in alive})
        machine = self._listened()
        look = await machine.glance()
        if not machine.may_have_cards:
            return False
        used = [card for card in look.devices if card.programs]
        holdings = await asyncio.to_thread(held, used, kernels, _parent_of) if used else {}
        self._rests = resting(self._rests, kernels, holdings, telling(look.devices), time.monotonic())
        self._own.attend(self._rests)
        names = await self._notebooks()
        self._tell({key: self._idle(rest, *names.get(key, (key[:8], ""))) for key, rest in self._rests.items()})
        return True

    def _listened(self) -> UsageWatch:
        machine = self._machine()
        if not self._listens:
            self._listens = True
            machine.listen(self._news.set)
        return machine

    async def _notebooks(self) -> Mapping[str, tuple[str, str]]:
        """Asked for anew when other kernels rest and else once a minute: a page has a look taken every second."""
        ids, now = frozenset(self._rests), time.monotonic()
        if ids != self._named[0] or now - self._named[1] >= PERIOD:
            self._names = await self._own.notebooks() if ids else {}
            self._named = (ids, now)
        return self._names

    def _idle(self, rest: Rest, name: str, path: str) -> IdleKernel:
        told = self._last.get(rest.kernel.id)
        seconds = time.monotonic() - rest.since
        return IdleKernel(
            id=rest.kernel.id,
            name=name,
            path=path,
            cards=len(rest.cards),
            memory_mb=None if rest.memory_mb is None else round(rest.memory_mb),
            idle_since=since_text(seconds, datetime.now(timezone.utc), told.idle_since if told else None),
        )

    def _tell(self, idle: dict[str, IdleKernel]) -> None:
        if idle != self._last:
            self._last = idle
            self._told(tuple(idle.values()))


def _parent_of(pid: int) -> int | None:
    """The process above; None where there is none, or it is nothing that this server sees."""
    found = tree.look(pid)
    return (found.parent or None) if found is not None else None
