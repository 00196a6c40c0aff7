"""The volumes of a pod: ours, /dev/shm, the log mount, the device's drivers, and the storage that was asked for."""

from __future__ import annotations

import posixpath
from typing import Any

from jupyter_aiarts.engines.kubernetes.mounts import PodMount, log_place
from jupyter_aiarts.engines.kubernetes.names import (
    JOB_FOLDER,
    LOG_FOLDER,
    POD_ENV,
    POD_FOLDER,
    RING_FOLDER,
    RUN_FOLDER,
    SECRET_FOLDER,
    ring_name,
)
from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.engines.kubernetes.resources import size
from jupyter_aiarts.engines.kubernetes.storage import Claim, Export, Source

READABLE = 0o444
"""Whoever the container runs as, its launcher has to read these."""

Parts = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""Volumes, and where the main container mounts them."""


def volumes(order: Order) -> Parts:
    """All volumes of a pod, and the main container's mounts."""
    parts = [
        _ours(order),
        _cards(order),
        _shared_memory(order),
        _drivers(order),
        _storage([*_log(order), *order.mounts]),
    ]
    return [one for made, _ in parts for one in made], [one for _, mounted in parts for one in mounted]


def prepare_mounts() -> list[dict[str, Any]]:
    """What the init container needs: the ConfigMap to read, the run's folder to fill."""
    return [
        {"name": "aiarts-job", "mountPath": JOB_FOLDER, "readOnly": True},
        {"name": "aiarts-run", "mountPath": RUN_FOLDER},
    ]


def _ours(order: Order) -> Parts:
    made: list[dict[str, Any]] = [
        {"name": "aiarts-job", "configMap": {"name": order.name, "defaultMode": READABLE}},
        {"name": "aiarts-secret", "secret": {"secretName": order.name, "defaultMode": READABLE}},
        {"name": "aiarts-run", "emptyDir": {}},
    ]
    mounted = [
        *prepare_mounts(),
        {"name": "aiarts-secret", "mountPath": SECRET_FOLDER, "readOnly": True},
        {"name": "aiarts-run", "mountPath": POD_ENV, "subPath": "pod.env"},
    ]
    return made, mounted


def _cards(order: Order) -> Parts:
    """What others say of a pod's cards: the device plugin in annotations, a controller in a rank table.

    Whole folders, since a file mounted by itself never changes; and both may come later than the pod.
    """
    if not order.has_table:
        return [], []
    annotations = {"path": "annotations", "fieldRef": {"fieldPath": "metadata.annotations"}}
    made: list[dict[str, Any]] = [
        {"name": "aiarts-pod", "downwardAPI": {"items": [annotations], "defaultMode": READABLE}}
    ]
    mounted = [{"name": "aiarts-pod", "mountPath": POD_FOLDER, "readOnly": True}]
    if order.ring is not None:
        table = {"name": ring_name(order.name), "optional": True, "defaultMode": READABLE}
        made.append({"name": "aiarts-ring", "configMap": table})
        mounted.append({"name": "aiarts-ring", "mountPath": RING_FOLDER, "readOnly": True})
    return made, mounted


def _shared_memory(order: Order) -> Parts:
    """/dev/shm of its own; the container runtime's has 64 MB, which no data loader is content with."""
    if not order.spec.shm_gb:
        return [], []
    memory = {"medium": "Memory", "sizeLimit": size(order.spec.shm_gb)}
    return [{"name": "aiarts-shm", "emptyDir": memory}], [{"name": "aiarts-shm", "mountPath": "/dev/shm"}]


def _log(order: Order) -> list[PodMount]:
    """The log mount: each job sees its owner's folder there, or its own alone where owners share one."""
    if order.settings.log_mount is None:
        return []
    place = log_place(order.settings.log_mount.source, order.person)
    below = () if place.own else (order.job_id,)
    return [
        PodMount(
            key="log_mount",
            volume=place.volume,
            sub_path=posixpath.join(place.folder, *below),
            target=posixpath.join(LOG_FOLDER, *below),
            read_only=False,
        )
    ]


def run_folder(order: Order) -> str:
    """Where the launchers of a run keep what they write: on the log mount, or in the pod alone."""
    if order.settings.log_mount is None:
        return RUN_FOLDER
    place = log_place(order.settings.log_mount.source, order.person)
    return posixpath.join(LOG_FOLDER, place.rest, order.job_id, f"run-{order.run}")


def _drivers(order: Order) -> Parts:
    """What the admin's device profile names, file or folder."""
    made, mounted = [], []
    for index, one in enumerate(order.profile.volumes):
        made.append({"name": f"driver-{index}", "hostPath": {"path": one.source}})
        mount: dict[str, Any] = {"name": f"driver-{index}", "mountPath": one.target or one.source}
        mounted.append({**mount, "readOnly": True} if one.read_only else mount)
    return made, mounted


def _storage(mounts: list[PodMount]) -> Parts:
    """Each volume once, however often it is mounted: a pod that names a claim in two volumes never starts."""
    names: dict[Source, str] = {}
    for mount in mounts:
        names.setdefault(mount.volume, f"mount-{len(names)}")
    made = [{"name": name, **_volume(volume)} for volume, name in names.items()]
    return made, [_mounted(mount, names[mount.volume]) for mount in mounts]


def _mounted(mount: PodMount, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "mountPath": mount.target}
    if mount.sub_path:
        found["subPath"] = mount.sub_path
    return {**found, "readOnly": True} if mount.read_only else found


def _volume(source: Source) -> dict[str, Any]:
    if isinstance(source, Claim):
        return {"persistentVolumeClaim": {"claimName": source.name}}
    if isinstance(source, Export):
        return {"nfs": {"server": source.server, "path": source.path}}
    # without a type, the container runtime would make what is missing, as root
    return {"hostPath": {"path": source.path, "type": "Directory"}}
