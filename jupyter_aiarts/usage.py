"""What this machine is doing, for as long as somebody wants to know: one look serves any number of them.

Nobody looks, nothing runs. Looking, putting together and encoding are done by a lookout in threads
(`devices/lookout.py`), so the event loop only ever picks up what is ready to be told.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from jupyter_aiarts.devices.history import History, values_of
from jupyter_aiarts.devices.lookout import Lookout
from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.usage import Lines, Usage, UsagePage

WATCHED = 60.0  # seconds after somebody looked in which the next looks are taken by themselves


class _Look(Struct, frozen=True):
    """One look at the machine with what was made of it off the event loop."""

    usage: Usage
    at: float
    values: dict[str, float]
    said: dict[str, bytes]  # as it travels, by language


class UsageWatch:
    """The looks at this machine. Made by the service when first asked for; used on its event loop."""

    def __init__(self, paths: Iterable[str], changed: Callable[[], None] = lambda: None) -> None:
        self.history = History()
        self._changed = [changed]
        self._loop = asyncio.get_running_loop()
        self._lookout = Lookout(paths, self._saw, self._ended)
        self._first: asyncio.Future[_Look] | None = None  # done with the first look; None while nobody looks
        self._last: _Look | None = None
        self._shown: _Look | None = None  # the last one that somebody wanted to see
        self._read: set[str] = set()  # the languages in which it was read

    async def latest(self) -> Usage:
        """The newest look; for a while the next ones follow by themselves."""
        self._lookout.want(WATCHED)
        look = await self._newest()
        self._show(look)
        return look.usage

    async def glance(self) -> Usage:
        """The newest look while others have them taken, or else a single one that waits for slow tools.

        Nobody else hears of a single one: it is in the lines, for who comes later, and in no message.
        """
        return (await self._newest()).usage

    def seen_in_passing(self) -> Usage | None:
        """What was seen last, whoever wanted it, and have a single look taken for whoever passes next: a scraper comes
        again and again, and must not be kept waiting. May be called in any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._look_once)
        seen = self._last
        return None if seen is None else seen.usage

    @property
    def is_looking(self) -> bool:
        """Whether anybody has looks taken just now."""
        return self._first is not None

    @property
    def may_have_cards(self) -> bool:
        """Whether this machine has cards, or a probe that should know has not said so yet."""
        return self._lookout.may_have_cards

    def listen(self, changed: Callable[[], None]) -> None:
        """Call this too after every look that is shown."""
        self._changed.append(changed)

    def said(self, lang: str) -> bytes | None:
        """What was seen last as it travels, encoded once for all who read it."""
        if self._shown is None:
            return None
        self._read.add(lang)
        if lang not in self._shown.said:
            self._shown.said[lang] = _encoded(self._shown.usage, lang)
        return self._shown.said[lang]

    async def aclose(self) -> None:
        """Look no more."""
        await asyncio.to_thread(self._lookout.close)

    async def _newest(self) -> _Look:
        first = self._first or self._begin()
        if first.done() and self._last is not None:
            return self._last
        return await asyncio.shield(first)  # one who does not wait any more leaves it to the others

    def _look_once(self) -> None:
        if self._first is None:
            self._begin().add_done_callback(lambda first: first.cancelled() or first.exception())  # nobody waits for it

    def _begin(self) -> asyncio.Future[_Look]:
        self._lookout.begin()  # raises where the machine has no thread left: then nobody waits for a look
        self._first = self._loop.create_future()
        return self._first

    def _saw(self, usage: Usage) -> None:
        """Called in the lookout's thread; encodes for those who read the look before. A loop that is closed ends it."""
        said = {lang: _encoded(usage, lang) for lang in tuple(self._read)}
        self._loop.call_soon_threadsafe(self._take, _Look(usage, time.time(), values_of(usage), said))

    def _take(self, look: _Look) -> None:
        self._last = look
        self.history.add(look.at, look.values)
        if self._first is not None and not self._first.done():
            self._first.set_result(look)
        if self._lookout.is_wanted:
            self._show(look)

    def _show(self, look: _Look) -> None:
        """This look is for everybody."""
        if look is self._shown:
            return
        self._shown, self._read = look, set()
        for changed in self._changed:
            changed()

    def _ended(self, error: Exception | None) -> None:
        """Called in the lookout's thread, which ends."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is there any more
            self._loop.call_soon_threadsafe(self._over, error)

    def _over(self, error: Exception | None) -> None:
        if error is None and self._lookout.is_wanted:  # somebody came just when it ended
            try:
                self._lookout.begin()
                return
            except RuntimeError as refused:
                error = refused
        first, self._first = self._first, None
        if first is not None and not first.done():  # nobody waits for a look that will not come
            first.set_exception(error or RuntimeError("Nothing was seen of this machine."))
        elif error is not None:
            self._loop.call_exception_handler({"message": "Looking at this machine has ended", "exception": error})


async def look_at(watch: UsageWatch, seconds: float, lang: str) -> UsagePage:
    """The newest look, what does not answer in words, and the last `seconds` of it."""
    usage = await watch.latest()
    past = await asyncio.to_thread(watch.history.copy(seconds).lines) if seconds else None
    return page_of(usage, lang, past)


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
    """Where a person's files, temporary ones included, are on this machine; disks are told by these.

    Nothing is looked at or tried out: this is asked on the event loop, and what is no folder is found by the looks.
    """
    temporary = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    return [
        os.path.expanduser("~"),
        *_working_folder(),
        *(folder for folder in temporary if os.path.isabs(folder)),
        "/tmp",
        "/dev/shm",
        "/",
    ]


def _working_folder() -> list[str]:
    try:
        return [os.getcwd()]
    except OSError:  # it was removed
        return []


def _encoded(usage: Usage, lang: str) -> bytes:
    return msgspec.json.encode(page_of(usage, lang))
