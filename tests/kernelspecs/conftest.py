"""Environments as conda and venv leave them on a disk; the Python in them is the one that runs the tests.

No conda, mamba or micromamba is to be had from PyPI, npm or Debian, so the files that one leaves are written here; what
a real installer of such packages writes is in `test_real_conda.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jupyter_aiarts.kernelbook import KernelBook, KernelSettings

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


def make_laid_out(path: Path, packages: Mapping[str, str], version: str = "3.11.4") -> Path:
    """The same with the files where conda itself puts them, and a folder and a record for each Python package."""
    python = f"python{'.'.join(version.split('.')[:2])}"
    make_conda(path, (f"python-{version}-h1", *(f"{name}-{of}-h0" for name, of in packages.items())))
    (path / "bin/python").rename(path / f"bin/{python}")
    (path / "bin/python").symlink_to(python)
    (path / f"include/{python}").mkdir(parents=True)
    (path / f"include/{python}/patchlevel.h").write_text(f'#define PY_VERSION              "{version}"\n')
    (path / "share/jupyter/kernels/python3").mkdir(parents=True)
    site = path / f"lib/{python}/site-packages"
    for name, of in packages.items():
        (site / f"{name}-{of}.dist-info").mkdir(parents=True)
        (site / name).mkdir()
        (site / name / "__init__.py").write_text("")
        (site / name / "version.py").write_text(f"__version__ = '{of}'\n")
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


@pytest.fixture
def book(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelBook:
    """Environments and kernels as this person has them, with a folder for everybody's."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return KernelBook(KernelSettings(directory=str(tmp_path / "shared")), environ={})
