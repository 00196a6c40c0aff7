"""What takes the room below a folder, counted by a process of its own: `python counting.py FOLDER SECONDS`.

Apart from the server because a disk that hangs can only be left by ending whoever waits for it, and because a million
files would hold up an event loop in the same process. The standard library alone, so that it starts at once.
Links are not followed, other file systems are left out, a file with several names is counted once.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from typing import Any

MOST_ENTRIES = 5_000_000
MOST_NAMED = 30
BLOCK = 512  # bytes; `st_blocks` counts these whatever the file system uses


class Count:
    """The count of one folder so far, for each of its own entries."""

    def __init__(self, folder: str, seconds: float) -> None:
        self._folder = folder
        self._until = time.monotonic() + seconds
        self._device = os.stat(folder).st_dev
        self._twins: set[int] = set()  # files with more than one name that were counted
        self._entries = 0
        self.takers: dict[str, list[Any]] = {}  # name: [bytes, files, whether it is a folder]
        self.unread = self.elsewhere = 0
        self.complete = True

    def run(self) -> None:
        """Count until all is counted or the time is over; raises `OSError` if not even the folder can be read."""
        with os.scandir(self._folder) as entries:
            own = list(entries)
        for entry in own:
            below: list[str] = []
            self._add(entry, entry.name, below)
            while below and self.complete:
                self._read(below.pop(), entry.name, below)
            if not self.complete:
                return

    def _read(self, folder: str, taker: str, below: list[str]) -> None:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._add(entry, taker, below)
                    if not self.complete:
                        return
        except OSError:
            self.unread += 1

    def _add(self, entry: os.DirEntry[str], taker: str, below: list[str]) -> None:
        self._entries += 1
        if self._entries > MOST_ENTRIES or (self._entries % 64 == 0 and time.monotonic() > self._until):
            self.complete = False
            return
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            self.unread += 1
            return
        if found.st_dev != self._device:
            self.elsewhere += 1
            return
        is_folder = stat.S_ISDIR(found.st_mode)
        if is_folder:
            below.append(entry.path)
        elif found.st_nlink > 1:
            if found.st_ino in self._twins:
                return
            self._twins.add(found.st_ino)
        taken = self.takers.setdefault(taker, [0, 0, is_folder])
        taken[0] += found.st_blocks * BLOCK
        taken[1] += not is_folder

    def told(self) -> dict[str, Any]:
        """As it travels: the largest by name, the others together."""
        largest = sorted(self.takers.items(), key=lambda one: (-one[1][0], one[0]))
        named = [
            {"name": plain(name), "bytes": size, "files": files, "folder": folder}
            for name, (size, files, folder) in largest[:MOST_NAMED]
        ]
        return {
            "bytes": sum(size for _, (size, _, _) in largest),
            "files": sum(files for _, (_, files, _) in largest),
            "takers": named,
            "others": sum(size for _, (size, _, _) in largest[MOST_NAMED:]),
            "unread": self.unread,
            "elsewhere": self.elsewhere,
            "complete": self.complete,
        }


def plain(name: str) -> str:
    """A name that can be written as UTF-8, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "replace")


def main(folder: str, seconds: str) -> int:
    """Write the count as JSON; 1 for a folder that cannot be read. Others that use the machine go first."""
    os.nice(10)
    try:
        count = Count(folder, float(seconds))
        count.run()
    except OSError:
        return 1
    sys.stdout.write(json.dumps(count.told()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
