"""Environments as conda and venv leave them on a disk; the Python in them is the one that runs the tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MakeEnvironment = Callable[..., Path]


def make_conda(path: Path, packages: tuple[str, ...] = ("python-3.11.4-h1", "ipykernel-6.29.0-py_0")) -> Path:
    """What conda leaves: its records, an interpreter, site-packages."""
    (path / "conda-meta").mkdir(parents=True)
    (path / "conda-meta/history").write_text("")
    for package in packages:
        (path / f"conda-meta/{package}.json").write_text("{}")
    (path / "bin").mkdir()
    (path / "bin/python").symlink_to(sys.executable)
    (path / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages").mkdir(parents=True)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home without any conda, and an environment without one."""
    for name in list(os.environ):
        if "CONDA" in name or "MAMBA" in name:
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
