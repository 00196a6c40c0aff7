"""An admin's settings reach the extension wherever jupyter_server takes settings from."""

from __future__ import annotations

import pytest

from jupyter_aiarts.server.app import AiartsApp


@pytest.fixture
def jp_argv() -> list[str]:
    """As `jupyter lab …` would be called."""
    return ["--AiartsApp.retention_days=7", "--LocalEngine.cpus=3"]


def test_a_setting_on_the_servers_command_line_is_heard(app: AiartsApp) -> None:
    assert (app.retention_days, app.local.cpus) == (7, 3)
