"""Whose an environment is: what runs in it is run as that person."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Mapping
from typing import Any

_SETGID_AND_SETUID = 0b11 << 6


def as_owner(path: str, environ: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """What `Popen` is to be given beside the words, and the variables: whoever runs a program of an environment trusts
    its owner, and root must trust nobody; nor may root's files be left in somebody's environment."""
    found = os.stat(path)
    if os.geteuid() != 0 or found.st_uid == 0 or not _can_become_others():
        return {}, dict(environ)
    who = {"user": found.st_uid, "group": found.st_gid, "extra_groups": []}
    try:
        person = pwd.getpwuid(found.st_uid)
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
