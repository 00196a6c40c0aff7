"""How much disk an environment takes: asked for, never by itself, since it means to look at every file."""

from __future__ import annotations

import os
import threading
import time

from jupyter_aiarts.model.environment import KernelSize

MOST_FILES = 2_000_000
SECONDS = 45.0  # whoever asks gives up after a minute, and would never hear of it
_BLOCK = 512
_LOOKS = 1000  # files between looks at the clock


def size_of(path: str, cancelled: threading.Event) -> KernelSize:
    """Disk that its files take, links not followed, one that has several names counted once; ends early when told to,
    after a while, or where there is no end of files."""
    until = time.monotonic() + SECONDS
    seen: set[tuple[int, int]] = set()
    total = files = 0
    folders = [path]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    files += 1
                    if files % _LOOKS == 0 and (cancelled.is_set() or time.monotonic() > until or files > MOST_FILES):
                        return KernelSize(path=path, bytes=total, files=files, complete=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    total += _blocks(entry, seen)
        except OSError:
            continue  # not for us, or gone while we looked
    return KernelSize(path=path, bytes=total, files=files, complete=True)


def _blocks(entry: os.DirEntry[str], seen: set[tuple[int, int]]) -> int:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return 0
    if found.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
        if (found.st_dev, found.st_ino) in seen:
            return 0
        seen.add((found.st_dev, found.st_ino))
    return found.st_blocks * _BLOCK
