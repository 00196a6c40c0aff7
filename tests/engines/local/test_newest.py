"""Nobody is told something older than what was told before, however slow the thread that read it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.engine import LocalEngine
from jupyter_aiarts.engines.local.picture import Picture
from jupyter_aiarts.model.phase import Move, Phase


class Delayed(Picture):
    """A picture whose reader is held up on its way back, as on a machine that is busy."""

    def __init__(self, engine: LocalEngine) -> None:
        super().__init__(engine.state)
        self.has_read, self.may_return = threading.Event(), threading.Event()

    def read(self, job_id: str) -> JobRecord:
        record = super().read(job_id)
        self.has_read.set()
        assert self.may_return.wait(60)
        return record


async def test_a_reader_who_is_late_gives_what_is_known_by_then(
    engine: LocalEngine,
    submit: Callable[..., Awaitable[JobRecord]],
    until: Callable[..., Awaitable[JobRecord]],
    printed: Callable[..., Awaitable[None]],
) -> None:
    job = await submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    await printed(job.id, "up")
    usual, slow = engine.picture, Delayed(engine)
    engine.picture = slow
    late = asyncio.ensure_future(engine.get(job.id))
    await asyncio.to_thread(slow.has_read.wait, 60)
    engine.picture = usual
    await engine.act(job.id, Move.STOP)
    assert (await until(job.id)).phase is Phase.STOPPED
    while engine.state.is_active(job.id):  # the mark goes a moment after the end is written
        await asyncio.sleep(0.01)
    engine.picture = slow
    slow.look()  # as the watch does
    slow.may_return.set()
    assert (await late).phase is Phase.STOPPED
