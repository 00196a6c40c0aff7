"""The path map: every storage place by its names, as this server, a pod and a node know it.

A place is one folder with up to three names. `walk` follows a path as a process in a pod would, link by link, as far as
this server sees the same files: what it cannot see is unknown, never guessed.
"""

# Annotations are values: see spec.py.

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct, field

PlaceKind = Literal["claim", "nfs", "host", "pod", "machine"]
MOST_LINKS = 40  # as the kernel

Look = Callable[[str], "str | bool | None"]
"""What is at a path of this server: where a link leads, whether something is there, None where that cannot be seen."""


class Place(Struct, frozen=True, kw_only=True):
    """One folder of storage. `here` is null where this server does not surely see it.

    `node` is its path on every node of the cluster, `source` what it is made from: a claim, an NFS export, a host path.
    """

    name: str
    cluster: str
    kind: PlaceKind
    pod: str
    here: str | None = None
    node: str | None = None
    source: str = ""
    read_only: bool = False


class Walk(Struct, frozen=True, kw_only=True):
    """Where a path of a pod leads. `found` is None where nobody here can say.

    `place` is the storage that it ends in, None for the image's own files; `at` is the path that was looked at last,
    links followed; `link` the last link that was met, and where it leads.
    """

    found: bool | None
    at: str
    place: Place | None = None
    link: tuple[str, str] | None = None


def below(path: str, folder: str) -> str | None:
    """What leads from `folder` to `path`, empty for the folder itself; None when it is not below it."""
    if path == folder or folder == "/":
        return path[len(folder) :].lstrip("/")
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None


def joined(folder: str, rest: str) -> str:
    """A path below a folder; the folder itself for nothing."""
    return posixpath.join(folder, rest) if rest else folder


def covering(path: str, places: Iterable[Place], side: Literal["pod", "here", "node"]) -> tuple[Place, str] | None:
    """The place that has a path of one side, and what leads there from its folder; the deepest one hides the others."""
    best: tuple[Place, str] | None = None
    for place in places:
        folder = getattr(place, side)
        rest = below(path, folder) if folder is not None else None
        if rest is not None and (best is None or len(folder) > len(getattr(best[0], side))):
            best = place, rest
    return best


def from_export(text: str, places: Iterable[Place]) -> tuple[Place, str] | None:
    """The place that an address such as `nas:/export/folder` is in."""
    found = [(one, below(text.rstrip("/"), one.source)) for one in places if one.kind == "nfs"]
    return max(
        ((one, rest) for one, rest in found if rest is not None), key=lambda pair: len(pair[0].source), default=None
    )


def walk(path: str, places: Sequence[Place], look: Look) -> Walk:
    """Follow a whole path as a process in a pod with these places would."""
    left, at, links = _parts(path), "/", 0
    link: tuple[str, str] | None = None
    place: Place | None = None
    while left:
        part = left.pop(0)
        at = posixpath.dirname(at) if part == ".." else posixpath.join(at, part)
        covered = covering(at, places, "pod")
        place = covered[0] if covered else None
        if covered is None:
            if any(below(one.pod, at) is not None for one in places):
                continue  # a folder on the way to a mount
            return Walk(found=None, at=posixpath.join(at, *left), link=link)
        if covered[0].here is None:
            return Walk(found=None, at=posixpath.join(at, *left), place=place, link=link)
        there = look(joined(covered[0].here, covered[1]))
        if not isinstance(there, str) or not covered[1]:  # a mount's own folder is no link in the pod
            if there is not True and not isinstance(there, str):
                return Walk(found=there, at=posixpath.join(at, *left), place=place, link=link)
            continue
        link, links = (at, there), links + 1
        if links > MOST_LINKS:
            return Walk(found=False, at=at, place=place, link=link)
        left = [*_parts(there), *left]
        at = "/" if there.startswith("/") else posixpath.dirname(at)
    return Walk(found=True, at=at, place=place, link=link)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


class ShownView(Struct, frozen=True, kw_only=True):
    """How a path is seen from one side; `path` is its name there, `visible` is null where nobody here can say."""

    where: Literal["server", "pod", "node"]
    cluster: str | None = None
    path: str | None = None
    visible: bool | None = None
    place: str | None = None
    message: str = ""


class ShownReason(Struct, frozen=True, kw_only=True):
    """Why a path does not exist where it is looked for; `write` is what to write instead, where that is known."""

    code: str
    message: str
    write: str | None = None


class PathReport(Struct, frozen=True, kw_only=True):
    """Where a path is visible: `visible` is about the cluster or job that was asked about, else about this server."""

    asked: str
    path: str
    visible: bool | None
    write: str | None = None
    views: list[ShownView] = field(default_factory=list)
    reasons: list[ShownReason] = field(default_factory=list)


class PathMap(Struct, frozen=True, kw_only=True):
    """Every known place, and where one path is among them; `report` is null where no path was asked about."""

    places: list[Place]
    report: PathReport | None = None
