"""What every measurement starts from."""

from __future__ import annotations

import compileall
import os

import pytest

from .measure import ROOT


@pytest.fixture(scope="session", autouse=True)
def as_installed() -> None:
    """The package compiled and its children free to use that, as pip leaves it; else a fresh Python compiles all."""
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "AIARTS_STATE_DIR"):
        os.environ.pop(name, None)
    compileall.compile_dir(ROOT / "jupyter_aiarts", quiet=1)
