"""The environment that a job names, seen before it is submitted: whether it is one, and whether it can run there."""

from __future__ import annotations

import os

from jupyter_aiarts.model.elf import HEAD, machine_of
from jupyter_aiarts.model.wording import worded

NEEDS_PYTHON = (".py", ".ipynb")


def fault_of(prefix: str, script: str | None) -> str | None:
    """Why a job with this start file cannot run in the environment at `prefix`, as a sentence."""
    if not os.path.isdir(prefix):
        return worded("The environment {path} is not there. aiarts kernels lists those that are.", path=prefix)
    if not os.path.isdir(f"{prefix}/conda-meta") and not os.path.isfile(f"{prefix}/pyvenv.cfg"):
        return worded(
            "{path} is neither a conda environment nor a venv: it has no conda-meta and no pyvenv.cfg.", path=prefix
        )
    if os.path.splitext(script or "")[1].lower() not in NEEDS_PYTHON or os.access(f"{prefix}/bin/python", os.X_OK):
        return None
    return worded(
        "The environment {path} has no Python that can be run, and {script} needs one.", path=prefix, script=script
    )


def machine_in(prefix: str) -> str | None:
    """The processor that its Python is made for; None where that is not told."""
    try:
        with open(os.open(f"{prefix}/bin/python", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return machine_of(file.read(HEAD))
    except OSError:
        return None
