"""The fixture `cluster`: the running cluster, or one for this session. Name this module in `pytest_plugins`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests.cluster import start
from tests.cluster.build import Say
from tests.cluster.cluster import Cluster
from tests.cluster.paths import Unavailable


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A machine that has to build the programs first takes longer than any test may."""
    if start.is_prepared():
        return
    for item in items:
        if item.get_closest_marker("cluster"):
            item.add_marker(pytest.mark.timeout(3600))


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
