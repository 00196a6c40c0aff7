"""Which storage a pod gets, and what forbids it: the admin's default mounts and the job's own.

Pure. A path of the host or of an NFS server is taken apart into a volume that nobody but the admin (or the owner of
the storage) can redirect, and a `subPath` in it: the kubelet follows no link out of a volume that way, so a link
that a user planted in their own folder leads nowhere else.
"""

from __future__ import annotations

import posixpath

from msgspec import Struct

from jupyter_aiarts.engines.kubernetes.settings import ClusterMount, ClusterSettings
from jupyter_aiarts.engines.kubernetes.storage import (
    USER,
    Claim,
    Export,
    HostPath,
    Person,
    Source,
    clean,
    fill_in,
    parse_source,
)
from jupyter_aiarts.model.checking import shown
from jupyter_aiarts.model.places import below
from jupyter_aiarts.model.spec import JobSpec, Mount

RESERVED = ("/aiarts", "/pod.env", "/dev", "/proc", "/sys")
"""Where nothing can be mounted: ours, and the container's own."""


class PodMount(Struct, frozen=True, kw_only=True):
    """One mount of a pod: the volume, what of it is mounted where, and where this server sees the same files."""

    key: str
    volume: Source
    sub_path: str
    target: str
    read_only: bool
    seen: str | None = None
    own: bool = True  # every owner has another one, so a root pod can change nobody else's

    @property
    def guarded(self) -> bool:
        """Whether a root process could change other people's files through it."""
        return not self.read_only and not self.own and not isinstance(self.volume, Claim)


class LogPlace(Struct, frozen=True, kw_only=True):
    """A place for logs: a folder of a volume, and `rest`, what leads on from there and is made by launchers.

    One that is the owner's `own` is mounted whole: launchers make the folders of jobs in it. Of one that many share a
    job sees its own folder alone, which the kubelet makes, with the mode that the volume has.
    """

    volume: Source
    folder: str = ""
    rest: str = ""
    own: bool = False


class Wanted(Struct, frozen=True, kw_only=True):
    """All mounts of a pod, and the problems of those that cannot be."""

    mounts: tuple[PodMount, ...]
    problems: tuple[dict[str, str], ...] = ()


def pod_mounts(spec: JobSpec, settings: ClusterSettings, person: Person) -> Wanted:
    """What a job's pods mount. Its own mount replaces a default one with the same target."""
    found: dict[str, PodMount] = {}
    problems: list[dict[str, str]] = []
    taken = {clean(one.target or one.source) for one in settings.profile(spec.device).volumes}
    entries: list[tuple[str, ClusterMount | Mount]] = [
        *((f"default_mounts[{index}]", mount) for index, mount in enumerate(settings.default_mounts)),
        *((f"mounts[{index}]", mount) for index, mount in enumerate(spec.mounts)),
    ]
    for key, entry in entries:
        try:
            mount = _mount(key, entry, settings, person)
            _check(mount, found.get(mount.target), spec, taken)
            found[mount.target] = mount
        except ValueError as error:
            problems.append({"key": key if key.startswith("mounts") else "mounts", "message": f"{key} {error}."})
    return Wanted(mounts=tuple(found.values()), problems=tuple(problems))


def admin_volume(text: str, person: Person) -> tuple[Source, str]:
    """The volume and the folder in it that a source of the admin's stands for, for this person."""
    source = parse_source(fill_in(text, person))
    if isinstance(source, Claim):
        return Claim(source.name), source.folder
    root, rest = _split(text, source.path)
    return (Export(source.server, root) if isinstance(source, Export) else HostPath(root)), rest


def log_place(text: str, person: Person) -> LogPlace:
    """Where the launchers of this person's jobs write logs; ValueError with the rest of a sentence where nowhere."""
    volume, folder = admin_volume(text, person)
    if USER not in text:
        return LogPlace(volume=volume, folder=folder)
    if not isinstance(volume, Claim):
        return LogPlace(volume=volume, rest=folder, own=True)
    mounted, rest = _split(text.partition("/")[2], folder)
    return LogPlace(volume=volume, folder=mounted, rest=rest, own=True)


def _mount(key: str, entry: ClusterMount | Mount, settings: ClusterSettings, person: Person) -> PodMount:
    source = parse_source(fill_in(entry.source, person))
    if isinstance(entry, ClusterMount):
        volume, folder = admin_volume(entry.source, person)
        own, path = USER in entry.source, entry.path
    else:
        volume, folder, own = _users_volume(entry.source, source, person, settings)
        path = None
    return PodMount(
        key=key,
        volume=volume,
        sub_path=folder,
        target=clean(fill_in(entry.target, person)),
        read_only=entry.read_only,
        seen=fill_in(path, person) if path else source.path if isinstance(source, HostPath) else None,
        own=own,
    )


def _users_volume(text: str, source: Source, person: Person, settings: ClusterSettings) -> tuple[Source, str, bool]:
    """The volume, the folder in it, and whether it is the owner's alone, of a source that a user wrote."""
    if isinstance(source, Claim):
        return Claim(source.name), source.folder, True
    if isinstance(source, HostPath):
        return _below_allowed(text, source.path, person, settings)
    return source, "", _ends_with_user(text)


def _split(text: str, path: str) -> tuple[str, str]:
    """A path of the admin's in two: up to the part that `{user}` stands in, which no user can redirect, and the rest.

    The text's parts are counted from its end, because `server:` may stand before it.
    """
    parts = [part for part in text.split("/") if part not in ("", ".")]
    places = [index for index, part in enumerate(parts) if USER in part]
    behind = len(parts) - 1 - places[-1] if places else 0
    whole = path.split("/")
    cut = len(whole) - behind
    return "/".join(whole[:cut]) or "/", "/".join(whole[cut:])


def _below_allowed(text: str, path: str, person: Person, settings: ClusterSettings) -> tuple[Source, str, bool]:
    """A user's host path as a folder of one that the admin allows: the longest one that holds it."""
    allowed: dict[str, str] = {}
    for one in settings.allow_host_paths:
        try:
            allowed[fill_in(one, person)] = one
        except ValueError:
            continue  # a folder of a user without a name is nobody's
    roots = [root for root in allowed if below(path, root) is not None]
    if not roots:
        names = ", ".join(settings.allow_host_paths)
        advice = f"paths below {names} are" if names else "no path of the host is"
        raise ValueError(f"names {shown(path)} of the host, and {advice} allowed on {settings.name}")
    root = max(roots, key=len)
    return HostPath(root), below(path, root) or "", USER in allowed[root] or _ends_with_user(text)


def _ends_with_user(text: str) -> bool:
    """Whether a user's own source is their folder itself: inside it, they could have planted a link to another's."""
    return posixpath.basename(text.rstrip("/")) == USER


def _check(mount: PodMount, before: PodMount | None, spec: JobSpec, taken: set[str]) -> None:
    """ValueError with the rest of a sentence for what a pod cannot have."""
    if any(below(mount.target, folder) is not None for folder in RESERVED) or mount.target == "/":
        raise ValueError(f"has the target {mount.target}, which belongs to the container itself")
    if mount.target in taken:
        raise ValueError(f"has the target {mount.target}, where {spec.device} has its drivers")
    if ":" in mount.target:
        raise ValueError(f"has the target {shown(mount.target)}, and a path in a container cannot hold “:”")
    if before is not None and before.key.startswith("mounts"):
        raise ValueError(f"has the same target as {before.key}, {mount.target}")
    if mount.guarded and spec.run_as != "user":
        raise ValueError(
            "is writable storage of the host or of an NFS server that is not yours alone: set run_as to user, "
            "or read_only to true, or use a source that ends with {user}"
        )
