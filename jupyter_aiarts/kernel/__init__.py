"""What runs inside a kernel: the client, the magic, and how a job shows itself in a cell.

Standard library and what a kernel has anyway, Python 3.8 and later; it imports nothing else of this package.
The names below are imported when they are first asked for, so that `%load_ext jupyter_aiarts` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_aiarts.kernel.api import Job, Jobs, connect, job, jobs, submit, try_out
    from jupyter_aiarts.kernel.client import Client

__all__ = ["Client", "Job", "Jobs", "connect", "job", "jobs", "submit", "try_out"]


def __getattr__(name: str) -> Any:
    """Import a public name from the module that holds it."""
    if name in __all__:
        home = "client" if name == "Client" else "api"
        return getattr(importlib.import_module("jupyter_aiarts.kernel." + home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
