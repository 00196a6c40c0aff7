"""Where storage comes from: a volume claim, an NFS export or a path of the host, written as one line of text.

Pure. `settings` checks the admin's lines with it, `checks` the users', `volumes` makes manifests of them.
"""

from __future__ import annotations

import posixpath
import re

from msgspec import Struct

from jupyter_aiarts.model.names import USER_NAME

USER, GROUP = "{user}", "{group}"

_CLAIM = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_NFS = re.compile(r"(?:nfs://([^/\s:]+)|([^/\s:]+):)(/.*)", re.DOTALL)
_PLACE = re.compile(r"\{\w*\}")


class Claim(Struct, frozen=True):
    """A persistent volume claim of the job's namespace, and a folder in it."""

    name: str
    folder: str = ""


class Export(Struct, frozen=True):
    """An NFS export and a path in it."""

    server: str
    path: str


class HostPath(Struct, frozen=True):
    """A path of the node that the pod lands on."""

    path: str


Source = Claim | Export | HostPath


class Person(Struct, frozen=True, kw_only=True):
    """Whom a job belongs to, as its server knows it; never what a client says about itself.

    `user` and `group` stand for `{user}` and `{group}`, empty where they have no name that can be part of a path.
    """

    owner: str
    user: str = ""
    group: str = ""
    uid: int | None = None
    gid: int | None = None


def clean(path: str) -> str:
    """An absolute path without empty and `.` parts; `..` never comes this far."""
    return "/" + posixpath.normpath(path).lstrip("/") if path.strip("/") else "/"


def parse_source(text: str) -> Source:
    """What a mount's source names; ValueError with the rest of a sentence when it names nothing."""
    if ".." in text.split("/"):
        raise ValueError("must not hold “..”")
    export = _NFS.fullmatch(text)
    if export:
        return Export(export[1] or export[2], clean(export[3]))
    if text.startswith("/"):
        return HostPath(clean(text))
    name, _, folder = text.partition("/")
    if len(name) > 253 or not _CLAIM.fullmatch(name):
        raise ValueError("must be a volume claim, an NFS export (server:/export) or a whole path")
    return Claim(name, clean(folder).lstrip("/"))


def fill_in(text: str, person: Person) -> str:
    """`text` with `{user}` and `{group}` of this person; ValueError with the rest of a sentence when one is unknown."""
    for place, name, what in ((USER, person.user, "user"), (GROUP, person.group, "group")):
        if place in text and not re.fullmatch(USER_NAME, name):
            raise ValueError(
                f"needs {place}, and {person.owner!r} has no {what} name that can be part of a path; "
                f"an admin can give one under `users` of this cluster's configuration"
            )
        text = text.replace(place, name)
    return text


def unknown_places(text: str) -> list[str]:
    """Words in braces that stand for nothing."""
    return [place for place in _PLACE.findall(text) if place not in (USER, GROUP)]
