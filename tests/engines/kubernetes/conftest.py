"""A stand-in for the API server, and a server whose archive mirrors the pods behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from .archiving import Server, StandIn, serving, stand_in


@pytest_asyncio.fixture
async def apiserver() -> AsyncIterator[StandIn]:
    async with stand_in() as made:
        yield made


@pytest_asyncio.fixture
async def server(apiserver: StandIn, tmp_path: Path) -> AsyncIterator[Server]:
    async with serving(apiserver, tmp_path) as made:
        yield made
