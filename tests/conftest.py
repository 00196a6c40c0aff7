"""Plugins for all tests; what they switch on by themselves is switched off outside `tests/server`."""

from __future__ import annotations

import pytest

pytest_plugins = ("pytest_jupyter.jupyter_server", "tests.cluster.fixture")


@pytest.fixture
def jp_asyncio_loop() -> None:
    """Nothing: pytest-asyncio gives each test its loop, and a second one would be closed under its feet."""


@pytest.fixture
def jp_server_cleanup() -> None:
    """Nothing: most tests have no Jupyter server to clean up."""
