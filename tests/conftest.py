"""Plugins for all tests; what they switch on by themselves is switched off outside `tests/server`."""

from __future__ import annotations

import os

import hypothesis
import pytest

pytest_plugins = ("pytest_jupyter.jupyter_server", "tests.cluster.fixture")

if not os.environ.get("CI"):  # there hypothesis has a profile of its own, without a deadline as well
    # No test depends on a time: an example that imports something takes longer than the next one.
    hypothesis.settings.register_profile("desk", deadline=None)
    hypothesis.settings.load_profile("desk")


@pytest.fixture
def jp_asyncio_loop() -> None:
    """Nothing: pytest-asyncio gives each test its loop, and a second one would be closed under its feet."""


@pytest.fixture
def jp_server_cleanup() -> None:
    """Nothing: most tests have no Jupyter server to clean up."""
