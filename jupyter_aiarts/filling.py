"""What takes the room below a folder of this machine: counted beside the server, in limits, while somebody waits."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

from msgspec import json

from jupyter_aiarts.devices import counting
from jupyter_aiarts.devices.disks import disk_of
from jupyter_aiarts.errors import BadRequest, NotAllowed, NotFound, Unavailable
from jupyter_aiarts.launcher.ranks import signal_name
from jupyter_aiarts.model.usage import Disk, Filling

SECONDS = 20  # that a count takes if nobody says otherwise
PATIENCE = 5.0  # seconds more, after which a disk is said not to answer
AT_ONCE = 2


class Filler:
    """The counts of one service: so many at once, so that a disk is not worn out by clicks."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def count(self, folder: str, seconds: int = SECONDS) -> Filling:
        """Count a folder; whoever cancels this ends the count."""
        if not os.path.isabs(folder) or "\0" in folder:
            refused = BadRequest(f"{folder[:200]!r} is no absolute path", "Name the folder from its root: /home/alice")
            raise refused.in_chinese(f"{folder[:200]!r} 不是绝对路径", "请从根目录写起：/home/alice")
        async with self._turn:
            began = time.monotonic()
            said = await _counted(folder, seconds)
            took = round(time.monotonic() - began, 2)
            return Filling(path=folder, seconds=took, disk=await asyncio.to_thread(_disk, folder), **said)


async def _counted(folder: str, seconds: int) -> dict[str, Any]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", str(Path(counting.__file__)), folder, str(seconds),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        out, _ = await asyncio.wait_for(child.communicate(), seconds + PATIENCE)
    except asyncio.TimeoutError:
        silent = Unavailable(
            f"The disk below {folder} does not answer", "Ask the admin, or look at a folder on another disk."
        )
        raise silent.in_chinese(f"{folder} 所在的磁盘没有响应", "请联系管理员，或查看其他磁盘上的文件夹。") from None
    finally:
        if child.returncode is None:
            child.kill()  # one that hangs in the disk goes when that answers; nobody waits for it
    if child.returncode == 0:
        return dict(json.decode(out))
    if child.returncode == counting.REFUSED:
        raise await asyncio.to_thread(_refusal, folder)
    raise _ended(folder, child.returncode or 0)


def _refusal(folder: str) -> BadRequest | NotAllowed | NotFound:
    """Why a folder cannot be counted."""
    if not os.path.lexists(folder):
        missing = NotFound(f"There is no {folder}", "See the disks: aiarts usage")
        return missing.in_chinese(f"{folder} 不存在", "查看磁盘：aiarts usage")
    if not os.path.isdir(folder):
        no_folder = BadRequest(f"{folder} is no folder", "Name the folder that it is in.")
        return no_folder.in_chinese(f"{folder} 不是文件夹", "请写出它所在的文件夹。")
    closed = NotAllowed(f"{folder} may not be read by the user of this server", "Ask whoever it belongs to.")
    return closed.in_chinese(f"此服务器的用户无权读取 {folder}", "请联系其所有者。")


def _ended(folder: str, code: int) -> Unavailable:
    """A count that came to no end of its own, such as one that was killed for its memory."""
    how = (signal_name(128 - code) if code < 0 else None) or f"exit code {code}"
    ended = Unavailable(
        f"The count of {folder} was ended ({how})", "The machine may be short of memory: look at a folder below it."
    )
    return ended.in_chinese(f"统计 {folder} 的进程被终止（{how}）", "机器可能内存不足，请查看其下的某个文件夹。")


def _disk(folder: str) -> Disk | None:
    try:
        return disk_of(folder)
    except OSError:
        return None
