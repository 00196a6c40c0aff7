"""Whether this kernel's front end is one that shows widgets and not our own mime type."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Any, Mapping, Optional

SWITCH = "AIARTS_WIDGETS"  # 1 or 0: what somebody wants who knows better


def wants_widgets(environ: Optional[Mapping[str, str]] = None, modules: Optional[Mapping[str, Any]] = None) -> bool:
    """By what those front ends leave in a kernel. Not wherever ipywidgets is: in JupyterLab a widget's model would be
    made, sent and saved for a view that nobody sees."""
    env = os.environ if environ is None else environ
    if env.get(SWITCH) in ("0", "1"):
        asked = env[SWITCH] == "1"
    else:
        loaded = sys.modules if modules is None else modules
        asked = any(name in env for name in ("VSCODE_PID", "VSCODE_CWD")) or "google.colab" in loaded
    return asked and find_spec("anywidget") is not None  # which brings ipywidgets
