"""The mount table of this server, and which of its folders are the storage that a pod mounts.

Pure: the text of `/proc/self/mountinfo` comes in. Two mounts are the same storage when they name the same NFS export,
or when this server's one comes from the volume that a claim is bound to; what only looks alike is not.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from msgspec import Struct

from jupyter_aiarts.model.places import below

_ESCAPE = re.compile(r"\\([0-7]{3})")
_EXPORT = re.compile(r"\[?([^\]/]+?)\]?:(/.*)", re.DOTALL)
_ADDRESS = re.compile(r"(?:^|,)addr=([^,]+)")


class Mounted(Struct, frozen=True, kw_only=True):
    """One line of the table: what of which storage is mounted where."""

    path: str
    root: str  # the folder of the file system that is mounted
    kind: str
    source: str
    options: str = ""


def read_table(text: str) -> tuple[Mounted, ...]:
    """The lines that can be read, in their order; of two on the same folder the later one hides the earlier."""
    found: dict[str, Mounted] = {}
    for line in text.splitlines():
        head, dash, tail = line.partition(" - ")
        parts, rest = head.split(" "), tail.split(" ")
        if not dash or len(parts) < 6 or len(rest) < 2:
            continue
        path, root = _plain(parts[4]), _plain(parts[3])
        found.pop(path, None)
        options = rest[2] if len(rest) > 2 else ""
        found[path] = Mounted(path=path, root=root, kind=rest[0], source=_plain(rest[1]), options=options)
    return tuple(found.values())


def _plain(text: str) -> str:
    """The kernel writes spaces, tabs, newlines and backslashes as octal numbers."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text) if "\\" in text else text


def exported(mounted: Mounted) -> tuple[frozenset[str], str] | None:
    """The names of the NFS server and the path in it that is really mounted; None for anything else."""
    match = _EXPORT.fullmatch(mounted.source) if mounted.kind in ("nfs", "nfs4") else None
    if match is None:
        return None
    names = {match[1].lower(), *(one.lower() for one in _ADDRESS.findall(mounted.options))}
    root = mounted.root.lstrip("/")
    return frozenset(names), posixpath.normpath(posixpath.join(match[2], root))


def where_export_is(table: Iterable[Mounted], server: str, path: str) -> tuple[str, str] | None:
    """Where this server has an NFS export, or a folder below it: its path here, and what leads there in the export.

    The whole export is preferred to a part of it, of parts the largest.
    """
    parts: list[tuple[int, str, str]] = []
    for mounted in table:
        found = exported(mounted)
        if found is None or server.lower() not in found[0]:
            continue
        inside = below(path, found[1])
        if inside is not None:
            return posixpath.join(mounted.path, inside) if inside else mounted.path, ""
        rest = below(found[1], path)
        if rest is not None:
            parts.append((len(rest), mounted.path, rest))
    return min(parts)[1:] if parts else None


def where_volume_is(table: Iterable[Mounted], volume: str) -> str | None:
    """Where this server has the volume that a claim is bound to: a part of what is mounted bears its name.

    Provisioners name the folder or the export after the volume, `pvc-<uid>`, some with `_namespace_claim` behind it.
    A name that is not made like that proves nothing.
    """
    if not re.fullmatch(r"pvc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", volume):
        return None
    for mounted in table:
        for text in (mounted.source.partition(":")[2] or mounted.source, mounted.root):
            parts = text.strip("/").split("/")
            at = next((index for index, part in enumerate(parts) if part.split("_")[0] == volume), None)
            # what stands behind it is a folder in the volume, but for the kubelet's own `mount` of a CSI volume
            if at is not None and parts[at + 1 :] in ([], ["mount"]) and mounted.root in ("/", text):
                return mounted.path
    return None
