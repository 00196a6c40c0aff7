"""The bell: tells whoever listens that a job changed. It only saves them waiting; the folder is the truth."""

import os
from typing import Optional


def ring(folder: Optional[str], job: str) -> None:
    """Send the job's id to every `*.bell` in `folder`; nobody is waited for, who is gone is removed."""
    if folder is None:
        return
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".bell")]
    except OSError:
        return  # nobody has ever listened
    if names:
        _send([os.path.join(folder, name) for name in names], job.encode("ascii", "replace"))


def _send(paths: "list[str]", message: bytes) -> None:
    import socket  # only where somebody listens

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        for path in paths:
            try:
                sender.sendto(message, path)
            except ConnectionRefusedError:
                _remove(path)
            except OSError:
                pass  # a full or vanished listener looks at the folder anyway


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # somebody else removed it first
