"""The log of the NPU driver: what went wrong on the cards themselves, when a rank only says that something did.

`/var/log/npu/slog` has a folder for the host, one for each card, and one for the control processor of each ring. Other
jobs write into it too: only the folders of the given cards are read, and only files that changed since the job began.
Nothing here follows a link, and nothing is read that is large.
"""

import os
import re
import stat
from typing import List, NamedTuple, Optional, Sequence, Tuple

PLACES = ("/var/log/npu/slog", "/var/log/npulog/slog")
"""On a machine, and where older platforms mount it in a pod."""
MOST_LINES = 1000
MOST_FILES = 8
"""Of each folder, the newest; the driver keeps many and begins new ones."""
FILE_BYTES = 1024 * 1024
ALL_BYTES = 8 * 1024 * 1024
LINE_BYTES = 2000
RING = 4
_BLUR = 1.0
"""Seconds by which a file's time may be behind the clock."""
_ERROR = re.compile(rb"^\[ERROR\][^\n]*", re.MULTILINE)
_STAMP = re.compile(rb"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}(?:\.\d{3})?")
_FOLDER = re.compile(r"host-0|device-(\d{1,4})|device-os-(\d{1,4})")


class Line(NamedTuple):
    """One ERROR line; `card` is None for what is the host's or a ring's."""

    folder: str
    card: Optional[int]
    text: str


class Errors(NamedTuple):
    """What was found. `problem` is "absent", "denied" or nothing, and then `place` is what it is about."""

    lines: List[Line]
    place: str
    problem: str = ""


def errors(cards: Optional[Sequence[int]], since: float, root: str = "") -> Errors:
    """The newest ERROR lines about these cards (None: all there are), by their own clock; the last is the newest."""
    place, folder, problem = _open(root)
    if folder is None:
        return Errors([], place, problem)
    found: List[Tuple[bytes, Line]] = []
    left = ALL_BYTES
    try:
        for name in sorted(name for name in os.listdir(folder) if _is_about(name, cards)):
            try:
                lines, taken = _folder(folder, name, since, left)
            except PermissionError:
                problem = "denied"
                continue
            found += lines
            left -= taken
    finally:
        os.close(folder)
    newest = [line for _, line in sorted(found, key=lambda one: one[0])[-MOST_LINES:]]
    return Errors(newest, place, problem)


def _open(root: str) -> Tuple[str, Optional[int], str]:
    """The folder that there is, opened, or why not. Links above it are the admin's, and are followed."""
    for place in PLACES:
        try:
            return place, os.open(root + place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), ""
        except PermissionError:
            return place, None, "denied"
        except OSError:
            continue
    return PLACES[0], None, "absent"


def _is_about(name: str, cards: Optional[Sequence[int]]) -> bool:
    match = _FOLDER.fullmatch(name)
    if match is None:
        return False
    if cards is None or name == "host-0":
        return True
    if match.group(1):
        return int(match.group(1)) in cards
    return int(match.group(2)) // RING in {card // RING for card in cards}


def _folder(parent: int, name: str, since: float, left: int) -> Tuple[List[Tuple[bytes, Line]], int]:
    """A folder's lines, each with its time, and how many bytes were read for them."""
    try:
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    except PermissionError:
        raise
    except OSError:
        return [], 0  # a link, or gone
    card = _FOLDER.fullmatch(name)
    number = int(card.group(1)) if card is not None and card.group(1) else None
    found: List[Tuple[bytes, Line]] = []
    taken = 0
    try:
        for file in _newest(folder, since):
            content = _tail(folder, file, min(FILE_BYTES, left - taken))
            taken += len(content)
            found += [(stamp, Line(name, number, text)) for stamp, text in _lines(content)]
    finally:
        os.close(folder)
    return found, taken


def _newest(folder: int, since: float) -> List[str]:
    """The plain files that changed since then, the newest first."""
    known = []
    for name in os.listdir(folder):
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue  # the driver has just removed it
        if stat.S_ISREG(status.st_mode) and name.endswith(".log") and status.st_mtime >= since - _BLUR:
            known.append((status.st_mtime, name))
    return [name for _, name in sorted(known, reverse=True)[:MOST_FILES]]


def _tail(folder: int, name: str, count: int) -> bytes:
    """The last bytes of a file, from the first line that is whole."""
    if count <= 0:
        return b""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        raise
    except OSError:
        return b""
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return b""
        at = max(status.st_size - count, 0)
        content = os.pread(file, count, at)
    finally:
        os.close(file)
    return content.partition(b"\n")[2] if at else content


def _lines(content: bytes) -> List[Tuple[bytes, str]]:
    """The ERROR lines, each with its time as written; one without has that of the line before it."""
    found, last = [], b""
    for match in _ERROR.finditer(content):
        line = match.group()
        stamp = _STAMP.search(line)
        last = stamp.group() if stamp else last
        cut = line[:LINE_BYTES] + (b"\xe2\x80\xa6" if len(line) > LINE_BYTES else b"")
        found.append((last, cut.decode("utf-8", "replace").rstrip("\r")))
    return found
