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
REFUSED = 3  # how this ends for a folder that cannot be read; no interpreter ends like this by itself
BLOCK = 512  # bytes; `st_blocks` counts these whatever the file system uses


class Count:
    """The count of one folder so far; of its own entries only the largest are kept, for there may be millions."""

    def __init__(self, folder: str, seconds: float) -> None:
        self._folder = folder
        self._until = time.monotonic() + seconds
        self._device = os.stat(folder).st_dev
        self._twins: set[int] = set()  # files with more than one name that were counted
        self._entries = 0
        self._largest: list[tuple[int, str, int, bool]] = []  # bytes, name, files, whether it is a folder
        self.bytes = self.files = self.unread = self.elsewhere = 0
        self.complete = True

    def run(self) -> None:
        """Count until all is counted or the time is over; raises `OSError` if not even the folder can be read."""
        with os.scandir(self._folder) as entries:
            try:
                for entry in entries:
                    self._take(entry)
                    if not self.complete:
                        return
            except OSError:
                self.unread += 1

    def _take(self, entry: os.DirEntry[str]) -> None:
        """One of the folder's own entries, with all that is below it."""
        size, files = self.bytes, self.files
        below: list[str] = []
        is_counted = self._add(entry, below)
        is_folder = bool(below)
        while below and self._has_time():
            self._read(below.pop(), below)
        if is_counted:
            self._largest.append((self.bytes - size, entry.name, self.files - files, is_folder))
        if len(self._largest) > 2 * MOST_NAMED:
            self._largest = self._named()

    def _named(self) -> list[tuple[int, str, int, bool]]:
        return sorted(self._largest, key=lambda one: (-one[0], one[1]))[:MOST_NAMED]

    def _read(self, folder: str, below: list[str]) -> None:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._add(entry, below)
                    if not self.complete:
                        return
        except OSError:
            self.unread += 1

    def _add(self, entry: os.DirEntry[str], below: list[str]) -> bool:
        """Whether it counts; a folder is among those `below` then."""
        self._entries += 1
        if self._entries > MOST_ENTRIES:
            self.complete = False
        if not self.complete or (self._entries % 16 == 0 and not self._has_time()):
            return False
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            self.unread += 1
            return False
        if found.st_dev != self._device:
            self.elsewhere += 1
            return False
        is_folder = stat.S_ISDIR(found.st_mode)
        if is_folder:
            below.append(entry.path)
        elif found.st_nlink > 1:
            if found.st_ino in self._twins:
                return False
            self._twins.add(found.st_ino)
        self.bytes += found.st_blocks * BLOCK
        self.files += not is_folder
        return True

    def _has_time(self) -> bool:
        """Asked before each folder, for there are trees of nothing else, and between the files of one."""
        self.complete = self.complete and time.monotonic() <= self._until
        return self.complete

    def told(self) -> dict[str, Any]:
        """As it travels: the largest by name, the others together."""
        named = self._named()
        return {
            "bytes": self.bytes,
            "files": self.files,
            "takers": [
                {"name": plain(name), "bytes": size, "files": files, "folder": folder}
                for size, name, files, folder in named
            ],
            "others": self.bytes - sum(size for size, *_ in named),
            "unread": self.unread,
            "elsewhere": self.elsewhere,
            "complete": self.complete,
        }


def plain(name: str) -> str:
    """A name that can be written as UTF-8, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "replace")


def main(folder: str, seconds: str) -> int:
    """Write the count as JSON; `REFUSED` for a folder that cannot be read. Others that use the machine go first."""
    os.nice(10)
    try:
        count = Count(folder, float(seconds))
        count.run()
    except OSError:
        return REFUSED
    sys.stdout.write(json.dumps(count.told()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
