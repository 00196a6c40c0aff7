"""Waiting that ends: with the event, with the time, or when it is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_aiarts.engines.patience import came


async def steps(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_it_tells_whether_the_event_came() -> None:
    event = asyncio.Event()
    assert not await came(event, 0.001)
    event.set()
    assert await came(event, None)


@pytest.mark.parametrize("between", range(8))
async def test_a_cancellation_is_heard_however_close_to_the_event_it_comes(between: int) -> None:
    event = asyncio.Event()
    task = asyncio.ensure_future(came(event, 60))
    await steps(3)
    event.set()
    await steps(between)
    if task.cancel():
        await asyncio.wait({task})
        assert task.cancelled()
