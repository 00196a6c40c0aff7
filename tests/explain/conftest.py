"""Real jobs on this machine, for what is to be explained."""

from __future__ import annotations

# The local engine and its ways to submit and wait are those of its own tests.
from tests.engines.conftest import caller, folder, keys, printed, state_dir, submit, until
from tests.engines.local.conftest import engine, processes

__all__ = ["caller", "engine", "folder", "keys", "printed", "processes", "state_dir", "submit", "until"]
