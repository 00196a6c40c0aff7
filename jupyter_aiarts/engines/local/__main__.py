"""`python -m jupyter_aiarts.engines.local STATE`: become this host's supervisor, detached.

Forks before anything else is imported, so that whoever starts it waits a few milliseconds, not for all imports; the
fork also means that nobody has to reap it.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Leave the starter behind and serve; what goes wrong is in the state folder's supervisor.log."""
    state = sys.argv[1]
    if os.fork():
        os._exit(0)
    log = os.open(os.path.join(state, "supervisor.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)
    os.close(log)
    from pathlib import Path

    from jupyter_aiarts.engines.local.supervisor import serve

    serve(Path(state))


if __name__ == "__main__":
    main()
