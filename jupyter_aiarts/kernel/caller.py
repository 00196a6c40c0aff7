"""What a local job inherits from the person who submits it: their Python and a short list of variables.

The server cannot know either, so the client sends them with each submission (header `X-Aiarts-Caller`).
"""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any, Dict, Mapping, Optional

from jupyter_aiarts.kernel.errors import WrongUsage

HEADER = "X-Aiarts-Caller"
LIMIT = 32 * 1024
NAMES = frozenset(
    {"PATH", "HOME", "USER", "SHELL", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV"}
)
PREFIXES = ("LC_", "CONDA_")


def inherited(environ: Mapping[str, str]) -> Dict[str, str]:
    """The variables of `environ` that a local job starts from (spec section 3), and no other."""
    named = {name: value for name, value in environ.items() if name in NAMES or name.startswith(PREFIXES)}
    return {name: value for name, value in named.items() if _is_utf8(value)}


def _is_utf8(text: str) -> bool:
    """Whether JSON can carry it; Python keeps other bytes of the environment as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def caller_header(python: Optional[str] = None, environ: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    """The header for a submission from this process, or by a person whose `python3` is another one. Refused
    when too long, because a job with half a PATH fails strangely."""
    said = {
        "python": python or sys.executable,
        "environ": inherited(os.environ if environ is None else environ),
    }
    value = base64.b64encode(json.dumps(said).encode()).decode("ascii")
    if len(value) > LIMIT:
        raise WrongUsage(
            f"PATH, PYTHONPATH and the other variables a job inherits are {len(value)} bytes long; "
            f"{LIMIT} is the limit.",
            "Shorten them, then submit again.",
        )
    return {HEADER: value}


def read_header(headers: Mapping[str, str]) -> Dict[str, Any]:
    """What `caller_header` wrote; called where no server stands between."""
    said: Dict[str, Any] = json.loads(base64.b64decode(headers[HEADER]))
    return said
