"""Waiting for something, but not for ever."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_aiarts.waiting import within


async def answer() -> int:
    await asyncio.sleep(0)
    return 7


async def failure() -> int:
    raise ValueError("no")


async def test_what_comes_in_time_is_the_result_or_its_error() -> None:
    assert await within(60, answer()) == 7
    with pytest.raises(ValueError, match="no"):
        await within(60, failure())


async def test_what_does_not_come_is_waited_for_no_longer_and_ended() -> None:
    ended = asyncio.Event()

    async def never() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(asyncio.TimeoutError):
        await within(0.01, never())
    assert ended.is_set()


@pytest.mark.parametrize("turns", range(6))
async def test_who_is_ended_just_when_news_come_ends(turns: int) -> None:
    """In whichever turn of the loop: `wait_for` of Python 3.11 forgets it in some of them."""
    news = asyncio.Event()
    waiting = asyncio.create_task(within(60, news.wait()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    news.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    if not waiting.done():
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert waiting.done()
