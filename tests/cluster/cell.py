"""The first process of a cell: makes the mounts it is told, says `ready`, then buries the dead.

Run by `cells.py` inside new pid, mount and network namespaces, with the cell's folder as its only argument. What it
mounts nobody outside sees, and all of it goes with this process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path


def main(folder: Path) -> None:
    for arguments in json.loads((folder / "mounts.json").read_text()):
        subprocess.run(["mount", *arguments], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    print("ready", flush=True)
    while True:
        signal.sigwait({signal.SIGCHLD})
        bury()


def bury() -> None:
    """Every child that has ended; the rest go on."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    main(Path(sys.argv[1]))
