"""Training jobs on GPUs and Ascend NPUs from JupyterLab.

    import jupyter_aiarts as aiarts
    job = aiarts.submit("train.py", devices=2)
    job.wait()

Importing this module is cheap on purpose: it runs in every kernel that says `%load_ext jupyter_aiarts`,
on Python 3.8 and later, so tornado, IPython, kubernetes and msgspec are imported only by the function that
needs them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from jupyter_aiarts._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from jupyter_aiarts.kernel import Client, Job, Jobs, connect, job, jobs, submit, try_out
    from jupyter_aiarts.kernel.api import cluster, queues
    from jupyter_aiarts.kernel.run import run

__all__ = [
    "Client",
    "Job",
    "Jobs",
    "__version__",
    "cluster",
    "connect",
    "job",
    "jobs",
    "queues",
    "run",
    "submit",
    "try_out",
]
_HOMES = {"run": "run", "cluster": "api", "queues": "api"}  # those that are also the names of modules beside them


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where the built sidebar lies; called by `jupyter labextension develop`."""
    return [{"src": "labextension", "dest": "jupyter-aiarts"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """The server's part; called by jupyter_server when it loads or lists extensions."""
    from jupyter_aiarts.server.app import AiartsApp

    return [{"module": "jupyter_aiarts", "app": AiartsApp}]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register `%aiarts`; called by IPython for `%load_ext jupyter_aiarts`."""
    from jupyter_aiarts.kernel import magics

    magics.load_ipython_extension(shell)


def __getattr__(name: str) -> Any:
    """Import the public Python names from `jupyter_aiarts.kernel` when they are first asked for."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"jupyter_aiarts.kernel.{_HOMES[name]}"), name)
    if name in __all__:
        return getattr(importlib.import_module("jupyter_aiarts.kernel"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, for completion in a notebook."""
    return sorted(__all__)
