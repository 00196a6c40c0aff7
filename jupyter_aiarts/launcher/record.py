"""Files that are whole or absent: written beside their name, then renamed over it. Mode 0600, as `access` says.

The exception is a file that a pod has mounted: only its content can change.
"""

import json
import os
from typing import Any, Optional

from . import access


def write(path: str, content: bytes, lasting: bool = False) -> None:
    """Replace `path` by `content`; raises `OSError` and leaves the old file. `lasting` waits for the disk."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        _fill(beside, content, lasting)
        os.rename(beside, path)
    except OSError:
        _forget(beside)
        raise


def write_json(path: str, document: Any, lasting: bool = False) -> None:
    """`write` of a document; text that stands for bytes that are not UTF-8 stays readable as JSON."""
    write(path, json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n", lasting)


def write_in_place(path: str, content: bytes) -> None:
    """Replace the content of `path`, which everybody may read; raises `OSError`."""
    _fill(path, content, False, 0o644)


def _fill(path: str, content: bytes, lasting: bool, mode: Optional[int] = None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    file = os.open(path, flags, access.made.file if mode is None else mode)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(file, view) :]
        if lasting:
            os.fsync(file)
    finally:
        os.close(file)


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # it was never made, or the disk is in no state to care
