"""Whose an environment is: what runs in it is run as that person."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jupyter_aiarts.errors import NotAllowed

_SETGID_AND_SETUID = 0b11 << 6
_TELLING = ("bin", "bin/python", "conda-meta", "pyvenv.cfg", "lib", "etc")
"""What is run of an environment, or decides what is, beside its folder."""
_ADMINS = (0, 50)
"""Groups whose members may change what is root's: its own, and Debian's `staff` for /usr/local."""
_MOST_LINKS = 40
_LENT = re.compile(
    r"(?:PATH|LD_LIBRARY_PATH|LANG|LANGUAGE|LC_\w+|TZ|TERM|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|(?:https?|ftp|no|all)_proxy"
    r"|PIP_(?:INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|CERT)|ASCEND_\w+|CUDA_\w+)\Z",
    re.IGNORECASE,
)
"""Root's variables that somebody else's program is given: languages, libraries, and the way to a mirror."""


def owner_of(path: str) -> tuple[int, int] | None:
    """User and group of whoever could have put there what would be run; None where that may be several people. A folder
    may be root's, as /tmp is, and what is in it somebody else's, or what it is in. Raises `OSError`."""
    inside = [os.stat(path), *_parts(path)]
    owner = _only(inside, ())
    if owner is None or owner[0] != 0:
        return owner
    return _only([*inside, *_deeper(path)], [*_led(path), *_led(f"{path}/bin/python")])


def _only(inside: Sequence[os.stat_result], above: Sequence[os.stat_result]) -> tuple[int, int] | None:
    """The one person beside root who may change this, or root; in a folder with the sticky bit only what is theirs."""
    groups = {one.st_uid: one.st_gid for one in reversed([*inside, *above])}
    people = [uid for uid in groups if uid != 0]
    uid = people[0] if people else 0
    is_open = any(_is_open(one, uid) for one in inside) or any(
        _is_open(one, one.st_uid) and not one.st_mode & stat.S_ISVTX for one in above
    )
    return None if len(people) > 1 or is_open else (uid, groups[uid])


def _parts(path: str) -> Iterator[os.stat_result]:
    for name in _TELLING:
        try:
            yield os.lstat(f"{path}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            continue


def _deeper(path: str) -> Iterator[os.stat_result]:
    """What of root's environment may have been given to somebody, so that they can install into it, and what links in
    it lead to: modules and scripts from there are run, too."""
    python = [f"lib/{name}" for name in _names(f"{path}/lib") if name.startswith("python")]
    scripts = [f"etc/conda/activate.d/{name}" for name in _names(f"{path}/etc/conda/activate.d")]
    inner = ("lib", "etc", *python, *(f"{name}/site-packages" for name in python))
    for name in (*inner, "etc/conda", "etc/conda/activate.d", *scripts):
        with contextlib.suppress(OSError):  # not there, or closed to whoever asks: then they run nothing of it
            yield os.lstat(f"{path}/{name}")
            yield os.stat(f"{path}/{name}")


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _led(path: str) -> Iterator[os.stat_result]:
    """All that leads to a file, each folder and each link: whoever owns one of them can lead elsewhere."""
    here, links = "/", 0
    yield os.lstat(here)
    steps = path.split("/")[::-1]
    while steps and links < _MOST_LINKS:
        step = os.path.normpath(os.path.join(here, steps.pop()))  # `here` has no links, so `..` is what is above it
        try:
            found = os.lstat(step)
        except (FileNotFoundError, NotADirectoryError):
            return
        yield found
        if stat.S_ISLNK(found.st_mode):
            links, target = links + 1, os.readlink(step)
            steps += target.split("/")[::-1]
            here = "/" if target.startswith("/") else here
        else:
            here = step


def _is_open(found: os.stat_result, uid: int) -> bool:
    """Whether others can change it. Of one's own group that is usual; what is root's is changed by root alone."""
    if stat.S_ISLNK(found.st_mode):
        return False
    of_others = uid == 0 and found.st_gid not in _ADMINS and found.st_mode & stat.S_IWGRP
    return bool(found.st_mode & stat.S_IWOTH or of_others)


def as_owner(path: str, environ: Mapping[str, str], program: str = "") -> tuple[dict[str, Any], dict[str, str]]:
    """What `Popen` is to be given beside the words, and the variables: whoever runs a program of an environment trusts
    its owner, and root must trust nobody, with what its variables hold neither; nor may root's files be left in
    somebody's environment. Raises `NotAllowed` where root cannot tell whose it is, or the program."""
    if os.geteuid() != 0 or not _can_become_others():
        return {}, dict(environ)
    owner = owner_of(path)
    if owner is None:
        line = shlex.join(["chmod", "-R", "go-w", path])
        raise _refused(path, f"Ask its owner, or, where nobody else has put anything there: {line}",
                       f"请联系其所有者；如确认没有其他人放入内容，可执行：{line}")  # fmt: skip
    uid, gid = owner
    if uid == 0:
        leader = _only((), [*_led(program)]) if program else owner
        if leader is None or leader[0] != 0:
            raise _refused(program, "Have its owner do it, or name another.", "请由其所有者执行，或换用其他程序。")
        return {}, dict(environ)
    who = {"user": uid, "group": gid, "extra_groups": []}
    lent = {name: value for name, value in environ.items() if _LENT.match(name) and "@" not in value}  # no passwords
    try:
        person = pwd.getpwuid(uid)
    except KeyError:
        return who, lent
    return who, {**lent, "HOME": person.pw_dir, "USER": person.pw_name, "LOGNAME": person.pw_name}


def _refused(path: str, hint: str, hint_in_chinese: str) -> NotAllowed:
    message = f"{path} can be written by others than its owner: root runs nothing from there."
    chinese = f"{path} 可由其所有者以外的人写入：root 不运行其中的任何程序。"
    return NotAllowed(message, hint).in_chinese(chinese, hint_in_chinese)


def _can_become_others() -> bool:
    """Whether this root is one: in many a container it may not, and then it has no more rights than others either."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            match = re.search(r"^CapEff:\s*([0-9a-f]+)$", file.read(), re.MULTILINE)
    except OSError:
        return False
    return match is not None and int(match[1], 16) & _SETGID_AND_SETUID == _SETGID_AND_SETUID
