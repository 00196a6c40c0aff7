"""Whose an environment is: what runs in it is run as that person."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_aiarts.errors import NotAllowed

_SETGID_AND_SETUID = 0b11 << 6
_TELLING = ("bin", "bin/python", "conda-meta", "pyvenv.cfg", "lib", "etc")
"""What is run of an environment, or decides what is, beside its folder."""


def owner_of(path: str) -> tuple[int, int] | None:
    """User and group of whoever could have put there what would be run; None where that may be several people. A folder
    may be root's, as /tmp is, and all that is in it somebody else's. Raises `OSError` where it is gone."""
    seen = [os.stat(path), *_parts(path)]
    groups = {one.st_uid: one.st_gid for one in reversed(seen)}
    people = [uid for uid in groups if uid != 0]
    uid = people[0] if people else 0
    if len(people) > 1 or any(_is_open(one, uid) for one in seen):
        return None
    return uid, groups[uid]


def _parts(path: str) -> Iterator[os.stat_result]:
    for name in _TELLING:
        try:
            yield os.lstat(f"{path}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            continue


def _is_open(found: os.stat_result, uid: int) -> bool:
    """Whether others can change it. Of one's own group that is usual; what is root's is changed by root alone."""
    if stat.S_ISLNK(found.st_mode):
        return False
    of_others = uid == 0 and found.st_gid != 0 and found.st_mode & stat.S_IWGRP
    return bool(found.st_mode & stat.S_IWOTH or of_others)


def as_owner(path: str, environ: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """What `Popen` is to be given beside the words, and the variables: whoever runs a program of an environment trusts
    its owner, and root must trust nobody; nor may root's files be left in somebody's environment. Raises `NotAllowed`
    where root cannot tell whose it is."""
    if os.geteuid() != 0 or not _can_become_others():
        return {}, dict(environ)
    owner = owner_of(path)
    if owner is None:
        line = shlex.join(["chmod", "-R", "go-w", path])
        message = f"{path} can be written by others than its owner: root runs nothing from there."
        raise NotAllowed(message, f"Ask its owner, or, where nobody else has put anything there: {line}").in_chinese(
            f"{path} 可由其所有者以外的人写入：root 不运行其中的任何程序。",
            f"请联系其所有者；如确认没有其他人放入内容，可执行：{line}",
        )
    uid, gid = owner
    if uid == 0:
        return {}, dict(environ)
    who = {"user": uid, "group": gid, "extra_groups": []}
    try:
        person = pwd.getpwuid(uid)
    except KeyError:
        return who, {name: value for name, value in environ.items() if name not in ("HOME", "USER", "LOGNAME")}
    return who, {**environ, "HOME": person.pw_dir, "USER": person.pw_name, "LOGNAME": person.pw_name}


def _can_become_others() -> bool:
    """Whether this root is one: in many a container it may not, and then it has no more rights than others either."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            match = re.search(r"^CapEff:\s*([0-9a-f]+)$", file.read(), re.MULTILINE)
    except OSError:
        return False
    return match is not None and int(match[1], 16) & _SETGID_AND_SETUID == _SETGID_AND_SETUID
