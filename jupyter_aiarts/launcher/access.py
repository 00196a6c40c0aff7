"""Who may read what a launcher writes: its own user alone; on a log mount the job's owner too.

A pod often runs as somebody else than its owner's server, which reads the log mount. Then the run's folder belongs to
the owner's group, and so does everything that is made inside it.
"""

import errno
import os
import stat
from typing import NamedTuple, Optional


class Modes(NamedTuple):
    """What is made with them."""

    folder: int
    file: int


PRIVATE, SHARED = Modes(0o700, 0o600), Modes(0o750, 0o640)

made = PRIVATE
"""The modes of what this launcher makes; unlike an umask, ranks do not inherit them."""


def claim(folder: str, readers: Optional[int]) -> None:
    """Make a run's folder, ours alone or readable by the group `readers`, before anything is written into it.

    Raises `OSError` where it cannot be made or is somebody else's: on a mount that everybody can write to, anybody can
    have been there first. Where the storage refuses the group, the folder is private and the owner's server copies the
    log as if there was no mount.
    """
    global made
    os.makedirs(folder, PRIVATE.folder, exist_ok=True)
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise OSError(errno.ENOTDIR, "it is not a folder", folder)
    if readers is not None and _share(folder, readers):
        made = SHARED
    else:
        os.chmod(folder, PRIVATE.folder)  # refused where somebody else made it


def _share(folder: str, readers: int) -> bool:
    """Give the folder to the group; the other launchers of the run find it done."""
    wanted = SHARED.folder | stat.S_ISGID  # what is made inside belongs to the same group
    found = os.lstat(folder)
    if (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (os.geteuid(), readers, wanted):
        return True
    try:
        os.chown(folder, os.geteuid(), readers)
        os.chmod(folder, wanted)
    except PermissionError:
        return False
    return True
