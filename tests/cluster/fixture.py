"""The fixture `cluster`: the running cluster, or one for this session. Name this module in `pytest_plugins`."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests.cluster import start
from tests.cluster.build import Say
from tests.cluster.cluster import Cluster
from tests.cluster.paths import Unavailable

LEFT = ("ignore:unclosed transport:ResourceWarning", "ignore:unclosed <socket.socket:ResourceWarning")
"""asyncio and aiohttp leave a connection to the collector that its other side cut off while it was being made."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A machine that has to build the programs first takes longer than any test may; and servers are killed here."""
    is_prepared = start.is_prepared()
    for item in items:
        if item.get_closest_marker("cluster"):
            for warning in LEFT:
                item.add_marker(pytest.mark.filterwarnings(warning))
            if not is_prepared:
                item.add_marker(pytest.mark.timeout(3600))


@pytest.fixture(autouse=True)
def nothing_left_to_others(request: pytest.FixtureRequest) -> Iterator[None]:
    """What is excused is collected here, for in the next test it would be a fault of that one; so would deaf parts."""
    yield
    if request.node.get_closest_marker("cluster"):
        gc.collect()
        if "cluster" in request.fixturenames:
            request.getfixturevalue("cluster").settle()


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A real Kubernetes; stopped at the end of the session only if it was started for it."""
    try:
        found, started = Cluster.start(_teller(request))
    except Unavailable as error:
        refuse(f"NO CLUSTER, SO ITS TESTS DID NOT RUN: {error}")
    yield found
    if started:
        found.stop()


def refuse(reason: str) -> NoReturn:
    """Where people run the tests, a loud line; where CI does, a failure: nobody reads its skips."""
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _teller(request: pytest.FixtureRequest) -> Say:
    """Building takes minutes: say so on the terminal itself, past pytest's capture."""
    terminal = request.config.pluginmanager.get_plugin("terminalreporter")
    return (lambda text: terminal.write_line(f"cluster: {text}")) if terminal else (lambda text: None)
