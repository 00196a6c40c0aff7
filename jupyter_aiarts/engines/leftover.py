"""Removing a folder that others have written into, and telling what of it could not be removed.

A pod writes as whoever it runs as, and the server that deletes its job may be somebody else. Nothing here follows a
link: on shared storage anybody may have put one there, and a server may be root.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from secrets import token_hex

from msgspec import Struct

from jupyter_aiarts.engines.person import person

ROUNDS = 3  # looks at a folder that is still written to
DEEPEST = 50  # folders inside each other that are open at once
MOST_LIFTED = 1000  # parts of such a tree that are taken up to its top, one after the other
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FORBIDDEN = (errno.EACCES, errno.EPERM)
_WORDS = {
    "files": (
        "{count} {files} ({size}) of the deleted job stayed in {path}",
        "已删除作业的 {count} 个文件（{size}）仍留在 {path}",
    ),
    "folder": ("What the deleted job wrote stayed in {path}", "已删除作业写入的内容仍留在 {path}"),
    "forbidden": (
        "{what}: this server runs as {me} and may not remove what belongs to {owners}. Ask an admin to remove that "
        "folder. What a job writes with run_as: user is its owner's, and goes with the job.",
        "{what}：本服务器以 {me} 运行，无权删除属于 {owners} 的内容。请管理员删除该目录。"
        "以 run_as: user 运行的作业，其文件属于作业的所有者，会随作业一起删除。",
    ),
    "busy": (
        "{what}: its processes still write there. Once they have ended, an admin can remove that folder.",
        "{what}：其进程仍在写入。待进程结束后，可请管理员删除该目录。",
    ),
    "other": ("{what}: {why}. Ask an admin to remove that folder.", "{what}：{why}。请管理员删除该目录。"),
}


class Leftover(Struct, frozen=True, kw_only=True):
    """What stayed of a folder that was to go; `is_all` is False where not everything in it could be counted."""

    path: str
    files: int = 0
    bytes: int = 0
    is_all: bool = True
    owners: tuple[str, ...] = ()  # whose it is, where that is why
    me: str = ""
    is_busy: bool = False
    why: str = ""  # in the system's words

    @property
    def is_empty(self) -> bool:
        """Whether nothing but empty folders stayed, which is nobody's concern."""
        return not self.files and self.is_all and not self.is_busy

    def said(self, lang: str = "en") -> str:
        """What stayed, where, why, and what to do about it."""
        number = int(lang.startswith("zh"))
        counted = _WORDS["files" if self.files and self.is_all else "folder"][number]
        files = "file" if self.files == 1 else "files"
        what = counted.format(count=self.files, files=files, size=_size(self.bytes), path=self.path)
        case = "forbidden" if self.owners else "busy" if self.is_busy else "other"
        joint = ("、" if number else ", ").join(self.owners)
        return _WORDS[case][number].format(what=what, me=self.me, owners=joint, why=self.why)


def clear(path: Path) -> Leftover | None:
    """Remove a folder as far as this process may; None when nothing of it is there any more."""
    clearing = _Clearing()
    try:
        parent = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Leftover(path=str(path), is_all=False, why=error.strerror or str(error))
    try:
        is_gone = clearing.remove(parent, path.name, True)
    finally:
        os.close(parent)
    return None if is_gone else clearing.leftover(path)


class _Clearing:
    """One removal and what it met."""

    def __init__(self) -> None:
        self._files = self._bytes = 0
        self._is_all = True
        self._is_busy = False
        self._owners: set[int] = set()
        self._why = ""
        self._top = -1
        self._depth = self._lifted = 0

    def leftover(self, path: Path) -> Leftover:
        """What it comes to."""
        me = os.geteuid()
        return Leftover(
            path=str(path),
            files=self._files,
            bytes=self._bytes,
            is_all=self._is_all,
            owners=tuple(person(uid) for uid in sorted(self._owners - {me})),
            me=person(me),
            is_busy=self._is_busy,
            why=self._why,
        )

    def remove(self, parent: int, name: str, is_folder: bool) -> bool:
        """Whether it is gone."""
        try:
            if is_folder and not self._empty(parent, name):
                return False
            (os.rmdir if is_folder else os.unlink)(name, dir_fd=parent)
        except NotADirectoryError:
            return self.remove(parent, name, False)  # a link or a file
        except FileNotFoundError:
            pass  # whoever writes there removes too
        except OSError as error:
            with contextlib.suppress(FileNotFoundError):  # gone after all
                self._note(parent, name, is_folder, error)
                return False
        return True

    def _empty(self, parent: int, name: str) -> bool:
        """Remove what is in a folder; one that is too deep inside others is taken out of them first."""
        try:
            if self._depth == DEEPEST:
                return self._lift(parent, name)
            folder = _open(parent, name)
        except (NotADirectoryError, FileNotFoundError):
            raise
        except OSError as error:
            self._is_all = False
            self._blame(_look(parent, name), error)
            return False
        try:
            if self._depth == 0:
                self._top = folder
            self._depth += 1
            return self._empty_opened(folder)
        finally:
            self._depth -= 1
            os.close(folder)

    def _empty_opened(self, folder: int) -> bool:
        stuck: set[str] = set()
        looks = ROUNDS
        while looks and (found := _listed(folder, stuck)):
            lifted = self._lifted
            stuck |= {name for name, is_folder in found if not self.remove(folder, name, is_folder)}
            looks -= lifted == self._lifted  # what was taken out of its folders is met up here
        return not stuck

    def _lift(self, parent: int, name: str) -> bool:
        if self._lifted == MOST_LIFTED:
            raise OSError(errno.ELOOP, "it has too many folders inside each other")
        self._lifted += 1
        os.rename(name, f"deep-{token_hex(8)}", src_dir_fd=parent, dst_dir_fd=self._top)
        return True

    def _note(self, parent: int, name: str, is_folder: bool, error: OSError) -> None:
        """What stays: a file, or a folder that is empty or was not for long."""
        found = _look(parent, name)
        if error.errno == errno.ENOTEMPTY:
            self._is_busy = True
        if not is_folder:
            self._files += 1
            self._bytes += found.st_size
        # A folder that may not be written to is its owner's; in one like /tmp each file is.
        self._blame(os.fstat(parent) if error.errno == errno.EACCES else found, error)

    def _blame(self, found: os.stat_result, error: OSError) -> None:
        self._why = self._why or error.strerror or str(error)
        if error.errno in _FORBIDDEN:
            self._owners.add(found.st_uid)


def _look(parent: int, name: str) -> os.stat_result:
    """What it is; where that may not be seen, the folder it is in."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except PermissionError:
        return os.fstat(parent)


def _listed(folder: int, known: set[str]) -> list[tuple[str, bool]]:
    """Names that are new in an opened folder, and whether each is a folder."""
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries if entry.name not in known]


def _open(parent: int, name: str) -> int:
    """A descriptor of a folder for listing it; one of our own that is locked against us is unlocked first."""
    handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
    try:
        found = os.fstat(handle)
        if found.st_uid == os.geteuid() and found.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
        return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=handle)
    finally:
        os.close(handle)


def _size(count: float) -> str:
    units = ["bytes", "kB", "MB", "GB"]
    while count >= 999.5 and len(units) > 1:
        count /= 1000
        units.pop(0)
    return f"{count:.0f} {units[0]}" if count >= 10 or units[0] == "bytes" else f"{count:.1f} {units[0]}"
