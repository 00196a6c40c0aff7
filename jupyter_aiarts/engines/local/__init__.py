"""The engine that is always there: jobs on this machine, their folder the truth about them.

Importing this imports next to nothing: the supervisor starts from here and must get away quickly.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_aiarts.engines.local.engine import LocalEngine
    from jupyter_aiarts.engines.local.records import Settings


def state_folder() -> Path:
    """Where local jobs are kept unless told otherwise."""
    from jupyter_aiarts.engines.local.folder import default_state_folder

    return default_state_folder()


def open_local(state_dir: Path | None = None, settings: Settings | None = None) -> LocalEngine:
    """The local engine on a state folder, made if it is not there; called by the server and the command line."""
    from jupyter_aiarts.engines.local.engine import LocalEngine
    from jupyter_aiarts.engines.local.folder import StateFolder

    return LocalEngine(StateFolder.open(state_dir or state_folder()), settings)
