"""The storage places of a cluster's pods, with their names on this server and on nodes.

`seen_here` is what both the path map and the shipping of code go by. It looks at files and at this server's mount table
and blocks: called in a thread.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jupyter_aiarts.engines.kubernetes.mounts import PodMount, log_place, pod_mounts
from jupyter_aiarts.engines.kubernetes.names import LOG_FOLDER, RUN_FOLDER
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from jupyter_aiarts.engines.kubernetes.storage import Claim, Export, HostPath, Person, Source, clean, fill_in
from jupyter_aiarts.model.mounttable import Mounted, read_table, where_export_is, where_volume_is
from jupyter_aiarts.model.places import Place, PlaceKind, covering, joined
from jupyter_aiarts.model.spec import CPU, JobSpec

TABLE = "/proc/self/mountinfo"
RUN = "run-folder"
LOG = "log-mount"

USUAL = (
    ("/data/dataset/storage", "public-datasets"),
    ("/data/dataset", "public-datasets"),
    ("/data/model-gallery", "model-gallery"),
    ("/home/{user}/storage", "private-storage"),
    ("/home/{user}", "home"),
    ("/mnt/user/{user}", "private-storage"),
    ("/mnt/share/{group}", "group-storage"),
)
"""Where the older platforms had storage that everybody knows by a name; words are in `explain`."""


ANY = JobSpec(name="any", run_as="user")
"""A job that may have every mount: writable storage that others share is for `run_as: user`."""


def mount_table() -> tuple[Mounted, ...]:
    """What is mounted on this server; nothing where that cannot be read."""
    try:
        with open(TABLE, encoding="utf-8", errors="surrogateescape") as file:
            return read_table(file.read())
    except OSError:
        return ()


def seen_here(
    mount: PodMount, table: Sequence[Mounted], volumes: Mapping[str, str] | None = None
) -> tuple[str, str] | None:
    """Where this server surely sees a mount's files, and what leads there from the mount's target; else None.

    The admin's word first; then the same source in this server's mount table; then a target that exists here on a file
    system of its own, as in a JupyterHub pod with the same claim at the same place. `volumes` are those that claims
    are bound to, where they were asked for.
    """
    if mount.seen is not None:
        return (mount.seen, "") if os.path.isdir(mount.seen) else None
    found = _same_source(mount, table, volumes or {})
    if found is not None and os.path.isdir(found[0]):
        return found
    try:
        return (mount.target, "") if os.stat(mount.target).st_dev != os.stat("/").st_dev else None
    except OSError:
        return None


def _same_source(mount: PodMount, table: Sequence[Mounted], volumes: Mapping[str, str]) -> tuple[str, str] | None:
    if isinstance(mount.volume, Export):
        return where_export_is(table, mount.volume.server, joined(mount.volume.path, mount.sub_path))
    if isinstance(mount.volume, Claim) and mount.volume.name in volumes:
        path = where_volume_is(table, volumes[mount.volume.name])
        return (joined(path, mount.sub_path), "") if path is not None else None
    return None


def claims_of(settings: ClusterSettings, person: Person, spec: JobSpec | None) -> set[str]:
    """The claims among a job's mounts: whoever may, can ask which volume each is bound to."""
    mounts = pod_mounts(spec or ANY, settings, person).mounts
    return {mount.volume.name for mount in mounts if isinstance(mount.volume, Claim)}


def places_of(
    settings: ClusterSettings,
    person: Person,
    spec: JobSpec | None = None,
    table: Sequence[Mounted] = (),
    volumes: Mapping[str, str] | None = None,
) -> tuple[Place, ...]:
    """Every place that a job's pods have; without a job, what every job has."""
    wanted = pod_mounts(spec or ANY, settings, person).mounts
    found: list[Place] = []
    for mount in [*wanted, *_log(settings, person)]:
        found += _places(mount, settings, person, seen_here(mount, table, volumes))
    device = spec.device if spec is not None else CPU
    found += [
        _place(f"driver of {device}", settings, HostPath(one.source), one.target or one.source, "", one.read_only)
        for one in settings.profile(device).volumes
    ]
    found.append(Place(name=RUN, cluster=settings.name, kind="pod", pod=RUN_FOLDER))
    return (*found, *_named(settings, person, found))


def _log(settings: ClusterSettings, person: Person) -> list[PodMount]:
    """Where the folders of this owner's jobs are on the log mount."""
    if settings.log_mount is None:
        return []
    try:
        place = log_place(settings.log_mount.source, person)
        here = fill_in(settings.log_mount.path, person) if settings.log_mount.path else None
    except ValueError:
        return []  # this owner has no folder there; submitting says so
    target, folder = joined(LOG_FOLDER, place.rest), posixpath.join(place.folder, place.rest)
    return [PodMount(key=LOG, volume=place.volume, sub_path=folder, target=target, read_only=False, seen=here)]


def _places(
    mount: PodMount, settings: ClusterSettings, person: Person, seen: tuple[str, str] | None
) -> Iterable[Place]:
    name = _name(mount, person)
    here, rest = seen or (None, "")
    whole = _place(name, settings, mount.volume, mount.target, mount.sub_path, mount.read_only)
    if here is None or rest:
        yield whole
    if here is not None:
        part = _place(name, settings, mount.volume, joined(mount.target, rest), "", mount.read_only, here)
        more: dict[str, Any] = {"node": whole.node and joined(whole.node, rest), "source": joined(whole.source, rest)}
        yield Place(**{key: getattr(part, key) for key in part.__struct_fields__} | more)


def _place(
    name: str,
    settings: ClusterSettings,
    source: Source,
    target: str,
    folder: str,
    read_only: bool,
    here: str | None = None,
) -> Place:
    kinds: dict[type, PlaceKind] = {Claim: "claim", Export: "nfs", HostPath: "host"}
    return Place(
        name=name,
        cluster=settings.name,
        kind=kinds[type(source)],
        pod=target,
        here=here,
        node=joined(source.path, folder) if isinstance(source, HostPath) else None,
        source=joined(_text(source), folder),
        read_only=read_only,
    )


def _text(source: Source) -> str:
    if isinstance(source, Claim):
        return source.name
    return f"{source.server}:{source.path}" if isinstance(source, Export) else source.path


def _name(mount: PodMount, person: Person) -> str:
    for target, name in USUAL:
        try:
            if mount.target == fill_in(target, person):
                return name
        except ValueError:
            continue  # a person without such a name has no such place
    return mount.key


def _named(settings: ClusterSettings, person: Person, mounted: Sequence[Place]) -> Iterable[Place]:
    """The folders that the admin gave names, each as a part of the mount that it lies on, or of every image."""
    for one in settings.places:
        try:
            target = clean(fill_in(one.target, person))
            here = fill_in(one.path, person) if one.path else None
        except ValueError:
            continue
        covered = covering(target, mounted, "pod")
        if covered is None:
            yield Place(name=one.name, cluster=settings.name, kind="pod", pod=target, here=here)
            continue
        place, rest = covered
        yield Place(
            name=one.name,
            cluster=settings.name,
            kind=place.kind,
            pod=target,
            here=here or (place.here and joined(place.here, rest)),
            node=place.node and joined(place.node, rest),
            source=joined(place.source, rest),
            read_only=place.read_only,
        )
