"""What this machine is doing, for as long as somebody wants to know: one look serves any number of them.

Nobody looks, nothing runs. Probes stand in threads of their own (`devices/sentry.py`), so the event loop only ever
picks up what they saw.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.devices.history import History, values_of
from jupyter_aiarts.devices.sentry import Seen, Sentry
from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.times import now
from jupyter_aiarts.model.usage import Card, Host, Lines, Silent, Usage, UsagePage

if TYPE_CHECKING:
    from jupyter_aiarts.devices.sentry import Probe

PERIOD = 1.0
WATCHED = 60.0  # seconds after somebody looked in which the next looks are taken by themselves
PATIENCE = 1.0  # seconds that a first look waits for probes that are slow
SILENT = 12.0  # seconds after which a probe that has not answered is told of
FORGOTTEN = 30.0  # seconds after which what it saw last is not shown any more


class UsageWatch:
    """The looks at this machine. Made by the service when first asked for; used on its event loop."""

    def __init__(self, paths: Iterable[str], changed: Callable[[], None] = lambda: None) -> None:
        self.history = History()
        self._changed = changed
        self._until = 0.0
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._fresh = asyncio.Event()  # a probe has answered
        self._looked = asyncio.Event()  # there is a first look
        host, cards = _probes(paths)
        self._host: Sentry[Host] = Sentry(host, self._told)
        self._cards: tuple[Sentry[tuple[Card, ...]], ...] = tuple(Sentry(one, self._told) for one in cards)
        self._last: Usage | None = None

    async def latest(self) -> Usage:
        """The newest look; for a while the next ones follow by themselves."""
        self._until = time.monotonic() + WATCHED
        if self._task is None or self._task.done():
            self._last = None
            self._looked.clear()
            self._task = asyncio.create_task(self._watch())
        while self._last is None:
            await self._looked.wait()
        return self._last

    @property
    def _sentries(self) -> tuple[Sentry[Any], ...]:
        return (self._host, *self._cards)

    @property
    def last(self) -> Usage | None:
        """What was seen last, where somebody looks."""
        return self._last

    async def aclose(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for sentry in self._sentries:
            sentry.close()

    async def _watch(self) -> None:
        while time.monotonic() < self._until:
            began = time.monotonic()
            await self._look(began + PATIENCE)
            await asyncio.sleep(max(PERIOD - (time.monotonic() - began), 0.05))

    async def _look(self, until: float) -> None:
        """Ask every probe and take what is there when all have answered, or when the time is over."""
        asked = time.monotonic()
        for sentry in self._sentries:
            sentry.ask()
        while any(_is_older(sentry.last, asked) for sentry in self._sentries) and time.monotonic() < until:
            self._fresh.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._fresh.wait(), max(until - time.monotonic(), 0.01))
        usage = self._seen()
        self.history.add(time.time(), values_of(usage))
        self._last = usage
        self._looked.set()
        self._changed()

    def _seen(self) -> Usage:
        host = self._host.last
        devices = [card for sentry in self._cards for card in _shown(sentry)]
        silent = [one for sentry in self._sentries if (one := _silence(sentry)) is not None]
        return Usage(
            t=now(),
            host=host.value if host is not None and host.value is not None else Host(),
            devices=tuple(devices),
            silent=tuple(silent),
        )

    def _told(self) -> None:
        """Called in a probe's thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is there any more
            self._loop.call_soon_threadsafe(self._fresh.set)


async def look_at(watch: UsageWatch, seconds: float, lang: str) -> UsagePage:
    """The newest look, what does not answer in words, and the last `seconds` of it."""
    usage = await watch.latest()
    return page_of(usage, lang, watch.history.lines(seconds) if seconds else None)


def page_of(usage: Usage, lang: str, history: Lines | None = None) -> UsagePage:
    """One look as it travels."""
    problems = tuple(
        explain(
            Cause(
                code=one.code,
                values={"probe": one.probe, "message": one.message},
                evidence=(one.message,) if one.message else (),
            ),
            lang,
        )
        for one in usage.silent
    )
    return UsagePage(t=usage.t, host=usage.host, devices=usage.devices, problems=problems, history=history)


def usual_paths() -> list[str]:
    """Where a person's files, temporary ones included, are on this machine; disks are told by these."""
    return [os.path.expanduser("~"), os.getcwd(), tempfile.gettempdir(), "/dev/shm", "/"]


def _probes(paths: Iterable[str]) -> tuple[Probe[Host], tuple[Probe[tuple[Card, ...]], ...]]:
    from jupyter_aiarts.devices.ascend import AscendProbe
    from jupyter_aiarts.devices.host import HostProbe
    from jupyter_aiarts.devices.nvidia import NvidiaProbe

    return HostProbe(paths), (NvidiaProbe(), AscendProbe())


def _is_older(seen: Seen[Any] | None, asked: float) -> bool:
    return seen is None or seen.at < asked


def _shown(sentry: Sentry[tuple[Card, ...]]) -> tuple[Card, ...]:
    """The cards of a probe's last look, as long as that is not too old to be shown."""
    seen = sentry.last
    if seen is None or seen.value is None or (sentry.busy_for > FORGOTTEN and time.monotonic() - seen.at > FORGOTTEN):
        return ()
    return seen.value


def _silence(sentry: Sentry[Any]) -> Silent | None:
    """What is wrong with a probe, if anything."""
    if sentry.busy_for > SILENT:
        return Silent(probe=sentry.name, code="probe-silent", message=f"{sentry.busy_for:.0f} s")
    error = sentry.last.error if sentry.last is not None else None
    if error is None:
        return None
    return Silent(probe=sentry.name, code=getattr(error, "code", "probe-failed"), message=str(error)[:500])
