"""What only an engine that places jobs itself can say about its queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from jupyter_aiarts.engines.base import Engine, JobRecord
from jupyter_aiarts.model.phase import Move, Phase


async def test_a_job_behind_another_says_how_many_are_ahead_and_moves_up_when_that_one_stops(
    engine: Engine, submit: Callable[..., Awaitable[JobRecord]], printed: Callable[..., Awaitable[None]]
) -> None:
    forever = "import time\nprint('up', flush=True)\ntime.sleep(600)"
    first = await submit(forever, device="huawei_npu_arm64", devices=8)
    await printed(first.id, "up")
    second = await submit(device="huawei_npu_arm64", devices=1)
    third = await submit(device="huawei_npu_arm64", devices=1)
    assert (second.phase, second.cause.code) == (Phase.QUEUED, "no-node-fits")
    assert (third.phase, third.cause.code, third.cause.values["ahead"]) == (Phase.QUEUED, "queue-position", 1)
    stopped = await engine.act(second.id, Move.STOP)
    assert (stopped.phase, (await engine.get(third.id)).cause.code) == (Phase.STOPPED, "no-node-fits")
